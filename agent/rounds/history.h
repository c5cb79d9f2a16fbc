/* SPDX-License-Identifier: BSD-3-Clause */
/* What each training of a run has found, from which people see when its phases were known. Plain data. */
#ifndef PHASEMUX_AGENT_ROUNDS_HISTORY_H
#define PHASEMUX_AGENT_ROUNDS_HISTORY_H

#include <stdint.h>

#include "agent/ledger/training.h"

#define HISTORY_MAX                                                                                \
	64 /* trainings; each is at least twice as late as the one before, except the last one */

struct history_round {
	double seconds;   /* since the start of the run */
	uint32_t sampled; /* bursts of the sample */
	uint32_t phases, prototypes;
	uint32_t came, went; /* number of phases that the training before did not know, and that only it knew */
	float kept; /* as in struct prototype_table */
};

struct history {
	uint32_t count;
	uint64_t known[PROTOTYPES_MAX / 64 +
			1]; /* a bit for each number of a phase of the last training */
	struct history_round round[HISTORY_MAX];
};

/* Adds a training. A phase keeps its number from one to the next (struct prototype_table). If there is no room, it takes the place of the last one. */
void history_add(struct history *history, double seconds, const struct ledger_part *part,
		const struct prototype_table *table);

#endif
