/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the clock of time stamps against the clocks of the system. */
#include <math.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/clock.h"
#include "tests/tap.h"

#define PAUSE_US 20000
#define STEP_NS  10000000u

static uint64_t day_ns(void)
{
	struct timespec day;

	clock_gettime(CLOCK_REALTIME, &day);
	return (uint64_t)day.tv_sec * 1000000000u + (uint64_t)day.tv_nsec;
}

static void test_rate(void)
{
	double nearest = INFINITY;

	/* in at least one of ten trials no other thread runs between the two clocks of a moment */
	for (int i = 0; i < 10; i++) {
		uint64_t ns = clock_monotonic(), begin = clock_now();
		double ratio;

		usleep(PAUSE_US);
		ratio = clock_ns(clock_now() - begin) / (double)(clock_monotonic() - ns);
		nearest = fmin(nearest, fabs(ratio - 1));
	}
	ok(nearest < 1e-3, "it goes as fast as the system's (%.1e apart)", nearest);
	is_near(clock_ns(clock_ticks(1e9)), 1e9, 1,
			"ticks and nanoseconds are each other's inverse");
	is_int((long long)clock_ticks(-1), 0, "there is no time before none");
}

static void *leave_number(void *of_thread)
{
	*(pid_t *)of_thread = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static void test_of_thread(void)
{
	uint64_t began = clock_monotonic(), before = clock_thread_ns(0);
	pthread_t ended;
	pid_t tid = 0;

	while (clock_thread_ns(0) - before < STEP_NS)
		;
	ok(clock_monotonic() - began >= STEP_NS, "a thread runs no longer than time passes");
	before = clock_thread_ns((pid_t)syscall(SYS_gettid));
	usleep(PAUSE_US);
	ok(clock_thread_ns(0) - before < PAUSE_US * 1000u, "and does not run while it sleeps");
	pthread_create(&ended, NULL, leave_number, &tid);
	pthread_join(ended, NULL);
	for (int tries = 0; tries < 1000 && clock_thread_ns(tid); tries++)
		usleep(1000);
	is_int((long long)clock_thread_ns(tid), 0, "a thread that has ended has no time");
}

/* Returns how far, in ns, a moment of clock_now() is from a multiple of STEP_NS of the time of day. */
static double beside_multiple(uint64_t ticks)
{
	double until = (double)(int64_t)(ticks - clock_now()) * clock_here.ns_per_tick;
	double rest = fmod((double)(day_ns() % STEP_NS) + until, STEP_NS);

	return fmin(fabs(rest), fabs(STEP_NS - fabs(rest)));
}

static void test_common_moments(void)
{
	double nearest = INFINITY;
	unsigned ahead = 0;

	/* at least one of twenty trials is not disturbed */
	for (int i = 0; i < 20; i++) {
		uint64_t before = clock_now(), next = clock_next_multiple(STEP_NS);

		ahead += next >= before && next <= clock_now() + clock_ticks(STEP_NS);
		nearest = fmin(nearest, beside_multiple(next));
		usleep(1000);
	}
	is_int(ahead, 20, "the next multiple is no further than one step");
	ok(nearest < 2e4, "and is one of the time of day (%.0f ns beside it)", nearest);
}

int main(void)
{
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	test_rate();
	test_common_moments();
	test_of_thread();
	return tap_done();
}
