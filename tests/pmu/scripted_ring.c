/* SPDX-License-Identifier: BSD-3-Clause */
/* The scripted PMU's rings of samples, as perf_event_open(2) describes them. */
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/pmu/scripted_inside.h"
#include "tests/pmu/scripted_pmu.h"

#define VALUES_MAX 16

struct scripted_ring {
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t bytes;
	uint64_t head, lost;
	struct scripted_ring *next;
};

/* All rings. None is ever freed, because a thread that continues must not write to freed memory. */
static _Atomic(struct scripted_ring *) all_rings;

/* Addresses of samples: functions that have the names of behaviours and are never called. */
#define PLACE(name)                                                                                \
	SCRIPTED_EXPORT void scripted_in_##name(void);                                             \
	void scripted_in_##name(void)                                                              \
	{                                                                                          \
		__asm__ volatile("# " #name);                                                      \
	}
PLACE(chase)
PLACE(triad)
PLACE(fdiv)
PLACE(iadd)
PLACE(alu)
PLACE(randbr)
PLACE(icache)
PLACE(fma)
PLACE(fscal)

static void (*const places[SCRIPTED_BEHAVIOURS])(void) = {
	scripted_in_chase,
	scripted_in_triad,
	scripted_in_fdiv,
	scripted_in_iadd,
	scripted_in_alu,
	scripted_in_randbr,
	scripted_in_icache,
	scripted_in_fma,
	scripted_in_fscal,
};

struct scripted_ring *scripted_ring_new(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct scripted_ring *ring = calloc(1, sizeof(*ring));
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!ring || map == MAP_FAILED) {
		free(ring);
		return NULL;
	}
	ring->page = map;
	ring->data = (unsigned char *)map + page;
	ring->bytes = bytes - page;
	ring->page->data_offset = page;
	ring->page->data_size = ring->bytes;
	ring->next = atomic_load(&all_rings);
	while (!atomic_compare_exchange_weak(&all_rings, &ring->next, ring))
		;
	return ring;
}

struct perf_event_mmap_page *scripted_ring_page(const struct scripted_ring *ring)
{
	return ring->page;
}

static bool write_record(struct scripted_ring *ring, uint32_t type, const uint64_t *words,
		size_t count)
{
	struct perf_event_header header = { .type = type,
		.size = (uint16_t)(sizeof(header) + count * sizeof(*words)) };
	uint64_t tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE);

	if (ring->head + header.size - tail > ring->bytes)
		return false;
	for (size_t i = 0; i <= count; i++)
		memcpy(ring->data + (ring->head + 8 * i) % ring->bytes,
				i ? (const void *)&words[i - 1] : &header, 8);
	ring->head += header.size;
	__atomic_store_n(&ring->page->data_head, ring->head, __ATOMIC_RELEASE);
	return true;
}

void scripted_ring_write(struct scripted_ring *ring, const struct scripted_sample *sample)
{
	uint64_t lost[2] = { sample->id, ring->lost }, words[7 + VALUES_MAX];
	size_t length = 4 + sample->count;

	if (ring->lost && write_record(ring, PERF_RECORD_LOST, lost, 2))
		ring->lost = 0;
	words[0] = sample->id;
	words[1] = (uint64_t)(uintptr_t)places[sample->behaviour];
	words[2] = sample->time;
	words[3] = sample->count;
	memcpy(words + 4, sample->values, sample->count * sizeof(*sample->values));
	if (sample->stack) {
		/* the address has no callers */
		words[length++] = 2;
		words[length++] = (uint64_t)PERF_CONTEXT_USER;
		words[length++] = words[1];
	}
	if (ring->lost || !write_record(ring, PERF_RECORD_SAMPLE, words, length))
		ring->lost++;
}
