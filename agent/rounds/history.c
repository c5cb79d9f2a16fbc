/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/rounds/history.h"

#include <string.h>

#define WORDS (PROTOTYPES_MAX / 64 + 1)

/* Sets the bits of the phases that have prototypes. */
static void find_phases(const struct prototype_table *table, uint64_t known[WORDS])
{
	memset(known, 0, WORDS * sizeof(*known));
	for (uint32_t p = 0; p < table->count; p++) {
		uint32_t phase = table->all[p].phase;

		if (phase)
			known[phase / 64] |= UINT64_C(1) << phase % 64;
	}
}

void history_add(struct history *history, double seconds, const struct ledger_part *part,
		const struct prototype_table *table)
{
	struct history_round round = { .seconds = seconds,
		.sampled = part->sample.count,
		.prototypes = table->count,
		.kept = table->kept };
	uint64_t known[WORDS];

	find_phases(table, known);
	for (unsigned i = 0; i < WORDS; i++) {
		round.phases += (uint32_t)__builtin_popcountll(known[i]);
		round.came += (uint32_t)__builtin_popcountll(known[i] & ~history->known[i]);
		round.went += (uint32_t)__builtin_popcountll(history->known[i] & ~known[i]);
	}
	memcpy(history->known, known, sizeof(known));
	if (history->count < HISTORY_MAX)
		history->count++;
	history->round[history->count - 1] = round;
}
