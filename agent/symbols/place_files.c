/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/symbols/place_files.h"

#include <stdio.h>
#include <string.h>

#include "agent/host/hash.h"

#define OFFSET_BITS 40
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)

/* Address of the file number `file` of other processes. Nothing is loaded there; any offset of a place fits. */
#define ELSEWHERE(file) ((UINT64_C(1) << 62) + ((uint64_t)(file) << (OFFSET_BITS + 1)))

/* Returns a hash of the path of 24 bits, never 0. */
static uint32_t number_of(const char *path)
{
	uint64_t hash = hash_bytes(HASH_START, path, strlen(path));
	uint32_t number = (uint32_t)(hash ^ hash >> 24 ^ hash >> 48) & 0xffffff;

	return number ? number : 1;
}

static void note_file(struct place_files *files, uint32_t number, const char *path)
{
	struct place_file *file = &files->file[files->count];

	for (uint32_t i = 0; i < files->count; i++)
		if (files->file[i].number == number)
			return;
	if (files->count == PLACE_FILES_MAX)
		return;
	file->number = number;
	if (snprintf(file->path, sizeof(file->path), "%s", path) >= (int)sizeof(file->path))
		file->path[0] = '\0';
	files->count++;
}

uint64_t place_files_note(struct place_files *files, uintptr_t address,
		const struct module *modules, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= modules[i].begin && address < modules[i].end) {
			uint32_t number = number_of(modules[i].path);

			note_file(files, number, modules[i].path);
			return (uint64_t)number << OFFSET_BITS |
					((address - modules[i].base) & OFFSET_MASK);
		}
	return 0;
}

void place_files_merge(const struct place_files *from, struct place_files *into)
{
	for (uint32_t i = 0; i < from->count; i++)
		note_file(into, from->file[i].number, from->file[i].path);
}

/* Returns the module with this number, of this process or appended; NULL if there is none. */
static const struct module *find_module(const struct place_files *files, uint32_t number,
		struct place_modules *modules)
{
	const struct place_file *file = files->file;
	struct module *module = &modules->module[modules->count];

	for (unsigned i = 0; i < modules->own; i++)
		if (number_of(modules->module[i].path) == number)
			return &modules->module[i];
	while (file < files->file + files->count && file->number != number)
		file++;
	if (file == files->file + files->count || !*file->path)
		return NULL;
	for (unsigned i = modules->own; i < modules->count; i++)
		if (strcmp(modules->module[i].path, file->path) == 0)
			return &modules->module[i];
	if (modules->count == modules->max)
		return NULL;
	module->base = module->begin = (uintptr_t)ELSEWHERE(modules->count - modules->own);
	module->end = module->base + OFFSET_MASK;
	snprintf(module->path, sizeof(module->path), "%s", file->path);
	modules->count++;
	return module;
}

uintptr_t place_files_address(const struct place_files *files, uint64_t place,
		struct place_modules *modules)
{
	uint32_t number = (uint32_t)(place >> OFFSET_BITS);
	const struct module *module = number ? find_module(files, number, modules) : NULL;

	return module ? module->base + (place & OFFSET_MASK) : 1;
}
