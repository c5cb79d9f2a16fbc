/* SPDX-License-Identifier: BSD-3-Clause */
/* What each training has found: its phases, those that came, and those that went. */
#include <string.h>

#include "agent/rounds/history.h"
#include "tests/tap.h"

static struct history history;

/* Adds a training whose prototypes have these phases. Returns what it is in the history. */
static const struct history_round *add(uint32_t count, const uint32_t *phase)
{
	static struct ledger_part part;
	static struct prototype_table table;

	memset(&table, 0, sizeof(table));
	part.sample.count = 100 * count;
	table.count = count;
	table.kept = 0.5F;
	for (uint32_t i = 0; i < count; i++)
		table.all[i].phase = phase[i];
	history_add(&history, (double)history.count, &part, &table);
	return &history.round[history.count - 1];
}

#define ADD(...)                                                                                   \
	add(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

int main(void)
{
	const struct history_round *round = ADD(1, 2, 2, 0);

	ok(round->phases == 2 && round->came == 2 && round->went == 0,
			"all phases of the first training came with it");
	ok(round->prototypes == 4 && round->sampled == 400, "it has its prototypes and its sample");
	round = ADD(2, 1);
	ok(round->phases == 2 && !round->came && !round->went, "the same phases in another order");
	round = ADD(1, 64, PROTOTYPES_MAX);
	ok(round->phases == 3 && round->came == 2 && round->went == 1, "two came, one went");
	round = ADD(2);
	ok(round->phases == 1 && round->came == 1 && round->went == 3,
			"one that comes back came again");
	while (history.count < HISTORY_MAX)
		ADD(2);
	round = ADD(2, 3);
	ok(history.count == HISTORY_MAX && round->came == 1 && round->phases == 2,
			"the last one of too many takes the place of the one before");
	return tap_done();
}
