/* A round's payload, for rounds.c, which is built by another compiler wrapper. */
#include "agent/ledger.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT size_t part_bytes(void);
EXPORT size_t answer_bytes(void);
EXPORT void part_fill(void *part, int rank);
EXPORT void part_merge(const void *in, void *inout);

size_t part_bytes(void)
{
	return sizeof(struct ledger_part);
}

size_t answer_bytes(void)
{
	return sizeof(struct ledger_answer);
}

/* A full sample: the most that merging can cost. */
void part_fill(void *data, int rank)
{
	struct ledger_part *part = data;

	for (unsigned i = 0; i < SAMPLE_MAX; i++) {
		uint64_t x = ((uint64_t)rank << 32 | i) * 0x9e3779b97f4a7c15u;
		struct sampled_burst burst = { .key = (double)(x >> 11) * 0x1p-53, .seconds = 1e-3f,
			.task = (uint32_t)rank };

		sample_offer(&part->sample, &burst);
	}
}

void part_merge(const void *in, void *inout)
{
	ledger_part_merge(in, inout);
}
