/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/emulated/emulated_samples.h"

#include <linux/perf_event.h>
#include <string.h>

#define WORDS_MAX  (6 + EMULATED_COUNTERS) /* of a record: its head, and the values */
#define LOST_WORDS 3

/* A copy of what is sampled, at one moment. */
struct sampled_group {
	uint64_t id, clock_offset, members;
	uint64_t number[EMULATED_COUNTERS], offset[EMULATED_COUNTERS];
};

static uint64_t load_field(const _Atomic uint64_t *field)
{
	/* each load stays before that of `changes` at the end, which pairs with its stores in emulated_pmu.c */
	return atomic_load_explicit(field, memory_order_acquire);
}

/* Copies what is sampled. Returns false if it is being changed, or nothing is. */
static bool copy_group(const struct emulated_sampling *sampling, struct sampled_group *group)
{
	uint64_t changes = load_field(&sampling->changes);

	group->id = load_field(&sampling->id);
	group->clock_offset = load_field(&sampling->clock_offset);
	group->members = load_field(&sampling->members);
	for (unsigned i = 0; i < EMULATED_COUNTERS; i++) {
		group->number[i] = load_field(&sampling->member[i].number);
		group->offset[i] = load_field(&sampling->member[i].offset);
	}
	return load_field(&sampling->period_ns) && !(changes & 1) &&
			load_field(&sampling->changes) == changes;
}

static uint64_t header_of(uint32_t type, unsigned words)
{
	const struct perf_event_header header = { .type = type,
		.misc = PERF_RECORD_MISC_USER,
		.size = (uint16_t)(words * sizeof(uint64_t)) };
	uint64_t word;

	_Static_assert(sizeof(header) == sizeof(word), "a header is one word");
	memcpy(&word, &header, sizeof(word));
	return word;
}

/* Writes a record at the head of the ring, if there is room for it. */
static bool put_record(struct perf_event_mmap_page *page, uint64_t bytes, const uint64_t *words,
		unsigned count)
{
	uint64_t *data = (uint64_t *)((unsigned char *)page + EMULATED_PAGE_BYTES);
	/* pairs with the release in overflow.c: what is overwritten has been read */
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
	uint64_t head = page->data_head;

	if (head + count * sizeof(*words) - tail > bytes)
		return false;
	for (unsigned i = 0; i < count; i++, head += sizeof(*words))
		data[(head & (bytes - 1)) / sizeof(*words)] = words[i];
	/* pairs with the acquire of overflow_head: the record is written */
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
	return true;
}

/* Writes that samples were lost, if there were any. Returns false if there is no room for that. */
static bool put_lost(struct emulated_sampling *sampling, struct perf_event_mmap_page *page,
		uint64_t bytes, uint64_t id)
{
	uint64_t lost = atomic_load_explicit(&sampling->lost, memory_order_relaxed);
	/* the record of struct overflow has no more, because sample_id_all is not set */
	const uint64_t words[LOST_WORDS] = { header_of(PERF_RECORD_LOST, LOST_WORDS), id, lost };

	if (!lost)
		return true;
	if (!put_record(page, bytes, words, LOST_WORDS))
		return false;
	atomic_store_explicit(&sampling->lost, 0, memory_order_relaxed);
	return true;
}

bool emulated_sample(struct emulated_sampling *sampling, void *ring, const struct core_spec *spec,
		const struct core_counts *counts, const struct emulated_moment *moment)
{
	uint64_t bytes = load_field(&sampling->ring_bytes), count[CORE_COUNTS], totals[CORE_TOTALS];
	struct sampled_group group;
	uint64_t words[WORDS_MAX];
	unsigned at = 0;

	if (!copy_group(sampling, &group) || !bytes || bytes > EMULATED_RING_MAX ||
			bytes & (bytes - 1) || group.members > EMULATED_COUNTERS)
		return false;
	for (unsigned i = 0; i < CORE_COUNTS; i++)
		count[i] = atomic_load_explicit(&counts->count[i], memory_order_relaxed);
	core_totals(spec, count, totals);
	words[at++] = header_of(PERF_RECORD_SAMPLE, 6 + (unsigned)group.members);
	words[at++] = group.id;
	words[at++] = moment->address;
	words[at++] = moment->time;
	words[at++] = group.members + 1;
	for (unsigned i = 0; i < group.members; i++)
		words[at++] = totals[group.number[i] % CORE_TOTALS] + group.offset[i];
	words[at++] = moment->ran_ns + group.clock_offset;
	if (!put_lost(sampling, ring, bytes, group.id) || !put_record(ring, bytes, words, at))
		atomic_fetch_add_explicit(&sampling->lost, 1, memory_order_relaxed);
	return true;
}
