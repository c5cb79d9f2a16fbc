/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/classify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/epsilon.h"
#include "cluster/prototypes.h"
#include "multiplex/mix.h"

/* Least distance that a prototype reaches beyond the sampled bursts that it represents. */
#define CLASSIFY_EPS 0.02

static const char *const names[] = { [SAMPLE_BY_TIME] = "time",
	[SAMPLE_BY_TASKS] = "tasks",
	[SAMPLE_BY_BOTH] = "both" };

bool sample_by_name(const char *name, enum sample_by *how)
{
	for (*how = SAMPLE_BY_TIME; *how <= SAMPLE_BY_BOTH; (*how)++)
		if (strcmp(name, names[*how]) == 0)
			return true;
	return false;
}

const char *sample_name(enum sample_by how)
{
	return names[how];
}

/* Marks `bursts` random bursts that are not yet taken (selection sampling, Knuth's algorithm S). */
static void take_over_time(bool *taken, const struct selection *all, size_t bursts)
{
	uint64_t state = 1;
	size_t left = 0;

	for (size_t i = 0; i < all->count; i++)
		left += !taken[i];
	for (size_t i = 0; i < all->count && bursts; i++) {
		if (taken[i])
			continue;
		if (mix_next(&state) % left-- < bursts) {
			taken[i] = true;
			bursts--;
		}
	}
}

/*
 * Marks whole sequences, evenly spread, that have about `bursts` bursts. Returns the number of marked bursts.
 */
static size_t take_over_tasks(bool *taken, const struct selection *all, size_t bursts)
{
	size_t tasks = (bursts * all->sequences + all->count - 1) / all->count, found = 0;

	tasks = tasks < 1 ? 1 : tasks > all->sequences ? all->sequences : tasks;
	for (size_t t = 0; t < tasks; t++) {
		size_t s = t * all->sequences / tasks;

		for (size_t i = all->first[s]; i < all->first[s + 1]; i++) {
			taken[i] = true;
			found++;
		}
	}
	return found;
}

int sample_take(struct selection *sample, const struct selection *all, size_t bursts,
		enum sample_by how)
{
	bool *taken = calloc(all->count + 1, sizeof(*taken));
	uint32_t dims = all->space.dims;

	*sample = (struct selection){ .space = all->space,
		.shortest = all->shortest,
		.sequences = all->sequences,
		.time = all->time };
	memcpy(sample->metric, all->metric, sizeof(sample->metric));
	sample->row = malloc((all->count + 1) * sizeof(*sample->row));
	sample->point = calloc(all->count * dims + 1, sizeof(*sample->point));
	sample->duration = malloc((all->count + 1) * sizeof(*sample->duration));
	sample->first = malloc((all->sequences + 1) * sizeof(*sample->first));
	if (!taken || !sample->row || !sample->point || !sample->duration || !sample->first) {
		free(taken);
		return -ENOMEM;
	}
	if (how == SAMPLE_BY_TIME) {
		take_over_time(taken, all, bursts);
	} else if (how == SAMPLE_BY_TASKS) {
		take_over_tasks(taken, all, bursts);
	} else {
		size_t found = take_over_tasks(taken, all, bursts / 2);

		take_over_time(taken, all, bursts > found ? bursts - found : 0);
	}
	for (size_t s = 0; s < all->sequences; s++) {
		sample->first[s] = sample->count;
		for (size_t i = all->first[s]; i < all->first[s + 1]; i++) {
			if (!taken[i])
				continue;
			sample->row[sample->count] = (uint32_t)i;
			memcpy(sample->point + sample->count * dims, all->point + i * dims,
					dims * sizeof(*sample->point));
			sample->duration[sample->count++] = all->duration[i];
		}
	}
	sample->first[all->sequences] = sample->count;
	free(taken);
	return 0;
}

int classify_rest(const struct selection *all, const struct selection *sample,
		const uint32_t *sampled, uint32_t clusters, uint32_t *label)
{
	struct prototype_table *table = calloc(1, sizeof(*table));
	uint32_t dims = all->space.dims;
	double eps;
	int error = epsilon_choose(sample->point, sample->count, dims, 3, CLASSIFY_EPS, &eps);

	if (!error)
		error = table ? 0 : -ENOMEM;
	if (!error) {
		table->space = all->space;
		error = prototypes_describe(table, sample->point, sample->count, sampled, clusters,
				fmax(eps, CLASSIFY_EPS));
	}
	for (size_t i = 0; !error && i < all->count; i++) {
		float point[SPACE_DIMS_MAX];
		int nearest;

		for (uint32_t dim = 0; dim < dims; dim++)
			point[dim] = (float)all->point[i * dims + dim];
		nearest = prototypes_nearest(table, point, 0);
		label[i] = nearest < 0 ? 0 : table->all[nearest].phase;
	}
	for (size_t i = 0; !error && i < sample->count; i++)
		label[sample->row[i]] = sampled[i];
	free(table);
	return error;
}
