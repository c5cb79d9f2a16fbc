#include "cluster/prototypes.h"

#include <math.h>
#include <string.h>

#define WORDS (PROTOTYPES_MAX / 64)

/* Monotonic in x, so a point within an interval is never binned outside of its ends' bins. */
static unsigned bin_of(const struct prototype_table *table, unsigned axis, float x)
{
	float bin = (x - table->bin_low[axis]) * table->bin_scale[axis];

	if (!(bin > 0))
		return 0;
	return bin < PROTOTYPES_BINS - 1 ? (unsigned)bin : PROTOTYPES_BINS - 1;
}

static unsigned indexed_axes(const struct prototype_table *table)
{
	return table->space.dims < PROTOTYPES_AXES ? table->space.dims : PROTOTYPES_AXES;
}

void prototypes_index(struct prototype_table *table)
{
	memset(table->reach, 0, sizeof(table->reach));
	for (unsigned axis = 0; axis < indexed_axes(table); axis++) {
		float low = INFINITY, high = -INFINITY;

		for (uint32_t p = 0; p < table->count; p++) {
			low = fminf(low, table->all[p].at[axis] - table->all[p].radius);
			high = fmaxf(high, table->all[p].at[axis] + table->all[p].radius);
		}
		table->bin_low[axis] = table->count ? low : 0;
		table->bin_scale[axis] = high > low ? PROTOTYPES_BINS / (high - low) : 0;
		for (uint32_t p = 0; p < table->count; p++) {
			/* a little more than the radius: the look-up's distances are rounded */
			float at = table->all[p].at[axis];
			float reach = table->all[p].radius * 1.001f + fabsf(at) * 1e-6f;
			unsigned last = bin_of(table, axis, at + reach);

			for (unsigned bin = bin_of(table, axis, at - reach); bin <= last; bin++)
				table->reach[axis][bin][p / 64] |= UINT64_C(1) << p % 64;
		}
	}
}

int prototypes_nearest(const struct prototype_table *table, const float *point)
{
	unsigned axes = indexed_axes(table);
	uint64_t near[WORDS];
	float least = INFINITY;
	int nearest = -1;

	if (!table->count)
		return -1;
	memcpy(near, table->reach[0][bin_of(table, 0, point[0])], sizeof(near));
	for (unsigned axis = 1; axis < axes; axis++) {
		const uint64_t *reach = table->reach[axis][bin_of(table, axis, point[axis])];

		for (unsigned word = 0; word < WORDS; word++)
			near[word] &= reach[word];
	}
	for (unsigned word = 0; word < WORDS; word++) {
		for (; near[word]; near[word] &= near[word] - 1) {
			int number = (int)word * 64 + __builtin_ctzll(near[word]);
			const struct prototype *p = &table->all[number];
			float distance = 0;

			for (uint32_t dim = 0; dim < table->space.dims; dim++) {
				float apart = point[dim] - p->at[dim];

				distance += apart * apart;
			}
			if (distance <= p->radius * p->radius && distance < least) {
				least = distance;
				nearest = number;
			}
		}
	}
	return nearest;
}
