/*
 * Reads debug information with elfutils. A shared object of its own (libphasemux-source.so), opened
 * when a report is made: the program never carries libdw while it computes, and a machine without
 * it loses the lines alone.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/source.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* ---- separate debug information ---- */

static int open_readable(char **name, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file >= 0)
		*name = strdup(path);
	return file;
}

static int by_build_id(Dwfl_Module *module, char **name)
{
	const unsigned char *bits;
	GElf_Addr address;
	int length = dwfl_module_build_id(module, &bits, &address), at;
	char path[PATH_MAX];

	if (length < 3 || length > 64)
		return -1;
	at = snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%02x/", bits[0]);
	for (int i = 1; i < length; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", bits[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return open_readable(name, path);
}

/*
 * Looks where distributions put it. elfutils' own search would also ask servers on the net, when
 * the user's environment names some: not while a job waits to end.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *module_name,
	Dwarf_Addr base, const char *file, const char *link, GElf_Word checksum, char **name)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	int folder = slash ? (int)(slash - file) : 0, opened;
	char path[PATH_MAX];

	(void)data;
	(void)module_name;
	(void)base;
	(void)checksum;
	opened = by_build_id(module, name);
	if (opened >= 0 || !link)
		return opened;
	if (*link == '/')
		return open_readable(name, link);
	for (int i = 0; i < 3 && opened < 0; i++) {
		static const char *const patterns[] = { "%.*s/%s", "%.*s/.debug/%s",
			DEBUG_FOLDER "%.*s/%s" };

		if (snprintf(path, sizeof(path), patterns[i], folder, file ? file : "", link) <
			(int)sizeof(path))
			opened = open_readable(name, path);
	}
	return opened;
}

/* Every file is reported by its path. */
static int find_elf(Dwfl_Module *module, void **data, const char *module_name, Dwarf_Addr base,
	char **file, Elf **elf)
{
	(void)module;
	(void)data;
	(void)module_name;
	(void)base;
	(void)file;
	(void)elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

static void *debug_open(const struct source_module *modules, unsigned count)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return NULL;
	dwfl_report_begin(dwfl);
	for (unsigned i = 0; i < count; i++) {
		int file = open(modules[i].path, O_RDONLY | O_CLOEXEC);

		/* the kernel's own (vdso) has no file */
		if (file < 0)
			continue;
		/* what it takes over it closes */
		if (!dwfl_report_elf(
			    dwfl, modules[i].path, modules[i].path, file, modules[i].base, false))
			close(file);
	}
	dwfl_report_end(dwfl, NULL, NULL);
	return dwfl;
}

static void debug_close(void *opened)
{
	dwfl_end(opened);
}

/* ---- from an address to names ---- */

/* The compilation unit, also where the compiler (clang) leaves no table of address ranges. */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

static bool is_fortran(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* The linker's name for C++, which says the class; the author's for Fortran and C. */
static void name_function(Dwarf_Die *unit, Dwarf_Die *function, struct source_place *place)
{
	static const unsigned linkage[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	const char *name = NULL;
	Dwarf_Attribute attribute;

	for (int i = 0; i < 2 && !name; i++) {
		name = dwarf_formstring(dwarf_attr_integrate(function, linkage[i], &attribute));
		/* what is no C++ name adds nothing to the author's, but a Fortran module */
		if (name && strncmp(name, "_Z", 2) != 0 &&
			!(is_fortran(unit) && strstr(name, "_MOD_")))
			name = NULL;
	}
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
	snprintf(place->function, sizeof(place->function), "%s", name ? name : "");
}

/* Where the inlined function was called, in the function around it. */
static void place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct source_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
		place->line = (unsigned)value;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0 &&
		dwarf_getsrcfiles(unit, &files, &count) == 0 && value < count) {
		const char *file = dwarf_filesrc(files, value, NULL, NULL);

		snprintf(place->file, sizeof(place->file), "%s", file ? file : "");
	}
}

static void place_of_line(Dwarf_Die *unit, Dwarf_Addr address, struct source_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0;

	if (!file || dwarf_lineno(line, &number))
		return;
	snprintf(place->file, sizeof(place->file), "%s", file);
	place->line = (unsigned)number;
}

/* The functions around an address, from the innermost inlined one to that which holds the code. */
static unsigned functions_around(
	Dwarf_Die *unit, Dwarf_Addr address, struct source_place *places, unsigned max)
{
	Dwarf_Die *around = NULL, *scopes = NULL, innermost;
	unsigned count = 0;
	int scope_count = dwarf_getscopes(unit, address, &around);

	/* those are the scopes of the text; what was inlined where is asked of the innermost one */
	if (scope_count > 0 &&
		dwarf_offdie(dwarf_cu_getdwarf(unit->cu), dwarf_dieoffset(&around[0]), &innermost))
		scope_count = dwarf_getscopes_die(&innermost, &scopes);
	else
		scope_count = 0;
	memset(&places[0], 0, sizeof(places[0]));
	place_of_line(unit, address, &places[0]);
	for (int i = 0; i < scope_count && count < max; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		name_function(unit, &scopes[i], &places[count++]);
		if (tag == DW_TAG_subprogram || count == max)
			break;
		memset(&places[count], 0, sizeof(places[count]));
		place_of_call(unit, &scopes[i], &places[count]);
	}
	free(around);
	free(scopes);
	return count ? count : places[0].line > 0;
}

static unsigned debug_find(
	void *opened, uintptr_t address, struct source_place *places, unsigned max)
{
	/* the call itself is before the address that it returns to */
	Dwarf_Addr bias, call = address - 1;
	Dwfl_Module *module = dwfl_addrmodule(opened, call);
	Dwarf_Die *unit;
	const char *symbol;
	unsigned count = 0;
	GElf_Off offset = 0;
	GElf_Sym entry;

	if (!module)
		return 0;
	unit = unit_of(module, call, &bias);
	if (unit)
		count = functions_around(unit, call - bias, places, max);
	symbol = dwfl_module_addrinfo(module, call, &offset, &entry, NULL, NULL, NULL);
	if (symbol && offset < entry.st_size + (entry.st_size == 0)) {
		if (!count) {
			memset(&places[0], 0, sizeof(places[0]));
			count = 1;
		}
		if (!*places[count - 1].function)
			snprintf(places[count - 1].function, sizeof(places[0].function), "%s",
				symbol);
		places[count - 1].offset = offset + 1;
	}
	return count;
}

__attribute__((visibility("default"))) source_debug_entry phasemux_source_debug;

const struct source_debug *phasemux_source_debug(void)
{
	static const struct source_debug debug = { debug_open, debug_find, debug_close };

	return &debug;
}
