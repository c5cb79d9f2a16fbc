/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/hotspots.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/stacks/named_stacks.h"

#define NAMED_MAX  256 /* addresses that are looked up per phase, because naming takes long */
#define SHOWN_MAX  8
#define STACKS_MAX 48 /* stacks of a phase */

struct hotspot {
	char function[sizeof(((struct source_place *)0)->function)];
	char position[sizeof(((struct source_place *)0)->file) + 32];
	uint32_t samples;
};

struct hotspots {
	unsigned count;
	struct hotspot spot[NAMED_MAX];
};

static int by_samples(const void *a, const void *b)
{
	uint32_t x = ((const struct profile_entry *)a)->samples;
	uint32_t y = ((const struct profile_entry *)b)->samples;

	return (x < y) - (x > y);
}

static int by_heat(const void *a, const void *b)
{
	uint32_t x = ((const struct hotspot *)a)->samples, y = ((const struct hotspot *)b)->samples;

	return (x < y) - (x > y);
}

/* Fills the phase's entries, which are by address, most samples first. Returns how many. */
static unsigned gather_samples(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct profile_entry *found)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address && entry->key.prototype < table->count &&
				table->all[entry->key.prototype].phase == phase)
			found[count++] = *entry;
	}
	qsort(found, count, sizeof(*found), by_samples);
	return count;
}

/* Adds samples of a function and a position. function "": a line alone. position "": a function alone. */
static void hotspots_add(struct hotspots *spots, const char *function, const char *position,
		uint32_t samples)
{
	struct hotspot *spot;

	for (unsigned i = 0; i < spots->count; i++)
		if (strcmp(spots->spot[i].function, function) == 0 &&
				strcmp(spots->spot[i].position, position) == 0) {
			spots->spot[i].samples += samples;
			return;
		}
	spot = &spots->spot[spots->count++];
	snprintf(spot->function, sizeof(spot->function), "%s", function);
	snprintf(spot->position, sizeof(spot->position), "%s", position);
	spot->samples = samples;
}

/* What is found out of the samples of a phase. */
struct naming {
	struct source *source;
	struct hotspots *functions, *lines;
	struct named_stacks stacks;
	uint64_t in_stacks; /* samples */
};

static void name(struct naming *naming, const struct profile_entry *entry)
{
	struct source_place places[SOURCE_PLACES_MAX];
	/* source_find takes return addresses, but a sample has the address of an instruction */
	unsigned count = source_find(naming->source, entry->address + 1, places, SOURCE_PLACES_MAX);
	const struct source_place *function = &places[count - 1];
	char position[sizeof(places[0].file) + 32];

	if (named_stacks_add(&naming->stacks, entry->address, entry->key.stack, entry->samples,
			    places, count))
		naming->in_stacks += entry->samples;
	hotspots_add(naming->functions, *function->function ? function->function : function->module,
			"", entry->samples);
	if (!*places[0].file || !places[0].line)
		return;
	source_position(&places[0], position, sizeof(position));
	hotspots_add(naming->lines, places[0].function, position, entry->samples);
}

static json_t *list(struct hotspots *spots, uint32_t samples, bool lines)
{
	json_t *array = json_array();

	qsort(spots->spot, spots->count, sizeof(spots->spot[0]), by_heat);
	for (unsigned i = 0; i < spots->count && i < SHOWN_MAX; i++) {
		json_t *row = json_pack("{s:o,s:o,s:I}", "function",
				document_text(spots->spot[i].function), "share",
				json_real((double)spots->spot[i].samples / samples), "samples",
				(json_int_t)spots->spot[i].samples);

		if (lines)
			row = document_set(row, "line", document_text(spots->spot[i].position));
		array = document_append(array, row);
	}
	return array;
}

/* ---- stacks ---- */

/* Returns the names of a stack, outermost first, with null where callers are not known. */
static json_t *frames_of(const struct named_stack *stack)
{
	json_t *frames = json_array();
	const char *name = stack->frames, *end;

	for (; (end = strchr(name, NAMED_STACK_END)); name = end + 1) {
		json_t *text = json_stringn(name, (size_t)(end - name));

		frames = document_append(frames,
				end == name          ? json_null() :
						text ? json_incref(text) :
						       document_text("?"));
		json_decref(text);
	}
	return frames;
}

/* Returns the report's "stacks" of a phase. left_out: number of its samples that are in none of them. */
static json_t *stacks_of(struct named_stacks *stacks, uint64_t left_out)
{
	json_t *array = json_array();
	uint64_t whole = 0;

	named_stacks_settle(stacks, STACKS_MAX);
	for (unsigned i = 0; i < stacks->count; i++) {
		const struct named_stack *stack = &stacks->stack[i];

		whole += stack->whole ? stack->samples : 0;
		if (i >= STACKS_MAX) {
			left_out += stack->samples;
			continue;
		}
		array = document_append(array,
				json_pack("{s:o,s:o,s:I}", "frames", frames_of(stack), "line",
						stack->line ? document_text(stack->line) :
							      json_null(),
						"samples", (json_int_t)stack->samples));
	}
	return json_pack("{s:I,s:I,s:o}", "whole", (json_int_t)whole, "left_out",
			(json_int_t)left_out, "stacks", array);
}

/* Returns the number of samples of the phase that found no room in the table of all processes. */
static uint64_t count_left_out(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase)
{
	uint64_t samples = 0;

	for (unsigned p = 0; profile && p < table->count; p++)
		samples += table->all[p].phase == phase ? profile->left_out[p] : 0;
	return samples;
}

/* Names the samples, which are `count` entries. Returns the report's "profile" of the phase. */
static json_t *name_all(struct naming *naming, const struct profile_entry *found, unsigned count,
		uint64_t left_out)
{
	uint64_t all = 0, named = 0;

	for (unsigned i = 0; i < count; i++) {
		all += found[i].samples;
		if (i >= NAMED_MAX)
			continue;
		named += found[i].samples;
		name(naming, &found[i]);
	}
	return json_pack("{s:I,s:o,s:o,s:o}", "samples", (json_int_t)all, "functions",
			list(naming->functions, (uint32_t)named, false), "lines",
			list(naming->lines, (uint32_t)named, true), "stacks",
			stacks_of(&naming->stacks, left_out + all - naming->in_stacks));
}

json_t *hotspots_of_phase(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct source *source)
{
	/* malloc, because most of it is never touched */
	struct profile_entry *found = malloc(PROFILE_ENTRIES * sizeof(*found));
	struct hotspots *spots = malloc(2 * sizeof(*spots));
	struct naming naming = { .source = source };
	json_t *object = NULL;

	if (found && spots &&
			named_stacks_init(&naming.stacks, source, profile ? profile->stack : NULL,
					NAMED_MAX)) {
		bool known = profile && source;

		naming.functions = &spots[0];
		naming.lines = &spots[1];
		spots[0].count = spots[1].count = 0;
		object = name_all(&naming, found,
				known ? gather_samples(profile, table, phase, found) : 0,
				known ? count_left_out(profile, table, phase) : 0);
	}
	named_stacks_fini(&naming.stacks);
	free(spots);
	free(found);
	return object;
}
