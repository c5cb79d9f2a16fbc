/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/prototypes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/sort.h"

/*
 * Distance beyond a prototype's radius up to which a guess is made, in a space scaled to 0 .. 1: for a burst of
 * the prototype's place, and for others.
 */
#define GUESS_OWN   0.15f
#define GUESS_OTHER 0.0f

/* PROTOTYPES_LANES prototypes, which are compared at once. The compiler uses the processor's vectors for it. */
typedef float lanes __attribute__((vector_size(4 * PROTOTYPES_LANES)));
typedef int32_t numbers __attribute__((vector_size(4 * PROTOTYPES_LANES)));

static unsigned indexed_axes(const struct prototype_table *table)
{
	return table->space.dims < PROTOTYPES_AXES ? table->space.dims : PROTOTYPES_AXES;
}

/*
 * Returns the bin of x. It is monotonic, so the bin of a point in an interval is never outside of its ends'
 * bins.
 */
static unsigned bin_of(const struct prototype_table *table, unsigned axis, float x)
{
	float bin = (x - table->bin_low[axis]) * table->bin_scale[axis];

	if (!(bin > 0))
		return 0;
	return bin < PROTOTYPES_BINS - 1 ? (unsigned)bin : PROTOTYPES_BINS - 1;
}

struct sort_key {
	float at;
	int32_t number;
};

static int by_position(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

struct place_key {
	uint32_t place;
	int32_t number;
};

static int by_place(const void *a, const void *b)
{
	const struct place_key *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static unsigned bin_of_place(uint32_t place)
{
	return place / (UINT32_MAX / PROTOTYPES_BINS + 1);
}

/*
 * Orders the numbers of some prototypes so that each block of PROTOTYPES_LANES consists of neighbours. It
 * repeatedly halves them along their widest axis, on a block's border. key: scratch space for `count` keys.
 */
static void order_blocks(const struct prototype_table *table, int32_t *number, unsigned count,
		struct sort_key *key)
{
	float most = -1;
	unsigned widest = 0,
		 half = (count / 2 + PROTOTYPES_LANES - 1) / PROTOTYPES_LANES * PROTOTYPES_LANES;

	if (count <= PROTOTYPES_LANES)
		return;
	for (unsigned dim = 0; dim < table->space.dims; dim++) {
		float low = INFINITY, high = -INFINITY;

		for (unsigned i = 0; i < count; i++) {
			low = fminf(low, table->all[number[i]].point[dim]);
			high = fmaxf(high, table->all[number[i]].point[dim]);
		}
		if (high - low > most) {
			most = high - low;
			widest = dim;
		}
	}
	for (unsigned i = 0; i < count; i++)
		key[i] = (struct sort_key){ table->all[number[i]].point[widest], number[i] };
	sort_items(key, count, sizeof(*key), by_position);
	for (unsigned i = 0; i < count; i++)
		number[i] = key[i].number;
	order_blocks(table, number, half, key);
	order_blocks(table, number + half, count - half, key);
}

/* Makes the bins of an axis, and the set of blocks that reach into each. */
static void index_axis(struct prototype_table *table, unsigned axis)
{
	float low = INFINITY, high = -INFINITY;

	for (uint32_t p = 0; p < table->count; p++) {
		low = fminf(low, table->all[p].point[axis] - table->all[p].radius);
		high = fmaxf(high, table->all[p].point[axis] + table->all[p].radius);
	}
	table->bin_low[axis] = table->count ? low : 0;
	table->bin_scale[axis] = high > low ? PROTOTYPES_BINS / (high - low) : 0;
	for (uint32_t column = 0; column < table->count; column++) {
		const struct prototype *p = &table->all[table->number[column]];
		/* a little more than the radius: the look-up's distances are rounded */
		float reach = p->radius * 1.001f + fabsf(p->point[axis]) * 1e-6f;
		unsigned last = bin_of(table, axis, p->point[axis] + reach);

		for (unsigned bin = bin_of(table, axis, p->point[axis] - reach); bin <= last; bin++)
			table->blocks[axis][bin] |= UINT64_C(1) << column / PROTOTYPES_LANES;
	}
}

/*
 * Orders the numbers of the prototypes: those of any place come first, the others by place. Returns the number
 * of those of any place.
 */
static uint32_t places_last(struct prototype_table *table)
{
	struct place_key key[PROTOTYPES_MAX];
	uint32_t any = 0;

	for (uint32_t p = 0; p < table->count; p++) {
		key[p] = (struct place_key){ table->all[p].place, (int32_t)p };
		any += !table->all[p].place;
	}
	sort_items(key, table->count, sizeof(*key), by_place);
	for (uint32_t p = 0; p < table->count; p++)
		table->number[p] = key[p].number;
	return any;
}

/* Makes the sets of blocks that have prototypes for a place. */
static void index_places(struct prototype_table *table)
{
	for (uint32_t column = 0; column < table->count; column++) {
		uint64_t block = UINT64_C(1) << column / PROTOTYPES_LANES;
		uint32_t place = table->place[column];

		for (unsigned bin = 0; bin < PROTOTYPES_BINS; bin++)
			if (!place || bin == bin_of_place(place))
				table->blocks_of_place[bin] |= block;
	}
}

void prototypes_index(struct prototype_table *table)
{
	struct sort_key key[PROTOTYPES_MAX];
	uint32_t any;

	memset(table->blocks, 0, sizeof(table->blocks));
	memset(table->blocks_of_place, 0, sizeof(table->blocks_of_place));
	memset(table->column, 0, sizeof(table->column));
	memset(table->place, 0, sizeof(table->place));
	for (uint32_t p = 0; p < PROTOTYPES_MAX; p++) {
		table->number[p] = (int32_t)p;
		table->radius2[p] = -1; /* no distance is below it */
	}
	any = places_last(table);
	order_blocks(table, table->number, any, key);
	for (uint32_t column = 0; column < table->count; column++) {
		const struct prototype *p = &table->all[table->number[column]];

		for (uint32_t dim = 0; dim < table->space.dims; dim++)
			table->column[dim][column] = p->point[dim];
		table->radius2[column] = p->radius * p->radius;
		table->place[column] = p->place;
	}
	for (unsigned axis = 0; axis < indexed_axes(table); axis++)
		index_axis(table, axis);
	index_places(table);
}

/* Returns the values of the lanes `from`. Clang lacks the builtin of GCC, and makes one instruction of the loop. */
static inline numbers take_lanes(numbers values, numbers from)
{
#ifdef __clang__
	numbers taken = { 0 };

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		taken[i] = values[from[i]];
	return taken;
#else
	return __builtin_shuffle(values, from);
#endif
}

/* Gives each lane the value of another one, if that is less. */
static inline void take_least(numbers *least, numbers *nearest, numbers from)
{
	numbers other = take_lanes(*least, from);
	numbers number = take_lanes(*nearest, from), nearer = other < *least;

	*least = (nearer & other) | (~nearer & *least);
	*nearest = (nearer & number) | (~nearer & *nearest);
}

/*
 * Returns the nearest prototype of some blocks, for prototypes_nearest. Distances are compared by their bits,
 * which have the order of the numbers because these are not negative. The sign bit makes those of the own place
 * less than all others.
 */
static inline int nearest_of(const struct prototype_table *table, const float *point,
		uint64_t blocks, uint32_t place)
{
	numbers least = { 0 }, nearest = { 0 }, own_place = { 0 };
	const numbers sign = own_place + INT32_MIN;

	own_place += (int32_t)place;
	least += INT32_MAX;
	nearest -= 1;
	for (; blocks; blocks &= blocks - 1) {
		unsigned column = (unsigned)__builtin_ctzll(blocks) * PROTOTYPES_LANES;
		lanes distance = { 0 }, at, radius2;
		numbers number, at_place, own, key, nearer;

		for (uint32_t dim = 0; dim < table->space.dims; dim++) {
			memcpy(&at, &table->column[dim][column], sizeof(at));
			at -= point[dim];
			distance += at * at;
		}
		memcpy(&radius2, &table->radius2[column], sizeof(radius2));
		memcpy(&number, &table->number[column], sizeof(number));
		memcpy(&at_place, &table->place[column], sizeof(at_place));
		own = at_place == own_place;
		memcpy(&key, &distance, sizeof(key));
		key |= own & sign;
		nearer = (distance <= radius2) & (key < least) & (own | (at_place == 0));
		least = (nearer & key) | (~nearer & least);
		nearest = (nearer & number) | (~nearer & nearest);
	}
	/* the least of the lanes, in two steps without a branch that could be mispredicted */
	take_least(&least, &nearest, (numbers){ 2, 3, 0, 1 });
	take_least(&least, &nearest, (numbers){ 1, 0, 3, 2 });
	return nearest[0];
}

int prototypes_nearest(const struct prototype_table *table, const float *point, uint32_t place)
{
	unsigned axes = indexed_axes(table);
	uint64_t blocks;

	if (!table->count)
		return -1;
	blocks = table->blocks_of_place[bin_of_place(place)];
	for (unsigned axis = 0; axis < axes; axis++)
		blocks &= table->blocks[axis][bin_of(table, axis, point[axis])];
	return nearest_of(table, point, blocks, place);
}

bool prototypes_know_place(const struct prototype_table *table, uint32_t place)
{
	/* the columns are in order of their places, with those of any place first */
	uint32_t low = 0, high = table->count;

	while (place && low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->place[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	return place && low < table->count && table->place[low] == place;
}

int prototypes_guess(const struct prototype_table *table, const float *point, uint32_t place)
{
	int guess = -1;
	bool of_place = false;
	float least = INFINITY;

	for (uint32_t p = 0; p < table->count; p++) {
		const struct prototype *prototype = &table->all[p];
		bool own = place && prototype->place == place;
		float distance = 0, reach;

		for (uint32_t dim = 0; dim < table->space.dims; dim++)
			distance += (point[dim] - prototype->point[dim]) *
					(point[dim] - prototype->point[dim]);
		distance = sqrtf(distance);
		reach = prototype->radius + (own ? GUESS_OWN : GUESS_OTHER);
		if (!(distance <= reach) || (of_place && !own) ||
				(of_place == own && distance >= least))
			continue;
		of_place = own;
		least = distance;
		guess = (int)p;
	}
	return guess;
}
