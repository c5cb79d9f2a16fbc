/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/modules.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct module_list {
	struct source_module *modules;
	unsigned count, max;
};

static int note_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module_list *list = data;
	struct source_module *module = &list->modules[list->count];

	(void)size;
	if (list->count == list->max)
		return 1;
	*module = (struct source_module){ .base = info->dlpi_addr, .begin = UINTPTR_MAX };
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

unsigned modules_now(struct source_module *modules, unsigned max)
{
	struct module_list list = { modules, 0, max };

	dl_iterate_phdr(note_module, &list);
	return list.count;
}

bool modules_are_same(const struct source_module *a, const struct source_module *b)
{
	return a->base == b->base && a->begin == b->begin && a->end == b->end &&
			strcmp(a->path, b->path) == 0;
}
