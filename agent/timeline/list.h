/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timelines of several processes, if one process adds them up: those of a family, or those that left their spools. What
 * is a phase is known only when all of them are there.
 */
#ifndef PHASEMUX_AGENT_TIMELINE_LIST_H
#define PHASEMUX_AGENT_TIMELINE_LIST_H

#include "agent/timeline/groups.h"

/* Processes that have room, with 33 KiB each. The groups say of how many ranks they are. */
#define TIMELINE_LIST_MAX 4096

/* Zeros are an empty list. */
struct timeline_list {
	size_t count, room;
	struct timeline_of_process *process; /* each owns its bins and seconds */
};

/* Frees what the list owns. */
void timeline_list_fini(struct timeline_list *list);

/* Adds a copy of a process, unless there are TIMELINE_LIST_MAX. Returns 0 or -ENOMEM. */
int timeline_list_add(struct timeline_list *list, const struct timeline_of_process *process);

/* Sets `groups` to those of all processes of the list. */
void timeline_list_groups(const struct timeline_list *list, const struct timeline_labels *labels,
		struct timeline_groups *groups);

#endif
