/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time stamps that cost a few nanoseconds. They are from the processor's constant counter if it has one (x86
 * with an invariant time stamp counter, ARM), else from CLOCK_MONOTONIC.
 */
#ifndef PHASEMUX_SAMPLING_CLOCK_H
#define PHASEMUX_SAMPLING_CLOCK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct clock {
	int ticks;          /* 1: clock_now() counts ticks of the processor; 0: nanoseconds */
	double ns_per_tick; /* 1 if ticks are nanoseconds */
};

/* The clock of this process. clock_calibrate sets it; it is constant afterwards. */
extern struct clock clock_here;

/* Returns the time of one of the kernel's clocks in nanoseconds. */
static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_monotonic(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/*
 * Returns the time in nanoseconds that a thread of this process has run on processors, or 0 if the thread is
 * gone. tid 0 is the calling thread.
 */
uint64_t clock_thread_ns(pid_t tid);

/* One moment on two clocks; both are 0 if no counter has to be calibrated. */
struct clock_moment {
	uint64_t ticks;
	uint64_t ns; /* of CLOCK_MONOTONIC */
};

/* Fills moment with the present time, or with zeros if there is no counter that has to be calibrated. */
void clock_look(struct clock_moment *moment);

/*
 * Chooses the clock and calibrates it against an earlier moment of this process. Takes up to 2 ms if `earlier`
 * is zeros or less than 2 ms old. Call before any other thread reads the clock.
 */
void clock_calibrate(const struct clock_moment *earlier);

/* Returns the time in ticks of clock_here. Any thread may call it. */
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
 * Returns the next time, in ticks of clock_now(), at which the time of day is a multiple of `ns` nanoseconds.
 * All processes of a machine get the same moment; machines whose clocks are set get nearly the same one.
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
