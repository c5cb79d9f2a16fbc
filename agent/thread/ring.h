/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock-free ring of fixed-size records with one producer and one consumer. The producer is the
 * thread that owns the ring; ring_reserve + ring_commit may run together with ring_peek +
 * ring_release of one consumer. Nothing is overwritten: when the ring is full, the record is
 * dropped and counted.
 */
#ifndef PHASEMUX_AGENT_THREAD_RING_H
#define PHASEMUX_AGENT_THREAD_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	/* written by the producer */
	_Alignas(64) _Atomic uint64_t head; /* number of records committed */
	uint64_t tail_seen;                 /* the producer's last view of tail */
	uint64_t dropped;
	/* written by the consumer */
	_Alignas(64) _Atomic uint64_t tail; /* number of records released */
	/* constant */
	_Alignas(64) unsigned char *records;
	uint64_t mask; /* capacity - 1 */
	size_t record_size;
};

/* Makes a ring over memory of the caller: capacity (a power of two) x record_size bytes. */
static inline void ring_init(struct ring *ring, void *memory, uint64_t capacity, size_t record_size)
{
	*ring = (struct ring){
		.records = memory,
		.mask = capacity - 1,
		.record_size = record_size,
	};
}

/* Returns room for the next record, or NULL if the ring is full; then counts a dropped record. */
static inline void *ring_reserve(struct ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head - ring->tail_seen > ring->mask) {
		/* pairs with the release in ring_release: the consumer is done with the slot */
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head - ring->tail_seen > ring->mask) {
			ring->dropped++;
			return NULL;
		}
	}
	return ring->records + (head & ring->mask) * ring->record_size;
}

static inline void ring_commit(struct ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* pairs with the acquire in ring_peek: publishes the record */
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* Returns the oldest record, or NULL if the ring is empty. */
static inline void *ring_peek(struct ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	/* pairs with the release in ring_commit */
	if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
		return NULL;
	return ring->records + (tail & ring->mask) * ring->record_size;
}

static inline void ring_release(struct ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	/* pairs with the acquire in ring_reserve: gives the slot back */
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

/* Returns how many records wait; exact only if the producer calls it. */
static inline uint64_t ring_used(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
			atomic_load_explicit(&ring->tail, memory_order_acquire);
}

#endif
