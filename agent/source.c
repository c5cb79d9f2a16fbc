#include "agent/source.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef char *demangler(const char *, char *, size_t *, int *);

struct source {
	const struct source_debug *debug; /* NULL: no lines */
	void *opened;
	demangler *demangle; /* NULL: C++ names stay as they are */
	unsigned count;
	struct source_module modules[];
};

/* ---- the files of this process ---- */

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
	/* the program itself comes first, and without a name */
	if (*info->dlpi_name)
		snprintf(module->path, sizeof(module->path), "%s", info->dlpi_name);
	else if (list->count ||
		 readlink("/proc/self/exe", module->path, sizeof(module->path) - 1) < 0)
		return 0;
	list->count++;
	return 0;
}

unsigned source_modules(struct source_module *modules, unsigned max)
{
	struct module_list list = { modules, 0, max };

	dl_iterate_phdr(note_module, &list);
	return list.count;
}

/* ---- names ---- */

/* "module::name" for what gfortran, flang and ifort make of it. */
static bool fortran_name(const char *symbol, char *name, size_t size)
{
	const char *rest = NULL;
	size_t length = 0;

	if (strncmp(symbol, "__", 2) == 0 && (rest = strstr(symbol + 2, "_MOD_"))) {
		symbol += 2;
		length = (size_t)(rest - symbol);
		rest += strlen("_MOD_");
	} else if (strncmp(symbol, "_QM", 3) == 0 && (rest = strchr(symbol + 3, 'P'))) {
		symbol += 3;
		length = (size_t)(rest - symbol);
		rest++;
	} else if ((rest = strstr(symbol, "_mp_"))) {
		length = (size_t)(rest - symbol);
		rest += strlen("_mp_");
	}
	if (!rest || !length || !*rest)
		return false;
	snprintf(name, size, "%.*s::%s", (int)length, symbol, rest);
	return true;
}

/* A symbol of the linker as its author wrote it, without arguments. */
static void clear_name(const struct source *source, char *name, size_t size)
{
	size_t length = strlen(name), at = 0;
	char clear[sizeof(((struct source_place *)0)->function)];
	char *demangled = NULL;
	int status;

	if (strncmp(name, "_Z", 2) == 0 && source->demangle)
		demangled = source->demangle(name, NULL, NULL, &status);
	if (demangled) {
		/* "(anonymous namespace)" is no argument list, nor is "operator()" */
		for (;;) {
			at += strcspn(demangled + at, "(");
			if (strncmp(demangled + at, "(anonymous", 10) == 0)
				at += 10;
			else if (at >= 8 && strncmp(demangled + at - 8, "operator()", 10) == 0)
				at += 2;
			else
				break;
		}
		demangled[at] = '\0';
		snprintf(name, size, "%s", demangled);
		free(demangled);
	} else if (fortran_name(name, clear, sizeof(clear))) {
		snprintf(name, size, "%s", clear);
	}
	/* a procedure of Fortran outside of modules: "solve_" */
	length = strlen(name);
	for (at = 0; at + 1 < length; at++)
		if (!islower((unsigned char)name[at]) && !isdigit((unsigned char)name[at]) &&
			name[at] != '_')
			return;
	if (length > 1 && name[length - 1] == '_')
		name[length - 1] = '\0';
}

/* ---- finding ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct source_module *module_of(const struct source *source, uintptr_t address)
{
	for (unsigned i = 0; i < source->count; i++)
		if (address >= source->modules[i].begin && address < source->modules[i].end)
			return &source->modules[i];
	return NULL;
}

struct source *source_open(const char *folder, const struct source_module *modules, unsigned count)
{
	struct source *source = calloc(1, sizeof(*source) + count * sizeof(*modules));
	source_debug_entry *entry = NULL;
	char path[4096 + sizeof(SOURCE_DEBUG_FILE) + 1];
	void *library;

	if (!source)
		return NULL;
	memcpy(source->modules, modules, count * sizeof(*modules));
	source->count = count;
	*(void **)&source->demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (!source->demangle) {
		/* not in sight: C++ that was opened with RTLD_LOCAL */
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
		if (library)
			*(void **)&source->demangle = dlsym(library, "__cxa_demangle");
	}
	snprintf(path, sizeof(path), "%s/%s", folder, SOURCE_DEBUG_FILE);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library)
		*(void **)&entry = dlsym(library, SOURCE_DEBUG_ENTRY);
	if (entry) {
		source->debug = entry();
		source->opened = source->debug->open(source->modules, count);
	}
	return source;
}

void source_close(struct source *source)
{
	if (source && source->opened)
		source->debug->close(source->opened);
	free(source);
}

/* From the dynamic symbols, where the address is in a file that this process has loaded. */
static void find_by_loader(const struct source_module *module, uintptr_t address,
		struct source_place *place)
{
	Dl_info info;

	if (!dladdr((void *)(address - 1), &info) || !info.dli_sname)
		return;
	/* an address of another process may mean something else in this one */
	if ((uintptr_t)info.dli_fbase + 4096 <= module->begin ||
			(uintptr_t)info.dli_fbase >= module->end)
		return;
	snprintf(place->function, sizeof(place->function), "%s", info.dli_sname);
	place->offset = address - (uintptr_t)info.dli_saddr;
}

unsigned source_find(
	struct source *source, uintptr_t address, struct source_place *places, unsigned max)
{
	/* the call itself is before the address that it returns to */
	const struct source_module *module = module_of(source, address - 1);
	unsigned count = 0;

	if (source->opened)
		count = source->debug->find(source->opened, address, places, max);
	if (!count) {
		places[0] = (struct source_place){ .offset = address };
		if (module) {
			places[0].offset = address - module->base;
			find_by_loader(module, address, &places[0]);
		}
		count = 1;
	}
	for (unsigned i = 0; i < count; i++) {
		clear_name(source, places[i].function, sizeof(places[i].function));
		snprintf(places[i].module, sizeof(places[i].module), "%.*s",
			(int)sizeof(places[i].module) - 1, module ? base_name(module->path) : "?");
	}
	return count;
}

void source_position(const struct source_place *place, char *text, size_t size)
{
	if (*place->file && place->line)
		snprintf(text, size, "%s:%u", place->file, place->line);
	else
		snprintf(text, size, "%s+0x%zx", *place->function ? place->function : place->module,
			place->offset);
}
