/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/phase_sets.h"

#include <string.h>

/* Sets longest[i] to the route of phase i + 1 with most time, or NULL. */
static void find_longest(const struct phase_labels *labels, const struct routes *routes,
		const struct route **longest)
{
	for (uint32_t i = 0; i < routes->count; i++) {
		const struct route *route = &routes->route[i];
		uint32_t phase = route->prototype < PROTOTYPES_MAX ?
				labels->phase[route->prototype] :
				0;

		if (phase && (!longest[phase - 1] || route->seconds > longest[phase - 1]->seconds))
			longest[phase - 1] = route;
	}
}

static bool same_place(const struct route *a, const struct route *b)
{
	return routes_compare_ends(&a->from, &b->from) == 0 &&
			routes_compare_ends(&a->to, &b->to) == 0;
}

/* Makes a set of a phase and the later ones of its place, if there are any. */
static void add_set(struct phase_sets *sets, const struct route *const *longest, uint32_t first,
		uint32_t phases)
{
	for (uint32_t i = first + 1; i < phases; i++)
		if (longest[i] && same_place(longest[first], longest[i])) {
			sets->count += !sets->set[first];
			sets->set[first] = sets->set[i] = sets->count;
		}
}

void phase_sets_find(struct phase_sets *sets, const struct phase_labels *labels,
		const struct phase_ranks *ranks, uint32_t all, const struct routes *routes)
{
	const struct route *longest[PROTOTYPES_MAX] = { NULL };

	sets->count = 0;
	memset(sets->set, 0, sizeof(sets->set));
	find_longest(labels, routes, longest);
	for (uint32_t i = 0; i < labels->phases; i++)
		if (!ranks->phase[i].ranks || ranks->phase[i].ranks >= all)
			longest[i] = NULL;
	for (uint32_t i = 0; i < labels->phases; i++)
		if (longest[i] && !sets->set[i])
			add_set(sets, longest, i, labels->phases);
}

void phase_sets_label(const struct phase_sets *sets, const struct phase_labels *labels,
		struct phase_labels *of_sets)
{
	*of_sets = (struct phase_labels){ .phases = sets->count };
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		if (labels->phase[p])
			of_sets->phase[p] = sets->set[labels->phase[p] - 1];
}

const struct phase_rank *phase_sets_of(const struct phase_sets *sets,
		const struct phase_ranks *ranks, uint32_t phase)
{
	uint32_t number = sets->set[phase - 1];
	const struct phase_rank *set;

	if (!number)
		return NULL;
	set = &sets->ranks.phase[number - 1];
	for (uint32_t i = 0; i < ranks->phases; i++)
		if (sets->set[i] == number && ranks->phase[i].ranks >= set->ranks)
			return NULL;
	return set;
}
