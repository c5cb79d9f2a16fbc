/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts that wait for a prototype: a thread's queue keeps their order, and what has room is a fair sample of all. */
#include "agent/thread/pending.h"
#include "tests/random.h"
#include "tests/tap.h"

#define BURSTS 4000
#define ROOM   (PENDING_MAX / 2)

static struct pending_pool pool;
static struct pending_queue queue;

static void start(void)
{
	memset(&pool, 0, sizeof(pool));
	memset(&queue, 0, sizeof(queue));
}

/* A burst waits, if it gets a place. */
static void wait_for(uint64_t begin)
{
	struct pending *place = pending_take(&pool, &queue);

	if (!place)
		place = pending_replace(&queue, (uint64_t)random_bits() << 31 ^ random_bits());
	if (!place)
		return;
	place->burst.begin = begin;
	pending_append(&queue, place);
}

/* Returns whether the queue has `count` bursts in their order, and ends where it says. */
static bool is_in_order(unsigned count)
{
	const struct pending *last = NULL;
	unsigned found = 0;

	for (const struct pending *place = queue.first; place; place = place->next) {
		if (last && last->burst.begin >= place->burst.begin)
			return false;
		last = place;
		found++;
	}
	return found == count && queue.count == count && queue.last == last;
}

static void test_sample(void)
{
	unsigned early = 0, trials = 200;
	bool in_order = true;

	for (unsigned trial = 0; trial < trials; trial++) {
		start();
		for (uint64_t burst = 0; burst < BURSTS; burst++)
			wait_for(burst);
		in_order = in_order && is_in_order(ROOM);
		for (const struct pending *place = queue.first; place; place = place->next)
			early += place->burst.begin < BURSTS / 4;
	}
	ok(in_order, "a thread has half of the places, and its bursts are in order");
	/* four standard errors are 0.5% */
	ok(early > 0.245 * ROOM * trials && early < 0.255 * ROOM * trials,
			"a quarter of those that wait are from the first quarter (%u of %u)", early,
			ROOM * trials);
}

static void test_restart(void)
{
	unsigned late = 0, trials = 200;

	for (unsigned trial = 0; trial < trials; trial++) {
		start();
		for (uint64_t burst = 0; burst < BURSTS; burst++)
			wait_for(burst);
		pending_restart(&queue);
		for (uint64_t burst = BURSTS; burst < BURSTS + ROOM; burst++)
			wait_for(burst);
		for (const struct pending *place = queue.first; place; place = place->next)
			late += place->burst.begin >= BURSTS;
	}
	ok(late > 0.49 * ROOM * trials && late < 0.51 * ROOM * trials,
			"after a restart, those that waited count once (%u of %u are late)", late,
			ROOM * trials);
}

static void test_no_room(void)
{
	struct pending_queue other = { 0 };
	struct pending *place;

	start();
	while ((place = pending_take(&pool, &queue)))
		pending_append(&queue, place);
	while ((place = pending_take(&pool, &other)))
		pending_append(&other, place);
	is_int(other.count, PENDING_MAX / 4, "a second thread has half of what is left");
	pool.taken = PENDING_MAX;
	other = (struct pending_queue){ 0 };
	ok(!pending_take(&pool, &other) && !pending_replace(&other, 7) && !other.first,
			"a thread without places keeps none of its bursts");
}

int main(void)
{
	test_sample();
	test_restart();
	test_no_room();
	return tap_done();
}
