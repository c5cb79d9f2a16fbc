/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of `phasemux validate` share: what was asked for, and the error table of the thesis
 * (7.3), filled by a replay of recorded bursts or by runs of a program.
 */
#ifndef PHASEMUX_TOOLS_VALIDATE_H
#define PHASEMUX_TOOLS_VALIDATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "multiplex/replay.h"
#include "multiplex/scheme.h"

struct validate_options {
	const char *file; /* to replay, or */
	char **command;   /* to run */
	const char *cluster_by, *burst_min;
	bool scheme[SCHEME_KINDS];
	size_t trials, counters, seed, runs;
	double read, quantum, share;
	bool json, quiet;
};

/* One scheme's part of the table; of SCHEME_NONE: how equal runs differ, judged as the schemes are. */
struct verdict {
	struct replay_cell *cells; /* phases x events; NULL: not tried */
	/* of each cell, how many of the stated intervals hold the truth or miss it by no more than noise */
	unsigned *held;
	struct replay_summary summary;
	/* how far the scheme's own runs are from the others in cycles and instructions; NAN: a replay */
	double apart;
};

struct verdict_table {
	unsigned phases, events, common; /* the first events are common to all groups: not judged */
	const char **name;               /* of the events */
	struct verdict verdict[SCHEME_KINDS];
};

/*
 * What equal runs differ by in this phase and counter (a cell), as a weighted error: once the verdict of
 * SCHEME_NONE is there. NAN: not known.
 */
double verdict_noise(const struct verdict_table *table, unsigned cell);

/* Which common event a counter's errors are related to (thesis 7.3.2): 0 cycles, 1 instructions. */
unsigned verdict_reference(const char *name);

void verdict_print(const struct verdict_table *table);
json_t *verdict_json(const struct verdict_table *table);
void verdict_fini(struct verdict_table *table);

/* Both print the table. The exit code. */
int validate_replay(const struct validate_options *options);
int validate_runs(const struct validate_options *options);

#endif
