/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of events that are counted in turn: a list of events packed into as few groups as
 * the number of counters allows. Events are numbered from 0; the first `common` ones (cycles and
 * instructions) stand at the head of every group.
 */
#ifndef PHASEMUX_MULTIPLEX_PLAN_H
#define PHASEMUX_MULTIPLEX_PLAN_H

#include <stdint.h>

#define PLAN_EVENTS_MAX       96
#define PLAN_GROUPS_MAX       48
#define PLAN_GROUP_EVENTS_MAX 8

struct plan_group {
	uint8_t count;
	uint8_t event[PLAN_GROUP_EVENTS_MAX]; /* event numbers; the common ones first, in order */
};

struct plan {
	uint32_t events;
	uint32_t common;
	uint32_t groups;
	struct plan_group group[PLAN_GROUPS_MAX];
};

/*
 * Packs `events` events for `counters` counters. together[i], if not NULL, is the number of a set (1, 2, ...;
 * 0: none). The events of a set should share a group if they fit, because a component needs their difference.
 * Every event that is not common is in exactly one group. Returns 0 or -EINVAL (counters <= common while there
 * are other events; too many events or groups).
 */
int plan_pack(struct plan *plan, unsigned events, unsigned common, unsigned counters,
		const uint8_t *together);

/*
 * Packs like plan_pack if not every counter counts every event (POWER). on[e], if not NULL, is the set of
 * counters that can count event e, bit i for counter i; 0: any. A group gets no two events that need the same
 * counter.
 */
int plan_pack_on(struct plan *plan, unsigned events, unsigned common, unsigned counters,
		const uint8_t *together, const uint16_t *on);

#endif
