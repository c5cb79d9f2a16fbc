/* First fit, largest first: sets whose events belong together, then the events that are alone. */
#include "multiplex/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct set {
	uint8_t count;
	uint8_t event[PLAN_EVENTS_MAX];
};

/* Puts count events into the fullest group that still has room for all of them, or a new one. */
static int place(struct plan *plan, unsigned counters, const uint8_t *event, unsigned count)
{
	struct plan_group *best = NULL;

	for (unsigned g = 0; g < plan->groups; g++) {
		struct plan_group *group = &plan->group[g];

		if (group->count + count <= counters && (!best || group->count > best->count))
			best = group;
	}
	if (!best) {
		if (plan->groups == PLAN_GROUPS_MAX)
			return -EINVAL;
		best = &plan->group[plan->groups++];
		for (unsigned e = 0; e < plan->common; e++)
			best->event[best->count++] = e;
	}
	for (unsigned e = 0; e < count; e++)
		best->event[best->count++] = event[e];
	return 0;
}

/* Gathers the sets in order of their first event; an event that is alone makes a set of one. */
static unsigned gather(struct set sets[], const struct plan *plan, const uint8_t *together)
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

int plan_pack(struct plan *plan, unsigned events, unsigned common, unsigned counters,
		const uint8_t *together)
{
	struct set sets[PLAN_EVENTS_MAX];
	unsigned count, room;

	memset(plan, 0, sizeof(*plan));
	if (counters > PLAN_GROUP_EVENTS_MAX)
		counters = PLAN_GROUP_EVENTS_MAX;
	if (!events || events > PLAN_EVENTS_MAX || common > events || counters < common ||
			(counters == common && events > common))
		return -EINVAL;
	plan->events = events;
	plan->common = common;
	if (events == common)
		return place(plan, counters, NULL, 0);
	room = counters - common;
	count = gather(sets, plan, together);
	for (unsigned size = room; size > 0; size--) {
		for (unsigned s = 0; s < count; s++) {
			struct set *set = &sets[s];

			/* A set that no group can hold is cut; what is left has its turn later. */
			while (set->count >= size) {
				if (place(plan, counters, set->event, size))
					return -EINVAL;
				set->count -= size;
				memmove(set->event, &set->event[size], set->count);
			}
		}
	}
	for (unsigned g = 0; g < plan->groups; g++)
		sort_group(&plan->group[g], common);
	return 0;
}
