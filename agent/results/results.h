/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of this process, and of those that report together with it: the ranks of a job, or a family of forks. */
#ifndef PHASEMUX_AGENT_RESULTS_RESULTS_H
#define PHASEMUX_AGENT_RESULTS_RESULTS_H

#include "agent/ledger/ledger.h"
#include "agent/results/locations.h"
#include "agent/ranks/programs.h"
#include "agent/report/recovery.h"
#include "agent/report/report_facts.h"

struct members;

/* Numbers of which the largest of all ranks is taken. */
struct most {
	double wall_seconds, compute_seconds;
	double no_memory;          /* 1 if a rank has no memory */
	double hash, hash_negated; /* of the command; their sum is 0 if all ranks have the same one */
};

/* The results of this rank, then of all ranks, and of other processes of the family. */
struct results {
	struct most most;
	struct totals *totals;
	struct ledger_piece piece[LEDGER_PIECES];
	struct locations locations;
	struct programs programs;
	struct members *members; /* what is known of the ranks, beside the sums; NULL: no memory */
	struct recovery *others; /* of the family; NULL: none */
};

/*
 * Collects the results of this process, which it must free by results_fini. off_seconds: time in which the agent was off.
 */
void results_collect(struct results *results, double wall_seconds, double off_seconds);

/* Merges the results of all ranks on rank 0. Each rank must call it. Returns 0 or -EIO. */
int results_reduce(struct results *results);

/* Adds the results that the other processes of the family have left in their spools. */
void results_add_family(struct results *results);

/* Adds to the facts what the run has learnt and where its phases are. The facts point into the results. */
void results_give(struct results *results, struct report_facts *facts);

void results_fini(struct results *results);

#endif
