/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/pending.h"

struct pending *pending_take(struct pending_pool *pool, struct pending_queue *queue)
{
	struct pending *place = pool->given_back;

	if (queue->count >= PENDING_MAX - pool->taken)
		return NULL;
	if (place)
		pool->given_back = place->next;
	else
		place = &pool->place[pool->used++];
	pool->taken++;
	queue->seen++;
	return place;
}

void pending_give_back(struct pending_pool *pool, struct pending *place)
{
	place->next = pool->given_back;
	pool->given_back = place;
	pool->taken--;
}

struct pending *pending_replace(struct pending_queue *queue, uint64_t random)
{
	uint64_t drawn = random % ++queue->seen;
	struct pending *before = NULL, *place = queue->first;

	if (drawn >= queue->count)
		return NULL;
	for (; drawn; drawn--) {
		before = place;
		place = place->next;
	}
	if (!before)
		return pending_shift(queue);
	before->next = place->next;
	if (queue->last == place)
		queue->last = before;
	queue->count--;
	return place;
}

void pending_restart(struct pending_queue *queue)
{
	queue->seen = queue->count;
}

void pending_append(struct pending_queue *queue, struct pending *place)
{
	place->next = NULL;
	if (queue->last)
		queue->last->next = place;
	else
		queue->first = place;
	queue->last = place;
	queue->count++;
}

struct pending *pending_shift(struct pending_queue *queue)
{
	struct pending *place = queue->first;

	if (!place)
		return NULL;
	queue->first = place->next;
	if (!queue->first)
		queue->last = NULL;
	queue->count--;
	return place;
}
