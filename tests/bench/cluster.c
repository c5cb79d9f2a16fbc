/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time of clustering on points of its own, so that a peer can be timed on the same points:
 *
 *   cluster points COUNT FILE   writes COUNT points (2 doubles each, then eps) for a peer
 *   cluster dbscan FILE N       clusters them N times, prints the seconds of the fastest and
 *                               writes the labels to FILE.labels
 *   cluster refine TASKS BURSTS prints the seconds of refinement and score
 *   cluster bursts FILE N       analyses a table or trace N times, of bursts of at least 50 us,
 *                               by logarithm of instructions and IPC: prints their number, and
 *                               the seconds of the first and of the middle time, of DBSCAN
 *                               (Eps 0.02, 10 points) and of the refinement
 *   cluster nearest             nanoseconds of a look-up among 256 prototypes
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/density/dbscan.h"
#include "cluster/prototypes.h"
#include "cluster/sequence/partition.h"
#include "cluster/sequence/refine.h"
#include "cluster/sequence/score.h"
#include "tests/random.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/selection.h"

#define MIN_POINTS 10

static double normal(void)
{
	return sqrt(-2 * log(uniform() + 1e-300)) * cos(6.283185307179586 * uniform());
}

/* Returns the processor time in seconds, so that other programs on the machine do not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/*
 * Makes a point as bursts of programs are: a few phases, narrow in instructions, wide in IPC, and some noise.
 */
static void make_point(double *point)
{
	size_t phase = (size_t)(uniform() * 13);
	double wide = phase % 3 == 0 ? 0.03 : 0.01;

	if (phase == 12 && uniform() < 0.2) {
		point[0] = uniform();
		point[1] = uniform();
		return;
	}
	point[0] = 0.1 + 0.065 * (double)phase + 0.002 * normal();
	point[1] = 0.2 + 0.05 * (double)(phase * 7 % 13) + wide * normal();
}

/* Returns an Eps with which a point has about as many neighbours for every count. */
static double eps_for(size_t count)
{
	return 0.02 * sqrt(5000.0 / (double)count);
}

static int write_points(size_t count, const char *path)
{
	FILE *file = fopen(path, "wb");
	double eps = eps_for(count), point[2];

	if (!file)
		return 1;
	for (size_t i = 0; i < count; i++) {
		make_point(point);
		fwrite(point, sizeof(point), 1, file);
	}
	fwrite(&eps, sizeof(eps), 1, file);
	return fclose(file) != 0;
}

static int time_dbscan(const char *path, unsigned times)
{
	FILE *file = fopen(path, "rb");
	double *points, best = INFINITY;
	char labels[4096];
	uint32_t *label;
	size_t count;
	int clusters = 0;

	if (!file || fseek(file, 0, SEEK_END))
		return 1;
	count = (size_t)ftell(file) / sizeof(double) / 2;
	rewind(file);
	points = malloc((2 * count + 1) * sizeof(*points));
	label = malloc((count + 1) * sizeof(*label));
	if (!points || !label ||
			fread(points, sizeof(*points), 2 * count + 1, file) != 2 * count + 1) {
		fclose(file);
		return 1;
	}
	fclose(file);
	for (unsigned i = 0; i < times; i++) {
		double start = now();

		clusters = dbscan(points, count, 2, points[2 * count], MIN_POINTS, label);
		best = fmin(best, now() - start);
	}
	snprintf(labels, sizeof(labels), "%s.labels", path);
	file = fopen(labels, "wb");
	if (!file || fwrite(label, sizeof(*label), count, file) != count || fclose(file))
		return 1;
	printf("%.6f %d\n", best, clusters);
	free(points);
	free(label);
	return clusters < 0;
}

static int time_refinement(size_t tasks, size_t bursts)
{
	static const double at[][4] = { { 0.3, 0.5, 0.002, 0.02 }, { 0.33, 0.55, 0.002, 0.01 },
		{ 0.6, 0.8, 0.01, 0.04 }, { 0.9, 0.2, 0.002, 0.10 } };
	double *points = malloc(2 * tasks * bursts * sizeof(*points));
	double *duration = malloc(tasks * bursts * sizeof(*duration));
	uint32_t *label = malloc(tasks * bursts * sizeof(*label));
	size_t *first = malloc((tasks + 1) * sizeof(*first)), count = 0;
	struct sequence_bursts all = { points, duration, first, tasks, 2 };
	struct refinement refinement;
	struct score score;
	double start, refined, scored;

	if (!points || !duration || !label || !first)
		return 1;
	for (size_t task = 0; task < tasks; task++) {
		first[task] = count;
		for (size_t i = 0; i < bursts; i++) {
			const double *phase = at[i % 4];

			if (uniform() < 0.01)
				continue; /* too short to be kept */
			points[2 * count] = phase[0] + phase[2] * normal();
			points[2 * count + 1] = phase[1] + phase[3] * normal();
			duration[count++] = 1 + phase[0] * uniform();
		}
	}
	first[tasks] = count;
	start = now();
	if (refine(&refinement, &all, NULL, label))
		return 1;
	refined = now();
	if (score_sequences(&score, label, refinement.clusters + 1, &all, NULL, NULL))
		return 1;
	scored = now();
	printf("%.6f %.6f %u %.4f\n", refined - start, scored - refined, refinement.clusters,
			score.global);
	refinement_fini(&refinement);
	score_fini(&score);
	free(points);
	free(duration);
	free(label);
	free(first);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Does the analysis of a tool: from points and durations to labels ordered by time. */
static int analyse(const struct selection *bursts, bool refined, uint32_t *label)
{
	struct refinement refinement;
	int clusters;

	if (refined) {
		const struct sequence_bursts all = selection_bursts(bursts);
		int error = refine(&refinement, &all, NULL, label);

		refinement_fini(&refinement);
		return error;
	}
	clusters = dbscan(bursts->point, bursts->count, bursts->space.dims, 0.02, MIN_POINTS,
			label);
	return clusters < 0 ? clusters :
			      partition_by_time(label, (uint32_t)clusters, bursts->duration,
					      bursts->count);
}

static int time_bursts(const char *path, unsigned times)
{
	struct burst_table table = { 0 };
	struct selection bursts = { 0 };
	double *taken = malloc((times + 1) * sizeof(*taken)), first = 0;
	char why[200];
	uint32_t *label;

	if (!taken || !times || table_open(&table, path) ||
			selection_metrics(&bursts, &table, "log:instructions,ipc", why,
					sizeof(why)) ||
			selection_shortest(&bursts, &table, "50us", why, sizeof(why)) ||
			selection_make(&bursts, &table))
		return 1;
	label = malloc((bursts.count + 1) * sizeof(*label));
	printf("%zu", bursts.count);
	for (int refined = 0; refined < 2; refined++) {
		for (unsigned i = 0; i < times; i++) {
			double start = now();

			if (!label || analyse(&bursts, refined, label) < 0)
				return 1;
			taken[i] = now() - start;
		}
		first = taken[0];
		qsort(taken, times, sizeof(*taken), ascending);
		printf(" %.6f %.6f", first, taken[times / 2]);
	}
	printf("\n");
	selection_fini(&bursts);
	table_fini(&table);
	free(taken);
	free(label);
	return 0;
}

/*
 * Measures a look-up among 256 prototypes that lie as after a training: side by side over the phases' places.
 */
static int time_nearest(void)
{
	static struct prototype_table table;
	enum { POINTS = 4096, ROUNDS = 2000 };
	static float point[POINTS][2];
	double start, taken;
	long found = 0;

	table.space.dims = 2;
	while (table.count < PROTOTYPES_MAX) {
		struct prototype *p = &table.all[table.count++];
		double at[2];

		make_point(at);
		p->point[0] = (float)at[0];
		p->point[1] = (float)at[1];
		p->radius = 0.03f;
		p->phase = 1;
	}
	prototypes_index(&table);
	for (size_t i = 0; i < POINTS; i++) {
		double at[2];

		make_point(at);
		point[i][0] = (float)at[0];
		point[i][1] = (float)at[1];
	}
	start = now();
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < POINTS; i++)
			found += prototypes_nearest(&table, point[i], 0) >= 0;
	taken = now() - start;
	printf("%.2f %.4f\n", taken * 1e9 / POINTS / ROUNDS, (double)found / POINTS / ROUNDS);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "points") == 0)
		return write_points(strtoul(argv[2], NULL, 10), argv[3]);
	if (argc == 4 && strcmp(argv[1], "dbscan") == 0)
		return time_dbscan(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "refine") == 0)
		return time_refinement(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "bursts") == 0)
		return time_bursts(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
	if (argc == 2 && strcmp(argv[1], "nearest") == 0)
		return time_nearest();
	fprintf(stderr,
			"usage: cluster points COUNT FILE | dbscan FILE N | refine TASKS BURSTS "
			"| bursts FILE N | nearest\n");
	return 2;
}
