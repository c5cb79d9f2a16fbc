/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts loops of known numbers of instructions by groups of events, on the virtual machine whose counters are
 * exact (tests/machine/run). On another ARM64 machine they are exact except for interrupts.
 */
#include "tests/tap.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sampling/clock.h"
#include "sampling/group.h"
#include "sampling/overflow.h"

#define INST_RETIRED 0x8
#define LOOP         2 /* instructions of a turn of spin() */
#define CPI          2 /* cycles of an instruction, and ns */
/*
 * Share of the instructions that an interrupt adds. QEMU counts the instruction at which an interrupt arrives
 * more than once.
 */
#define INTERRUPTS 0.0005

static const struct event instructions = { .name = "INST_RETIRED",
	.type = PERF_TYPE_RAW,
	.config = INST_RETIRED };
static const struct event cycles = { .name = "CPU_CYCLES",
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES };

/* Executes LOOP instructions `turns` times. */
static void spin(uint64_t turns)
{
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
}

/* Opens `copies` of INST_RETIRED, or the cycles and copies, and enables them. */
static bool start(struct group *group, unsigned copies, bool with_cycles, enum read_method method)
{
	const struct event *events[GROUP_EVENTS_MAX];
	unsigned bad;

	for (unsigned i = 0; i < copies; i++)
		events[i] = &instructions;
	if (with_cycles)
		events[copies - 1] = &cycles;
	return group_open(group, pmu_kernel(), events, copies, method, &bad) == 0 &&
			group_enable(group) == 0;
}

/* Fills delta with what the group counts around `turns` of the loop. */
static bool count(struct group *group, uint64_t turns, uint64_t *delta)
{
	uint64_t before[GROUP_EVENTS_MAX], after[GROUP_EVENTS_MAX];
	int error = group_read(group, before);

	spin(turns);
	return !error && group_read(group, after) == 0 &&
			group_delta(before, after, group->count, delta);
}

/*
 * Without an interrupt, a count is that of the loop and a constant, which the read itself takes. It is the
 * least of some counts, because an interrupt can only add to one.
 */
static bool least(struct group *group, uint64_t turns, uint64_t *delta)
{
	uint64_t once[GROUP_EVENTS_MAX];

	for (unsigned tries = 0; tries < 8; tries++) {
		if (!count(group, turns, once))
			return false;
		for (unsigned i = 0; i < group->count; i++)
			if (tries == 0 || once[i] < delta[i])
				delta[i] = once[i];
	}
	return true;
}

static void test_loops(enum read_method method, const char *how)
{
	static const uint64_t turns[] = { 1000, 10000, 1000000 };
	uint64_t own[GROUP_EVENTS_MAX] = { 0 }, delta[GROUP_EVENTS_MAX] = { 0 };
	struct group group;

	if (!ok(start(&group, 6, false, method), "%s: six copies of an event open", how))
		return;
	is_int(group.method, method, "this way of reading");
	ok(least(&group, 1, own) && own[0] - LOOP < 300,
			"%s: a read itself takes %llu instructions", how,
			(unsigned long long)own[0] - LOOP);
	for (unsigned t = 0; t < 3; t++) {
		double want = (double)(turns[t] - 1) * LOOP;
		bool same = least(&group, turns[t], delta);

		ok(same &&
						fabs((double)(delta[0] - own[0]) - want) <=
								(t < 2 ? 0 : INTERRUPTS * want),
				"%s: a loop of %.0f instructions has %llu", how, want,
				(unsigned long long)(delta[0] - own[0]));
		/* each copy is read a little later than the one before, at both ends */
		for (unsigned i = 1; i < 6; i++)
			same &= delta[i] == delta[0];
		ok(same, "%s: each of the six counters has them", how);
	}
	group_close(&group);
}

/*
 * The kernel starts a counter of 32 bits at 2^31, and when it overflows adds it to the offset by which a thread reads
 * it at user level.
 */
static void test_full_counter(void)
{
	uint64_t turns = (UINT64_C(1) << 31) / CPI / LOOP * 9 / 8, delta[GROUP_EVENTS_MAX] = { 0 };
	struct group group;

	ok(start(&group, 2, true, READ_RDPMC) && count(&group, turns, delta) &&
					group_read_by_pages(&group),
			"a loop of more than 2^31 cycles is read at user level");
	is_near((double)delta[0] / (double)(turns * LOOP), 1, INTERRUPTS, "its instructions");
	is_near((double)delta[1] / (double)(turns * LOOP * CPI), 1, INTERRUPTS, "its cycles");
	group_close(&group);
}

static void test_grouping(void)
{
	uint64_t delta[GROUP_EVENTS_MAX] = { 0 }, values[GROUP_EVENTS_MAX];
	struct group group;

	ok(start(&group, 7, true, READ_SYSCALL) && count(&group, 100000, delta),
			"cycles have a counter of their own beside six others");
	is_near((double)delta[0] / (100000 * LOOP), 1, 0.01, "all count");
	is_near((double)delta[6] / (double)delta[0], CPI, 0.01, "an instruction is two cycles");
	group_close(&group);
	ok(!start(&group, 7, false, READ_SYSCALL) || group_read(&group, values) < 0,
			"seven that need six counters do not count");
	group_close(&group);
}

/* Counters stand still while their group is disabled, and while another thread runs. */
static void test_switching(void)
{
	uint64_t before[GROUP_EVENTS_MAX], after[GROUP_EVENTS_MAX];
	struct group first, second;

	if (!ok(start(&first, 4, false, READ_SYSCALL) && group_disable(&first) == 0 &&
					    start(&second, 4, false, READ_SYSCALL),
			    "two groups of four open"))
		return;
	group_read(&first, before);
	spin(100000);
	group_read(&first, after);
	is_int((long long)(after[0] - before[0]), 0, "a disabled group stands still");
	ok(group_disable(&second) == 0 && group_enable(&first) == 0, "the groups are switched");
	group_read(&second, before);
	spin(100000);
	group_read(&second, after);
	is_int((long long)(after[3] - before[3]), 0, "the other one stands still");
	ok(count(&first, 100000, after), "and the first one counts");
	is_near((double)after[0] / (100000 * LOOP), 1, 0.005, "right again");
	group_close(&first);
	group_close(&second);
}

static atomic_bool spinning;

static void *spin_beside(void *unused)
{
	(void)unused;
	while (spinning) {
		spin(1000);
		sched_yield();
	}
	return NULL;
}

static void test_threads(enum read_method method, const char *how)
{
	uint64_t before[GROUP_EVENTS_MAX], after[GROUP_EVENTS_MAX];
	struct group group;
	pthread_t other;

	spinning = true;
	if (!ok(start(&group, 4, false, method) && !pthread_create(&other, NULL, spin_beside, NULL),
			    "%s: a thread runs beside", how))
		return;
	group_read(&group, before);
	for (int i = 0; i < 200; i++) {
		spin(1000);
		sched_yield();
	}
	group_read(&group, after);
	spinning = false;
	pthread_join(other, NULL);
	/* around 1,000 turns, the calls and the loops have some tens of instructions */
	ok(after[0] - before[0] >= 400000 && after[0] - before[0] < 440000,
			"%s: what the other one executes is not counted (%llu)", how,
			(unsigned long long)(after[0] - before[0]));
	group_close(&group);
}

static void test_samples(void)
{
	enum { PERIOD_NS = 100000, SAMPLES = 64 };
	uint64_t turns = SAMPLES / 2 * (uint64_t)PERIOD_NS / CPI / LOOP, values[GROUP_EVENTS_MAX];
	const struct event *const events[] = { &instructions, &cycles };
	struct overflow overflow = { .page = NULL };
	struct overflow_sample sample;
	unsigned bad, taken = 0, apart = 0;
	uint64_t last = 0, head;
	struct group group;

	if (!ok(group_open(&group, pmu_kernel(), events, 2, READ_SYSCALL, &bad) == 0 &&
					    overflow_open(&overflow, &group, PERIOD_NS, SAMPLES) ==
							    0 &&
					    group_enable(&group) == 0,
			    "a group that is sampled opens"))
		return;
	spin(turns);
	group_disable(&group);
	head = overflow_head(&overflow);
	while (overflow_peek(&overflow, head, &sample)) {
		/* the kernel's own instructions are not counted, but take time */
		if (taken++)
			apart += sample.values[0] - last > PERIOD_NS / CPI / 2 &&
					sample.values[0] - last < PERIOD_NS / CPI * 3 / 2;
		last = sample.values[0];
		overflow_take(&overflow);
	}
	ok(taken >= SAMPLES / 2 - 4 && taken <= SAMPLES / 2 + 4, "%u samples for %d periods", taken,
			SAMPLES / 2);
	ok(apart >= taken - 3, "%u of them are a period apart", apart);
	ok(group_read(&group, values) == 0 && last <= values[0] && last > values[0] / 2,
			"their counts grow to that of the group");
	overflow_close(&overflow);
	group_close(&group);
}

static bool user_access(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_user_access", "re");
	int on = 0;

	if (file) {
		if (fscanf(file, "%d", &on) != 1)
			on = 0;
		fclose(file);
	}
	return on;
}

int main(void)
{
	struct group group;
	bool counts = start(&group, 1, false, READ_SYSCALL);

	group_close(&group);
	if (!counts) {
		puts("1..0 # SKIP this machine does not count instructions");
		return 0;
	}
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	test_loops(READ_SYSCALL, "system call");
	test_threads(READ_SYSCALL, "system call");
	if (user_access()) {
		test_loops(READ_RDPMC, "user level");
		test_threads(READ_RDPMC, "user level");
		test_full_counter();
	} else {
		skip("reading at user level", "kernel.perf_user_access is 0");
	}
	test_grouping();
	test_switching();
	test_samples();
	return tap_done();
}
