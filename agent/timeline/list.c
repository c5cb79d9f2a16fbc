/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/timeline/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/array.h"

static void free_process(struct timeline_of_process *process)
{
	free(process->timeline.bin);
	free(process->seconds);
}

void timeline_list_fini(struct timeline_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_process(&list->process[i]);
	free(list->process);
	*list = (struct timeline_list){ 0 };
}

/* Returns a copy of `bytes` bytes, which may be 0, or NULL without memory. */
static void *copy_of(const void *from, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	return copy && bytes ? memcpy(copy, from, bytes) : copy;
}

int timeline_list_add(struct timeline_list *list, const struct timeline_of_process *process)
{
	struct timeline_of_process *all, *copy;

	if (list->count == TIMELINE_LIST_MAX)
		return 0;
	all = array_with_room(list->process, &list->room, list->count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	list->process = all;
	copy = &all[list->count];
	*copy = *process;
	copy->timeline.bin = copy_of(process->timeline.bin,
			atomic_load(&process->timeline.used) * sizeof(struct timeline_bin));
	copy->seconds = copy_of(process->seconds, process->prototypes * sizeof(double));
	if (!copy->timeline.bin || !copy->seconds) {
		free_process(copy);
		return -ENOMEM;
	}
	list->count++;
	return 0;
}

void timeline_list_groups(const struct timeline_list *list, const struct timeline_labels *labels,
		struct timeline_groups *groups)
{
	memset(groups, 0, sizeof(*groups));
	for (size_t i = 0; i < list->count; i++)
		timeline_groups_add(groups, &list->process[i], labels);
}
