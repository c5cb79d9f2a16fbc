/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time stamps that cost a few nanoseconds: the processor's constant counter where there is one
 * (x86 with an invariant time stamp counter, ARM), CLOCK_MONOTONIC elsewhere.
 */
#ifndef PHASEMUX_SAMPLING_CLOCK_H
#define PHASEMUX_SAMPLING_CLOCK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct clock {
	int ticks; /* 1: clock_now() counts ticks of the processor; 0: nanoseconds */
	double ns_per_tick;
};

/* Calibrated by clock_calibrate, constant afterwards. */
extern struct clock clock_here;

/* A clock of the kernel in nanoseconds. */
static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_monotonic(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/*
 * Returns the time in nanoseconds that a thread of this process has run on processors, or 0 where the
 * thread is gone. tid 0 is the calling thread.
 */
uint64_t clock_thread_ns(pid_t tid);

/* The same moment on two clocks; zeros: none. */
struct clock_moment {
	uint64_t ticks;
	uint64_t ns; /* of CLOCK_MONOTONIC */
};

/* Now; where there is no constant counter, none. */
void clock_look(struct clock_moment *moment);

/*
 * Decides and calibrates against an earlier moment of this process; with none, or one that is too
 * young, it takes up to 2 ms. Before any other thread reads the clock.
 */
void clock_calibrate(const struct clock_moment *earlier);

static inline uint64_t clock_now(void)
{
#if defined(__x86_64__)
	if (clock_here.ticks)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (clock_here.ticks) {
		uint64_t now;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
		return now;
	}
#endif
	return clock_monotonic();
}

static inline double clock_ns(uint64_t ticks)
{
	return (double)ticks * clock_here.ns_per_tick;
}

static inline uint64_t clock_ticks(double ns)
{
	return ns <= 0 ? 0 : (uint64_t)(ns / clock_here.ns_per_tick);
}

/*
 * The next time, of clock_now(), at which the time of day is a multiple of so many ns: one moment for
 * all processes of a machine, and nearly one for all machines whose clocks are set.
 */
static inline uint64_t clock_next_multiple(uint64_t ns)
{
	struct timespec day;

	clock_gettime(CLOCK_REALTIME, &day);
	return clock_now() +
			clock_ticks((double)(ns -
					((uint64_t)day.tv_sec * 1000000000u +
							(uint64_t)day.tv_nsec) %
							ns));
}

#endif
