/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/region/region_names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/boundary/calls.h"
#include "agent/symbols/source.h"
#include "tools/machine.h"

struct region_names {
	const struct region_rank *rank;
	char folder[PATH_MAX];
	struct source *source;
	struct region_label *label[SITES_MAX]; /* NULL: not made yet */
};

struct region_names *region_names_new(const struct region_rank *rank)
{
	struct region_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->rank = rank;
	if (machine_find_kin(names->folder, sizeof(names->folder)))
		names->folder[0] = '\0';
	names->source = source_open(names->folder, rank->module, rank->modules);
	return names;
}

void region_names_free(struct region_names *names)
{
	if (!names)
		return;
	for (unsigned i = 0; i < SITES_MAX; i++)
		free(names->label[i]);
	source_close(names->source);
	free(names);
}

/* Names the innermost callers of a site, functions that the compiler inlined among them. */
static void name_callers(struct region_names *names, const struct region_site *site,
		struct region_label *label)
{
	unsigned level = 0;

	for (unsigned f = 0; f < site->frames && level < REGION_LEVELS; f++) {
		struct source_place places[SOURCE_PLACES_MAX];
		unsigned count = source_find(names->source, (uintptr_t)site->address[f], places,
				SOURCE_PLACES_MAX);

		for (unsigned i = 0; i < count && level < REGION_LEVELS; i++, level++) {
			struct region_place *place = &label->caller[level];

			snprintf(place->function, sizeof(place->function), "%.*s",
					(int)sizeof(place->function) - 1, places[i].function);
			source_position(&places[i], place->position, sizeof(place->position));
		}
	}
}

const struct region_label *region_names_label(struct region_names *names, unsigned site)
{
	static const struct region_label unknown = { .call = "unknown call" };
	struct region_label *label = names->label[site];
	const struct region_site *of = &names->rank->site[site];

	if (label)
		return label;
	label = calloc(1, sizeof(*label));
	if (!label)
		return &unknown;
	label->call = of->number ? runtime_call_name(of->call) : "";
	if (!*label->call)
		label->call = unknown.call;
	if (names->source)
		name_callers(names, of, label);
	names->label[site] = label;
	return label;
}

unsigned region_phase(const struct region_rank *rank, const struct region_call *call,
		const json_t *report)
{
	const json_t *phase, *number;
	size_t i, k;

	if (!call->prototype)
		return 0;
	if (!report)
		return rank->phase[call->prototype - 1] % 1000000;
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		json_array_foreach (json_object_get(phase, "prototypes"), k, number)
			if (json_integer_value(number) == call->prototype - 1)
				return (unsigned)json_integer_value(json_object_get(phase, "id"));
	return 0;
}
