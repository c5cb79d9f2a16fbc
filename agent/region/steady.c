/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/region/steady.h"

#include <math.h>
#include <string.h>

#define TRIES_MAX 6 /* rounds after which the requirements fall */
/*
 * Bytes of a call in the Paraver trace, at most: two states, and three events, of which one has a phase, two functions and
 * lines, and counters, and another one the same without counters. Most calls take 250, or 350 with counters.
 */
#define CALL_BYTES 500
#define CALLS_MAX  262144 /* of a rank, 8 MiB */

const struct steady_level steady_levels[STEADY_LEVELS] = {
	{ 0.95, 3, 1 },
	{ 0.90, 3, 1 },
	{ 0.85, 2, 0.5 },
	{ 0.70, 1, 0.5 },
	{ 0, 1, 0 },
};

static void add_loop(struct region_part *into, const struct region_loop *loop)
{
	unsigned at = 0;

	while (at < into->loops && into->loop[at].shape < loop->shape)
		at++;
	if (at < into->loops && into->loop[at].shape == loop->shape) {
		struct region_loop *own = &into->loop[at];

		own->ranks += loop->ranks;
		own->least = fmin(own->least, loop->least);
		own->most = fmax(own->most, loop->most);
		own->rate = fmax(own->rate, loop->rate);
		own->calls += loop->calls;
		return;
	}
	if (at == REGION_SHAPES_MAX)
		return;
	into->loops -= into->loops == REGION_SHAPES_MAX;
	memmove(&into->loop[at + 1], &into->loop[at], (into->loops - at) * sizeof(*loop));
	into->loop[at] = *loop;
	into->loops++;
}

void region_part_merge(const struct region_part *from, struct region_part *into)
{
	into->ranks += from->ranks;
	for (unsigned i = 0; i < from->loops; i++)
		add_loop(into, &from->loop[i]);
	for (unsigned phase = 0; phase <= REGION_PHASES_MAX; phase++)
		into->seconds[phase] += from->seconds[phase];
}

/* Replaces the shares by those of a part. Returns the share of the time in phases that match, without time in no phase. */
static double compare_shares(struct steady *steady, const struct region_part *part)
{
	double all = 0, matched = 0;

	for (unsigned phase = 0; phase <= REGION_PHASES_MAX; phase++)
		all += part->seconds[phase];
	for (unsigned phase = 0; phase <= REGION_PHASES_MAX; phase++) {
		double share = all > 0 ? part->seconds[phase] / all : 0;

		if (phase && steady->known && share < steady->share[phase])
			matched += share;
		else if (phase && steady->known)
			matched += steady->share[phase];
		steady->share[phase] = share;
	}
	return matched;
}

static double ranks_in_loops(const struct region_part *part)
{
	double ranks = 0;

	for (unsigned i = 0; i < part->loops; i++)
		ranks += part->loop[i].ranks;
	return ranks;
}

bool steady_look(struct steady *steady, const struct region_part *part)
{
	const struct steady_level *level = &steady_levels[steady->level];
	bool was_known = steady->known;

	steady->matched = compare_shares(steady, part);
	steady->known = true;
	if (!was_known)
		return false;
	steady->rounds++;
	steady->row = steady->matched >= level->share ? steady->row + 1 : 0;
	if (steady->row >= level->rounds && part->loops &&
			ranks_in_loops(part) >= level->ranks * part->ranks)
		return true;
	if (++steady->tried >= TRIES_MAX && steady->level + 1 < STEADY_LEVELS) {
		steady->level++;
		steady->tried = 0;
	}
	return false;
}

/* Returns the number of iterations that a wish stands for. */
static double iterations_of(const struct region_part *part, const struct region_wish *wish)
{
	double calls = 0;

	if (wish->iterations > 0)
		return wish->iterations;
	for (unsigned i = 0; i < part->loops; i++)
		calls += part->loop[i].calls;
	return fmax(1, floor(wish->bytes / (CALL_BYTES * fmax(calls, 1))));
}

void steady_order(struct region_order *order, const struct region_part *part,
		const struct region_wish *wish, double ahead)
{
	*order = (struct region_order){ .loops = part->loops, .calls_max = CALLS_MAX };
	order->iterations = (uint64_t)iterations_of(part, wish);
	if (wish->bytes > 0 && wish->bytes / CALL_BYTES / fmax(part->ranks, 1) < CALLS_MAX)
		order->calls_max = (uint64_t)(wish->bytes / CALL_BYTES / fmax(part->ranks, 1));
	for (unsigned i = 0; i < part->loops; i++) {
		const struct region_loop *loop = &part->loop[i];
		double first = loop->most;

		for (unsigned k = 0; k < part->loops; k++)
			if (fabs(part->loop[k].most - loop->most) <= 2 + ahead * loop->rate)
				first = fmax(first,
						part->loop[k].most + ahead * part->loop[k].rate);
		first = fmax(first, loop->most + ahead * loop->rate);
		order->loop[i].shape = loop->shape;
		order->loop[i].first = (uint64_t)ceil(first) + 1;
	}
}
