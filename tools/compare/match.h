/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the phases of one run in others. Numbers of phases say nothing, because they depend on the run. What is
 * stable is the place of a phase in the program: the calls between which its bursts run, with the functions that
 * make them. Phases of the same place are told apart by their behaviour: the length of their bursts, their IPC and
 * their number.
 */
#ifndef PHASEMUX_TOOLS_COMPARE_MATCH_H
#define PHASEMUX_TOOLS_COMPARE_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/compare/run.h"

/* Groups of phases, each of the same phase in all runs. A phase that a run has in parts is one with all of them. */
struct match {
	unsigned groups;
	bool *by_behaviour; /* of each group: whether a place has changed, so that behaviour alone tells */
};

/*
 * Matches the phases of all runs, of which the first `befores` are those before the change, and sets group[] of
 * each run. Returns 0 or -ENOMEM.
 */
int match_runs(struct run *runs, size_t count, size_t befores, struct match *match);
void match_fini(struct match *match);

/* Returns how alike the places of two phases are, 0 .. 1; -1 if the place of one is not known. */
double match_places(const json_t *one, const json_t *other);

#endif
