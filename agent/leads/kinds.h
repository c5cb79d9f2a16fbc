/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kind of loop a thread repeats. Ranks with loops of one kind are alike: the loops have one shape, and if the arguments
 * of calls are kept (PHASEMUX_TRACE=calls), their messages go to and come from the same relative ranks. These are the two
 * levels of the clusters of Bahmani and Mueller (2014).
 *
 * Only the thread itself calls these functions.
 */
#ifndef PHASEMUX_AGENT_LEADS_KINDS_H
#define PHASEMUX_AGENT_LEADS_KINDS_H

#include <stdint.h>

#include "agent/leads/follow.h"
#include "agent/leads/votes.h"
#include "agent/region/region.h"
#include "agent/thread/thread.h"

/* Returns the shape of the loop in a cell of the text, or of a call that is repeated in a row. */
uint64_t kinds_shape(const struct thread *thread, unsigned cell);

/*
 * Returns the call by which the rounds of the loop in a cell are counted: one that each round makes once, or else one that
 * each round makes in one row. Of several ones it is the same on all ranks. shape 0: there is none. follow: made of the loop.
 */
struct region_anchor kinds_anchor(const struct thread *thread, unsigned cell,
		const struct follow *follow);

/*
 * Fills the peers of a loop: of all messages of its calls until now. They are relative ranks modulo `ranks`, the number of all
 * ranks, so that a ring or a torus is not cut where the ranks start again with 0.
 */
void kinds_peers(const struct thread *thread, const struct follow *follow, uint32_t ranks,
		struct vote_kind *kind);

#endif
