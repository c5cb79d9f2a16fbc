/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting long bursts: the stretch between two samples of the kernel is a slice, which is treated
 * like a burst. What stands before the first sample and after the last is no slice: how long it is
 * says nothing of the program; its time goes where the slices of the same burst went.
 *
 * Under the rules of the drain: one caller per thread at a time, but for slicer_open, and the
 * counts that others read.
 */
#ifndef PHASEMUX_AGENT_SLICES_H
#define PHASEMUX_AGENT_SLICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/burst.h"
#include "cluster/prototypes.h"
#include "multiplex/plan.h"
#include "sampling/overflow.h"

/* A burst of so many sampling periods is cut; a shorter one would come to pieces of chance. */
#define SLICES_MIN 10

/* Slices of a burst that has not ended, by prototype; the last is what is unclassified. */
struct slices_ahead {
	float count[PROTOTYPES_MAX + 1];
	float ticks[PROTOTYPES_MAX + 1];
};

struct slicer {
	struct overflow overflow;
	uint64_t id[PLAN_GROUPS_MAX];    /* of the samples of each group */
	uint64_t sample_ns;              /* of the thread's time, between two */
	uint64_t sample_cost;            /* ticks that the kernel holds the thread up for each */
	uint64_t clock[PLAN_GROUPS_MAX]; /* of each group's last one */
	/* this moment on both clocks, as the ring was looked at */
	uint64_t now_ns, now_ticks;
	/* the burst that is being cut, by its begin; 0: none */
	uint64_t since, slices;
	uint64_t left, left_ticks; /* pieces of it that are no slices */
	struct overflow_sample last;
	uint64_t last_ticks;
	/* slices of one group and one while are one unit drawn: its number, and how it began */
	uint64_t unit, unit_begin, unit_slices;
	unsigned unit_group;
	struct slices_ahead ahead;
	/* read by others; written here alone */
	_Atomic uint64_t ahead_bursts, ahead_ticks; /* booked of a burst that has not ended */
	uint64_t noted_head; /* of the ring, at the end of the last burst that was not read; the thread's own */
	_Atomic uint64_t extra; /* pieces of bursts that were cut, but one of each */
	_Atomic uint64_t samples, all_slices, lost;
	_Atomic uint64_t sample_ticks; /* what all of them cost, be they of a burst or not */
};

/* The ring may have something: the moment is noted, and what can be read now ends at the result. */
uint64_t slicer_look(struct slicer *slicer);

/* Whether the ring has anything that was not looked at. */
static inline bool slicer_pending(const struct slicer *slicer)
{
	return overflow_head(&slicer->overflow) != slicer->overflow.tail;
}

/* Whether there are samples since this was asked last. On the thread itself. */
static inline bool slicer_is_sampled(struct slicer *slicer)
{
	uint64_t head = overflow_head(&slicer->overflow), noted = slicer->noted_head;

	slicer->noted_head = head;
	return head != noted;
}

/* Samples before that time are of no burst. */
void slicer_drop(struct slicer *slicer, uint64_t ticks);

/*
 * The next sample before `head` that is between two ticks; samples that are earlier are dropped.
 * *at: its time. False: there is none.
 */
bool slicer_sample(struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head,
		struct overflow_sample *sample, uint64_t *at);

/*
 * Whether a burst that has lasted from `begin` until `end` is to be cut: time alone does not tell, a
 * thread may have waited for a processor.
 */
bool slicer_wants(const struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head);

/*
 * The next slice of `burst`, of which begin, from, weight and span are known, and whose end
 * (UINT64_MAX: not yet) is given. Its group, of so many events each, is that which was counted then.
 * False: no further one before head.
 */
bool slicer_cut(struct slicer *slicer, const struct burst *burst, uint64_t end, uint64_t head,
		const unsigned *counts, struct burst *slice);

/*
 * The burst has ended, and all its slices were taken. How many there were, and the time of its
 * other pieces; 0: it was not cut.
 */
uint64_t slicer_end(struct slicer *slicer, const struct burst *burst, uint64_t *left,
		uint64_t *left_ticks);

/* Every slice that was taken of a burst which has not ended is told, with its prototype. */
void slicer_ahead(struct slicer *slicer, unsigned prototype, double ticks);

#endif
