/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of the flat array of sums. sums.c fills it, and estimate.c reads it. For every prototype, over all
 * quanta: the fields of enum block and enum common, then those of enum slot for each common event from AUX on.
 * After it, for each group and over its own quanta, a block: the fields of enum block, those of enum slot for
 * each event that is not common, and a product for each pair of these. In a group's block each quantum has its
 * group's weight (scheme_weight), so that it represents all quanta.
 *
 * "Quantum" fields are sums over the quanta in which the prototype was read, of products of a quantum's
 * weighted totals. "Burst" fields are sums over bursts. Totals are plain doubles. A sum of squares over a
 * million quanta has a relative error of about 1e-13, so a spread between quanta below some 3e-7 of the mean
 * cannot be seen. Intervals have a floor above that (estimate.c). Therefore nothing is centred, because all
 * processes would have to agree on a centre beforehand.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_LAYOUT_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "multiplex/estimate/sketch.h"
#include "multiplex/plan.h"

#define SKETCH_PHASES 16 /* number of phases that have sketches */

#define LAYOUT_AUX_MAX 2 /* number of leading common events that help to estimate the others */

enum block {
	BLOCK_READ,   /* number of bursts read */
	BLOCK_QUANTA, /* number of quanta in which at least one was read */
	BLOCK_W,      /* sum of weights, which estimates the number of all bursts */
	BLOCK_X1,     /* weighted totals of the common events */
	BLOCK_X2,
	BLOCK_WW, /* quantum products */
	BLOCK_WX1,
	BLOCK_WX2,
	BLOCK_X1X1,
	BLOCK_X1X2,
	BLOCK_X2X2,
	BLOCK_FIELDS,
};

enum common {
	COMMON_ELAPSED = BLOCK_FIELDS, /* seconds, not weighted */
	COMMON_T,                      /* weighted total of the seconds */
	COMMON_WT,                     /* quantum products */
	COMMON_TT,
	COMMON_TX1,
	COMMON_TX2,
	COMMON_BURST_X1X1, /* burst squares, weighted */
	COMMON_BURST_X2X2,
	COMMON_BURST_TT,
	COMMON_WHEN, /* weighted totals over bursts: when they began, its square, its product with the seconds */
	COMMON_WHEN_WHEN,
	COMMON_WHEN_T,
	COMMON_SLICES, /* how many of the bursts read are slices of longer ones */
	COMMON_FIELDS,
};

enum slot {
	SLOT_Y,  /* weighted total */
	SLOT_YW, /* quantum products */
	SLOT_YX1,
	SLOT_YX2,
	SLOT_YY,
	SLOT_BURST_YY, /* burst squares, weighted */
	SLOT_FIELDS,
};

struct sums {
	struct plan plan;
	unsigned prototypes;
	unsigned aux;                      /* number of common events that are kept as X1, X2 */
	size_t block[PLAN_GROUPS_MAX + 1]; /* start of each group's block within a prototype */
	size_t stride;                     /* doubles per prototype */
	double *flat;
	bool owned;
	bool uneven; /* quanta of different processes count differently (sums_stand_for) */
};

/* Returns the fields of a prototype that all groups have in common. */
static inline double *sums_common(const struct sums *sums, unsigned prototype)
{
	return sums->flat + prototype * sums->stride;
}

/* Returns the number of the fields at sums_common. */
static inline size_t sums_common_length(const struct sums *sums)
{
	return sums->block[0];
}

/* Returns the slot of the common event (>= aux). */
static inline double *sums_common_slot(double *common, const struct sums *sums, unsigned event)
{
	return common + COMMON_FIELDS + (event - sums->aux) * SLOT_FIELDS;
}

static inline double *sums_block(const struct sums *sums, unsigned prototype, unsigned group)
{
	return sums->flat + prototype * sums->stride + sums->block[group];
}

static inline size_t sums_block_length(const struct sums *sums, unsigned group)
{
	return sums->block[group + 1] - sums->block[group];
}

/* Returns the slot of the event at `position` (>= common) of the block's group. */
static inline double *sums_slot(double *block, const struct sums *sums, unsigned position)
{
	return block + BLOCK_FIELDS + (position - sums->plan.common) * SLOT_FIELDS;
}

/* Returns the quantum product of the events at the positions i and j of the group, common <= i < j. */
static inline double *sums_pair(double *block, const struct sums *sums, unsigned group, unsigned i,
		unsigned j)
{
	unsigned common = sums->plan.common, own = sums->plan.group[group].count - common;

	return block + BLOCK_FIELDS + own * SLOT_FIELDS + (j - common) * (j - common - 1) / 2 +
			(i - common);
}

/* Returns the sketch of an event in a phase, 1 .. SKETCH_PHASES. */
static inline double *sums_sketch(const struct sums *sums, unsigned phase, unsigned event)
{
	return sums->flat + sums->prototypes * sums->stride +
			((size_t)(phase - 1) * sums->plan.events + event) * SKETCH_FIELDS;
}

#endif
