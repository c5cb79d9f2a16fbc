/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests phases by place: what is split by the code that bursts run, what is not, and which prototype claims a
 * burst.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/thread/site.h"
#include "cluster/prototypes.h"
#include "tests/random.h"
#include "tests/tap.h"

enum { BURSTS = 2000, TASKS = 4, EXECUTIONS = BURSTS / TASKS };

/* Returns the number of a place in the form that the agent uses. */
static uint32_t place_of(unsigned code)
{
	return (code + 1) * 2654435761u | 1;
}

struct bursts {
	double seconds[BURSTS];
	unsigned code[BURSTS];
	uint32_t task[BURSTS], place[BURSTS];
	float regular[BURSTS];
	uint64_t execution[BURSTS];
	struct training_sample sample;
};

/* What a task executes as its `number`th burst: the code, and the time that it takes. */
struct shape {
	unsigned (*code)(unsigned number);
	double (*seconds)(unsigned code, unsigned number);
};

/* Makes the bursts of tasks that all do the same. Each burst has some noise of its own. */
static void make(struct bursts *all, const struct shape *shape, uint64_t seed)
{
	static struct site_table sites;
	unsigned code[EXECUTIONS];
	float regular[EXECUTIONS];

	random_state = seed;
	memset(&sites, 0, sizeof(sites));
	for (unsigned i = 0; i < EXECUTIONS; i++) {
		uint32_t span;

		code[i] = shape->code(i);
		span = 1 + code[i] % (SPANS_MAX - 1);
		span_follow(&sites, i ? 1 + code[i - 1] % (SPANS_MAX - 1) : 0, span);
		regular[i] = span_regular(&sites.span[span].order);
	}
	for (unsigned i = 0; i < BURSTS; i++) {
		unsigned number = i % EXECUTIONS;

		all->code[i] = code[number];
		all->place[i] = place_of(code[number]);
		all->regular[i] = regular[number];
		all->task[i] = i / EXECUTIONS;
		all->execution[i] = seed << 32 | number;
		all->seconds[i] = shape->seconds(code[number], number) * (1 + 0.02 * uniform());
	}
	all->sample = (struct training_sample){ .count = BURSTS,
		.metrics = all->seconds,
		.duration = all->seconds,
		.task = all->task,
		.execution = all->execution,
		.place = all->place,
		.regular = all->regular };
}

static struct prototype_table empty_table(void)
{
	return (struct prototype_table){
		.space = { .dims = 1, .logarithmic = { 1 }, .range = { 1 }, .weight = { 1 } }
	};
}

static uint32_t phase_of(const struct prototype_table *table, double seconds, uint32_t place)
{
	float point;
	int nearest = space_map(&table->space, &seconds, &point) ?
			prototypes_nearest(table, &point, place) :
			-1;

	return nearest < 0 ? 0 : table->all[nearest].phase;
}

/* Returns how many phases hold at least a twentieth of the bursts, as the table classifies them. */
static unsigned phases_of(const struct prototype_table *table, const struct bursts *all)
{
	unsigned of_phase[PROTOTYPES_MAX] = { 0 }, phases = 0;

	for (unsigned i = 0; i < BURSTS; i++)
		of_phase[phase_of(table, all->seconds[i], all->place[i])]++;
	for (unsigned phase = 1; phase < PROTOTYPES_MAX; phase++)
		phases += of_phase[phase] >= BURSTS / 20;
	return phases;
}

static unsigned phases_found(const struct shape *shape)
{
	static struct prototype_table empty, table;
	static struct bursts all;

	empty = empty_table();
	make(&all, shape, 1);
	if (prototypes_train(&all.sample, &empty, &table))
		return 0;
	return phases_of(&table, &all);
}

static unsigned in_turn(unsigned number)
{
	return number % 3;
}

static unsigned of_eight_at_random(unsigned number)
{
	(void)number;
	return (unsigned)(8 * uniform());
}

static unsigned of_fifty_at_random(unsigned number)
{
	(void)number;
	return (unsigned)(50 * uniform());
}

static unsigned of_fifty_in_runs(unsigned number)
{
	static unsigned code;

	if (!number || number % 10 == 0)
		code = (unsigned)(50 * uniform());
	return code;
}

static unsigned one_after_the_other(unsigned number)
{
	return number / (EXECUTIONS / 2);
}

static unsigned always_the_same(unsigned number)
{
	(void)number;
	return 0;
}

static double alike(unsigned code, unsigned number)
{
	(void)code;
	(void)number;
	return 2e-3;
}

static double alternating(unsigned code, unsigned number)
{
	return code || number % 2 ? 2e-3 : 3e-3;
}

/* Returns seconds such that neighbours overlap, and density alone finds one cluster. */
static double by_code(unsigned code, unsigned number)
{
	(void)number;
	return 2e-3 * pow(1.02, code);
}

static void test_split(void)
{
	static const struct {
		const char *name;
		struct shape shape;
		unsigned phases;
	} cases[] = {
		{ "three places alike in length, in turn", { in_turn, alike }, 3 },
		{ "eight places alike in length, at random", { of_eight_at_random, alike }, 1 },
		{ "fifty places alike in length, at random", { of_fifty_at_random, alike }, 1 },
		{ "fifty places alike in length, at random, in runs", { of_fifty_in_runs, alike },
				1 },
		{ "two places alike in length, one for the first half of the run",
				{ one_after_the_other, alike }, 2 },
		{ "eight places at random, each of a length of its own",
				{ of_eight_at_random, by_code }, 8 },
		{ "one place of two lengths", { always_the_same, alternating }, 2 },
		{ "one place of one length", { always_the_same, alike }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_int(phases_found(&cases[i].shape), cases[i].phases, cases[i].name);
}

/*
 * The first thread of each process reaches the same code over a call path of its own. If each task is a
 * process, there are two phases. If each two tasks are threads of one process, there is one phase.
 */
static void test_threads(void)
{
	static const struct shape shape = { always_the_same, alike };
	static struct prototype_table empty, table;
	static struct bursts all;

	empty = empty_table();
	make(&all, &shape, 1);
	for (unsigned i = 0; i < BURSTS; i++)
		all.place[i] = place_of(all.task[i] % 2);
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "places of different processes");
	is_int(phases_of(&table, &all), 2, "are told apart");
	all.sample.process_tasks = 2;
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "places of different threads");
	is_int(phases_of(&table, &all), 1, "are one phase");
}

/* Returns whether both tables put each burst into a phase of the same number. */
static bool go_on(const struct prototype_table *a, const struct prototype_table *b,
		const struct bursts *all)
{
	bool same = true;

	for (unsigned i = 0; i < BURSTS; i++)
		same = same &&
				phase_of(a, all->seconds[i], all->place[i]) ==
						phase_of(b, all->seconds[i], all->place[i]);
	return same;
}

static void test_generations(void)
{
	static const struct shape turns = { in_turn, alike },
				  random = { of_eight_at_random, alike };
	static struct prototype_table table[4];
	static struct bursts first, second;

	table[0] = empty_table();
	make(&first, &turns, 1);
	make(&second, &turns, 2);
	is_int(prototypes_train(&first.sample, &table[0], &table[1]), 0, "a first generation");
	is_int(prototypes_train(&second.sample, &table[1], &table[2]), 0, "a second one");
	is_int(table[2].phases, 3, "has the same three phases");
	ok(go_on(&table[1], &table[2], &first), "under the same numbers");
	for (uint32_t p = 0; p < table[1].count; p++)
		if (table[1].all[p].place != table[2].all[p].place)
			table[2].phases = 0;
	is_int(table[2].phases, 3, "prototypes keep their places");

	/* the places are the same, but without an order, so that what was split becomes one phase again */
	make(&second, &random, 3);
	is_int(prototypes_train(&second.sample, &table[2], &table[3]), 0, "a third one");
	is_int(phases_of(&table[3], &second), 1, "that finds no order has one phase");
	is_int(phases_of(&table[3], &first), 1, "also for the prototypes of before");
}

/* A few bursts of each place were disturbed, and are no phases of their own. */
static void test_tails(void)
{
	static const struct shape shape = { in_turn, alike };
	static struct prototype_table empty, table;
	static struct bursts all;
	bool kept = true;

	empty = empty_table();
	make(&all, &shape, 1);
	for (unsigned i = 0; i < BURSTS; i += 250)
		all.seconds[i] *= i % 500 ? 0.2 : 0.4;
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "a sample with disturbed bursts");
	is_int(table.phases, 3, "has as many phases as without them");
	for (unsigned i = 0; i < BURSTS; i += 250)
		kept = kept &&
				phase_of(&table, all.seconds[i], all.place[i]) ==
						phase_of(&table, 2.02e-3, all.place[i]);
	ok(kept, "and each is of its place's phase");
}

/* Returns the seconds of bursts that have two lengths at each place, a hundred times apart. */
static double short_and_long(unsigned code, unsigned number)
{
	(void)code;
	return number % 20 ? 0.2e-3 : 20e-3;
}

/* A few short bursts took eight times as long. Most of the time of their places is in the long bursts. */
static void test_tail_of_short(void)
{
	static const struct shape shape = { in_turn, short_and_long };
	static struct prototype_table empty, table;
	static struct bursts all;
	bool is_short = true;

	empty = empty_table();
	make(&all, &shape, 1);
	for (unsigned i = 1; i < BURSTS; i += 170)
		all.seconds[i] *= 8;
	is_int(prototypes_train(&all.sample, &empty, &table), 0,
			"a sample of short and long bursts");
	for (unsigned i = 1; i < BURSTS; i += 170)
		is_short = is_short &&
				phase_of(&table, all.seconds[i], all.place[i]) ==
						phase_of(&table, 0.202e-3, all.place[i]);
	ok(is_short, "disturbed short bursts are of the short ones' phase");
	ok(phase_of(&table, 20.2e-3, place_of(0)) != phase_of(&table, 0.202e-3, place_of(0)),
			"which is not that of the long ones");
}

/* Returns the code of three heavy places in turn, and of many rare places in the same cluster. */
static unsigned mostly_in_turn(unsigned number)
{
	return number % 5 < 3 ? number % 5 : 3 + (unsigned)(1000 * uniform());
}

static void test_rest(void)
{
	static const struct shape shape = { mostly_in_turn, alike };
	static struct prototype_table empty, table;
	static struct bursts all;
	uint32_t rest = 0;
	bool one = true;

	empty = empty_table();
	make(&all, &shape, 1);
	is_int(prototypes_train(&all.sample, &empty, &table), 0, "a sample with many rare places");
	is_int(table.phases, 4, "three places are phases, and the rest is one");
	for (unsigned i = 0; i < BURSTS; i++) {
		uint32_t phase = phase_of(&table, all.seconds[i], all.place[i]);

		if (all.code[i] < 3)
			continue;
		rest = rest ? rest : phase;
		one = one && phase == rest;
	}
	ok(one && rest, "of all rare places");
	ok(phase_of(&table, 2.02e-3, place_of(5000)) == rest, "and of one that was never seen");
	ok(phase_of(&table, 2.02e-3, place_of(0)) != rest, "but of none that is a phase");
}

static void test_guess(void)
{
	static struct prototype_table table;
	float near = 0.51f, beside = 0.6f, far = 0.9f;

	table = (struct prototype_table){ .generation = 1, .count = 2, .phases = 2 };
	table.space.dims = 1;
	table.all[0] = (struct prototype){ .point = { 0.5f },
		.radius = 0.02f,
		.phase = 1,
		.place = 7 };
	table.all[1] = (struct prototype){ .point = { 0.52f },
		.radius = 0.02f,
		.phase = 2,
		.place = 9 };
	prototypes_index(&table);
	is_int(prototypes_nearest(&table, &near, 7), 0, "a burst takes the prototype of its place");
	is_int(prototypes_nearest(&table, &near, 9), 1, "not the other place's");
	is_int(prototypes_nearest(&table, &near, 8), -1, "of a third place, none");
	ok(prototypes_guess(&table, &near, 8) >= 0, "which then is guessed");
	is_int(prototypes_nearest(&table, &beside, 7), -1, "beyond the radius there is none");
	is_int(prototypes_guess(&table, &beside, 7), 0, "but a guess of the same place");
	is_int(prototypes_guess(&table, &beside, 8), -1, "and of no other");
	is_int(prototypes_guess(&table, &far, 7), -1, "and none far away");
	ok(prototypes_know_place(&table, 7) && prototypes_know_place(&table, 9),
			"two places have prototypes");
	ok(!prototypes_know_place(&table, 8) && !prototypes_know_place(&table, 0), "and no others");
}

int main(void)
{
	test_split();
	test_threads();
	test_generations();
	test_tails();
	test_tail_of_short();
	test_rest();
	test_guess();
	return tap_done();
}
