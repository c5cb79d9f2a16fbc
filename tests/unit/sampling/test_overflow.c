/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests samples of groups: exactly with the scripted PMU, and as they come with the kernel's software events.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sampling/overflow.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

#define PERIOD_NS 1000000

static const struct event hardware[2][2] = {
	{ { .name = "cycles", .type = PERF_TYPE_RAW, .config = 0x76 },
			{ .name = "instructions", .type = PERF_TYPE_RAW, .config = 0xc0 } },
	{ { .name = "instructions", .type = PERF_TYPE_RAW, .config = 0xc0 },
			{ .name = "cycles", .type = PERF_TYPE_RAW, .config = 0x76 } },
};

static const struct event software[2][2] = {
	{ { .name = "task-clock", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK },
			{ .name = "page-faults",
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS } },
	{ { .name = "page-faults",
			  .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_PAGE_FAULTS },
			{ .name = "task-clock",
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK } },
};

static int open_two(struct group groups[2], struct overflow *overflow, const struct pmu *pmu,
		const struct event events[2][2], unsigned samples)
{
	int error = 0;
	unsigned bad;

	memset(overflow, 0, sizeof(*overflow));
	for (unsigned g = 0; g < 2 && !error; g++) {
		const struct event *const of_group[2] = { &events[g][0], &events[g][1] };

		error = group_open(&groups[g], pmu, of_group, 2, READ_SYSCALL, &bad);
		if (!error)
			error = g ? overflow_add(overflow, &groups[g], PERIOD_NS) :
				    overflow_open(overflow, &groups[g], PERIOD_NS, samples);
	}
	return error;
}

static unsigned take_all(struct overflow *overflow, struct overflow_sample *last)
{
	uint64_t head = overflow_head(overflow);
	unsigned count = 0;

	for (; overflow_peek(overflow, head, last); count++)
		overflow_take(overflow);
	return count;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void test_scripted(void)
{
	struct overflow_sample sample;
	struct overflow overflow;
	struct group groups[2];
	uint64_t values[GROUP_EVENTS_MAX], first, middle, id;
	unsigned count;

	scripted_pmu_configure("");
	is_int(open_two(groups, &overflow, phasemux_pmu(), hardware, 100), 0, "two groups sample");
	scripted_pmu_work("fma", 1000000);
	is_int(take_all(&overflow, &sample), 0, "what is not enabled is not sampled");
	group_enable(&groups[0]);
	/* 4 cycles a ns, and fma needs 0.4 cycles an instruction: 5.5 ms */
	group_read(&groups[0], values);
	first = values[1];
	scripted_pmu_work("fma", 32500000);
	middle = monotonic_ns();
	scripted_pmu_work("fma", 22500000);
	ok(overflow_peek(&overflow, overflow_head(&overflow), &sample), "there is a sample");
	id = sample.id;
	is_int(overflow_count(&overflow, overflow_head(&overflow), sample.time, middle, 100), 3,
			"three in three periods");
	is_int(sample.count, 2, "with the values of the group");
	is_near((double)(sample.values[1] - first), 1e7, 3e5, "as they were after one period");
	is_near((double)sample.values[0], 4e6, 1e5, "in the order of its events");
	count = take_all(&overflow, &sample);
	is_int(count, 5, "one each period");
	group_read(&groups[0], values);
	is_int((long long)values[1], (long long)first + 55000000, "what is read stays the same");
	group_disable(&groups[0]);
	group_enable(&groups[1]);
	scripted_pmu_work("fma", 22000000);
	ok(take_all(&overflow, &sample) >= 2 && sample.id != id &&
					sample.values[0] > sample.values[1],
			"the other group's come through the same ring");
	for (int i = 0; i < 5; i++)
		scripted_pmu_work("fma", 10000000 * 100);
	count = take_all(&overflow, &sample);
	scripted_pmu_work("fma", 22000000);
	ok(count >= 80 && count < 450, "a full ring takes no more (%u)", count);
	is_int(take_all(&overflow, &sample), 2, "until there is room again");
	ok(sample.lost >= 50 && sample.lost + count == 500,
			"and says how many it did not take (%llu)",
			(unsigned long long)sample.lost);
	overflow_close(&overflow);
	is_int(take_all(&overflow, &sample), 0, "nothing comes from what is closed");
	group_close(&groups[0]);
	group_close(&groups[1]);
	is_int(scripted_pmu_open(), 0, "all events are closed");
}

static void test_refused(void)
{
	struct overflow_sample sample;
	struct overflow overflow;
	struct group groups[2];
	uint64_t values[GROUP_EVENTS_MAX];

	scripted_pmu_configure("fail=map:2+:EPERM,spin=0");
	ok(open_two(groups, &overflow, phasemux_pmu(), hardware, 100) < 0,
			"without memory for a ring there is none");
	group_enable(&groups[0]);
	scripted_pmu_work("fma", 1000000);
	is_int(group_read(&groups[0], values), 0, "the group counts all the same");
	is_int(take_all(&overflow, &sample), 0, "and has no samples");
	overflow_close(&overflow);
	group_close(&groups[0]);
}

/* ---- callers, in a ring that is filled here ---- */

#define RING_BYTES 4096 /* behind the page that describes it */

/* A ring and what has been written to it. */
struct written {
	struct overflow overflow;
	unsigned char *map;
	uint64_t head;
};

static void ring_init(struct written *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	memset(ring, 0, sizeof(*ring));
	ring->map = calloc(1, page + RING_BYTES);
	ring->overflow.page = (void *)ring->map;
	ring->overflow.bytes = page + RING_BYTES;
	ring->overflow.stacks = true;
}

/* Writes a sample of two values, the event's own, and `count` words behind them; `size` of its bytes are told. */
static void ring_write(struct written *ring, const uint64_t *words, unsigned count, size_t size)
{
	unsigned char *data = ring->map + sysconf(_SC_PAGESIZE);
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = (uint16_t)size };
	uint64_t record[64] = { 0, 7, 0x1111, 2000, 3, 10, 20, 30 };

	memcpy(record, &header, sizeof(header));
	memcpy(record + 8, words, count * sizeof(*words));
	for (size_t i = 0; i < size; i++)
		data[(ring->head + i) % RING_BYTES] = ((unsigned char *)record)[i];
	ring->head += size;
}

static unsigned callers_of(struct written *ring, const uint64_t *words, unsigned count,
		struct overflow_stack *stack)
{
	struct overflow_sample sample;

	ring_write(ring, words, count, (8 + count) * sizeof(*words));
	if (!overflow_peek(&ring->overflow, ring->head, &sample) || sample.address != 0x1111 ||
			sample.count != 2 || sample.values[1] != 20 || sample.clock != 30)
		return 99;
	overflow_callers(&ring->overflow, stack);
	overflow_take(&ring->overflow);
	return stack->callers;
}

static void test_callers(void)
{
	static const uint64_t chain[] = { 4, PERF_CONTEXT_USER, 0x1111, 0x2222, 0x3333 };
	static const uint64_t marked[] = { 5, PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, 0x1111,
		PERF_CONTEXT_GUEST, 0x2222 };
	static const uint64_t alone[] = { 2, PERF_CONTEXT_USER, 0x1111 };
	static const uint64_t lies[] = { 1000, PERF_CONTEXT_USER, 0x1111, 0x2222 };
	uint64_t deep[OVERFLOW_CALLERS_MAX + 4] = { OVERFLOW_CALLERS_MAX + 3, PERF_CONTEXT_USER,
		0x1111 };
	struct overflow_stack stack;
	struct overflow_sample sample;
	struct written ring;
	unsigned wrong = 0;

	ring_init(&ring);
	is_int(callers_of(&ring, chain, 5, &stack), 2, "a sample has two callers");
	ok(stack.caller[0] == 0x2222 && stack.caller[1] == 0x3333 && !stack.deeper,
			"the innermost first, without the sampled address");
	is_int(callers_of(&ring, marked, 6, &stack), 1, "marks of the kernel are no callers");
	is_int(callers_of(&ring, alone, 3, &stack), 0, "there may be none");
	for (unsigned i = 0; i <= OVERFLOW_CALLERS_MAX; i++)
		deep[3 + i] = 0x9000 + i;
	is_int(callers_of(&ring, deep, OVERFLOW_CALLERS_MAX + 4, &stack), OVERFLOW_CALLERS_MAX,
			"a deep stack keeps its innermost callers");
	ok(stack.deeper && stack.caller[0] == 0x9000, "and says that there are more");
	deep[0]--;
	callers_of(&ring, deep, OVERFLOW_CALLERS_MAX + 3, &stack);
	ok(!stack.deeper && stack.callers == OVERFLOW_CALLERS_MAX,
			"one that has just room is whole");
	is_int(callers_of(&ring, lies, 4, &stack), 0, "a number above the record's size is none");
	for (int i = 0; i < 200; i++)
		wrong += callers_of(&ring, chain, 5, &stack) != 2 || stack.caller[1] != 0x3333;
	is_int(wrong, 0, "records may lie across the end of the ring");
	/* 3 values need 8 words; the record ends before or within its callers */
	ring_write(&ring, chain, 0, 8 * sizeof(uint64_t));
	ok(overflow_peek(&ring.overflow, ring.head, &sample), "a sample may have no list");
	overflow_callers(&ring.overflow, &stack);
	is_int(stack.callers, 0, "and then has no callers");
	overflow_take(&ring.overflow);
	ring_write(&ring, chain, 2, 10 * sizeof(uint64_t));
	ok(overflow_peek(&ring.overflow, ring.head, &sample), "the list may be cut off");
	overflow_callers(&ring.overflow, &stack);
	is_int(stack.callers, 0, "and then there are none");
	free(ring.map);
}

/* A kernel that is set to few callers refuses to list more. */
static void test_without_callers(void)
{
	struct overflow_sample sample;
	struct overflow_stack stack;
	struct overflow overflow;
	struct group groups[2];
	unsigned count = 0;

	/* the third event is the one that samples the first group */
	scripted_pmu_configure("fail=open:3:EINVAL");
	is_int(open_two(groups, &overflow, phasemux_pmu(), hardware, 100), 0,
			"without callers there are samples");
	group_enable(&groups[0]);
	scripted_pmu_work("fma", 32500000);
	for (; overflow_peek(&overflow, overflow_head(&overflow), &sample); count++) {
		overflow_callers(&overflow, &stack);
		overflow_take(&overflow);
	}
	ok(count == 3 && stack.callers == 0 && !overflow.stacks, "of the address alone (%u)",
			count);
	overflow_close(&overflow);
	group_close(&groups[0]);
	group_close(&groups[1]);
}

static volatile double sink;

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* This file is compiled with frame pointers, by which the kernel finds the caller. */
static __attribute__((noinline)) void spin(double until)
{
	double x = 2;

	do {
		for (int i = 0; i < 10000; i++)
			x = x * 0.999 + 0.001;
	} while (processor_seconds() < until);
	sink = x;
}

struct taken {
	unsigned samples, placed; /* number of samples, and of those in spin */
	unsigned called;          /* number of samples with the caller of spin */
	double seconds;           /* processor time of the thread */
	double wall;              /* ns */
	struct overflow_sample last;
};

/*
 * Computes until `samples` samples have come, for 10 s at most. On a machine that others use, several periods
 * may have one sample.
 */
static __attribute__((noinline)) struct taken compute(struct overflow *overflow, unsigned samples)
{
	struct overflow_stack stack;
	struct taken taken = { 0 };
	double begin = processor_seconds();
	uint64_t wall_begin = monotonic_ns();

	while (taken.samples < samples && taken.seconds < 10) {
		uint64_t head;

		spin(begin + taken.seconds + 0.01);
		taken.seconds = processor_seconds() - begin;
		head = overflow_head(overflow);
		for (; overflow_peek(overflow, head, &taken.last); taken.samples++) {
			taken.placed += taken.last.address - (uintptr_t)spin < 4096;
			overflow_callers(overflow, &stack);
			taken.called += stack.callers &&
					stack.caller[0] - (uintptr_t)compute < 4096;
			overflow_take(overflow);
		}
	}
	taken.wall = (double)(monotonic_ns() - wall_begin);
	return taken;
}

static void test_kernel(void)
{
	struct overflow overflow;
	struct group groups[2];
	struct taken taken;
	uint64_t now;

	if (open_two(groups, &overflow, pmu_kernel(), software, 200)) {
		skip("the kernel's samples", "this kernel does not allow it");
		return;
	}
	group_enable(&groups[0]);
	taken = compute(&overflow, 40);
	now = monotonic_ns();
	ok(taken.samples >= 40, "the kernel samples by processor time (%u)", taken.samples);
	/*
	 * time that the host of a virtual machine takes counts for the event's clock, but not for the thread's
	 */
	ok(taken.samples <= taken.wall / PERIOD_NS + 2, "each period once at most (%g ms)",
			taken.wall / 1e6);
	is_int(taken.last.count, 2, "its samples have the group's values");
	ok(taken.last.values[0] > 20000000 && (double)taken.last.values[0] <= taken.wall + 1e7,
			"as they then were");
	ok(taken.last.time <= now && taken.last.time > now - 5000000000u, "with the time");
	ok(taken.placed > taken.samples * 3 / 4, "and the place, except for samples in calls (%u)",
			taken.placed);
	ok(!overflow.stacks || taken.called > taken.samples / 2,
			"and the function that called this one (%u)", taken.called);
	group_disable(&groups[0]);
	group_enable(&groups[1]);
	taken = compute(&overflow, 10);
	ok(taken.samples >= 10 && taken.last.values[1] > 5000000,
			"the other group writes to the same ring");
	overflow_close(&overflow);
	group_close(&groups[1]);
	group_close(&groups[0]);
}

int main(void)
{
	test_scripted();
	test_refused();
	test_callers();
	test_without_callers();
	test_kernel();
	return tap_done();
}
