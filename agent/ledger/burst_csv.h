/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the bursts that were read as a table in CSV (PHASEMUX_REPORT=bursts). Each rank has a file, and only
 * that of rank 0 has the header line. Therefore the files, one after the other, are one table, which `phasemux
 * cluster` reads. Columns: task, thread, begin_ns, end_ns, prototype, then every event. An event outside the
 * burst's group is empty. The prototype is the one that claims the burst, or empty; the report says which
 * prototypes are a phase. A burst that waits for the next generation of prototypes is written after later ones.
 */
#ifndef PHASEMUX_AGENT_LEDGER_BURST_CSV_H
#define PHASEMUX_AGENT_LEDGER_BURST_CSV_H

#include "agent/setup/counting.h"
#include "agent/thread/thread.h"

struct burst_csv;

/*
 * Creates a file in the folder, which is created if it is missing. start: the clock at the start of the run.
 * Returns NULL, with one line in `why`, if the file cannot be written.
 */
struct burst_csv *burst_csv_new(const char *folder, const struct counting *counting, int rank,
		uint64_t start, char *why, size_t why_size);

/*
 * Adds a burst. prototype: -1 if none claims it. Only one thread at a time may call it. An error is kept for
 * burst_csv_close.
 */
void burst_csv_add(struct burst_csv *table, unsigned thread, int prototype,
		const struct burst *burst);

/* Writes the rest and closes the file. Returns 0, or -errno for the first error. NULL is allowed. */
int burst_csv_close(struct burst_csv *table);

#endif
