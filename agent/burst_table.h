/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bursts that were read, as a table in CSV (PHASEMUX_REPORT=bursts): one file per rank, rank 0's
 * with the header line, so that the files one after the other are one table, which `phasemux
 * cluster` reads. Columns: task, thread, begin_ns, end_ns, then every event; an event that was not
 * in the burst's group is empty.
 */
#ifndef PHASEMUX_AGENT_BURST_TABLE_H
#define PHASEMUX_AGENT_BURST_TABLE_H

#include "agent/counting.h"
#include "agent/thread.h"

struct burst_table;

/*
 * A new file in the folder, which is made where it is missing. start: the clock at the start of the
 * run. NULL, with one line in why, when it cannot be written.
 */
struct burst_table *burst_table_new(const char *folder, const struct counting *counting, int rank,
		uint64_t start, char *why, size_t why_size);

/* One thread at a time. An error is kept for burst_table_close. */
void burst_table_add(struct burst_table *table, unsigned thread, const struct burst *burst);

/* Writes what is left. 0 or -errno: the first error there was. NULL is nothing. */
int burst_table_close(struct burst_table *table);

#endif
