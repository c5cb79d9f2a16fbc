/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting long bursts: the part of a burst between two samples of the kernel is a slice, which is treated like
 * a burst. The pieces before the first sample and after the last one are no slices, because their length says
 * nothing of the program. Their time goes to the prototypes of the burst's slices. Where the kernel has written no
 * sample, because it was at work for the thread itself, the part between two samples has several periods: it is as
 * many slices, which are alike.
 *
 * The rules of the drain hold: one caller per thread at a time, except for slicer_is_sampled and the counts
 * that others read.
 */
#ifndef PHASEMUX_AGENT_THREAD_SLICES_H
#define PHASEMUX_AGENT_THREAD_SLICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/burst.h"
#include "cluster/prototypes.h"
#include "multiplex/plan.h"
#include "sampling/overflow.h"

/* Number of samples in a burst from which it is cut, because pieces of a shorter one would be at random. */
#define SLICES_MIN 10

/*
 * Slices of a burst that has not ended, by prototype. The last entry is for unclassified ones. Those that are left are
 * to be placed like others of the burst, when it is known between which calls it lies.
 */
struct slices_ahead {
	float count[PROTOTYPES_MAX + 1];
	float ticks[PROTOTYPES_MAX + 1];
	uint32_t left;
	double left_ticks;
};

struct slicer {
	struct overflow overflow;
	uint64_t id[PLAN_GROUPS_MAX]; /* id in the samples of each group */
	uint64_t sample_ns;           /* time of the thread between two samples */
	uint64_t sample_cost; /* ticks that the kernel takes from the thread for each sample */
	uint64_t clock[PLAN_GROUPS_MAX]; /* `clock` of each group's last sample */
	/* the time on both clocks when the ring was last looked at */
	uint64_t now_ns, now_ticks;
	/* start of the burst that is being cut (0: none), and its slices */
	uint64_t since, slices;
	uint64_t left, left_ticks; /* pieces of the burst that are no slices */
	struct burst piece;        /* what is left of a piece of several periods */
	uint64_t periods;          /* number of slices of `piece` */
	struct overflow_sample last;
	uint64_t last_ticks;
	struct overflow_stack stack; /* callers of the sample that was taken last */
	/* slices of a burst in one group and quantum are one sampling unit: its number, and its start */
	uint64_t unit, unit_begin, unit_slices;
	unsigned unit_group;
	struct slices_ahead ahead;
	/* counts that others read, and only the drain writes */
	_Atomic uint64_t ahead_bursts, ahead_ticks; /* booked for a burst that has not ended */
	uint64_t noted_head; /* ring's head when slicer_is_sampled was last called; only the thread uses it */
	_Atomic uint64_t extra; /* pieces of all cut bursts, minus one for each burst */
	_Atomic uint64_t samples, all_slices, lost;
	_Atomic uint64_t sample_ticks; /* cost of all samples, within bursts or not */
};

/* Notes the time on both clocks. Returns the head of the ring: samples before it can be read now. */
uint64_t slicer_look(struct slicer *slicer);

/* Returns whether the ring has samples that were not looked at. */
static inline bool slicer_pending(const struct slicer *slicer)
{
	return overflow_head(&slicer->overflow) != slicer->overflow.tail;
}

/* Returns whether there are new samples since the last call of this function. Call on the thread itself. */
static inline bool slicer_is_sampled(struct slicer *slicer)
{
	uint64_t head = overflow_head(&slicer->overflow), noted = slicer->noted_head;

	slicer->noted_head = head;
	return head != noted;
}

/* Drops samples before the time `ticks`, because they are of no burst. */
void slicer_drop(struct slicer *slicer, uint64_t ticks);

/*
 * Takes the next sample before `head` with begin <= *at < end, where *at is its time in ticks. Drops earlier
 * samples. Returns false if there is none. The callers of the sample are in slicer->stack until the next call.
 */
bool slicer_sample(struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head,
		struct overflow_sample *sample, uint64_t *at);

/*
 * Returns whether a burst from `begin` until `end` is to be cut. Samples decide this and not time alone,
 * because the thread may have waited for a processor.
 */
bool slicer_wants(const struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head);

/*
 * Cuts the next slice off `burst`, whose begin, from, weight and span are known. end: end of the burst;
 * UINT64_MAX: it has not ended. counts: number of events of each group. The slice has the group that was
 * enabled then. Returns false if there is no further slice before `head`. If the slice has a sample, its callers are in
 * slicer->stack until the next call.
 */
bool slicer_cut(struct slicer *slicer, const struct burst *burst, uint64_t end, uint64_t head,
		const unsigned *counts, struct burst *slice);

/*
 * Ends a burst, all slices of which were taken. Returns their number; 0: it was not cut. Sets *left and
 * *left_ticks to the number and the ticks of its other pieces, if it was cut.
 */
uint64_t slicer_end(struct slicer *slicer, const struct burst *burst, uint64_t *left,
		uint64_t *left_ticks);

/* Notes a slice of a burst that has not ended, with its prototype. Call for every such slice. */
void slicer_ahead(struct slicer *slicer, unsigned prototype, double ticks);

/* Leaves a slice of a burst that has not ended, because there is no room for it until a prototype claims it. */
void slicer_leave_ahead(struct slicer *slicer, double ticks);

#endif
