/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/silent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Number of instructions in which an event must have been counted before its 0 says anything. */
#define SILENT_INSTRUCTIONS_MIN 1e6

void silent_add(struct silent *silent, const struct phase_estimate *phase)
{
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++) {
		const struct estimate *event = &phase->event[e];

		if (!event->observed)
			continue;
		silent->counted[e] += event->mean * (double)event->observed;
		silent->instructions[e] += phase->event[1].mean * (double)event->observed;
	}
}

void silent_decide(struct silent *silent, const struct counting *counting)
{
	bool is_busy = false;

	if (!counting->hardware || !counting->model || counting->plan.common < 2)
		return;
	for (unsigned e = counting->plan.common; e < counting->plan.events; e++) {
		unsigned number = counting->model_event[e];

		silent->event[e] = silent->counted[e] == 0 &&
				silent->instructions[e] >= SILENT_INSTRUCTIONS_MIN;
		silent->count += silent->event[e];
		is_busy = is_busy ||
				(silent->event[e] && model_event(counting->model, number)->busy);
	}
	if (!is_busy) {
		memset(silent->event, 0, sizeof(silent->event));
		silent->count = 0;
	}
}

void silent_remove(const struct silent *silent, struct phase_estimate *phase)
{
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++)
		if (silent->event[e])
			phase->event[e] = (struct estimate){ .mean = NAN, .ci95 = INFINITY };
}

void silent_explain(const struct silent *silent, const struct counting *counting, char *text,
		size_t size)
{
	size_t length = 0;
	unsigned named = 0;

	text[0] = '\0';
	for (unsigned e = 0; e < counting->plan.events && length < size; e++)
		if (silent->event[e])
			length += (size_t)snprintf(text + length, size - length, "%s%s",
					named++ ? ", " : "", counting->event[e].name);
	if (length < size)
		snprintf(text + length, size - length,
				": this processor accepts %s, but %s 0 in every burst; what needs "
				"%s is not available",
				named == 1 ? "this event" : "these events",
				named == 1 ? "it is" : "they are", named == 1 ? "it" : "them");
}
