/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64: good random numbers that need only a 64-bit state. */
#ifndef PHASEMUX_MULTIPLEX_MIX_H
#define PHASEMUX_MULTIPLEX_MIX_H

#include <stdint.h>

#define MIX_STEP 0x9e3779b97f4a7c15u /* of the state, from one number to the next */

/* Returns a number in which each bit depends on all bits of z: the last step of splitmix64. */
static inline uint64_t mix_bits(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Returns the next random number. */
static inline uint64_t mix_next(uint64_t *state)
{
	return mix_bits(*state += MIX_STEP);
}

/* Returns a random number, uniform in [0, 1). */
static inline double mix_uniform(uint64_t *state)
{
	return (mix_next(state) >> 11) * 0x1p-53;
}

#endif
