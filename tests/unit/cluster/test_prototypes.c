/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "cluster/prototypes.h"
#include "tests/random.h"
#include "tests/tap.h"

/* Returns a place at random: one of five, or 0 (not known, or any). */
static uint32_t place_at_random(void)
{
	uint32_t place = (uint32_t)(uniform() * 10);

	return place < 5 ? 0 : place * 700000001u;
}

static void test_nearest(void)
{
	for (uint32_t dims = 1; dims <= SPACE_DIMS_MAX; dims++) {
		static struct prototype_table table;
		bool same = true;

		table = (struct prototype_table){ .generation = 1, .count = PROTOTYPES_MAX };
		table.space.dims = dims;
		for (uint32_t p = 0; p < table.count; p++) {
			for (uint32_t dim = 0; dim < dims; dim++)
				table.all[p].point[dim] = (float)(uniform() * 1.5);
			table.all[p].radius = (float)(uniform() * 0.1 * dims);
			table.all[p].place = place_at_random();
		}
		prototypes_index(&table);
		for (int i = 0; i < 5000; i++) {
			float point[SPACE_DIMS_MAX], least = INFINITY;
			uint32_t place = place_at_random();
			bool want_own = false;
			int want = -1;

			for (uint32_t dim = 0; dim < dims; dim++)
				point[dim] = (float)(uniform() * 2 - 0.25);
			for (uint32_t p = 0; p < table.count; p++) {
				bool own = table.all[p].place == place;
				float distance = 0;

				for (uint32_t dim = 0; dim < dims; dim++) {
					float apart = point[dim] - table.all[p].point[dim];

					distance += apart * apart;
				}
				if (distance <= table.all[p].radius * table.all[p].radius &&
						(own || !table.all[p].place) &&
						(own != want_own ? own : distance < least)) {
					want_own = own;
					least = distance;
					want = (int)p;
				}
			}
			same = same && prototypes_nearest(&table, point, place) == want;
		}
		ok(same, "%u dimensions: the nearest that reaches, of its place or else of any",
				dims);
	}
}

enum { BURSTS = 2000, TASKS = 4 };

struct bursts {
	double metrics[BURSTS * 2], duration[BURSTS];
	uint32_t task[BURSTS];
	uint64_t execution[BURSTS];
	struct training_sample sample;
};

/* Three kinds of bursts with fixed instructions and an IPC that a busy machine spreads. */
static const double instructions_of[] = { 1e6, 1.5e6, 4e7 };

static void make_bursts(struct bursts *all, uint64_t seed, double scale)
{
	random_state = seed;
	for (size_t i = 0; i < BURSTS; i++) {
		size_t kind = i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2;
		double spread = uniform();

		all->metrics[2 * i] = instructions_of[kind] * scale * (1 + 0.001 * uniform());
		all->metrics[2 * i + 1] = (kind == 1 ? 0.8 : 1.6) * (1 - 0.2 * spread * spread);
		all->duration[i] = all->metrics[2 * i] / all->metrics[2 * i + 1] / 3e9;
		all->task[i] = (uint32_t)(i / 7 % TASKS);
		all->execution[i] = i / (7 * TASKS) * 7 + i % 7;
	}
	all->sample = (struct training_sample){ BURSTS, all->metrics, all->duration, all->task, 0,
		all->execution, NULL, NULL };
}

static void test_train(void)
{
	static struct prototype_table empty, first, second;
	static struct bursts all;
	uint32_t phase_of[3] = { 0 };
	bool pure = true, kept = true;
	size_t classified = 0;

	empty.space = (struct space){ .dims = 2, .logarithmic = { 1 }, .weight = { 1, 1 } };
	make_bursts(&all, 1, 1);
	is_int(prototypes_train(&all.sample, &empty, &first), 0, "a first training");
	is_int(first.generation, 1, "is generation 1");
	is_int(first.phases, 3, "three kinds of bursts, three phases");
	for (size_t i = 0; i < BURSTS; i++) {
		size_t kind = i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2;
		float point[2];
		int nearest;

		if (!space_map(&first.space, all.metrics + 2 * i, point))
			continue;
		nearest = prototypes_nearest(&first, point, 0);
		if (nearest < 0)
			continue;
		classified++;
		if (!phase_of[kind])
			phase_of[kind] = first.all[nearest].phase;
		pure = pure && phase_of[kind] == first.all[nearest].phase;
	}
	ok(pure, "each burst falls to the phase of its kind");
	ok(classified > BURSTS * 0.98, "nearly all are classified (%zu)", classified);

	make_bursts(&all, 2, 1);
	is_int(prototypes_train(&all.sample, &first, &second), 0, "a second training");
	is_int(second.phases, 3, "on bursts of the same kinds finds no new phase");
	is_int(first.steady, 0, "a first training is not yet stable");
	ok(second.kept > 0.95 && second.steady == 1, "the second is (%.3f kept)", second.kept);
	for (uint32_t p = 0; p < first.count; p++)
		kept = kept && second.all[p].phase == first.all[p].phase;
	ok(kept && second.count >= first.count, "and keeps the numbers of prototypes and phases");

	make_bursts(&all, 3, 100);
	is_int(prototypes_train(&all.sample, &second, &first), 0, "bursts of another size");
	is_int(first.phases, 6, "are new phases");
	ok(first.all[0].phase == second.all[0].phase, "beside the old ones");
	is_int(first.steady, 0, "and nothing is stable any more");
}

/* At start-up each task has one burst. These are too few to be dense, but take half of the time. */
static void test_rare(void)
{
	static struct prototype_table empty, table;
	static struct bursts all;
	uint32_t phase[TASKS] = { 0 };
	bool same = true;

	empty.space = (struct space){ .dims = 2, .logarithmic = { 1 }, .weight = { 1, 1 } };
	make_bursts(&all, 4, 1);
	for (size_t i = 0; i < TASKS; i++) {
		all.metrics[2 * i] = 5e9 * (1 + 0.01 * (double)i);
		all.metrics[2 * i + 1] = 1.1 + 0.005 * (double)i;
		all.duration[i] = 4;
		all.task[i] = (uint32_t)i;
	}
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "a sample with start-up");
	is_int(table.phases, 4, "start-up is a phase beside the three");
	for (size_t i = 0; i < TASKS; i++) {
		float point[2];
		int nearest = space_map(&table.space, all.metrics + 2 * i, point) ?
				prototypes_nearest(&table, point, 0) :
				-1;

		phase[i] = nearest < 0 ? 0 : table.all[nearest].phase;
		same = same && phase[i] && phase[i] == phase[0];
	}
	ok(same, "and holds each task's burst");
}

/* In an unbalanced phase each task does its own amount of work. */
static void test_unbalanced(void)
{
	static struct prototype_table empty, table;
	static struct bursts all;

	empty.space = (struct space){ .dims = 2, .logarithmic = { 1 }, .weight = { 1, 1 } };
	make_bursts(&all, 5, 1);
	for (size_t i = 0; i < BURSTS; i++)
		if (i % 7 < 4)
			all.metrics[2 * i] = 1e6 * (1 + 0.15 * all.task[i]);
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "a sample with an imbalance");
	is_int(table.phases, 3, "is one of the same three phases");
}

/*
 * Two phases differ by a fifth of their work, and the shortest bursts do a thousandth of it. The two phases are
 * told apart, because all tasks execute them at other times. The shortest ones are one phase, although each
 * task does its own amount of work in it.
 */
static void test_near(void)
{
	static struct prototype_table empty, table;
	static struct bursts all;

	empty.space = (struct space){ .dims = 2, .logarithmic = { 1 }, .weight = { 1, 1 } };
	make_bursts(&all, 6, 1);
	for (size_t i = 0; i < BURSTS; i++) {
		double *instructions = &all.metrics[2 * i], *ipc = &all.metrics[2 * i + 1];

		*ipc = 1.6 + 0.4 * uniform();
		*instructions = i % 7 < 4 ? 1e6 * (1 + 0.02 * uniform()) :
				i % 7 < 6 ? 1.2e6 * (1 + 0.02 * uniform()) :
					    1e3 * (1 + 0.1 * all.task[i]);
	}
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "a sample of two near phases");
	is_int(table.phases, 3, "they are two, and the unbalanced one is one");
}

static void test_degenerate(void)
{
	static struct prototype_table empty, next;
	double metric[10], duration[10];
	uint32_t task[10] = { 0 };
	uint64_t execution[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct training_sample sample = { 0, metric, duration, task, 0, execution, NULL, NULL };
	float point;

	empty.space = (struct space){ .dims = 1, .logarithmic = { 1 }, .weight = { 1 } };
	is_int(prototypes_nearest(&empty, &(float){ 0 }, 0), -1, "an empty table knows nothing");
	is_int(prototypes_train(&sample, &empty, &next), -EINVAL, "an empty sample");
	for (int i = 0; i < 10; i++) {
		metric[i] = NAN;
		duration[i] = 1e-3;
	}
	sample.count = 10;
	is_int(prototypes_train(&sample, &empty, &next), -EINVAL, "nothing but NaN");
	is_int(next.generation, 0, "the table stays");
	sample.count = 1;
	metric[0] = 1e-3;
	is_int(prototypes_train(&sample, &empty, &next), 0, "a single burst");
	is_int(next.phases, 1, "is a phase");
	ok(space_map(&next.space, metric, &point) && prototypes_nearest(&next, &point, 0) == 0,
			"that finds itself");
	sample.count = 10;
	for (int i = 0; i < 10; i++)
		metric[i] = 2e-3;
	is_int(prototypes_train(&sample, &empty, &next), 0, "ten equal bursts");
	is_int(next.phases, 1, "are one phase");
}

int main(void)
{
	test_nearest();
	test_train();
	test_rare();
	test_unbalanced();
	test_near();
	test_degenerate();
	return tap_done();
}
