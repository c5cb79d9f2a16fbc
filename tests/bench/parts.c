/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of each step of a burst, in nanoseconds (the least of many batches): one line a step, "NAME
 * NS". `floor` lines are costs that every tool must pay.
 *
 *	parts          all steps
 *	parts reads    only reads of counters and switches of groups, in few batches
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ledger/reservoir.h"
#include "agent/setup/counting.h"
#include "agent/thread/ring.h"
#include "agent/thread/thread.h"
#include "cluster/prototypes.h"
#include "sampling/clock.h"

#define BATCHES     200
#define BATCHES_FEW 10
#define BATCH       1000

static volatile double sink;
static int batches = BATCHES;

static void report(const char *name, double (*batch)(void *), void *data)
{
	double least = INFINITY;

	for (int i = 0; i < batches; i++) {
		double ns = batch(data);

		least = ns < least ? ns : least;
	}
	printf("%s %.2f\n", name, least / BATCH);
}

static float uniform(void)
{
	return (float)rand() / (float)RAND_MAX;
}

/* ---- classification against a full table ---- */

struct classification {
	struct prototype_table table;
	uint32_t place[BATCH];
	float point[BATCH][SPACE_DIMS_MAX];
};

static double classify_batch(void *data)
{
	struct classification *c = data;
	uint64_t begin = clock_now();
	int sum = 0;

	for (int i = 0; i < BATCH; i++)
		sum += prototypes_nearest(&c->table, c->point[i], c->place[i]);
	sink = sum;
	return clock_ns(clock_now() - begin);
}

/* places: number of places of half of the prototypes; 0: no prototype has a place */
static void classification(unsigned dims, unsigned places)
{
	struct classification *c = calloc(1, sizeof(*c));
	char name[64];

	c->table.count = PROTOTYPES_MAX;
	c->table.space.dims = dims;
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		for (unsigned d = 0; d < dims; d++)
			c->table.all[p].point[d] = uniform();
		c->table.all[p].radius = 0.05f;
		c->table.all[p].phase = 1;
		if (places && p % 2)
			c->table.all[p].place = (p % places + 1) * 2654435761u | 1;
	}
	prototypes_index(&c->table);
	/* points of bursts are near prototypes */
	for (int i = 0; i < BATCH; i++) {
		unsigned near = (unsigned)rand() % PROTOTYPES_MAX;

		c->place[i] = c->table.all[near].place;
		for (unsigned d = 0; d < dims; d++)
			c->point[i][d] = c->table.all[near].point[d] + 0.02f * (uniform() - 0.5f);
	}
	snprintf(name, sizeof(name), "classify_256_prototypes_%ud%s", dims,
			places ? "_of_places" : "");
	report(name, classify_batch, c);
	free(c);
}

/* ---- the ring ---- */

static double ring_batch(void *data)
{
	struct ring *ring = data;
	uint64_t begin = clock_now();

	for (int i = 0; i < BATCH; i++) {
		struct burst *burst = ring_reserve(ring);

		burst->begin = (uint64_t)i;
		ring_commit(ring);
		burst = ring_peek(ring);
		sink = (double)burst->begin;
		ring_release(ring);
	}
	return clock_ns(clock_now() - begin);
}

/* ---- sums ---- */

struct summing {
	struct sums *sums;
	struct quantum *quantum;
};

static double sums_batch(void *data)
{
	static const uint64_t values[PLAN_GROUP_EVENTS_MAX] = { 1000000, 2000000, 300, 400, 500 };
	static const struct quantum_burst burst = {
		.group_weight = 1,
		.weight = 1,
		.seconds = 1e-3,
		.values = values,
	};
	struct summing *s = data;
	uint64_t begin = clock_now();

	for (int i = 0; i < BATCH; i++)
		quantum_add(s->quantum, (unsigned)i % 8, &burst);
	quantum_close(s->quantum, s->sums);
	return clock_ns(clock_now() - begin);
}

/* ---- a training ---- */

struct trained {
	struct prototype_table previous, next;
	double metrics[2 * RESERVOIR_MAX], seconds[RESERVOIR_MAX];
	uint32_t task[RESERVOIR_MAX];
	uint64_t execution[RESERVOIR_MAX];
	uint32_t place[RESERVOIR_MAX];
	float regular[RESERVOIR_MAX];
};

static double train_batch(void *data)
{
	struct trained *t = data;
	struct training_sample sample = { .count = RESERVOIR_MAX,
		.metrics = t->metrics,
		.duration = t->seconds,
		.task = t->task,
		.execution = t->execution,
		.place = t->place,
		.regular = t->regular };
	uint64_t begin = clock_now();

	prototypes_train(&sample, &t->previous, &t->next);
	return clock_ns(clock_now() - begin);
}

/*
 * Measures the training of 16 tasks that run 6 phases of five places each in turn, with the noise of a busy
 * machine.
 */
static void training(void)
{
	struct trained *t = calloc(1, sizeof(*t));

	t->previous.space.dims = 2;
	t->previous.space.logarithmic[0] = 1;
	for (unsigned d = 0; d < 2; d++)
		t->previous.space.range[d] = t->previous.space.weight[d] = 1;
	for (unsigned i = 0; i < RESERVOIR_MAX; i++) {
		unsigned phase = i / 16 % 6;

		t->metrics[2 * i] = exp(12 + phase + 0.05 * (uniform() - 0.5));
		t->metrics[2 * i + 1] = 0.5 + 0.3 * (phase % 4) + 0.1 * (uniform() - 0.5);
		t->seconds[i] = 1e-3 * (1 + uniform());
		t->task[i] = i % 16;
		t->execution[i] = i / 16;
		t->place[i] = (i / 16 % 30 + 1) * 2654435761u | 1;
		t->regular[i] = (float)(i / 16 % 30 < 15);
	}
	printf("train_2000_bursts %.0f\n", train_batch(t));
	t->previous = t->next;
	printf("train_2000_bursts_again %.0f\n", train_batch(t));
	free(t);
}

/* ---- the kernel ---- */

struct counted {
	struct group group[2];
	unsigned groups;
};

static double read_batch(void *data)
{
	struct counted *counted = data;
	uint64_t values[GROUP_EVENTS_MAX], begin = clock_now();

	for (int i = 0; i < BATCH; i++)
		group_read(&counted->group[0], values);
	sink = (double)values[0];
	return clock_ns(clock_now() - begin);
}

static double switch_batch(void *data)
{
	struct counted *counted = data;
	uint64_t begin = clock_now();

	for (int i = 0; i < BATCH; i++) {
		group_disable(&counted->group[i % counted->groups]);
		group_enable(&counted->group[(i + 1) % counted->groups]);
	}
	return clock_ns(clock_now() - begin);
}

/* ---- what a read takes from the program, beside its own time ---- */

#define NUMBERS 512

struct aftermath {
	struct counted *counted;
	bool reads;
	double read_ns; /* a read among the work; the least of all batches */
};

static int by_size(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/*
 * Returns the time of sorting the same numbers repeatedly, with a read before each time, which is not included.
 */
static double work_batch(void *data)
{
	struct aftermath *aftermath = data;
	uint64_t values[GROUP_EVENTS_MAX], working = 0, reading = 0;
	int numbers[NUMBERS];

	for (int i = 0; i < BATCH; i++) {
		uint64_t before = clock_now(), begin;

		if (aftermath->reads)
			group_read(&aftermath->counted->group[0], values);
		begin = clock_now();
		for (unsigned n = 0; n < NUMBERS; n++)
			numbers[n] = (int)(n * 2654435761u >> 8);
		qsort(numbers, NUMBERS, sizeof(*numbers), by_size);
		working += clock_now() - begin;
		reading += begin - before;
		sink = numbers[0];
	}
	aftermath->read_ns = fmin(aftermath->read_ns, clock_ns(reading) / BATCH);
	return clock_ns(working);
}

static void aftermath(struct counted *counted)
{
	struct aftermath alone = { counted, false, INFINITY }, after = { counted, true, INFINITY };

	report("floor_work", work_batch, &alone);
	report("work_after_read", work_batch, &after);
	printf("read_among_work %.2f\n", after.read_ns);
}

static double clock_batch(void *data)
{
	uint64_t begin = clock_now();

	(void)data;
	for (int i = 0; i < BATCH; i++)
		sink = (double)clock_now();
	return clock_ns(clock_now() - begin);
}

/* Opens a group of the plan to be read by `method`. */
static bool open_group(struct group *group, const struct counting *counting,
		const struct plan_group *planned, enum read_method method)
{
	const struct event *events[GROUP_EVENTS_MAX];
	unsigned bad;

	for (unsigned i = 0; i < planned->count; i++)
		events[i] = &counting->event[planned->event[i]];
	return group_open(group, counting->pmu, events, planned->count, method, &bad) == 0;
}

/* Measures a read of the first group by each way that this machine has. */
static void ways_to_read(const struct counting *counting)
{
	static const char *const names[] = {
		[READ_SYSCALL] = "read_by_system_call",
		[READ_RDPMC] = "read_at_user_level",
	};

	for (unsigned method = READ_SYSCALL; method <= READ_RDPMC; method++) {
		struct counted counted = { .groups = 1 };

		if (!open_group(&counted.group[0], counting, &counting->plan.group[0],
				    (enum read_method)method))
			continue;
		group_enable(&counted.group[0]);
		if (group_read_by_pages(&counted.group[0]) == (method == READ_RDPMC))
			report(names[method], read_batch, &counted);
		group_close(&counted.group[0]);
	}
}

/*
 * Measures the groups that the agent would use on this machine. only_reads: leaves out what reads take from the
 * program beside their own time.
 */
static void kernel(bool only_reads)
{
	static struct counting counting;
	struct counting_limits limits;
	struct counted counted = { .groups = 0 };
	char why[256];

	if (counting_look(&counting, "auto", NULL, why, sizeof(why)))
		return;
	counting_limits(&counting, &limits);
	counting_settle(&counting, &limits);
	ways_to_read(&counting);
	for (unsigned g = 0; g < 2; g++) {
		if (!open_group(&counted.group[g], &counting,
				    &counting.plan.group[g % counting.plan.groups],
				    counting.probe.method))
			return;
		counted.groups++;
	}
	group_enable(&counted.group[0]);
	report(counting.hardware ? "floor_read_group" : "floor_read_software_group", read_batch,
			&counted);
	if (!only_reads)
		aftermath(&counted);
	report(counting.hardware ? "switch_groups" : "switch_software_groups", switch_batch,
			&counted);
}

/* Measures the steps that the kernel has no part in. */
static void steps(void)
{
	struct plan plan = { .events = 5,
		.common = 2,
		.groups = 1,
		.group[0] = { .count = 5, .event = { 0, 1, 2, 3, 4 } } };
	static struct ring ring;
	struct summing summing = { .sums = sums_new(&plan, PROTOTYPES_MAX) };

	for (unsigned dims = 1; dims <= 4; dims++)
		classification(dims, 0);
	for (unsigned dims = 1; dims <= 2; dims++)
		classification(dims, 40);
	ring_init(&ring, calloc(THREAD_RING_BURSTS, sizeof(struct burst)), THREAD_RING_BURSTS,
			sizeof(struct burst));
	report("ring_push_and_pop", ring_batch, &ring);
	summing.quantum = quantum_new(summing.sums);
	report("add_to_sums", sums_batch, &summing);
	training();
}

int main(int argc, char **argv)
{
	bool only_reads = argc > 1 && strcmp(argv[1], "reads") == 0;

	if (only_reads)
		batches = BATCHES_FEW;
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	report("floor_time_stamp", clock_batch, NULL);
	if (!only_reads)
		steps();
	kernel(only_reads);
	return 0;
}
