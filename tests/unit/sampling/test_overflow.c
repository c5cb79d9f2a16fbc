/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests samples of groups: exactly with the scripted PMU, and as they come with the kernel's software events.
 */
#include <time.h>

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

static volatile double sink;

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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
	double seconds;           /* processor time of the thread */
	double wall;              /* ns */
	struct overflow_sample last;
};

/*
 * Computes until `samples` samples have come, for 10 s at most. On a machine that others use, several periods
 * may have one sample.
 */
static struct taken compute(struct overflow *overflow, unsigned samples)
{
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
	test_kernel();
	return tap_done();
}
