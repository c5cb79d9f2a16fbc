/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the phases of a run in a second run of the same program. In contrast to `phasemux compare`, places in the program are
 * the same ones in both, so that only bursts of one place are the same phase. Several phases of a place are told apart by the
 * length of their bursts.
 */
#ifndef PHASEMUX_TOOLS_CACHES_SAME_PHASES_H
#define PHASEMUX_TOOLS_CACHES_SAME_PHASES_H

#include <jansson.h>
#include <stddef.h>

#define SAME_PLACES 0.5 /* part from which a phase lies at the places of another one */

/* Returns which part of a phase's bursts lies at places that the other phase has, too; 1 if neither has a place. */
double same_places(const json_t *phase, const json_t *other);

/* Returns the mean cycles of a burst that an emulated run counted. */
double same_cycles(const json_t *phase);

/*
 * Returns the place in the report `recorded` of the phase that `phase` is, one of the report `emulated`, or -1 if it has none at
 * the places of `phase`.
 */
int same_phase(const json_t *recorded, const json_t *emulated, const json_t *phase);

#endif
