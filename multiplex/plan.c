/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs the largest sets first, each into the fullest group that can take it. */
#include "multiplex/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct set {
	uint8_t count;
	uint8_t event[PLAN_EVENTS_MAX];
};

/* The limits of the packing. */
struct bounds {
	unsigned counters;
	const uint16_t *counter_set;
};

/* Finds a counter for the event, moving events that have one to another (augmenting path). */
static bool assign(const struct bounds *bounds, const uint8_t *event, unsigned which,
		int8_t holder[16], uint16_t *tried)
{
	for (unsigned c = 0; c < 16; c++) {
		if (!(bounds->counter_set[event[which]] >> c & 1) || *tried >> c & 1)
			continue;
		*tried |= 1 << c;
		if (holder[c] < 0 || assign(bounds, event, holder[c], holder, tried)) {
			holder[c] = which;
			return true;
		}
	}
	return false;
}

/* Returns whether the group can be counted with the further events: each event has a counter of its own. */
static bool countable(const struct bounds *bounds, const struct plan_group *group,
		const uint8_t *event, unsigned count)
{
	uint8_t all[PLAN_GROUP_EVENTS_MAX];
	int8_t holder[16];

	if (group->count + count > bounds->counters)
		return false;
	if (!bounds->counter_set)
		return true;
	memset(holder, -1, sizeof(holder));
	memcpy(all, group->event, group->count);
	for (unsigned i = 0; i < count; i++)
		all[group->count + i] = event[i];
	for (unsigned i = 0; i < group->count + count; i++) {
		uint16_t tried = 0;

		if (bounds->counter_set[all[i]] && !assign(bounds, all, i, holder, &tried))
			return false;
	}
	return true;
}

/*
 * Puts `count` events into the fullest group that can take all of them, or into a new one. Returns 1 if not
 * even a new one can take them.
 */
static int place_set(struct plan *plan, const struct bounds *bounds, const uint8_t *event,
		unsigned count)
{
	struct plan_group *best = NULL;

	for (unsigned g = 0; g < plan->groups; g++) {
		struct plan_group *group = &plan->group[g];

		if ((!best || group->count > best->count) && countable(bounds, group, event, count))
			best = group;
	}
	if (!best) {
		if (plan->groups == PLAN_GROUPS_MAX)
			return -EINVAL;
		best = &plan->group[plan->groups++];
		for (unsigned e = 0; e < plan->common; e++)
			best->event[best->count++] = e;
		if (!countable(bounds, best, event, count)) {
			memset(best, 0, sizeof(*best));
			plan->groups--;
			return 1;
		}
	}
	for (unsigned e = 0; e < count; e++)
		best->event[best->count++] = event[e];
	return 0;
}

/* Gathers the sets in order of their first event. An event without a set makes a set of one. */
static unsigned gather_sets(struct set sets[], const struct plan *plan, const uint8_t *together)
{
	bool taken[PLAN_EVENTS_MAX] = { false };
	unsigned count = 0;

	for (unsigned e = plan->common; e < plan->events; e++) {
		struct set *set = &sets[count];

		if (taken[e])
			continue;
		set->count = 0;
		for (unsigned f = e; f < plan->events; f++) {
			if (f != e && !(together && together[e] && together[e] == together[f]))
				continue;
			taken[f] = true;
			set->event[set->count++] = f;
		}
		count++;
	}
	return count;
}

static void sort_group(struct plan_group *group, unsigned common)
{
	for (unsigned i = common + 1; i < group->count; i++) {
		uint8_t event = group->event[i];
		unsigned j = i;

		for (; j > common && group->event[j - 1] > event; j--)
			group->event[j] = group->event[j - 1];
		group->event[j] = event;
	}
}

int plan_pack_on(struct plan *plan, unsigned events, unsigned common, unsigned counters,
		const uint8_t *together, const uint16_t *on)
{
	struct bounds bounds = { counters, on };
	struct set sets[PLAN_EVENTS_MAX];
	unsigned count;

	memset(plan, 0, sizeof(*plan));
	if (bounds.counters > PLAN_GROUP_EVENTS_MAX)
		bounds.counters = PLAN_GROUP_EVENTS_MAX;
	if (!events || events > PLAN_EVENTS_MAX || common > events || bounds.counters < common ||
			(bounds.counters == common && events > common))
		return -EINVAL;
	plan->events = events;
	plan->common = common;
	if (events == common)
		return place_set(plan, &bounds, NULL, 0) ? -EINVAL : 0;
	count = gather_sets(sets, plan, together);
	for (unsigned size = bounds.counters - common; size > 0; size--) {
		for (unsigned s = 0; s < count; s++) {
			struct set *set = &sets[s];

			/* a set that no group can hold is cut, and the rest is placed later */
			while (set->count >= size) {
				int failed = place_set(plan, &bounds, set->event, size);

				if (failed < 0 || (failed && size == 1))
					return -EINVAL;
				if (failed)
					break;
				set->count -= size;
				memmove(set->event, &set->event[size], set->count);
			}
		}
	}
	for (unsigned g = 0; g < plan->groups; g++)
		sort_group(&plan->group[g], common);
	return 0;
}

int plan_pack(struct plan *plan, unsigned events, unsigned common, unsigned counters,
		const uint8_t *together)
{
	return plan_pack_on(plan, events, common, counters, together, NULL);
}
