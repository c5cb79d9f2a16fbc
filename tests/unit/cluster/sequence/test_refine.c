/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "cluster/sequence/partition.h"
#include "cluster/sequence/refine.h"
#include "cluster/sequence/score.h"
#include "tests/random.h"
#include "tests/tap.h"

/* A made-up run: sequences of bursts of known kinds. */
enum { POINTS_MAX = 40000 };

static double points[POINTS_MAX * 2], duration[POINTS_MAX];
static uint32_t kind[POINTS_MAX], label[POINTS_MAX];
static size_t first[300], sequences, count;

static void start(uint64_t seed)
{
	random_state = seed;
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

/* Refines the bursts so far. */
static int refine_bursts(struct refinement *refinement)
{
	const struct sequence_bursts bursts = {
		.points = points,
		.duration = duration,
		.first = first,
		.sequences = sequences,
		.dims = 2,
	};

	return refine(refinement, &bursts, NULL, label);
}

static uint32_t found(void)
{
	struct refinement refinement;
	uint32_t clusters = 0;

	if (!refine_bursts(&refinement))
		clusters = refinement.clusters;
	refinement_fini(&refinement);
	return clusters;
}

/*
 * Figure 6.1 of the thesis: small dense clouds close to each other, and one wide cloud. No single Eps both
 * tells the small ones apart and keeps the wide one whole.
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

/* Noise of the machine breaks a phase's IPC into bands, which are one phase. */
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

/* Each task has bursts that occur only once. They are too few for DBSCAN's density, but each task has one. */
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

/* Imbalance: the tasks execute the same phase with different amounts of work. */
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

/* Returns a deviate whose distribution has tails, as bursts have them. */
static double bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform() - 0.5;
	return sum;
}

/* Places phases at random, no nearer to each other than 0.12. Returns how many found a place. */
static int place_phases(double at[][2], int phases)
{
	int placed = 0;

	for (int tries = 0; tries < 1000 && placed < phases; tries++) {
		bool near = false;

		for (int dim = 0; dim < 2; dim++)
			at[placed][dim] = 0.05 + 0.9 * uniform();
		for (int other = 0; other < placed; other++) {
			double x = at[placed][0] - at[other][0], y = at[placed][1] - at[other][1];

			near = near || x * x + y * y < 0.12 * 0.12;
		}
		placed += !near;
	}
	return placed;
}

/*
 * Makes a program of 4 to 16 tasks with up to 7 phases in a loop, and up to 5 that each task executes once.
 * Some bursts are missing, because they were too short to be kept. In some programs noise slows one burst of
 * fifty. Returns the number of phases.
 */
static uint32_t make_program(uint64_t seed)
{
	double at[12][2], wide[12][2], share = 0;
	int tasks, loops, looped, once;

	start(seed * 7919);
	for (int i = 0; i < 10; i++)
		share = uniform() < 0.5 ? 0.02 : 0;
	tasks = 4 << seed % 3;
	loops = 40 + (int)(60 * uniform());
	looped = 2 + (int)(6 * uniform());
	once = place_phases(at, looped + (int)(6 * uniform())) - looped;
	for (int phase = 0; phase < looped + once; phase++) {
		wide[phase][0] = 0.0005 + 0.003 * uniform();
		wide[phase][1] = 0.002 + 0.012 * uniform();
	}
	for (int task = 0; task < tasks; task++, next_task())
		for (int i = 0; i < once + loops * looped; i++) {
			int phase = i < once ? looped + i : (i - once) % looped;
			double slow = phase < looped && uniform() < share ? 0.05 + 0.1 * uniform() :
									    0;
			double x, y;

			if (phase < looped && uniform() < 0.005)
				continue;
			/* one after the other, so that every compiler makes the same programs */
			y = at[phase][1] - slow + wide[phase][1] * bell();
			x = at[phase][0] + wide[phase][0] * bell();
			burst((uint32_t)phase + 1, x, y, 0, 0);
		}
	return (uint32_t)(looped + once);
}

/* Clusters are the phases, and are no wider than these. So a good score does not come from joining them. */
static void test_programs(void)
{
	enum { PROGRAMS = 48 };
	unsigned wider = 0, others = 0, numbers = 0;

	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		uint32_t phases = make_program(seed), clusters = found();
		double spread = partition_spread(label, clusters, points, 2, duration, count);
		double own = partition_spread(kind, phases, points, 2, duration, count);

		if (spread > 1.0001 * own || clusters < phases || clusters > phases + 2 ||
				partition_agreement(label, kind, count) < 0.97)
			diag("program %d: %u phases, %u clusters, adjusted Rand index %.3f, "
			     "spread %.3g of %.3g",
					(int)seed, phases, clusters,
					partition_agreement(label, kind, count), spread, own);
		wider += spread > 1.0001 * own;
		numbers += clusters < phases || clusters > phases + 2;
		others += partition_agreement(label, kind, count) < 0.97;
	}
	is_int(wider, 0, "of 48 made-up programs, none has clusters wider than its phases");
	is_int(others, 0, "none has other clusters than phases");
	is_int(numbers, 0, "and none too few or too many");
}

static void test_tree(void)
{
	struct refinement refinement;
	size_t finals = 0, roots = 0;
	bool growing = true, known = true;

	test_two_densities();
	is_int(refine_bursts(&refinement), 0, "refine");
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
	ok(roots == refinement.clusters && finals == roots,
			"roots are the clusters, with their score");
	ok(refinement.global[refinement.steps] > 0.97, "a global score near 1");
	refinement_fini(&refinement);
}

static void test_order(void)
{
	uint32_t *before = malloc(POINTS_MAX * sizeof(*before));
	struct refinement refinement;
	size_t half;

	test_bands();
	half = count / 2;
	memcpy(before, label, count * sizeof(*before));
	/* the last two tasks come first */
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
	refine_bursts(&refinement);
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
	is_int(found(), 2, "a task without bursts is valid");
}

int main(void)
{
	test_tree();
	test_order();
	test_start_up();
	test_imbalance();
	test_degenerate();
	test_programs();
	return tap_done();
}
