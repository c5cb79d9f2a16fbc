/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/loader/modules.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module_list {
	struct module *modules;
	unsigned count, max;
};

static int note_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_list *list = data;
	struct module *module = &list->modules[list->count];

	(void)size;
	if (list->count == list->max)
		return 1;
	*module = (struct module){ .base = info->dlpi_addr, .begin = UINTPTR_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (begin < module->begin)
			module->begin = begin;
		if (begin + segment->p_memsz > module->end)
			module->end = begin + segment->p_memsz;
	}
	/* the program comes first, and has no name */
	if (*info->dlpi_name)
		snprintf(module->path, sizeof(module->path), "%s", info->dlpi_name);
	else if (list->count ||
			readlink("/proc/self/exe", module->path, sizeof(module->path) - 1) < 0)
		return 0;
	list->count++;
	return 0;
}

unsigned modules_now(struct module *modules, unsigned max)
{
	struct module_list list = { modules, 0, max };

	dl_iterate_phdr(note_module, &list);
	return list.count;
}

bool modules_are_same(const struct module *a, const struct module *b)
{
	return a->base == b->base && a->begin == b->begin && a->end == b->end &&
			strcmp(a->path, b->path) == 0;
}

/* Lists the files that were unloaded, or NULL if they are not known. */
static unsigned (*list_unloaded)(struct module *modules, unsigned max);

void modules_remember(unsigned (*modules)(struct module *modules, unsigned max))
{
	list_unloaded = modules;
}

/* Removes the addresses from `begin` to `end` from a file's, and those behind them if they lie within it. */
static void leave_out(struct module *module, uintptr_t begin, uintptr_t end)
{
	if (end <= module->begin || begin >= module->end)
		return;
	if (begin <= module->begin)
		module->begin = end < module->end ? end : module->end;
	else
		module->end = begin;
}

/*
 * Adds the files that were unloaded. Addresses at which two files have been belong to neither, because it is
 * not known which of them ran there.
 */
static unsigned add_unloaded(struct module *modules, unsigned count, unsigned max)
{
	struct module *gone = malloc(MODULES_MAX * sizeof(*gone));
	unsigned others = gone ? list_unloaded(gone, MODULES_MAX) : 0, now = count;

	for (unsigned i = 0; i < others; i++) {
		struct module left = gone[i];
		bool same = false;

		for (unsigned k = 0; k < now && !same; k++)
			same = modules_are_same(&gone[i], &modules[k]);
		if (same)
			continue;
		for (unsigned k = 0; k < count; k++) {
			uintptr_t begin = modules[k].begin, end = modules[k].end;

			leave_out(&modules[k], gone[i].begin, gone[i].end);
			leave_out(&left, begin, end);
		}
		for (unsigned k = 0; k < others; k++)
			if (k != i)
				leave_out(&left, gone[k].begin, gone[k].end);
		if (*left.path && left.begin < left.end && count < max)
			modules[count++] = left;
	}
	free(gone);
	return count;
}

unsigned modules_ever(struct module *modules, unsigned max)
{
	unsigned count = modules_now(modules, max);

	return list_unloaded ? add_unloaded(modules, count, max) : count;
}
