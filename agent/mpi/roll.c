/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/mpi/roll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Shortest and longest time between two looks for ranks that cannot be reached yet. Each look asks the
 * launcher.
 */
#define FIRST_PAUSE_NS 200000u
#define LAST_PAUSE_NS  100000000u

static int parent_of(int rank)
{
	return (rank - 1) / ROLL_CHILDREN;
}

static int child_of(const struct roll *roll, int place)
{
	return roll->rank * ROLL_CHILDREN + 1 + place;
}

/* Returns the rank that counts in this place, or -1 if the place has no rank that others do not have. */
static int counter_at(int size, int place)
{
	int rank = place < 4                       ? place :
			place == ROLL_COUNTERS - 1 ? size - 1 :
						     (int)((int64_t)size * (place - 3) / 8);

	if (rank >= size || (place >= 4 && rank < 4))
		return -1;
	for (int before = 4; before < place; before++)
		if (rank == (int)((int64_t)size * (before - 3) / 8))
			return -1;
	return rank;
}

/* Returns the place in which a rank counts, or ROLL_COUNTERS if it does not count. */
static int place_of(int size, int rank)
{
	int place = 0;

	while (place < ROLL_COUNTERS && counter_at(size, place) != rank)
		place++;
	return place;
}

void roll_start(struct roll *roll, const struct roll_channel *channel, int rank, int size,
		uint64_t now)
{
	int64_t below = (int64_t)size - 1 - (int64_t)rank * ROLL_CHILDREN;

	*roll = (struct roll){ .channel = channel, .rank = rank, .size = size };
	roll->children = below < 0 ? 0 : below > ROLL_CHILDREN ? ROLL_CHILDREN : (int)below;
	roll->state = ROLL_GATHERS;
	roll->deadline = now + ROLL_PATIENCE_NS;
	roll->look = now;
	roll->pause = FIRST_PAUSE_NS;
	if (roll->children)
		channel->announce();
}

void roll_end(struct roll *roll)
{
	free(roll->named);
	roll->named = NULL;
}

/* ---- what goes along the tree ---- */

static void miss(struct roll *roll)
{
	if (roll->missing || roll->state != ROLL_GATHERS)
		return;
	roll->missing = true;
	for (int i = 0; i < roll->children; i++)
		if (roll->child[i] != ROLL_SILENT)
			roll->channel->send(child_of(roll, i), ROLL_NOT);
	/* a parent that comes later reads the message, too */
	if (roll->called && !roll->ready)
		roll->channel->send(parent_of(roll->rank), ROLL_NOT);
}

static void hear_child(struct roll *roll, int place, int word)
{
	enum roll_peer *child = &roll->child[place];

	if (word == ROLL_HERE && *child == ROLL_SILENT) {
		*child = ROLL_HEARD;
		roll->channel->send(child_of(roll, place), ROLL_HERE);
		if (roll->missing)
			roll->channel->send(child_of(roll, place), ROLL_NOT);
	} else if (word == ROLL_READY) {
		*child = ROLL_DONE;
	} else if (word == ROLL_NOT) {
		*child = ROLL_DONE;
		miss(roll);
	}
}

static void has_all(struct roll *roll)
{
	for (int i = 0; i < roll->children; i++)
		roll->channel->send(child_of(roll, i), ROLL_ALL);
	roll->state = ROLL_HAS_ALL;
}

static void hear_parent(struct roll *roll, int word)
{
	if (word == ROLL_HERE && roll->parent == ROLL_SILENT) {
		roll->parent = ROLL_HEARD;
	} else if (word == ROLL_NOT) {
		roll->parent = ROLL_DONE;
		miss(roll);
	} else if (word == ROLL_ALL && roll->ready && roll->state == ROLL_GATHERS) {
		roll->parent = ROLL_DONE;
		has_all(roll);
	}
}

static bool all_children_are(const struct roll *roll, enum roll_peer at_least)
{
	for (int i = 0; i < roll->children; i++)
		if (roll->child[i] < at_least)
			return false;
	return true;
}

static bool waits_for_verdict(const struct roll *roll)
{
	for (int i = 0; i < roll->children; i++)
		if (roll->child[i] == ROLL_HEARD)
			return true;
	return roll->parent == ROLL_HEARD;
}

/* Returns whether it is time to ask again which ranks can be reached. Sets the next time if so. */
static bool may_look(struct roll *roll, uint64_t now)
{
	if (now < roll->look)
		return false;
	roll->look = now + roll->pause;
	roll->pause = roll->pause * 2 < LAST_PAUSE_NS ? roll->pause * 2 : LAST_PAUSE_NS;
	return true;
}

static void roll_gather(struct roll *roll, uint64_t now)
{
	bool parent_here = !roll->rank || roll->parent != ROLL_SILENT;

	if (roll->rank && !roll->called && may_look(roll, now) &&
			roll->channel->reaches(parent_of(roll->rank))) {
		roll->called = true;
		roll->channel->send(parent_of(roll->rank), ROLL_HERE);
	}
	if (roll->ready)
		return;
	if (parent_here && all_children_are(roll, ROLL_DONE)) {
		roll->ready = true;
		if (roll->rank)
			roll->channel->send(parent_of(roll->rank), ROLL_READY);
		else
			has_all(roll);
	} else if (now >= roll->deadline && !(parent_here && all_children_are(roll, ROLL_HEARD))) {
		miss(roll);
	}
}

/* ---- which ranks are missing ---- */

static void start_counting(struct roll *roll, uint64_t now)
{
	if (roll->channel->is_seen()) {
		roll->state = ROLL_MISSES;
		return;
	}
	roll->state = ROLL_COUNTS;
	roll->deadline = now + ROLL_COUNT_NS;
	roll->look = now;
	roll->pause = FIRST_PAUSE_NS;
	if (place_of(roll->size, roll->rank) < ROLL_COUNTERS)
		roll->channel->announce();
}

static void count(struct roll *roll, uint64_t now)
{
	if (now >= roll->deadline) {
		roll->state = ROLL_MISSES;
		return;
	}
	if (!may_look(roll, now))
		return;
	for (int place = 0; place < ROLL_COUNTERS; place++) {
		int rank = counter_at(roll->size, place);

		if (rank < 0 || rank == roll->rank || roll->told[place] ||
				!roll->channel->reaches(rank))
			continue;
		roll->told[place] = true;
		roll->channel->send(rank, ROLL_NAME);
	}
}

static void hear_name(struct roll *roll, int from)
{
	if (!roll->named)
		roll->named = calloc((size_t)roll->size / 8 + 1, 1);
	if (roll->named)
		roll->named[from / 8] |= (unsigned char)(1 << from % 8);
	if (place_of(roll->size, from) < place_of(roll->size, roll->rank))
		roll->earlier = true;
	roll->channel->send(from, ROLL_NOTED);
}

void roll_hear(struct roll *roll, int from, int word)
{
	int64_t place = (int64_t)from - child_of(roll, 0);

	if (from < 0 || from >= roll->size || from == roll->rank)
		return;
	if (word == ROLL_NAME)
		hear_name(roll, from);
	else if (word == ROLL_NOTED)
		roll->noted = true;
	else if (place >= 0 && place < roll->children)
		hear_child(roll, (int)place, word);
	else if (roll->rank && from == parent_of(roll->rank))
		hear_parent(roll, word);
}

enum roll_state roll_step(struct roll *roll, uint64_t now)
{
	if (roll->state == ROLL_GATHERS && !roll->missing)
		roll_gather(roll, now);
	if (roll->state == ROLL_GATHERS && roll->missing && !waits_for_verdict(roll))
		start_counting(roll, now);
	if (roll->state == ROLL_COUNTS)
		count(roll, now);
	return roll->state;
}

/* ---- how missing ranks are reported ---- */

static bool counts(const struct roll *roll)
{
	return !roll->channel->is_seen() && place_of(roll->size, roll->rank) < ROLL_COUNTERS;
}

bool roll_speaks(const struct roll *roll)
{
	if (counts(roll))
		return !roll->earlier;
	/* if no rank counts, each rank without a parent speaks */
	return !roll->noted && (!roll->rank || roll->parent == ROLL_SILENT);
}

static bool is_missing(const struct roll *roll, int rank)
{
	int64_t place = (int64_t)rank - child_of(roll, 0);

	if (rank == roll->rank)
		return false;
	if (counts(roll))
		return !roll->named || !(roll->named[rank / 8] >> rank % 8 & 1);
	if (place >= 0 && place < roll->children)
		return roll->child[place] == ROLL_SILENT;
	return roll->rank && rank == parent_of(roll->rank) && roll->parent == ROLL_SILENT;
}

void roll_name_missing(const struct roll *roll, char *text, size_t size)
{
	const char *separator = "";
	size_t length = 0;

	*text = '\0';
	for (int first = 0, after; first < roll->size; first = after) {
		after = first + 1;
		if (!is_missing(roll, first))
			continue;
		while (after < roll->size && is_missing(roll, after))
			after++;
		/* room for two numbers of ten digits, and the text around them */
		if (length + 32 > size) {
			snprintf(text + length, size - length, ", ...");
			return;
		}
		length += (size_t)snprintf(text + length, size - length,
				after - first > 1 ? "%s%d-%d" : "%s%d", separator, first,
				after - 1);
		separator = ", ";
	}
}
