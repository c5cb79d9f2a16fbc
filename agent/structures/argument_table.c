/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/argument_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/arguments_image.h"

/* ---- variants ---- */

static bool is_of(const struct argument_variant *variant, const struct argument_variant *wanted)
{
	return variant->path == wanted->path && variant->argument == wanted->argument;
}

/* Returns the variant with this sequence, or (0 bytes) the one without, or NULL. */
static struct argument_variant *argument_variant_find(struct argument_table *table,
		const struct argument_variant *wanted, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < table->variants; i++) {
		struct argument_variant *variant = &table->variant[i];

		if (!is_of(variant, wanted) || variant->bytes != wanted->bytes)
			continue;
		if (!wanted->bytes ||
				(variant->values * wanted->ranks ==
								wanted->values * variant->ranks &&
						variant->exact == wanted->exact &&
						!memcmp(&table->byte[variant->first_byte], bytes,
								wanted->bytes)))
			return variant;
	}
	return NULL;
}

static void add_up(const struct argument_variant *more, struct argument_variant *into)
{
	into->ranks += more->ranks;
	into->values += more->values;
	into->marks += more->marks;
	into->least = fmin(into->least, more->least);
	into->most = fmax(into->most, more->most);
	into->sum += more->sum;
	into->exact = fmin(into->exact, more->exact);
}

/* Adds processes to those of a path and an argument. bytes: the sequence of the variant, which is not in the table. */
static void argument_variant_add(struct argument_table *table,
		const struct argument_variant *variant, const struct rank_set *set,
		const uint8_t *bytes)
{
	struct argument_variant new = *variant, *known = argument_variant_find(table, &new, bytes);

	if (!known && new.bytes > ARGUMENT_BYTES_MAX - table->bytes) {
		new.bytes = 0;
		new.exact = 0;
		known = argument_variant_find(table, &new, bytes);
	}
	if (known) {
		add_up(&new, known);
		known->first_range = rank_lists_merge(&table->ranks, known->first_range, set);
		return;
	}
	if (table->variants == ARGUMENT_VARIANTS_MAX) {
		table->left_out_values += new.values;
		return;
	}
	new.first_byte = table->bytes;
	new.first_range = rank_lists_add(&table->ranks, set);
	memcpy(&table->byte[new.first_byte], bytes, new.bytes);
	table->bytes += new.bytes;
	table->variant[table->variants++] = new;
}

/* ---- the arguments of one thread ---- */

/* Forgets the sequences of a path, whose bytes stay in the table until it is merged. */
static void lose_path(struct argument_table *table, uint32_t path)
{
	for (uint32_t i = 0; i < table->variants; i++)
		if (table->variant[i].path == path) {
			table->variant[i].bytes = 0;
			table->variant[i].exact = 0;
		}
}

/* Adds the values of an argument, of which a record is given. */
static void share_values(const struct arguments_record *record, const uint8_t *values,
		uint32_t path, uint32_t rank, struct argument_table *table)
{
	bool has_numbers = record->count > record->marks;
	const struct argument_variant variant = { .path = path,
		.argument = record->argument,
		.ranks = 1,
		.bytes = record->bytes,
		.values = (double)record->count,
		.marks = (double)record->marks,
		.least = has_numbers ? (double)record->least : INFINITY,
		.most = has_numbers ? (double)record->most : -INFINITY,
		.sum = record->sum,
		.exact = record->exact == STREAM_ALL ? INFINITY : (double)record->exact };
	struct rank_set set = { 0 };

	rank_set_add(&set, (struct rank_range){ rank, 1, 1 });
	argument_variant_add(table, &variant, &set, values);
}

/* Returns the number of a new path, or STRUCTURES_PATHS_MAX. */
static uint32_t add_path(struct argument_table *table, const struct route_end *end)
{
	uint32_t known = table->paths,
		 path = routes_number_end(table->path, &table->paths, STRUCTURES_PATHS_MAX, end);

	if (path >= known)
		return path;
	/* the order of the calls of two sites that look alike is not known */
	lose_path(table, path);
	return STRUCTURES_PATHS_MAX;
}

void argument_table_share(const struct structures_thread *thread, const uint8_t *image,
		size_t length, struct place_files *files, struct argument_table *table)
{
	uint32_t site = 0, path = STRUCTURES_PATHS_MAX;
	struct arguments_record record;
	struct route_end end = { 0 };
	const uint8_t *values;
	size_t at = 0;

	if (!image) {
		table->left_out++;
		return;
	}
	table->left_out_values += (double)arguments_image_left_out(image);
	while ((values = arguments_image_next(image, length, &at, thread->sites->sites, &record))) {
		if (record.site != site) {
			site = record.site;
			end = routes_end(thread->sites, site, thread->modules, thread->count,
					files);
			path = add_path(table, &end);
		}
		if (path == STRUCTURES_PATHS_MAX)
			table->left_out_values += (double)record.count;
		else if (call_arguments_of(end.call) & 1u << record.argument)
			share_values(&record, values, path, thread->rank, table);
	}
}

/* ---- the arguments of several processes ---- */

void argument_table_merge(const void *in, void *inout)
{
	const struct argument_table *from = in;
	struct argument_table *into = inout;

	into->left_out += from->left_out;
	into->left_out_values += from->left_out_values;
	for (uint32_t i = 0; i < from->variants; i++) {
		struct argument_variant variant = from->variant[i];
		struct rank_set set = rank_lists_read(&from->ranks, variant.first_range);

		variant.path = routes_number_end(into->path, &into->paths, STRUCTURES_PATHS_MAX,
				&from->path[variant.path]);
		if (variant.path == STRUCTURES_PATHS_MAX)
			into->left_out_values += variant.values;
		else
			argument_variant_add(into, &variant, &set, &from->byte[variant.first_byte]);
	}
}

void argument_table_restore(struct argument_table *table, const struct place_files *files,
		struct place_modules *modules)
{
	for (uint32_t i = 0; i < table->paths; i++)
		routes_restore_end(&table->path[i], files, modules);
}
