/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares training during the run with clustering everything afterwards, on recorded bursts:
 *
 *   train FILE [SEEDS]          FILE: a burst table or a Paraver trace (phasemux cluster)
 *
 * The bursts come as in a run, and every rank samples them. Rounds train at 1/16, 1/8 ... of the run and at its
 * end, and the last table classifies all. The program prints results for the refinement of all bursts, and by
 * seed for training. These are the phases, the phases above 5% of the time, the global Cluster Sequence Score,
 * and the time-weighted variance within the phases. The adjusted Rand index between the two, and the slowest
 * training, follow.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/ledger/reservoir.h"
#include "cluster/prototypes.h"
#include "cluster/sequence/partition.h"
#include "cluster/sequence/refine.h"
#include "cluster/sequence/score.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/selection.h"

#define ROUNDS 5

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns the result of SplitMix64's finaliser. */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* Returns the value of a metric as the agent would sample it. */
static double metric(const struct selection *all, const struct burst_table *table, size_t i,
		uint32_t dim)
{
	return table_values(table, all->row[i])[all->metric[dim]];
}

/* Samples one rank's bursts up to `share` of its run. */
static void sample_some(struct reservoir *sample, const struct selection *all,
		const struct burst_table *table, double share, uint64_t seed, bool alike)
{
	for (size_t task = 0; task < all->sequences; task++) {
		size_t first = all->first[task], count = all->first[task + 1] - first;

		for (size_t i = 0; i < (size_t)((double)count * share); i++) {
			double seconds = all->duration[first + i] * 1e-9;
			struct sampled_burst sampled = { .seconds = (float)seconds,
				.task = (uint32_t)task };

			sampled.execution = mixed(seed << 32 | i);
			if (!alike)
				sampled.execution = mixed(sampled.execution + task);
			sampled.key = reservoir_key(sampled.execution, seconds);
			for (uint32_t dim = 0; dim < all->space.dims; dim++)
				sampled.metric[dim] = (float)metric(all, table, first + i, dim);
			reservoir_offer(sample, &sampled);
		}
	}
}

static int train(struct prototype_table *table, const struct reservoir *sample, uint32_t dims)
{
	static struct prototype_table previous;
	struct training_sample training = { .count = sample->count };
	double *metrics = malloc((sample->count + 1) * dims * sizeof(*metrics));
	double *seconds = malloc((sample->count + 1) * sizeof(*seconds));
	uint32_t *task = malloc((sample->count + 1) * sizeof(*task));
	uint64_t *execution = malloc((sample->count + 1) * sizeof(*execution));
	int error = -1;

	if (metrics && seconds && task && execution) {
		for (uint32_t i = 0; i < sample->count; i++) {
			for (uint32_t dim = 0; dim < dims; dim++)
				metrics[i * dims + dim] = sample->burst[i].metric[dim];
			seconds[i] = sample->burst[i].seconds;
			task[i] = sample->burst[i].task;
			execution[i] = sample->burst[i].execution;
		}
		training.metrics = metrics;
		training.duration = seconds;
		training.task = task;
		training.execution = execution;
		previous = *table;
		error = prototypes_train(&training, &previous, table);
	}
	free(metrics);
	free(seconds);
	free(task);
	free(execution);
	return error;
}

static void print(const char *name, const struct selection *all, const uint32_t *label,
		uint32_t clusters, const uint32_t *against, double slowest)
{
	const struct sequence_bursts bursts = selection_bursts(all);
	struct score score = { 0 };
	double *time = calloc(clusters + 1, sizeof(*time)), total = 0;
	unsigned large = 0;

	for (size_t i = 0; i < all->count; i++) {
		time[label[i]] += all->duration[i];
		total += all->duration[i];
	}
	for (uint32_t c = 1; c <= clusters; c++)
		large += time[c] > 0.05 * total;
	score_sequences(&score, label, clusters + 1, &bursts, NULL, NULL);
	printf("%-12s %3u phases %2u large noise %5.2f%% score %.4f spread %.2e", name, clusters,
			large, 100 * time[0] / total, score.global,
			partition_spread(label, clusters, all->point, all->space.dims,
					all->duration, all->count));
	if (against)
		printf(" agreement %.4f, %.1f ms", partition_agreement(label, against, all->count),
				slowest * 1e3);
	putchar('\n');
	score_fini(&score);
	free(time);
}

static void simulate(const struct selection *all, const struct burst_table *table, uint64_t seed,
		bool alike, const uint32_t *against)
{
	static struct prototype_table trained;
	static struct reservoir sample;
	uint32_t *label = calloc(all->count, sizeof(*label));
	double slowest = 0;
	char name[32];
	int clusters;

	memset(&trained, 0, sizeof(trained));
	trained.space = all->space;
	for (uint32_t dim = 0; dim < all->space.dims; dim++)
		trained.space.range[dim] = 1;
	for (int round = ROUNDS - 1; round >= 0; round--) {
		double began;

		sample.count = 0;
		sample_some(&sample, all, table, pow(0.5, round), seed, alike);
		began = now();
		if (train(&trained, &sample, all->space.dims))
			printf("training failed\n");
		slowest = fmax(slowest, now() - began);
	}
	for (size_t i = 0; i < all->count; i++) {
		double metrics[SPACE_DIMS_MAX];
		float point[SPACE_DIMS_MAX];
		int p = -1;

		for (uint32_t dim = 0; dim < all->space.dims; dim++)
			metrics[dim] = metric(all, table, i, dim);
		if (space_map(&trained.space, metrics, point))
			p = prototypes_nearest(&trained, point, 0);
		label[i] = p < 0 ? 0 : trained.all[p].phase;
	}
	clusters = partition_by_time(label, trained.phases, all->duration, all->count);
	snprintf(name, sizeof(name), "%s %u", alike ? "alike" : "random", (unsigned)seed);
	print(name, all, label, (uint32_t)clusters, against, slowest);
	free(label);
}

int main(int argc, char **argv)
{
	struct burst_table table = { 0 };
	struct selection all = { 0 };
	struct sequence_bursts bursts;
	struct refinement tree;
	uint32_t *label;
	char why[512];

	if (argc < 2 || table_open(&table, argv[1]))
		return 2;
	if (selection_metrics(&all, &table, NULL, why, sizeof(why)) ||
			selection_shortest(&all, &table, "auto", why, sizeof(why)) ||
			selection_make(&all, &table))
		return 1;
	label = calloc(all.count, sizeof(*label));
	bursts = selection_bursts(&all);
	if (refine(&tree, &bursts, NULL, label))
		return 1;
	printf("%zu bursts of %zu tasks\n", all.count, all.sequences);
	print("all", &all, label, tree.clusters, NULL, 0);
	for (unsigned seed = 1; seed <= (argc > 2 ? strtoul(argv[2], NULL, 10) : 5); seed++) {
		simulate(&all, &table, seed, false, label);
		simulate(&all, &table, seed, true, label);
	}
	refinement_fini(&tree);
	selection_fini(&all);
	table_fini(&table);
	free(label);
	return 0;
}
