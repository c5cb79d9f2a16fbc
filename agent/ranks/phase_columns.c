/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/phase_columns.h"

/* Returns the phase with most time that has no column yet, or 0. column: by phase, [0] is phase 1. */
static uint32_t next_phase(const struct rank_use *by_phase, const uint8_t *column)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < PROTOTYPES_MAX; i++)
		if (!column[i] && by_phase->use[i].seconds > 0 &&
				(!next ||
						by_phase->use[i].seconds >
								by_phase->use[next - 1].seconds))
			next = i + 1;
	return next;
}

void phase_columns_fill(struct timeline_labels *columns, const struct phase_labels *labels,
		const struct rank_use *use)
{
	uint8_t column[PROTOTYPES_MAX] = { 0 };
	struct rank_use by_phase;
	uint32_t phase;

	*columns = (struct timeline_labels){ .phases = 0 };
	rank_use_by_phase(use, labels, &by_phase);
	while (columns->phases < TIMELINE_PHASES && (phase = next_phase(&by_phase, column))) {
		columns->phase[columns->phases++] = phase;
		column[phase - 1] = (uint8_t)columns->phases;
	}
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		if (labels->phase[p])
			columns->column[p] = column[labels->phase[p] - 1];
}
