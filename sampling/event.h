/* SPDX-License-Identifier: BSD-3-Clause */
/* An event that the kernel counts: its name, and what perf_event_open is asked for. */
#ifndef PHASEMUX_SAMPLING_EVENT_H
#define PHASEMUX_SAMPLING_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENT_NAME_MAX 96

struct event {
	char name[EVENT_NAME_MAX]; /* by which the user or the model names it */
	uint32_t type;             /* perf_event_attr.type */
	uint64_t config;           /* perf_event_attr.config */
	uint64_t config1;          /* perf_event_attr.config1: 0, except a few of Intel's */
};

/* Returns whether the event counts nanoseconds of processor time. */
static inline bool event_is_time(const struct event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
			(event->config == PERF_COUNT_SW_TASK_CLOCK ||
					event->config == PERF_COUNT_SW_CPU_CLOCK);
}

#endif
