/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers for tests: the same ones on each machine, from a state that a test may set. (A linear congruential
 * generator with Knuth's multiplier, of whose results the high bits are taken.)
 */
#ifndef PHASEMUX_TESTS_RANDOM_H
#define PHASEMUX_TESTS_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 1;

/* Returns the next 31 random bits. */
static inline uint32_t random_bits(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33);
}

/* Returns a number below limit, which is not 0. */
static inline unsigned below(unsigned limit)
{
	return random_bits() % limit;
}

/* Returns a number from 0 to 1, without 1. */
static inline double uniform(void)
{
	random_bits();
	return (double)(random_state >> 11) * 0x1p-53;
}

#endif
