#include "cluster/prototypes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many prototypes as are compared at once; the compiler makes of it what the processor has. */
typedef float lanes __attribute__((vector_size(4 * PROTOTYPES_LANES)));
typedef int32_t numbers __attribute__((vector_size(4 * PROTOTYPES_LANES)));

static unsigned indexed_axes(const struct prototype_table *table)
{
	return table->space.dims < PROTOTYPES_AXES ? table->space.dims : PROTOTYPES_AXES;
}

/* Monotonic in x, so a point within an interval is never binned outside of its ends' bins. */
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

static int by_place(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * Orders the numbers of some prototypes so that each block of PROTOTYPES_LANES holds neighbours:
 * halves them along their widest axis, on a block's border, again and again.
 */
static void order_blocks(const struct prototype_table *table, int32_t *number, unsigned count)
{
	struct sort_key key[PROTOTYPES_MAX];
	float most = -1;
	unsigned widest = 0,
		 half = (count / 2 + PROTOTYPES_LANES - 1) / PROTOTYPES_LANES * PROTOTYPES_LANES;

	if (count <= PROTOTYPES_LANES)
		return;
	for (unsigned dim = 0; dim < table->space.dims; dim++) {
		float low = INFINITY, high = -INFINITY;

		for (unsigned i = 0; i < count; i++) {
			low = fminf(low, table->all[number[i]].at[dim]);
			high = fmaxf(high, table->all[number[i]].at[dim]);
		}
		if (high - low > most) {
			most = high - low;
			widest = dim;
		}
	}
	for (unsigned i = 0; i < count; i++)
		key[i] = (struct sort_key){ table->all[number[i]].at[widest], number[i] };
	qsort(key, count, sizeof(*key), by_place);
	for (unsigned i = 0; i < count; i++)
		number[i] = key[i].number;
	order_blocks(table, number, half);
	order_blocks(table, number + half, count - half);
}

/* Bins of an axis, and which blocks reach into each. */
static void index_axis(struct prototype_table *table, unsigned axis)
{
	float low = INFINITY, high = -INFINITY;

	for (uint32_t p = 0; p < table->count; p++) {
		low = fminf(low, table->all[p].at[axis] - table->all[p].radius);
		high = fmaxf(high, table->all[p].at[axis] + table->all[p].radius);
	}
	table->bin_low[axis] = table->count ? low : 0;
	table->bin_scale[axis] = high > low ? PROTOTYPES_BINS / (high - low) : 0;
	for (uint32_t place = 0; place < table->count; place++) {
		const struct prototype *p = &table->all[table->number[place]];
		/* a little more than the radius: the look-up's distances are rounded */
		float reach = p->radius * 1.001f + fabsf(p->at[axis]) * 1e-6f;
		unsigned last = bin_of(table, axis, p->at[axis] + reach);

		for (unsigned bin = bin_of(table, axis, p->at[axis] - reach); bin <= last; bin++)
			table->blocks[axis][bin] |= UINT64_C(1) << place / PROTOTYPES_LANES;
	}
}

void prototypes_index(struct prototype_table *table)
{
	memset(table->blocks, 0, sizeof(table->blocks));
	memset(table->column, 0, sizeof(table->column));
	for (uint32_t p = 0; p < PROTOTYPES_MAX; p++) {
		table->number[p] = (int32_t)p;
		table->radius2[p] = -1; /* nothing is so near */
	}
	order_blocks(table, table->number, table->count);
	for (uint32_t place = 0; place < table->count; place++) {
		const struct prototype *p = &table->all[table->number[place]];

		for (uint32_t dim = 0; dim < table->space.dims; dim++)
			table->column[dim][place] = p->at[dim];
		table->radius2[place] = p->radius * p->radius;
	}
	for (unsigned axis = 0; axis < indexed_axes(table); axis++)
		index_axis(table, axis);
}

/* Each lane takes what another one has, where that is nearer. */
static inline void take_nearer(lanes *least, numbers *nearest, numbers from)
{
	lanes other = __builtin_shuffle(*least, from);
	numbers number = __builtin_shuffle(*nearest, from), nearer = other < *least;

	*least = (lanes)((nearer & (numbers)other) | (~nearer & (numbers)*least));
	*nearest = (nearer & number) | (~nearer & *nearest);
}

int prototypes_nearest(const struct prototype_table *table, const float *point)
{
	unsigned axes = indexed_axes(table);
	lanes least = { 0 };
	numbers nearest = { 0 };
	uint64_t blocks;

	if (!table->count)
		return -1;
	least += INFINITY;
	nearest -= 1;
	blocks = table->blocks[0][bin_of(table, 0, point[0])];
	for (unsigned axis = 1; axis < axes; axis++)
		blocks &= table->blocks[axis][bin_of(table, axis, point[axis])];
	for (; blocks; blocks &= blocks - 1) {
		unsigned place = (unsigned)__builtin_ctzll(blocks) * PROTOTYPES_LANES;
		lanes distance = { 0 }, at, radius2;
		numbers number, nearer;

		for (uint32_t dim = 0; dim < table->space.dims; dim++) {
			memcpy(&at, &table->column[dim][place], sizeof(at));
			at -= point[dim];
			distance += at * at;
		}
		memcpy(&radius2, &table->radius2[place], sizeof(radius2));
		memcpy(&number, &table->number[place], sizeof(number));
		nearer = (distance <= radius2) & (distance < least);
		least = (lanes)((nearer & (numbers)distance) | (~nearer & (numbers)least));
		nearest = (nearer & number) | (~nearer & nearest);
	}
	/* the least of the lanes, in two steps without a branch that could be mispredicted */
	take_nearer(&least, &nearest, (numbers){ 2, 3, 0, 1 });
	take_nearer(&least, &nearest, (numbers){ 1, 0, 3, 2 });
	return nearest[0];
}
