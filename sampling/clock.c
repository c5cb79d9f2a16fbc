#include "sampling/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct clock clock_here = { .ticks = 0, .ns_per_tick = 1 };

#if defined(__x86_64__)

#define CALIBRATION_NS 2000000 /* with brackets of tens of nanoseconds: right to about 1e-5 */
#define BRACKETS       16

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same moment on both clocks: of several tries the one with the tightest bracket. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t tightest = UINT64_MAX;

	for (unsigned i = 0; i < BRACKETS; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		uint64_t now = monotonic_ns();
		uint64_t after = __builtin_ia32_rdtsc();

		if (after - before < tightest) {
			tightest = after - before;
			*ticks = before + (after - before) / 2;
			*ns = now;
		}
	}
}

/* CPUID 8000_0007 EDX bit 8: the counter runs at a constant rate and never stops. */
static int has_constant_counter(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

void clock_calibrate(void)
{
	uint64_t first_ticks = 0, first_ns = 0, last_ticks = 0, last_ns = 0;

	clock_here = (struct clock){ .ticks = 0, .ns_per_tick = 1 };
	if (!has_constant_counter())
		return;
	read_both(&first_ticks, &first_ns);
	while (monotonic_ns() - first_ns < CALIBRATION_NS)
		;
	read_both(&last_ticks, &last_ns);
	if (last_ticks <= first_ticks || last_ns <= first_ns)
		return;
	clock_here.ns_per_tick = (double)(last_ns - first_ns) / (double)(last_ticks - first_ticks);
	clock_here.ticks = 1;
}

#elif defined(__aarch64__)

void clock_calibrate(void)
{
	uint64_t hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	clock_here = (struct clock){ .ticks = 0, .ns_per_tick = 1 };
	if (hertz == 0)
		return;
	clock_here.ns_per_tick = 1e9 / (double)hertz;
	clock_here.ticks = 1;
}

#else

void clock_calibrate(void)
{
}

#endif
