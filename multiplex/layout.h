/*
 * How the flat array of sums is laid out; shared by sums.c, which fills it, and estimate.c, which
 * reads it. For every prototype and group one block: the fields of enum block, then the fields of
 * enum slot for each event of the group from AUX on.
 *
 * "Quantum" fields sum, over the quanta in which the prototype was read, products of that
 * quantum's weighted totals; "burst" fields sum over bursts. Totals are plain doubles: a sum of
 * squares over a million quanta is off by about 1e-13 of itself, so a spread between quanta below
 * some 3e-7 of the mean cannot be seen. Intervals have a floor above that (see estimate.c), which
 * is why nothing is centred: any centre would have to be agreed on by all processes beforehand.
 */
#ifndef PHASEMUX_MULTIPLEX_LAYOUT_H
#define PHASEMUX_MULTIPLEX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "multiplex/plan.h"
#include "multiplex/sketch.h"

#define SKETCH_PHASES 16

#define AUX_MAX 2 /* the leading common events that help to estimate the others */

enum block {
	BLOCK_READ,    /* bursts read */
	BLOCK_QUANTA,  /* quanta in which at least one was */
	BLOCK_ELAPSED, /* seconds, not weighted */
	BLOCK_W,       /* sum of weights: an estimate of how many bursts there were */
	BLOCK_X1,      /* weighted totals of the common events, and of the seconds */
	BLOCK_X2,
	BLOCK_T,
	BLOCK_WW, /* quantum products */
	BLOCK_WX1,
	BLOCK_WX2,
	BLOCK_WT,
	BLOCK_X1X1,
	BLOCK_X1X2,
	BLOCK_X2X2,
	BLOCK_TT,
	BLOCK_BURST_X1X1, /* burst squares, weighted */
	BLOCK_BURST_X2X2,
	BLOCK_BURST_TT,
	BLOCK_FIELDS,
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
	unsigned aux;                 /* common events that are kept as X1, X2 */
	size_t block[PLAN_GROUPS_MAX]; /* where a group's block starts within a prototype */
	size_t stride;                /* doubles per prototype */
	double *flat;
	bool owned;
};

static inline double *sums_block(const struct sums *sums, unsigned prototype, unsigned group)
{
	return sums->flat + prototype * sums->stride + sums->block[group];
}

/* Of the event that stands at `position` (>= aux) of the block's group. */
static inline double *sums_slot(double *block, const struct sums *sums, unsigned position)
{
	return block + BLOCK_FIELDS + (position - sums->aux) * SLOT_FIELDS;
}

/* Of phase 1 .. SKETCH_PHASES. */
static inline double *sums_sketch(const struct sums *sums, unsigned phase, unsigned event)
{
	return sums->flat + sums->prototypes * sums->stride +
	       ((size_t)(phase - 1) * sums->plan.events + event) * SKETCH_FIELDS;
}

#endif
