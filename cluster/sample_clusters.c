/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters a sample of bursts, which is used by trainings during the run: refinement by sequences, as far as
 * the sample has them, then steps that only a sample needs.
 */
#include "cluster/sample_clusters.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/dbscan.h"
#include "cluster/density/kdtree.h"
#include "cluster/density/sort.h"
#include "cluster/sequence/partition.h"
#include "cluster/sequence/refine.h"

#define WIDE_EPS    0.05  /* Eps to join bursts that other evidence says are one phase */
#define TASKS_APART 0.1   /* largest share of the bursts in common tasks, for parts of one phase */
#define WORTH       0.02  /* share of the time from which a group is a phase */
#define WORTH_SPMD  0.002 /* share of the time, for a group that most tasks execute */

/* Returns the number of bursts of each cluster (0: noise) by task: (clusters + 1) x tasks. */
static double *count_tasks(const struct sample_clusters *sample)
{
	double *counts = calloc((sample->clusters + 1) * sample->tasks, sizeof(*counts));

	for (size_t i = 0; counts && i < sample->count; i++)
		counts[sample->label[i] * sample->tasks + sample->task[i]]++;
	return counts;
}

/* Returns whether hardly any task executes both clusters, and both are large enough to tell. */
static bool points_apart(const double *a, const double *b, uint32_t tasks)
{
	double of_a = 0, of_b = 0, common = 0;

	for (uint32_t task = 0; task < tasks; task++) {
		of_a += a[task];
		of_b += b[task];
	}
	for (uint32_t task = 0; task < tasks; task++)
		common += fmin(a[task] / of_a, b[task] / of_b);
	return of_a >= 8 && of_b >= 8 && common <= TASKS_APART;
}

/*
 * Joins clusters near each other that different tasks execute: the unbalanced parts of one phase. Replaces what
 * refinement finds from sequences, if the tasks were not sampled alike.
 */
static int join_tasks(struct sample_clusters *sample)
{
	uint32_t *group = malloc(sample->count * sizeof(*group));
	uint32_t *of = calloc(sample->clusters + 1, sizeof(*of));
	uint32_t *into = calloc(sample->clusters + 1, sizeof(*into));
	double *counts = count_tasks(sample);
	int error = -ENOMEM;

	if (group && of && into && counts)
		error = dbscan(sample->point, sample->count, sample->dims, WIDE_EPS, 1, group);
	for (size_t i = 0; error >= 0 && i < sample->count; i++)
		of[sample->label[i]] = group[i];
	for (uint32_t a = 1; error >= 0 && a <= sample->clusters; a++) {
		into[a] = a;
		for (uint32_t b = 1; b < a; b++) {
			if (into[b] != b || of[a] != of[b] ||
					!points_apart(counts + a * sample->tasks,
							counts + b * sample->tasks, sample->tasks))
				continue;
			into[a] = b;
			for (uint32_t task = 0; task < sample->tasks; task++)
				counts[b * sample->tasks + task] +=
						counts[a * sample->tasks + task];
			break;
		}
	}
	for (size_t i = 0; error >= 0 && i < sample->count; i++)
		sample->label[i] = into[sample->label[i]];
	free(group);
	free(of);
	free(into);
	free(counts);
	return error < 0 ? error : 0;
}

/* A group of noise bursts. */
struct rare {
	double time_share;
	uint32_t tasks, last_task; /* number of tasks that execute it; the one seen last, from 1 */
	uint32_t cluster;          /* cluster that it becomes; 0: it stays noise */
};

/* Decides which groups of the noise (row[count], group[count] from 1) become clusters. */
static void judge_rare(struct sample_clusters *sample, const uint32_t *row, const uint32_t *group,
		size_t count, struct rare *rare, uint32_t groups)
{
	double total = 0;

	for (size_t i = 0; i < sample->count; i++)
		total += sample->duration[i];
	for (uint32_t task = 0; task < sample->tasks; task++)
		for (size_t i = 0; i < count; i++) {
			struct rare *own = &rare[group[i]];

			if (sample->task[row[i]] != task || own->last_task == task + 1)
				continue;
			own->last_task = task + 1;
			own->tasks++;
		}
	for (size_t i = 0; i < count; i++)
		rare[group[i]].time_share += sample->duration[row[i]] / total;
	for (uint32_t g = 1; g <= groups; g++) {
		bool spmd = rare[g].tasks > 1 && 2 * rare[g].tasks > sample->tasks;

		if (rare[g].time_share >= (spmd ? WORTH_SPMD : WORTH))
			rare[g].cluster = ++sample->clusters;
	}
}

/*
 * Makes clusters of groups of noise that have enough time. Bursts that are too rare to be dense may still have
 * much of the time, like start-up, in a burst of a second of every task.
 */
static int found_rare(struct sample_clusters *sample)
{
	size_t count = 0, dims = sample->dims;
	double *point = calloc(sample->count * dims, sizeof(*point));
	uint32_t *row = malloc(sample->count * sizeof(*row));
	uint32_t *group = malloc(sample->count * sizeof(*group));
	struct kdtree tree = { 0 };
	struct rare *rare = NULL;
	uint32_t rares;
	int groups = -ENOMEM;

	if (!point || !row || !group)
		goto out;
	for (size_t i = 0; i < sample->count; i++) {
		if (sample->label[i])
			continue;
		memcpy(point + count * dims, sample->point + i * dims, dims * sizeof(*point));
		row[count++] = (uint32_t)i;
	}
	groups = dbscan(point, count, sample->dims, WIDE_EPS, 1, group);
	if (groups <= 0)
		goto out;
	rares = (uint32_t)groups;
	rare = calloc(rares + 1, sizeof(*rare));
	if (!rare) {
		groups = -ENOMEM;
		goto out;
	}
	groups = kdtree_init(&tree, sample->point, sample->count, sample->dims);
	if (groups < 0)
		goto out;
	judge_rare(sample, row, group, count, rare, rares);
	/* a group at the edge of a cluster belongs to it; edges do not grow while they are read */
	for (size_t i = 0; i < count; i++) {
		int64_t nearest = rare[group[i]].cluster ?
				kdtree_nearest(&tree, point + i * dims, WIDE_EPS * WIDE_EPS,
						sample->label) :
				-1;

		group[i] = nearest < 0 ? rare[group[i]].cluster : sample->label[nearest];
	}
	for (size_t i = 0; i < count; i++)
		sample->label[row[i]] = group[i];
out:
	kdtree_fini(&tree);
	free(point);
	free(row);
	free(group);
	free(rare);
	return groups < 0 ? groups : 0;
}

struct execution {
	uint64_t id;
	size_t burst;
};

static int by_id(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Puts bursts of one execution into one column. Returns the number of bursts of the fullest column, which is
 * the number of tasks that are sampled alike.
 */
static size_t make_columns(const struct sample_clusters *sample, struct execution *order,
		uint32_t *column, size_t *columns)
{
	size_t peers = 1, run = 0;

	for (size_t i = 0; i < sample->count; i++)
		order[i] = (struct execution){ sample->execution[i], i };
	sort_items(order, sample->count, sizeof(*order), by_id);
	*columns = 0;
	for (size_t i = 0; i < sample->count; i++) {
		run = i && order[i].id == order[i - 1].id ? run + 1 : 1;
		*columns += run == 1;
		column[order[i].burst] = (uint32_t)(*columns - 1);
		if (run > peers)
			peers = run;
	}
	return peers;
}

static int refine_sample(struct sample_clusters *sample)
{
	struct execution *order = malloc((sample->count + 1) * sizeof(*order));
	uint32_t *column = malloc((sample->count + 1) * sizeof(*column));
	const size_t whole[] = { 0, sample->count };
	const struct sequence_bursts bursts = {
		.points = sample->point,
		.duration = sample->duration,
		.first = whole,
		.sequences = 1,
		.dims = sample->dims,
	};
	struct refine_settings settings = { .column = column };
	struct refinement tree = { 0 };
	int error = -ENOMEM;

	if (order && column) {
		settings.peers = make_columns(sample, order, column, &settings.columns);
		error = refine(&tree, &bursts, &settings, sample->label);
		sample->clusters = tree.clusters;
		refinement_fini(&tree);
	}
	free(order);
	free(column);
	return error;
}

int sample_clusters_find(struct sample_clusters *sample)
{
	int found = refine_sample(sample);

	if (!found)
		found = join_tasks(sample);
	if (!found)
		found = found_rare(sample);
	if (!found)
		found = partition_by_time(sample->label, sample->clusters, sample->duration,
				sample->count);
	if (found >= 0)
		sample->clusters = (uint32_t)found;
	return found < 0 ? found : 0;
}
