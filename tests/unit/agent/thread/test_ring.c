/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the ring alone, and with a producer and a consumer (also under ThreadSanitizer). */
#include <pthread.h>
#include <stdlib.h>

#include "agent/thread/ring.h"
#include "tests/tap.h"

#define STRESS 400000

struct record {
	uint64_t number, twice;
	uint64_t filler[6];
};

static void put(struct ring *ring, uint64_t number)
{
	struct record *record = ring_reserve(ring);

	if (record) {
		record->number = number;
		ring_commit(ring);
	}
}

static void test_alone(void)
{
	struct record memory[4];
	struct record *record;
	struct ring ring;

	ring_init(&ring, memory, 4, sizeof(memory[0]));
	ok(ring_peek(&ring) == NULL, "a new ring is empty");
	for (uint64_t i = 0; i < 4; i++)
		put(&ring, i);
	is_int((long long)ring_used(&ring), 4, "it takes as many as its capacity");
	ok(ring_reserve(&ring) == NULL, "and no more");
	is_int((long long)ring.dropped, 1, "what it does not take is counted");
	record = ring_peek(&ring);
	ok(record && record->number == 0, "the oldest comes first");
	ring_release(&ring);
	record = ring_reserve(&ring);
	ok(record == &memory[0], "a released slot is used again");
	ok(ring_used(&ring) == 3, "what is reserved is not yet there");
	record->number = 4;
	ring_commit(&ring);
	for (uint64_t i = 1; i < 5; i++) {
		record = ring_peek(&ring);
		ok(record && record->number == i, "in order: %llu", (unsigned long long)i);
		ring_release(&ring);
	}
	ok(ring_peek(&ring) == NULL && ring_used(&ring) == 0, "empty again");
}

/* Positions have 64 bits, of which only the low ones choose a slot. They may pass 2^32. */
static void test_far(void)
{
	struct record memory[2];
	struct record *record;
	struct ring ring;

	ring_init(&ring, memory, 2, sizeof(memory[0]));
	atomic_store(&ring.head, UINT64_MAX);
	atomic_store(&ring.tail, UINT64_MAX);
	ring.tail_seen = UINT64_MAX;
	put(&ring, 1);
	put(&ring, 2);
	ok(ring_reserve(&ring) == NULL, "full, across the end of the counts");
	record = ring_peek(&ring);
	ok(record && record->number == 1, "the first of two");
	ring_release(&ring);
	record = ring_peek(&ring);
	ok(record && record->number == 2, "the second");
}

static void *produce(void *data)
{
	struct ring *ring = data;
	uint64_t number = 0;

	while (number < STRESS) {
		struct record *record = ring_reserve(ring);

		number++;
		if (!record)
			continue;
		record->number = number;
		record->twice = 2 * number;
		for (unsigned i = 0; i < 6; i++)
			record->filler[i] = number;
		ring_commit(ring);
	}
	return NULL;
}

static void test_two_threads(uint64_t capacity)
{
	void *memory = aligned_alloc(64, capacity * sizeof(struct record));
	uint64_t seen = 0, last = 0;
	bool ordered = true, whole = true, finished = false;
	pthread_t producer;
	struct ring ring;

	ring_init(&ring, memory, capacity, sizeof(struct record));
	pthread_create(&producer, NULL, produce, &ring);
	while (1) {
		struct record *record = ring_peek(&ring);

		if (!record) {
			if (finished)
				break;
			if (pthread_tryjoin_np(producer, NULL) == 0)
				finished = true;
			continue;
		}
		ordered &= record->number > last;
		last = record->number;
		whole &= record->twice == 2 * record->number;
		for (unsigned i = 0; i < 6; i++)
			whole &= record->filler[i] == record->number;
		seen++;
		ring_release(&ring);
	}
	ok(ordered, "capacity %llu: records come in order", (unsigned long long)capacity);
	ok(whole, "each is whole");
	is_int((long long)(seen + ring.dropped), STRESS, "each is seen or counted as dropped");
	free(memory);
}

int main(void)
{
	test_alone();
	test_far();
	test_two_threads(1);
	test_two_threads(2);
	test_two_threads(1024);
	return tap_done();
}
