/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct clock clock_here = { .ticks = 0, .ns_per_tick = 1 };

uint64_t clock_thread_ns(pid_t tid)
{
	/* the kernel's number of that clock, as pthread_getcpuclockid makes it */
	clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6);
	struct timespec ran;

	if (clock_gettime(clock, &ran))
		return 0;
	return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

#if defined(__x86_64__)

#define CALIBRATION_NS 2000000 /* with brackets of tens of nanoseconds, the error is about 1e-5 */
#define BRACKETS       16

/* CPUID 8000_0007 EDX bit 8: the counter runs at a constant rate and never stops. */
static int has_constant_counter(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* Keeps the try with the tightest bracket of BRACKETS tries. */
void clock_look(struct clock_moment *moment)
{
	uint64_t tightest = UINT64_MAX;

	*moment = (struct clock_moment){ 0, 0 };
	if (!has_constant_counter())
		return;
	for (unsigned i = 0; i < BRACKETS; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		uint64_t now = clock_monotonic();
		uint64_t after = __builtin_ia32_rdtsc();

		if (after - before < tightest) {
			tightest = after - before;
			moment->ticks = before + (after - before) / 2;
			moment->ns = now;
		}
	}
}

void clock_calibrate(const struct clock_moment *earlier)
{
	struct clock_moment first = *earlier, last;

	clock_here = (struct clock){ .ticks = 0, .ns_per_tick = 1 };
	if (!first.ticks)
		clock_look(&first);
	if (!first.ticks)
		return;
	while (clock_monotonic() - first.ns < CALIBRATION_NS)
		;
	clock_look(&last);
	if (last.ticks <= first.ticks)
		return;
	clock_here.ns_per_tick = (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
	clock_here.ticks = 1;
}

#elif defined(__aarch64__)

void clock_look(struct clock_moment *moment)
{
	*moment = (struct clock_moment){ 0, 0 };
}

void clock_calibrate(const struct clock_moment *earlier)
{
	(void)earlier;

	uint64_t hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	clock_here = (struct clock){ .ticks = 0, .ns_per_tick = 1 };
	if (hertz == 0)
		return;
	clock_here.ns_per_tick = 1e9 / (double)hertz;
	clock_here.ticks = 1;
}

#else

void clock_look(struct clock_moment *moment)
{
	*moment = (struct clock_moment){ 0, 0 };
}

void clock_calibrate(const struct clock_moment *earlier)
{
	(void)earlier;
}

#endif
