/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/repetition.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MIN                                                                                 \
	16 /* of a loop; in a shorter one to look for repetitions takes longer than to go through it */

/* A rank as it was. */
struct rank_then {
	struct cursor_mark *mark;
	uint64_t number, probed, opened;
	size_t messages, requests, persistents;
	bool incomplete;
	struct message *message;
	struct request *request;
};

/* All ranks as they were between two rounds. */
struct then {
	bool known;
	uint64_t looks, most; /* since then, and after which it is set again */
	struct matching counts;
	struct rank_then *rank;
};

struct repetition {
	size_t ranks;
	struct then then[PLAN_DEPTH_MAX +
			3]; /* by the depth of the loop of the first rank that has not ended */
};

bool repetition_new(struct check *check)
{
	check->repetition = calloc(1, sizeof(*check->repetition));
	if (check->repetition)
		check->repetition->ranks = (size_t)check->plan->ranks;
	return check->repetition != NULL;
}

bool repetition_holds(const struct check *check, long number)
{
	return check->repetition && !check->sample &&
			cursor_loop(check->rank[number].cursor) >= ROUNDS_MIN;
}

/* ---- the state as it was ---- */

/* Copies an array into memory that has room for another one. Returns false without memory. */
static bool copy_array(void **to, const void *from, size_t count, size_t size)
{
	void *room = realloc(*to, count * size + 1);

	if (!room)
		return false;
	*to = room;
	if (count)
		memcpy(room, from, count * size);
	return true;
}

static bool keep_rank(struct rank_then *then, const struct rank *rank)
{
	if (!then->mark)
		then->mark = cursor_mark_new(rank->cursor);
	if (!then->mark ||
			!copy_array((void **)&then->message, rank->message, rank->messages,
					sizeof(*rank->message)) ||
			!copy_array((void **)&then->request, rank->request, rank->requests,
					sizeof(*rank->request)))
		return false;
	cursor_mark_set(rank->cursor, then->mark);
	then->number = rank->number;
	then->probed = rank->probed;
	then->opened = cursor_opened(rank->cursor);
	then->messages = rank->messages;
	then->requests = rank->requests;
	/* they are added alone, so those that were there are there */
	then->persistents = rank->persistents.count;
	then->incomplete = rank->persistents.incomplete;
	return true;
}

/* Keeps the state. Without memory it is not known, and more rounds are gone through. */
static void keep_state(const struct check *check, struct then *then)
{
	if (!then->rank)
		then->rank = calloc(check->repetition->ranks, sizeof(*then->rank));
	then->known = then->rank != NULL;
	for (size_t i = 0; then->known && i < check->repetition->ranks; i++)
		then->known = keep_rank(&then->rank[i], &check->rank[i]);
	then->counts = *check->counts;
	then->looks = 0;
}

/* Returns whether two requests are as many requests back, and otherwise equal. behind: what lies between the numbers. */
static bool is_same_request(const struct request *one, const struct request *other, uint64_t behind)
{
	return one->number - other->number == behind && one->persistent == other->persistent &&
			one->is_receive == other->is_receive && one->done == other->done &&
			memcmp(&one->envelope, &other->envelope, sizeof(one->envelope)) == 0;
}

static bool is_as_then(const struct rank *rank, const struct rank_then *then)
{
	bool same = rank->messages == then->messages && rank->requests == then->requests &&
			rank->probed == then->probed &&
			rank->persistents.count == then->persistents &&
			rank->persistents.incomplete == then->incomplete;

	for (size_t i = 0; same && i < rank->requests; i++)
		same = is_same_request(&rank->request[i], &then->request[i],
				cursor_opened(rank->cursor) - then->opened);
	return same &&
			(!rank->messages ||
					memcmp(rank->message, then->message,
							rank->messages * sizeof(*rank->message)) ==
							0);
}

/* ---- rounds that come again ---- */

/* Returns how many times all that was since then comes again; 0: not at all. */
static uint64_t repeats_of(const struct check *check, const struct then *then)
{
	uint64_t repeats = CURSOR_ALWAYS;

	for (size_t i = 0; repeats && i < check->repetition->ranks; i++)
		if (!is_as_then(&check->rank[i], &then->rank[i]))
			repeats = 0;
	for (size_t i = 0; repeats && i < check->repetition->ranks; i++) {
		uint64_t of_rank = cursor_repeats(check->rank[i].cursor, then->rank[i].mark);

		repeats = of_rank < repeats ? of_rank : repeats;
	}
	return repeats == CURSOR_ALWAYS ? 0 : repeats;
}

static void leave_out(struct check *check, const struct then *then, uint64_t times)
{
	matching_repeat(check->counts, &then->counts, times);
	for (size_t i = 0; i < check->repetition->ranks; i++) {
		struct rank *rank = &check->rank[i];

		cursor_leave_out(rank->cursor, then->rank[i].mark, times);
		rank->number += times * (rank->number - then->rank[i].number);
	}
}

void repetition_leave_out(struct check *check)
{
	size_t first = 0;
	struct then *then;
	uint64_t repeats;

	while (check->rank[first].state == ENDED)
		first++;
	then = &check->repetition->then[cursor_depth(check->rank[first].cursor)];
	if (!then->known || !cursor_is_in_loop(check->rank[first].cursor, then->rank[first].mark)) {
		then->most = 1;
		keep_state(check, then);
		return;
	}
	then->looks++;
	repeats = repeats_of(check, then);
	if (repeats)
		leave_out(check, then, repeats);
	if (!repeats && then->looks < then->most)
		return;
	then->most = repeats ? 1 : 2 * then->most;
	keep_state(check, then);
}

void repetition_free(struct check *check)
{
	struct repetition *repetition = check->repetition;

	for (size_t i = 0; repetition && i < sizeof(repetition->then) / sizeof(*repetition->then);
			i++) {
		struct rank_then *rank = repetition->then[i].rank;

		for (size_t j = 0; rank && j < repetition->ranks; j++) {
			free(rank[j].mark);
			free(rank[j].message);
			free(rank[j].request);
		}
		free(rank);
	}
	free(repetition);
	check->repetition = NULL;
}
