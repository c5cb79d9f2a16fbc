/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the scripted PMU's behaviours count, per 1,000 instructions. The numbers of the raw events are those of
 * micro-kernels measured on a Zen 5. Four kernels are a dependent pointer chase in memory, a stream triad, a
 * chain of floating-point divisions, and integer additions in the L1 cache. The others are an ALU loop, random
 * branches, code that thrashes the instruction cache, fused multiply-adds, and scalar floating point.
 */
#include "tests/pmu/scripted_inside.h"

#include <linux/perf_event.h>
#include <string.h>

#define B SCRIPTED_BEHAVIOURS

static const char *const names[B] = {
	"chase",
	"triad",
	"fdiv",
	"iadd",
	"alu",
	"randbr",
	"icache",
	"fma",
	"fscal",
};

struct row {
	uint64_t config;
	double rate[B];
};

#define CYCLES                                                                                     \
	{                                                                                          \
		499000, 2184, 9458, 210, 152, 1325, 10508, 400, 546                                \
	}
#define OPS                                                                                        \
	{                                                                                          \
		1001, 890, 911, 909, 985, 630, 1002, 933, 909                                      \
	}
#define DISPATCHED                                                                                 \
	{                                                                                          \
		1001, 902, 911, 920, 985, 3454, 1005, 933, 909                                     \
	}
#define FRONT_END                                                                                  \
	{                                                                                          \
		2949, 49, 24, 21, 224, 6582, 78040, .7, .9                                         \
	}
#define BRANCHES                                                                                   \
	{                                                                                          \
		91, 111, 91, 91, 15, 148, 143, 67, 91                                              \
	}
#define MISPREDICT                                                                                 \
	{                                                                                          \
		.2, 0, 0, .2, 0, 37, 0, 0, 0                                                       \
	}

static const double cycles[B] = CYCLES, dispatched[B] = DISPATCHED, front_end[B] = FRONT_END;
static const double ops[B] = OPS, branches[B] = BRANCHES, mispredicted[B] = MISPREDICT;

/*
 * Raw events of AMD's Zen 4 and Zen 5, except those that are calculated from cycles and slots (back_end_of,
 * raw_rate).
 */
static const struct row amd_rows[] = {
	{ 0x0000000c1, OPS },
	{ 0x0000000c2, BRANCHES },
	{ 0x0000000c3, MISPREDICT },
	{ 0x0000007aa, DISPATCHED },
	{ 0x1000001a0, FRONT_END },
	{ 0x0000002d6, { 516000, 2045, 8728, 2.2, 0, 290, 568, 0, 1.5 } },
	{ 0x00000a2d6, { 516000, 1891, 1.1, 1.5, 0, .1, 1.5, 0, 0 } },
	{ 0x0000008d6, { 1.3, .3, 0, 92, 27, 451, 432, 283, 423 } },
	{ 0x000000129, { 771, 483, 0, 735, 0, 0, 0, 0, 0 } },
	{ 0x000000229, { 17, 242, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x000000143, { 2, 24, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x000000243, { 2, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x000004843, { 726, 289, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x100000265, { 1298, 4, 0, 0, 0, 0, 1750, 0, 0 } },
	{ 0x100004865, { 1447, 333, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x000000864, { 1471, 12, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x00000f064, { 600, 40, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x000000164, { 0, 0, 0, 0, 0, 0, 1752, 0, 0 } },
	{ 0x000000664, { 0, 0, 0, 0, 0, 0, 699, 0, 0 } },
	{ 0x00000f045, { 684, 5.1, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x20000048f, { 13, .7, 91, .1, 0, .1, 1539, 0, 0 } },
	{ 0x00000005f, { 502000, 97875, 2, .3, 0, .2, 3, 0, .1 } },
	{ 0x00000ff0a, { 0, 222, 727, 0, 0, 0, 0, 800, 727 } },
	{ 0x0000002ae, { 200, 2233, 0, 36, 0, 0, 0, 0, 0 } },
	{ 0x0000040ae, { 0, 0, 9341, 0, 0, 0, 0, 283, 432 } },
	{ 0x0000002af, { 526000, 1, 0, 44, 0, 0, 0, 0, 0 } },
	{ 0x1000000c2, { 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x00000029f, MISPREDICT },
	{ 0x00000019f, { .1, 0, 0, .1, 0, .5, 0, 0, 0 } },
	{ 0x000000096, { .1, 0, 0, .1, 0, .5, 0, 0, 0 } },
	{ 0x000004844, { 726, 333, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x0000000d3, { 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ 0x0000000d4, { 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
};

#define RAW_CYCLES       0x76
#define RAW_INSTRUCTIONS 0xc0
#define RAW_BACK_END     0x100001ea0
#define RAW_FE_LATENCY_8 0x1080001a0 /* cycles in which the front end filled none of the slots */
#define RAW_FE_LATENCY_6 0x1060001a0

int scripted_behaviour_number(const char *name)
{
	for (int i = 0; i < B; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

/* Returns the cycles of a behaviour. A narrower processor needs the cycles that its slots ask for. */
static double cycles_of(unsigned behaviour, unsigned slots)
{
	double needed = (front_end[behaviour] + dispatched[behaviour]) / slots;

	return cycles[behaviour] > needed ? cycles[behaviour] : needed;
}

/*
 * Returns the slots that the back end left empty. Every slot is either filled, or empty for one of two reasons.
 */
static double back_end_of(unsigned behaviour, unsigned slots)
{
	return slots * cycles_of(behaviour, slots) - front_end[behaviour] - dispatched[behaviour];
}

/*
 * Returns a rate for an event that the table does not know. It is always the same and not 0, and otherwise
 * arbitrary.
 */
static double made_up_rate(uint64_t config, unsigned behaviour)
{
	uint64_t hash = (config * 31 + behaviour + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return 1 + (double)(hash >> 40) / (1 << 24) * 199;
}

static double raw_rate(uint64_t config, unsigned behaviour, unsigned slots)
{
	switch (config) {
	case RAW_INSTRUCTIONS:
		return 1000;
	case RAW_CYCLES:
		return cycles_of(behaviour, slots);
	case RAW_BACK_END:
		return back_end_of(behaviour, slots);
	case RAW_FE_LATENCY_8:
	case RAW_FE_LATENCY_6:
		return 0.8 * front_end[behaviour] / slots;
	}
	for (size_t i = 0; i < sizeof(amd_rows) / sizeof(amd_rows[0]); i++)
		if (amd_rows[i].config == config)
			return amd_rows[i].rate[behaviour];
	return made_up_rate(config, behaviour);
}

static double hardware_rate(uint64_t config, unsigned behaviour, unsigned slots)
{
	switch (config) {
	case PERF_COUNT_HW_CPU_CYCLES:
		return cycles_of(behaviour, slots);
	case PERF_COUNT_HW_INSTRUCTIONS:
		return 1000;
	case PERF_COUNT_HW_CACHE_REFERENCES:
		return raw_rate(0x864, behaviour, slots) + raw_rate(0xf064, behaviour, slots) +
				raw_rate(0x164, behaviour, slots) +
				raw_rate(0x664, behaviour, slots);
	case PERF_COUNT_HW_CACHE_MISSES:
		return raw_rate(0x864, behaviour, slots) + raw_rate(0x164, behaviour, slots);
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		return branches[behaviour];
	case PERF_COUNT_HW_BRANCH_MISSES:
		return mispredicted[behaviour];
	case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND:
		return front_end[behaviour] / slots;
	case PERF_COUNT_HW_REF_CPU_CYCLES:
		return 0.65 * cycles_of(behaviour, slots);
	}
	return made_up_rate(config, behaviour);
}

static double software_rate(uint64_t config, unsigned behaviour, unsigned slots)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		return cycles_of(behaviour, slots) / SCRIPTED_GHZ;
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
		return 1e-3 * ops[behaviour] / 1000;
	case PERF_COUNT_SW_CONTEXT_SWITCHES:
		return cycles_of(behaviour, slots) / SCRIPTED_GHZ * 1e-7;
	}
	return 0;
}

bool scripted_event_exists(uint32_t type, uint64_t config)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return config < PERF_COUNT_HW_MAX && config != PERF_COUNT_HW_BUS_CYCLES &&
				config != PERF_COUNT_HW_STALLED_CYCLES_BACKEND;
	case PERF_TYPE_SOFTWARE:
		return config < PERF_COUNT_SW_MAX;
	case PERF_TYPE_RAW:
		return true;
	}
	return false;
}

double scripted_rate(uint32_t type, uint64_t config, unsigned behaviour, unsigned slots)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return hardware_rate(config, behaviour, slots);
	case PERF_TYPE_SOFTWARE:
		return software_rate(config, behaviour, slots);
	default:
		return raw_rate(config, behaviour, slots);
	}
}
