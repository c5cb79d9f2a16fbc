/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/variants.h"

#include <string.h>

/* ---- counts ---- */

static unsigned write_number(uint32_t number, uint8_t *bytes)
{
	return counts_write_run(bytes, (struct counts_run){ number, 1 });
}

unsigned variants_write_same(struct counts_run run, uint8_t *bytes)
{
	unsigned length = write_number(0, bytes);

	return length + counts_write_run(bytes + length, run);
}

/* Reads all runs of a token, and writes them. bytes NULL: only counts them. Returns the number of runs, or of bytes. */
static unsigned copy_runs(const struct loops *loops, const struct loops_token *token,
		uint8_t *bytes)
{
	struct counts_reader reader = { 0 };
	unsigned runs = 0, length = 0;

	for (uint64_t left = counts_period(loops, token, 0); left; runs++) {
		uint64_t uses = counts_next_run(loops, token, &reader, left);

		if (bytes)
			length += counts_write_run(bytes + length,
					(struct counts_run){ reader.count, uses });
		left -= uses;
	}
	return bytes ? length : runs;
}

unsigned variants_write(const struct loops *loops, const struct loops_token *token, uint8_t *bytes)
{
	unsigned length;

	if (token->kind == LOOPS_HOLE)
		return variants_write_same((struct counts_run){ 1, token->slot.count }, bytes);
	if (!token->counts)
		return variants_write_same((struct counts_run){ token->count, 1 }, bytes);
	length = write_number(copy_runs(loops, token, NULL), bytes);
	return length + copy_runs(loops, token, bytes + length);
}

unsigned variants_read(const uint8_t *bytes, struct variants_counts *counts)
{
	struct counts_run number;
	unsigned length = counts_read_run(bytes, &number);

	counts->varies = number.count > 0;
	counts->runs = counts->varies ? number.count : 1;
	counts->bytes = bytes + length;
	return length;
}

unsigned variants_next_run(struct variants_counts *counts, struct counts_run *run)
{
	unsigned length;

	if (!counts->runs)
		return 0;
	counts->runs--;
	length = counts_read_run(counts->bytes, run);
	counts->bytes += length;
	return length;
}

unsigned variants_length(const uint8_t *bytes)
{
	struct variants_counts counts;
	struct counts_run run;
	unsigned length = variants_read(bytes, &counts), more;

	while ((more = variants_next_run(&counts, &run)))
		length += more;
	return length;
}

/* ---- ranks ---- */

struct rank_set variants_ranks(const struct structures *structures,
		const struct structure_variant *variant)
{
	return rank_lists_read(&structures->ranks, variant->first_range);
}

/* ---- variants ---- */

/* Returns the variant of a structure that has these counts in each of its processes, or NULL. */
static struct structure_variant *structure_variant_find(struct structures *structures,
		const struct structure_variant *wanted, const uint8_t *counts)
{
	for (uint32_t i = 0; i < structures->variants; i++) {
		struct structure_variant *variant = &structures->variant[i];

		if (variant->structure != wanted->structure ||
				variant->count_bytes != wanted->count_bytes)
			continue;
		if (!wanted->count_bytes ||
				(variant->calls * wanted->ranks == wanted->calls * variant->ranks &&
						variant->expandable == wanted->expandable &&
						!memcmp(&structures->counts[variant->first_count],
								counts, wanted->count_bytes)))
			return variant;
	}
	return NULL;
}

static bool has_room(const struct structures *structures, const struct structure_variant *variant)
{
	return structures->variants < STRUCTURES_VARIANTS_MAX - STRUCTURES_MAX &&
			variant->count_bytes <= STRUCTURES_COUNT_BYTES - structures->count_bytes;
}

void variants_add(struct structures *structures, const struct structure_variant *variant,
		const struct rank_set *set, const uint8_t *counts)
{
	struct structure_variant new = *variant,
				 *known = structure_variant_find(structures, &new, counts);

	if (!known && !has_room(structures, &new)) {
		new.count_bytes = 0;
		known = structure_variant_find(structures, &new, counts);
	}
	if (!known) {
		known = &structures->variant[structures->variants++];
		*known = new;
		known->first_count = structures->count_bytes;
		memcpy(&structures->counts[known->first_count], counts, new.count_bytes);
		structures->count_bytes += new.count_bytes;
		known->first_range = rank_lists_add(&structures->ranks, set);
		return;
	}
	known->ranks += new.ranks;
	known->calls += new.calls;
	if (new.expandable < known->expandable)
		known->expandable = new.expandable;
	known->first_range = rank_lists_merge(&structures->ranks, known->first_range, set);
}

/* Removes the counts of a variant, and moves those behind them there. */
static void remove_counts(struct structures *structures, const struct structure_variant *variant)
{
	uint32_t first = variant->first_count, bytes = variant->count_bytes;

	memmove(&structures->counts[first], &structures->counts[first + bytes],
			structures->count_bytes - first - bytes);
	structures->count_bytes -= bytes;
	for (uint32_t i = 0; i < structures->variants; i++)
		if (structures->variant[i].first_count > first)
			structures->variant[i].first_count -= bytes;
}

void variants_take(struct structures *structures, uint32_t number)
{
	struct structure_variant *variant = &structures->variant[number];

	rank_lists_free(&structures->ranks, variant->first_range);
	remove_counts(structures, variant);
	*variant = structures->variant[--structures->variants];
}

void variants_remove(struct structures *structures, uint32_t structure)
{
	for (uint32_t i = structures->variants; i--;)
		if (structures->variant[i].structure == structure)
			variants_take(structures, i);
}
