/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/rounds/history.h"

#include <stdbool.h>

/* Returns the number of phases that have prototypes. */
static uint32_t count_phases(const struct prototype_table *table)
{
	bool known[PROTOTYPES_MAX + 1] = { false };
	uint32_t count = 0;

	for (uint32_t p = 0; p < table->count; p++) {
		uint32_t phase = table->all[p].phase;

		count += phase && !known[phase];
		known[phase] = true;
	}
	return count;
}

void history_add(struct history *history, double seconds, const struct ledger_part *part,
		const struct prototype_table *table)
{
	if (history->count < HISTORY_MAX)
		history->count++;
	history->round[history->count - 1] = (struct history_round){ .seconds = seconds,
		.sampled = part->sample.count,
		.phases = count_phases(table),
		.prototypes = table->count,
		.kept = table->kept };
}
