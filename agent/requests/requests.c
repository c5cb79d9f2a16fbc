/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/requests/requests.h"

#include <stddef.h>

#include "agent/host/hash.h"

/* Entries behind each other in which a key may be. */
#define NEAR 16

static inline unsigned entry_of(uint64_t key, unsigned i)
{
	_Static_assert(REQUESTS_MAX == 1u << 10,
			"the upper bits of a hash are the number of an entry");
	return ((unsigned)(hash_spread(key) >> 54) + i) % REQUESTS_MAX;
}

/* Returns the entry of a handle, or NULL. */
static inline struct request_handle *handle_find(struct requests *requests, long handle)
{
	for (unsigned i = 0; i < NEAR; i++) {
		struct request_handle *entry = &requests->handle[entry_of((uint64_t)handle, i)];

		if (entry->handle == handle && entry->number)
			return entry;
	}
	return NULL;
}

static inline struct request_place *place_find(struct requests *requests, const void *place)
{
	for (unsigned i = 0; i < NEAR; i++) {
		struct request_place *entry = &requests->place[entry_of((uintptr_t)place, i)];

		if (entry->place == place)
			return entry;
	}
	return NULL;
}

/* Returns the entry near that of a new handle whose request is of least use: one that has ended, or else the oldest one. */
static __attribute__((noinline)) struct request_handle *handle_replace(struct requests *requests,
		long handle)
{
	struct request_handle *worst = &requests->handle[entry_of((uint64_t)handle, 0)];

	for (unsigned i = 1; i < NEAR && worst->open; i++) {
		struct request_handle *entry = &requests->handle[entry_of((uint64_t)handle, i)];

		if (!entry->open || entry->number < worst->number)
			worst = entry;
	}
	requests->overflowed |= worst->open;
	*worst = (struct request_handle){ .handle = handle };
	return worst;
}

static __attribute__((noinline)) struct request_place *place_replace(struct requests *requests,
		const void *place)
{
	struct request_place *worst = &requests->place[entry_of((uintptr_t)place, 0)];

	for (unsigned i = 1; i < NEAR && worst->number; i++) {
		struct request_place *entry = &requests->place[entry_of((uintptr_t)place, i)];

		if (entry->number < worst->number)
			worst = entry;
	}
	worst->place = place;
	return worst;
}

void requests_open(struct requests *requests, long handle, const void *place)
{
	struct request_handle *of_handle = handle_find(requests, handle);
	struct request_place *at = place_find(requests, place);

	if (!of_handle)
		of_handle = handle_replace(requests, handle);
	if (!at)
		at = place_replace(requests, place);
	/* at the same place, the earlier request is gone */
	of_handle->shared = requests->overflowed ||
			(of_handle->open &&
					(of_handle->shared || at->handle != handle ||
							at->number != of_handle->number));
	of_handle->open = true;
	of_handle->number = ++requests->opened;
	at->handle = handle;
	at->number = requests->opened;
}

struct request requests_take(struct requests *requests, long handle, const void *place)
{
	struct request_handle *of_handle = handle_find(requests, handle);
	struct request_place *at = place_find(requests, place);
	bool is_here = at && at->handle == handle && at->number > requests->forgotten;
	uint64_t number;

	if (is_here && (!of_handle || of_handle->shared || of_handle->number == at->number))
		number = at->number;
	else if (!of_handle || of_handle->number <= requests->forgotten || of_handle->shared)
		return (struct request){ .known = false };
	else if (!of_handle->open)
		return (struct request){ .known = true };
	else
		number = of_handle->number;
	if (of_handle && of_handle->number == number)
		of_handle->open = false;
	if (at && at->number == number)
		at->number = 0;
	return (struct request){ .known = true, .open = true, .number = number };
}

void requests_add(struct requests *requests, struct request request)
{
	uint64_t number = request.number;

	if (!request.known) {
		requests->unknown++;
		return;
	}
	requests->number[requests->gathered++] = number;
	if (number < requests->least)
		requests->least = number;
	if (number > requests->most)
		requests->most = number;
}

struct request_set requests_gathered(const struct requests *requests)
{
	uint64_t count = requests->gathered, span = requests->most - requests->least;
	struct request_set set = { .count = count + requests->unknown };

	set.step = count > 1 ? span / (count - 1) : 1;
	if (requests->unknown)
		set.step = 0;
	if (requests->unknown || !count)
		return set;
	set.oldest = requests->least;
	/* numbers that differ, from the least to the most, and all at such distances, are all of these numbers */
	if (count > 1 && set.step * (count - 1) != span)
		set.step = 0;
	for (uint64_t i = 0; set.step > 1 && i < count; i++)
		if ((requests->number[i] - requests->least) % set.step)
			set.step = 0;
	for (uint64_t i = 0; !set.step && span < REQUESTS_BITS && i < count; i++)
		set.bits |= UINT64_C(1) << (requests->number[i] - requests->least);
	return set;
}
