/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/scheme/scheme.h"

#include <string.h>

#include "multiplex/mix.h"
#include "multiplex/plan.h"
#include "multiplex/scheme/adaptive.h"

static const char *const names[SCHEME_KINDS] = {
	[SCHEME_TIME_SPACE] = "time-space",
	[SCHEME_TIME] = "time",
	[SCHEME_SPACE] = "space",
	[SCHEME_RANDOM] = "random",
	[SCHEME_ADAPTIVE] = "adaptive",
	[SCHEME_NONE] = "none",
};

const char *scheme_name(enum scheme_kind kind)
{
	return (unsigned)kind < SCHEME_KINDS ? names[kind] : NULL;
}

int scheme_by_name(const char *name)
{
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		if (strcmp(name, names[kind]) == 0)
			return kind;
	return -1;
}

static void permute(uint8_t *order, unsigned count, uint64_t *state)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned j = mix_next(state) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

/*
 * Returns the group from a random Latin square, which is a new one for every round of `groups` quanta and every
 * block of `groups` places. In each round a place counts every group once. In each quantum a block of places
 * counts every group once. Nothing else is regular.
 */
static unsigned random_group(const struct scheme *scheme, uint64_t place, uint64_t quantum)
{
	uint8_t row[PLAN_GROUPS_MAX], column[PLAN_GROUPS_MAX], symbol[PLAN_GROUPS_MAX];
	unsigned groups = scheme->groups;
	uint64_t state = scheme->seed;

	state = mix_next(&state) ^ quantum / groups;
	state = mix_next(&state) ^ place / groups;
	permute(row, groups, &state);
	permute(column, groups, &state);
	permute(symbol, groups, &state);
	return symbol[(row[place % groups] + column[quantum % groups]) % groups];
}

/*
 * Returns the group at random with unequal shares. Each quantum of a round falls into another part of the
 * shares, laid end to end, and with equal probability anywhere within that part.
 */
static unsigned learnt_group(const struct scheme *scheme, uint64_t place, uint64_t quantum)
{
	unsigned part = random_group(scheme, place, quantum);
	uint64_t state = scheme->seed;

	if (!scheme->adaptive || !scheme->adaptive->learnt)
		return part;
	state = mix_next(&state) ^ place;
	state = mix_next(&state) ^ quantum;
	return adaptive_group(scheme->adaptive, (part + mix_uniform(&state)) / scheme->groups);
}

unsigned scheme_group(const struct scheme *scheme, uint64_t place, uint64_t quantum)
{
	unsigned groups = scheme->groups;

	switch (scheme->kind) {
	case SCHEME_TIME:
		return quantum % groups;
	case SCHEME_SPACE:
		return place % groups;
	case SCHEME_RANDOM:
		return random_group(scheme, place, quantum);
	case SCHEME_ADAPTIVE:
		return learnt_group(scheme, place, quantum);
	case SCHEME_NONE:
		return scheme->fixed;
	default:
		return (place % groups + quantum % groups) % groups;
	}
}

double scheme_weight(const struct scheme *scheme, unsigned group)
{
	const struct adaptive *adaptive = scheme->adaptive;

	if (scheme->kind != SCHEME_ADAPTIVE || !adaptive || !adaptive->learnt)
		return 1;
	return 1 / (scheme->groups * adaptive->share[group]);
}
