/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of `phasemux validate` share: the options, and the error table of the thesis
 * (7.3), which is filled by a replay of recorded bursts or by runs of a program.
 */
#ifndef PHASEMUX_TOOLS_VALIDATE_VALIDATE_H
#define PHASEMUX_TOOLS_VALIDATE_VALIDATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "multiplex/scheme/scheme.h"
#include "tools/cluster/burst_table.h"
#include "tools/validate/replay.h"

struct validate_options {
	const char *file; /* file to replay; NULL: `command` is run */
	char **command;   /* command to run */
	const char *cluster_by, *burst_min;
	bool burst_min_given;
	bool emulated;      /* the truth of a multiplexed run is recorded beside it */
	const char *core;   /* name of the core model; NULL: not given */
	const char *output; /* folder that keeps the runs; NULL: none does */
	bool scheme[SCHEME_KINDS];
	size_t trials, counters, seed, runs;
	double read, quantum, share;
	bool json, quiet;
};

/* One scheme's part of the table. That of SCHEME_NONE is how equal runs differ, judged like the schemes. */
struct verdict {
	struct replay_cell *cells; /* phases x events; NULL: not tried */
	unsigned phases;           /* 0: as many as the table has */
	/* by cell: number of stated intervals that contain the truth, or miss it by no more than noise */
	unsigned *held;
	struct replay_summary summary;
	/* mean weighted error of the scheme's runs in cycles and instructions; NAN: a replay */
	double weighted_error;
};

struct verdict_table {
	unsigned groups; /* of a replay */
	unsigned phases, events,
			common; /* the first `common` events are in all groups: not judged */
	const char **name;      /* of the events */
	struct verdict verdict[SCHEME_KINDS];
};

/*
 * Returns the difference of equal runs in this phase and counter (a cell), as a weighted error; NAN: not known.
 * Call after the verdict of SCHEME_NONE is made.
 */
double verdict_noise(const struct verdict_table *table, unsigned cell);

/* Returns the common event to which a counter's errors are related (thesis 7.3.2): 0 cycles, 1 instructions. */
unsigned verdict_reference(const char *name);

/* Returns whether the interval contains the truth, or misses it by no more than noise. */
bool verdict_holds(double mean, double ci95, double truth, double noise);

/*
 * Adds the comparison of one estimate with the truth to the sums of the cell; ci95 NAN: it states no interval.
 * The plain mean is not known.
 */
void verdict_judge(struct replay_cell *cell, double mean, double ci95, double truth,
		double reference);

/* Makes means of the sums, after the last estimate. */
void verdict_average(struct replay_cell *cell);

/*
 * Prints the errors and the intervals by class of counter: what is counted in cycles, misses and mispredicted
 * branches, and kinds of instructions.
 */
void verdict_print_classes(const struct verdict_table *table);

void verdict_print(const struct verdict_table *table);
json_t *verdict_json(const struct verdict_table *table);

/* Prints the JSON, and takes over the reference to it. */
void verdict_write(json_t *json);
void verdict_fini(struct verdict_table *table);

/* Prints the table. Returns the exit code. */
int validate_replay(const struct validate_options *options);

/*
 * Replays the bursts of a table through every scheme, and prints the tables of errors and of classes. name: of the
 * recording. plan: groups of the table's counters in their order; NULL: they are packed. json: if not NULL, gets
 * the result, and nothing is printed. Returns the exit code.
 */
int validate_bursts(const struct validate_options *options, struct burst_table *bursts,
		const char *name, const struct plan *plan, json_t **json);

/* Print the tables. Return the exit code. validate_recorded judges the folder that a validate_emulated kept. */
int validate_emulated(const struct validate_options *options);
int validate_recorded(const struct validate_options *options);
int validate_runs(const struct validate_options *options);

#endif
