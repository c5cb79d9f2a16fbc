/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a token of the text keeps of the times of its calls: sums, extremes and five logarithmic
 * bins (ScalaTrace keeps as many). Slots are additive: of copies that are folded, and of ranks that
 * have the same text.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_SLOT_H
#define PHASEMUX_CLUSTER_LOOPS_SLOT_H

#include <stdint.h>

#define SLOT_BINS      5
#define SLOT_BIN_FIRST 10 /* values under 2 to this power are in the first bin */
#define SLOT_BIN_STEP  4  /* each further bin is 2 to this power times as wide */

/* Each entry of a slot exists for both times. */
enum slot_time {
	SLOT_BURST,  /* the burst before the call */
	SLOT_INSIDE, /* the call itself */
	SLOT_TIMES
};

/* Zeros are an empty slot. Times are in ticks. */
struct loops_slot {
	uint64_t count; /* number of calls; of a loop: number of rounds */
	uint64_t sum[SLOT_TIMES];
	double squares[SLOT_TIMES]; /* sum of squares */
	float least[SLOT_TIMES], most[SLOT_TIMES];
	uint32_t bin[SLOT_TIMES][SLOT_BINS]; /* number of values; it stays at its maximum */
};

/* Returns the bin of a time in ticks. */
static inline unsigned slot_bin(uint64_t ticks)
{
	unsigned bits = 63 - (unsigned)__builtin_clzll(ticks | 1), bin;

	if (bits < SLOT_BIN_FIRST)
		return 0;
	bin = (bits - SLOT_BIN_FIRST) / SLOT_BIN_STEP + 1;
	return bin < SLOT_BINS ? bin : SLOT_BINS - 1;
}

static inline void slot_add_time(struct loops_slot *slot, enum slot_time time, uint64_t ticks)
{
	uint32_t *bin = &slot->bin[time][slot_bin(ticks)];
	float value = (float)ticks;

	slot->sum[time] += ticks;
	slot->squares[time] += (double)ticks * (double)ticks;
	if (!slot->count || value < slot->least[time])
		slot->least[time] = value;
	if (value > slot->most[time])
		slot->most[time] = value;
	*bin += *bin != UINT32_MAX;
}

/* Adds a call, or a round of a loop: `burst` and `inside` are its times in ticks. */
static inline void slot_add(struct loops_slot *slot, uint64_t burst, uint64_t inside)
{
	slot_add_time(slot, SLOT_BURST, burst);
	slot_add_time(slot, SLOT_INSIDE, inside);
	slot->count++;
}

/* Adds `count` (> 0) calls of which only the times of all together are known: each counts as the mean of them. */
static inline void slot_add_calls(struct loops_slot *slot, uint64_t count, uint64_t burst,
		uint64_t inside)
{
	const uint64_t ticks[SLOT_TIMES] = { [SLOT_BURST] = burst, [SLOT_INSIDE] = inside };

	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		double mean = (double)ticks[time] / (double)count;
		uint32_t *bin = &slot->bin[time][slot_bin((uint64_t)mean)];

		slot->sum[time] += ticks[time];
		slot->squares[time] += mean * mean * (double)count;
		if (!slot->count || (float)mean < slot->least[time])
			slot->least[time] = (float)mean;
		if ((float)mean > slot->most[time])
			slot->most[time] = (float)mean;
		*bin = count < UINT32_MAX - *bin ? *bin + (uint32_t)count : UINT32_MAX;
	}
	slot->count += count;
}

/* Adds all that another slot holds. */
static inline void slot_merge(struct loops_slot *into, const struct loops_slot *from)
{
	if (!from->count)
		return;
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		into->sum[time] += from->sum[time];
		into->squares[time] += from->squares[time];
		if (!into->count || from->least[time] < into->least[time])
			into->least[time] = from->least[time];
		if (from->most[time] > into->most[time])
			into->most[time] = from->most[time];
		for (unsigned bin = 0; bin < SLOT_BINS; bin++)
			if (__builtin_add_overflow(into->bin[time][bin], from->bin[time][bin],
					    &into->bin[time][bin]))
				into->bin[time][bin] = UINT32_MAX;
	}
	into->count += from->count;
}

/* Returns all ticks of a slot: bursts and calls. */
static inline uint64_t slot_ticks(const struct loops_slot *slot)
{
	return slot->sum[SLOT_BURST] + slot->sum[SLOT_INSIDE];
}

#endif
