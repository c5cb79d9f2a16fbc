/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor: the cost that every tool must pay that reads the same counters at the same moments. Opens the
 * first group of the agent, and reads it and the clock by hand.
 */
#include <string.h>

#include "agent/setup/counting.h"
#include "sampling/clock.h"
#include "sampling/group.h"

__attribute__((visibility("default"))) int by_hand_open(void);
__attribute__((visibility("default"))) void by_hand_around(void);

static struct group group;
static uint64_t values[GROUP_EVENTS_MAX];
static volatile uint64_t stamp;

int by_hand_open(void)
{
	static struct counting counting;
	const struct event *events[GROUP_EVENTS_MAX];
	struct counting_limits limits;
	unsigned bad;
	char why[256];

	clock_calibrate(&(struct clock_moment){ 0, 0 });
	if (counting_look(&counting, "auto", NULL, why, sizeof(why)))
		return -1;
	counting_limits(&counting, &limits);
	counting_settle(&counting, &limits);
	for (unsigned i = 0; i < counting.plan.group[0].count; i++)
		events[i] = &counting.event[counting.plan.group[0].event[i]];
	if (group_open(&group, counting.pmu, events, counting.plan.group[0].count,
			    counting.probe.method, &bad))
		return -1;
	return group_enable(&group);
}

void by_hand_around(void)
{
	stamp = clock_now();
	group_read(&group, values);
}
