/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The votes of the ranks on the loops that they repeat, and the leads that follow from them. A vote is a part of a
 * round. Votes are merged on their way up the tree; the result is the same in whatever order ranks are merged, and its
 * size does not depend on their number. Plain data.
 *
 * Ranks whose loops are of one kind are alike. Each rank has a random number for each shape, which all ranks know; the
 * ranks with the lowest numbers of a kind are its leads. If there are more kinds than there is room for, one joins the
 * nearest kind of its shape, by the means of the relative ranks to which messages go and from which they come. If no two
 * have the same shape, those with the lowest numbers are kept, and the ranks of others go on reading.
 *
 * Which kind joins another is chosen as by K-farthest clusters: the one that is nearest to another, so that those far from
 * each other are kept. Or it is chosen as by K-medoids: the one whose ranks together have the least distance to another.
 * After kinds were joined, the result may depend on the order of merging.
 */
#ifndef PHASEMUX_AGENT_LEADS_VOTES_H
#define PHASEMUX_AGENT_LEADS_VOTES_H

#include <stdbool.h>
#include <stdint.h>

#define VOTES_SHAPES_MAX 16 /* kinds */
#define VOTES_RANKS_MAX  8  /* ranks of a shape that are known by their numbers */

/* With `auto`: the number of ranks of a shape that read, at least this and this for each group of events. */
#define VOTES_AUTO_READERS 16
#define VOTES_AUTO_GROUP   4

struct voter {
	uint64_t phases; /* a bit for each phase of which the rank executes at least 1% in the loop */
	uint32_t rank;
	uint32_t padding;
};

/* What a rank repeats. */
struct vote_kind {
	uint64_t shape;
	uint64_t peers; /* signature of the relative ranks of its messages; 0: not known */
	float to, from; /* means of these ranks */
};

struct vote {
	struct vote_kind kind;
	uint64_t limit; /* of an answer: ranks whose number is at most this are leads */
	uint32_t ranks; /* number of ranks that repeat the loop */
	uint32_t voters;
	struct voter voter[VOTES_RANKS_MAX]; /* by rising number */
};

struct votes {
	uint32_t shapes;
	uint32_t readers; /* of an answer: how many ranks of each shape read; 0: auto */
	uint32_t ranks;   /* number of ranks that have voted */
	uint32_t medoids; /* 1: kinds join as by K-medoids */
	struct vote vote[VOTES_SHAPES_MAX]; /* by rising number */
};

/* Returns the bit of a phase (> 0) in voter.phases. All phases from the 64th on share the last bit. */
static inline uint64_t votes_phase(uint32_t phase)
{
	return UINT64_C(1) << ((phase < 64 ? phase : 64) - 1);
}

/* Returns whether two kinds are one. */
static inline bool votes_is_kind(const struct vote_kind *a, const struct vote_kind *b)
{
	return a->shape == b->shape && a->peers == b->peers;
}

/* Returns the random number of a rank for a shape. */
uint64_t votes_number(uint64_t shape, uint32_t rank);

/* Adds the vote of a rank for a kind. A rank may vote for several kinds, and for each of them once. */
void votes_add(struct votes *votes, const struct vote_kind *kind, uint32_t rank, uint64_t phases);

/* Adds the votes of other ranks. Both have the same `medoids`. */
void votes_merge(const struct votes *from, struct votes *into);

/* Names the leads of each shape. readers: leads of a shape; 0: auto. groups: of events. Call on rank 0. */
void votes_answer(struct votes *votes, uint32_t readers, unsigned groups);

/* Returns the vote on a kind, or on the nearest kind of the same shape; NULL: there is none. */
const struct vote *votes_find(const struct votes *votes, const struct vote_kind *kind);

/* Returns whether the rank is a lead of the shape, by an answer. */
static inline bool vote_leads(const struct vote *vote, uint32_t rank)
{
	return votes_number(vote->kind.shape, rank) <= vote->limit;
}

/* Returns the number of leads, or 0 if it is only about known, because of many ranks each one decides for itself. */
uint32_t vote_leads_count(const struct vote *vote);

/* Returns the phases that leads of the shape execute, among those ranks that are known. */
uint64_t vote_phases(const struct vote *vote);

#endif
