/* SPDX-License-Identifier: BSD-3-Clause */
/* What `phasemux compare` takes from a report: times of a thread in the mean, and the numbers of its phases. */
#ifndef PHASEMUX_TOOLS_COMPARE_RUN_H
#define PHASEMUX_TOOLS_COMPARE_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/compare/measure.h"

#define RUN_PHASES_MAX     256 /* phases that are compared; those behind are in no phase */
#define RUN_COMPONENTS_MAX 64

/* The numbers of a phase. Times and numbers of bursts are those of a thread, in the mean of all threads. */
enum quantity {
	QUANTITY_TIME,         /* seconds */
	QUANTITY_BURSTS,       /* number */
	QUANTITY_DURATION,     /* seconds of a burst */
	QUANTITY_WORK,         /* instructions */
	QUANTITY_INSTRUCTIONS, /* of a burst */
	QUANTITY_CPI,          /* cycles per instruction */
	QUANTITY_CYCLE,        /* seconds per cycle */
	QUANTITIES,
};

/* The components of the CPI that any of the runs has. */
struct component_names {
	unsigned count;
	struct {
		const char *name,
				*outer; /* outer: of which it is a part; NULL: it is a part of the CPI */
	} at[RUN_COMPONENTS_MAX];
};

/* A run. */
struct run {
	const char *path;
	const json_t *report;
	double threads; /* number of threads over which times are averaged */
	/* seconds; the wall time is the sum of the other three */
	struct measure wall, useful, imbalance, waiting;
	size_t count;                   /* of its phases */
	unsigned group[RUN_PHASES_MAX]; /* the group of phases to which each phase belongs */
};

/* What a run has in the phases of one group. */
struct run_values {
	struct measure at[QUANTITIES];
	struct measure component
			[RUN_COMPONENTS_MAX]; /* cycles per instruction, by component_names */
};

/* Reads a report that report_is_valid() accepts. The report must live as long as the run. */
void run_read(struct run *run, const char *path, const json_t *report);

/* Returns a phase of the run, from 0 in the order of the report. */
const json_t *run_phase(const struct run *run, size_t i);

/* Returns a number of a phase. */
struct measure run_phase_time(const struct run *run, const json_t *phase);
double run_phase_bursts(const struct run *run, const json_t *phase);

/* Adds the components of the run's phases that the names do not have yet. */
void run_add_components(const struct run *run, struct component_names *names);

/* Sums up the run's phases of one group. Without any, their time and number are 0 and nothing else is known. */
void run_sum(const struct run *run, unsigned group, const struct component_names *names,
		struct run_values *values);

#endif
