#include <stdlib.h>

#include "cluster/partition.h"
#include "cluster/refine.h"
#include "cluster/score.h"
#include "tests/tap.h"

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* A made-up run: sequences of bursts of known kinds. */
enum { MOST = 40000 };

static double points[MOST * 2], duration[MOST];
static uint32_t kind[MOST], label[MOST];
static size_t first[300], sequences, count;

static void start(uint64_t seed)
{
	state = seed;
	sequences = count = 0;
	first[0] = 0;
}

static void burst(uint32_t which, double x, double y, double spread_x, double spread_y)
{
	points[2 * count] = x + spread_x * (uniform() - 0.5);
	points[2 * count + 1] = y + spread_y * (uniform() - 0.5);
	duration[count] = 1 + 0.1 * uniform();
	kind[count++] = which;
}

static void next_task(void)
{
	first[++sequences] = count;
}

static uint32_t found(void)
{
	struct refinement refinement;
	uint32_t clusters = 0;

	if (!refine(&refinement, points, 2, duration, first, sequences, NULL, label))
		clusters = refinement.clusters;
	refinement_fini(&refinement);
	return clusters;
}

/*
 * Figure 6.1: small dense clouds close to each other, and one wide cloud. One Eps cannot tell the
 * small ones apart and keep the wide one whole.
 */
static void test_two_densities(void)
{
	start(1);
	for (int task = 0; task < 8; task++, next_task())
		for (int loop = 0; loop < 40; loop++) {
			burst(1, 0.10, 0.50, 0.008, 0.008);
			burst(2, 0.13, 0.50, 0.008, 0.008);
			burst(3, 0.80, 0.50, 0.10, 0.60);
		}
	is_int(found(), 3, "two near dense clouds and a wide one");
	is_near(partition_agreement(label, kind, count), 1, 0.01, "are told apart");
}

/* Noise of the machine breaks a phase's IPC into bands: they are one phase. */
static void test_bands(void)
{
	start(2);
	for (int task = 0; task < 4; task++, next_task())
		for (int loop = 0; loop < 100; loop++) {
			burst(1, 0.40, uniform() < 0.7 ? 0.60 : 0.52, 0.002, 0.02);
			burst(2, 0.70, 0.80, 0.002, 0.02);
		}
	is_int(found(), 2, "a phase in two bands of IPC is one phase");
	is_near(partition_agreement(label, kind, count), 1, 0.01, "and whole");
}

/* One-off bursts of every task: too few for DBSCAN's density, but each task has one. */
static void test_start_up(void)
{
	start(3);
	for (int task = 0; task < 4; task++, next_task()) {
		burst(1, 1.0, 0.25, 0.01, 0.03);
		for (int loop = 0; loop < 50; loop++)
			burst(2, 0.3, 0.9, 0.01, 0.01);
		burst(3, 0.6, 0.1, 0.01, 0.03);
	}
	is_int(found(), 3, "start, loop and end are three phases");
	is_near(partition_agreement(label, kind, count), 1, 1e-9, "each of them whole");
}

/* Imbalance: the tasks do the same phase with different amounts of work. */
static void test_imbalance(void)
{
	start(4);
	for (int task = 0; task < 16; task++, next_task())
		for (int loop = 0; loop < 30; loop++) {
			burst(1, 0.5 + 0.008 * task, 0.5, 0.004, 0.01);
			burst(2, 0.2, 0.9, 0.004, 0.01);
		}
	is_int(found(), 2, "an unbalanced phase is one phase");
}

static void test_tree(void)
{
	struct refinement refinement;
	size_t finals = 0, roots = 0;
	bool growing = true, known = true;

	test_two_densities();
	is_int(refine(&refinement, points, 2, duration, first, sequences, NULL, label), 0, "refine");
	for (uint32_t step = 1; step < refinement.steps; step++)
		growing = growing && refinement.eps[step] >= refinement.eps[step - 1];
	ok(growing, "Eps grows from step to step");
	for (size_t i = 0; i < refinement.nodes; i++) {
		const struct refine_node *node = &refinement.node[i];

		if (node->parent != UINT32_MAX)
			known = known && node->parent > i && node->parent < refinement.nodes &&
					refinement.node[node->parent].step == node->step + 1;
		roots += node->step == refinement.steps && node->cluster;
		finals += node->step == refinement.steps && node->cluster && node->score > 0.95;
	}
	ok(known, "every parent is a node of the next step");
	ok(roots == refinement.clusters && finals == roots, "roots are the clusters, with their score");
	ok(refinement.global[refinement.steps] > 0.97, "a global score near 1");
	refinement_fini(&refinement);
}

static void test_order(void)
{
	uint32_t *before = malloc(MOST * sizeof(*before));
	struct refinement refinement;
	size_t tasks, half;

	test_bands();
	tasks = sequences;
	half = count / 2;
	memcpy(before, label, count * sizeof(*before));
	/* the last two tasks first */
	for (size_t i = 0; i < half; i++)
		for (int dim = 0; dim < 2; dim++) {
			double value = points[2 * i + dim];

			points[2 * i + dim] = points[2 * (i + half) + dim];
			points[2 * (i + half) + dim] = value;
		}
	for (size_t i = 0; i < half; i++) {
		double value = duration[i];

		duration[i] = duration[i + half];
		duration[i + half] = value;
	}
	refine(&refinement, points, 2, duration, first, tasks, NULL, label);
	ok(!memcmp(label, before + half, half * sizeof(*label)) &&
			!memcmp(label + half, before, half * sizeof(*label)),
			"the order of the tasks does not matter");
	refinement_fini(&refinement);
	free(before);
}

static void test_degenerate(void)
{
	start(5);
	is_int(found(), 0, "nothing");
	burst(1, 0.5, 0.5, 0, 0);
	next_task();
	is_int(found(), 0, "one burst is noise");
	start(6);
	for (int task = 0; task < 3; task++, next_task())
		for (int loop = 0; loop < 20; loop++)
			burst(1, 0.5, 0.5, 0, 0);
	is_int(found(), 1, "equal bursts are one phase");
	start(7);
	for (int loop = 0; loop < 300; loop++) {
		burst(1, 0.4, 0.6, 0.01, 0.06);
		burst(2, 0.8, 0.6, 0.01, 0.06);
	}
	next_task();
	is_int(found(), 2, "one task: by density alone");
	is_near(partition_agreement(label, kind, count), 1, 0.02, "as dense as they are");
	next_task();
	is_int(found(), 2, "a task without bursts is borne");
}

int main(void)
{
	test_tree();
	test_order();
	test_start_up();
	test_imbalance();
	test_degenerate();
	return tap_done();
}
