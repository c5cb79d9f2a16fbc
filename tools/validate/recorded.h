/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multiplexed run in the emulator, with the truth of the same run: beside the table of bursts, in which each
 * burst has the events of its group, all counts of the thread were recorded at every read (emulated_counts.h).
 * A burst lies between two reads in a row, and these are found by what the burst's group counted.
 */
#ifndef PHASEMUX_TOOLS_VALIDATE_RECORDED_H
#define PHASEMUX_TOOLS_VALIDATE_RECORDED_H

#include <jansson.h>

#include "multiplex/plan.h"
#include "tools/cluster/burst_table.h"

#define RECORDED_READS "%s.reads" /* file of the records, beside the folder of the results */

/* The means of one phase and event. */
struct recorded_means {
	double truth;      /* of all bursts of the phase */
	double plain;      /* of those in which the event was counted; NAN: none */
	uint64_t observed; /* number of these */
};

struct recorded {
	json_t *report;
	struct plan plan;                  /* the groups of the report */
	const char *name[PLAN_EVENTS_MAX]; /* of the plan's events; they belong to the report */
	unsigned phases;                   /* of the report */
	struct recorded_means *means;      /* phases x plan.events */
	/* every event of every burst; cluster: the phase, as the report numbers it, or 0 */
	struct burst_table table;
	size_t lost; /* number of bursts for which no records were found, and which are not in the table */
};

/*
 * Reads the folder of the results, which has report.json and the table of bursts, and the records. Takes over the
 * reference to the report. Returns 0, or 1 after a message.
 */
int recorded_open(struct recorded *recorded, json_t *report, const char *folder);
void recorded_fini(struct recorded *recorded);

#endif
