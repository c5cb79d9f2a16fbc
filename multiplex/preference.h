/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which phases' bursts are worth more of the reads that a budget buys: those whose intervals are
 * wide, for the time that they take (Neyman's allocation; Cochran, Sampling Techniques, ch. 5.5).
 */
#ifndef PHASEMUX_MULTIPLEX_PREFERENCE_H
#define PHASEMUX_MULTIPLEX_PREFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "multiplex/estimate.h"
#include "multiplex/sums.h"

#define PREFERENCE_MAX 256 /* of more prototypes all are read alike */

/* Scratch memory of preference_learn, which is too large for the stack of some threads. */
struct preference_scratch {
	struct phase_estimate estimate;
	double value[PREFERENCE_MAX], seconds[PREFERENCE_MAX];
	uint16_t number[PREFERENCE_MAX]; /* of the prototype's phase, in value */
	float factor[PREFERENCE_MAX];
	bool member[PREFERENCE_MAX];
};

/*
 * From the sums so far: for each prototype the factor on the probability with which its bursts are
 * read, about 0.5 to 2; the time that phases take, times their factors, stays the same. phase[p]: the
 * prototype's phase from 1, 0 for none; both are as long as the sums have prototypes.
 * Allocates nothing.
 */
void preference_learn(const struct sums *sums, const uint32_t *phase, float *factor,
		struct preference_scratch *scratch);

#endif
