/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/reservoir.h"

#include <math.h>

static void swap(struct sampled_burst *a, struct sampled_burst *b)
{
	struct sampled_burst kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_up(struct reservoir *sample, uint32_t at)
{
	while (at && sample->burst[(at - 1) / 2].key < sample->burst[at].key) {
		swap(&sample->burst[(at - 1) / 2], &sample->burst[at]);
		at = (at - 1) / 2;
	}
}

static void sift_down(struct reservoir *sample)
{
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= sample->count)
			return;
		if (child + 1 < sample->count &&
				sample->burst[child].key < sample->burst[child + 1].key)
			child++;
		if (sample->burst[at].key >= sample->burst[child].key)
			return;
		swap(&sample->burst[at], &sample->burst[child]);
		at = child;
	}
}

double reservoir_key(uint64_t execution, double seconds)
{
	/* the upper bits of execution, as a number in (0, 1] */
	return -log(((double)(execution >> 11) + 1) * 0x1p-53) / seconds;
}

void reservoir_offer(struct reservoir *sample, const struct sampled_burst *burst)
{
	if (!reservoir_takes(sample, burst->key))
		return;
	if (sample->count < RESERVOIR_MAX) {
		sample->burst[sample->count] = *burst;
		sift_up(sample, sample->count++);
	} else {
		sample->burst[0] = *burst;
		sift_down(sample);
	}
}

void reservoir_merge(struct reservoir *into, const struct reservoir *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		reservoir_offer(into, &from->burst[i]);
}
