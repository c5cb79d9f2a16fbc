/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the same counters at the same moments through PAPI. These are the events of the agent's first group, by
 * the names that PAPI has for them. This library takes the place of by_hand.so.
 */
#include <ctype.h>
#include <papi.h>
#include <stdio.h>

#include "agent/setup/counting.h"
#include "sampling/clock.h"

__attribute__((visibility("default"))) int by_hand_open(void);
__attribute__((visibility("default"))) void by_hand_around(void);

static int set = PAPI_NULL;
static long long values[GROUP_EVENTS_MAX];

/* Adds an event. The kernel's own events are PAPI's perf::TASK-CLOCK and so on. */
static int add(const struct event *event)
{
	char name[EVENT_NAME_MAX + 8];
	int at = snprintf(name, sizeof(name), "%s%s",
			event->type == PERF_TYPE_SOFTWARE ? "perf::" : "", event->name);

	for (int i = 6; event->type == PERF_TYPE_SOFTWARE && i < at; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
	return PAPI_add_named_event(set, name) == PAPI_OK ? 0 : -1;
}

int by_hand_open(void)
{
	static struct counting counting;
	struct counting_limits limits;
	char why[256];

	clock_calibrate(&(struct clock_moment){ 0, 0 });
	if (counting_look(&counting, "auto", NULL, why, sizeof(why)))
		return -1;
	counting_limits(&counting, &limits);
	counting_settle(&counting, &limits);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
			PAPI_create_eventset(&set) != PAPI_OK)
		return -1;
	for (unsigned i = 0; i < counting.plan.group[0].count; i++)
		if (add(&counting.event[counting.plan.group[0].event[i]]))
			return -1;
	return PAPI_start(set) == PAPI_OK ? 0 : -1;
}

void by_hand_around(void)
{
	PAPI_read(set, values);
}
