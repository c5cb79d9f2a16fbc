/* SPDX-License-Identifier: BSD-3-Clause */
#include "work.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIAD_WORDS  (1u << 16) /* 3 x 512 KiB, which is more than the first two caches */
#define CHASE_WORDS  (1u << 19) /* 2 MiB, with a step each 32 bytes */
#define CHASE_STRIDE 8          /* words of a step */

static volatile double sink;

static void run_triad(uint64_t instructions)
{
	static double a[TRIAD_WORDS], b[TRIAD_WORDS], c[TRIAD_WORDS];
	uint64_t steps = instructions / 6;

	for (uint64_t i = 0; i < steps; i++) {
		uint32_t at = (uint32_t)i % TRIAD_WORDS;

		a[at] = b[at] + 3.0 * c[at];
		__asm__ volatile("" ::: "memory");
	}
	sink = a[0];
}

/* Loads in each step the address of the next one, in one cycle of a fixed shuffle. */
static void run_chase(uint64_t instructions)
{
	static uint32_t *next;
	uint64_t steps = instructions / 3;
	uint32_t at = 0;

	if (!next) {
		uint32_t lines = CHASE_WORDS / CHASE_STRIDE, seed = 12345;
		uint32_t *order = malloc(lines * sizeof(*order));

		next = calloc(CHASE_WORDS, sizeof(*next));
		if (!next || !order)
			abort();
		for (uint32_t i = 0; i < lines; i++)
			order[i] = i;
		for (uint32_t i = lines - 1; i > 0; i--) { /* Sattolo: a single cycle */
			uint32_t j, swapped = order[i];

			seed = seed * 1664525u + 1013904223u;
			j = (uint32_t)(((uint64_t)seed * i) >> 32);
			order[i] = order[j];
			order[j] = swapped;
		}
		for (uint32_t i = 0; i < lines; i++)
			next[order[i] * CHASE_STRIDE] = order[(i + 1) % lines] * CHASE_STRIDE;
		free(order);
	}
	for (uint64_t i = 0; i < steps; i++)
		at = next[at];
	sink = at;
}

static void run_fdiv(uint64_t instructions)
{
	uint64_t steps = instructions / 4;
	double x = 1.5;

	for (uint64_t i = 0; i < steps; i++)
		x = 2.0 / x + 0.25;
	sink = x;
}

static void run_fma(uint64_t instructions)
{
	uint64_t steps = instructions / 11;
	double x[4] = { 1, 2, 3, 4 };

	for (uint64_t i = 0; i < steps; i++) {
		for (unsigned k = 0; k < 4; k++)
			x[k] = x[k] * 0.999 + 0.001;
	}
	sink = x[0] + x[1] + x[2] + x[3];
}

static void run_alu(uint64_t instructions)
{
	uint64_t steps = instructions / 8;
	uint64_t x = 1, y = 2, z = 3;

	for (uint64_t i = 0; i < steps; i++) {
		x += i ^ y;
		y += x >> 3;
		z ^= y;
	}
	sink = (double)(x + y + z);
}

static const struct {
	const char *name;
	void (*run)(uint64_t instructions);
} kernels[] = { { "triad", run_triad }, { "chase", run_chase }, { "fdiv", run_fdiv },
	{ "fma", run_fma }, { "alu", run_alu } };

#define KERNELS (int)(sizeof(kernels) / sizeof(kernels[0]))

void work_by_number(int kernel, int64_t instructions)
{
	int (*scripted)(const char *, uint64_t);

	if (kernel < 0 || kernel >= KERNELS || instructions < 0)
		abort();
	/* the scripted PMU is looked up at each call, because its library may be loaded late */
	scripted = (int (*)(const char *, uint64_t))dlsym(RTLD_DEFAULT, "scripted_pmu_work");
	if (!scripted || scripted(kernels[kernel].name, (uint64_t)instructions) == -ENOTSUP)
		kernels[kernel].run((uint64_t)instructions);
}

void work(const char *kernel, uint64_t instructions)
{
	for (int i = 0; i < KERNELS; i++) {
		if (strcmp(kernels[i].name, kernel) == 0) {
			work_by_number(i, (int64_t)instructions);
			return;
		}
	}
	abort();
}
