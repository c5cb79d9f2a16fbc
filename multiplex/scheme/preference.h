/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which phases get more of the reads within a budget: those whose intervals are wide, relative to the
 * time that they take (Neyman's allocation; Cochran, Sampling Techniques, ch. 5.5).
 */
#ifndef PHASEMUX_MULTIPLEX_SCHEME_PREFERENCE_H
#define PHASEMUX_MULTIPLEX_SCHEME_PREFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/sums.h"

#define PREFERENCE_MAX 256 /* number of prototypes above which all are read alike */

/* Scratch memory of preference_learn, which is too large for the stack of some threads. */
struct preference_scratch {
	struct phase_estimate estimate;
	double value[PREFERENCE_MAX], seconds[PREFERENCE_MAX];
	uint16_t number[PREFERENCE_MAX]; /* index into value of the prototype's phase */
	float factor[PREFERENCE_MAX];
	bool member[PREFERENCE_MAX];
};

/*
 * Fills factor with a factor for each prototype, from the sums so far. The probability with which its bursts
 * are read is multiplied by it, about 0.5 to 2. The phases' times, weighted by the factors, sum to the
 * unweighted time. phase[p]: the prototype's phase from 1, 0 for none. Both arrays are as long as the sums have
 * prototypes. Allocates nothing.
 */
void preference_learn(const struct sums *sums, const uint32_t *phase, float *factor,
		struct preference_scratch *scratch);

#endif
