/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads debug information with elfutils, in a shared object of its own (libphasemux-source.so), which is opened
 * when a report is made. Therefore the program does not load libdw while it computes, and on a machine without
 * libdw only lines are missing.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/symbols/source.h"

/* Code of a compilation unit, with addresses in the file. */
struct range {
	Dwarf_Addr begin, end;
	Dwarf_Off unit;
};

/* Code of a function of a unit, or of one that was inlined in it. */
struct scope {
	Dwarf_Addr begin, end;
	Dwarf_Off die;
	unsigned depth; /* the innermost scope around an address has the largest depth */
};

/* The scopes of a unit, gathered once, because it may have a hundred thousand other entries. */
struct unit {
	Dwarf_Off die;
	size_t count, room;
	struct scope *scope;
};

struct debug {
	Dwarf *dwarf;
	size_t units;
	struct unit *unit;
	int file;
	bool ranged; /* the ranges were gathered */
	bool broken; /* memory ran out within libdw, which is not called any more */
	size_t count, room;
	struct range *range; /* ordered by `begin` */
};

/* Target of the jump when memory has run out: libdw would end the process instead of returning an error. */
static jmp_buf out_of_memory;

static __attribute__((noreturn)) void leave(void)
{
	longjmp(out_of_memory, 1);
}

static void *debug_open(const char *path)
{
	struct debug *debug = calloc(1, sizeof(*debug));

	if (!debug)
		return NULL;
	debug->file = open(path, O_RDONLY | O_CLOEXEC);
	if (debug->file >= 0)
		debug->dwarf = dwarf_begin(debug->file, DWARF_C_READ);
	if (debug->dwarf) {
		dwarf_new_oom_handler(debug->dwarf, leave);
		return debug;
	}
	if (debug->file >= 0)
		close(debug->file);
	free(debug);
	return NULL;
}

static void debug_close(void *opened)
{
	struct debug *debug = opened;

	if (!debug->broken)
		dwarf_end(debug->dwarf);
	close(debug->file);
	for (size_t i = 0; i < debug->units; i++)
		free(debug->unit[i].scope);
	free(debug->unit);
	free(debug->range);
	free(debug);
}

/* ---- from an address to names ---- */

static bool add_range(struct debug *debug, const struct range *more)
{
	if (debug->count == debug->room) {
		size_t room = debug->room ? 2 * debug->room : 256;
		struct range *larger = realloc(debug->range, room * sizeof(*larger));

		if (!larger)
			return false;
		debug->range = larger;
		debug->room = room;
	}
	debug->range[debug->count++] = *more;
	return true;
}

static int by_begin(const void *a, const void *b)
{
	Dwarf_Addr x = ((const struct range *)a)->begin, y = ((const struct range *)b)->begin;

	return (x > y) - (x < y);
}

/* Gathers the ranges of all units, once, because there may be thousands of units. */
static void gather_ranges(struct debug *debug)
{
	Dwarf_Off at = 0, next;
	size_t header;

	debug->ranged = true;
	for (; dwarf_nextcu(debug->dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
		Dwarf_Addr base, begin, end;
		ptrdiff_t offset = 0;
		Dwarf_Die unit;

		if (!dwarf_offdie(debug->dwarf, at + header, &unit))
			continue;
		while ((offset = dwarf_ranges(&unit, offset, &base, &begin, &end)) > 0)
			if (!add_range(debug, &(struct range){ begin, end, at + header }))
				return;
	}
	qsort(debug->range, debug->count, sizeof(*debug->range), by_begin);
}

/* Finds the compilation unit of an address, even if the compiler (clang) writes no table of address ranges. */
static Dwarf_Die *unit_of(struct debug *debug, Dwarf_Addr address, Dwarf_Die *unit)
{
	size_t low = 0, high;

	if (dwarf_addrdie(debug->dwarf, address, unit))
		return unit;
	if (!debug->ranged)
		gather_ranges(debug);
	high = debug->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (debug->range[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= debug->range[low - 1].end)
		return NULL;
	return dwarf_offdie(debug->dwarf, debug->range[low - 1].unit, unit);
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

/* Sets the linker's name for C++, which contains the class, or the source's name for Fortran and C. */
static void name_function(Dwarf_Die *unit, Dwarf_Die *function, struct source_place *place)
{
	static const unsigned linkage[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	const char *name = NULL;
	Dwarf_Attribute attribute;

	for (int i = 0; i < 2 && !name; i++) {
		name = dwarf_formstring(dwarf_attr_integrate(function, linkage[i], &attribute));
		/* other linker's names add only a Fortran module to the source's name */
		if (name && strncmp(name, "_Z", 2) != 0 &&
				!(is_fortran(unit) && strstr(name, "_MOD_")))
			name = NULL;
	}
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
	place->linkage = name;
}

/* Fills where an inlined function was called, in the function around it. */
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

static bool add_scope(struct unit *unit, const struct scope *more)
{
	if (unit->count == unit->room) {
		size_t room = unit->room ? 2 * unit->room : 256;
		struct scope *larger = realloc(unit->scope, room * sizeof(*larger));

		if (!larger)
			return false;
		unit->scope = larger;
		unit->room = room;
	}
	unit->scope[unit->count++] = *more;
	return true;
}

static void add_ranges(struct unit *unit, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0)
		if (!add_scope(unit, &(struct scope){ begin, end, dwarf_dieoffset(die), depth }))
			return;
}

#define DEPTH_MAX 64 /* limits the recursion, because files may be corrupt */

/* Gathers the scopes in an entry. Functions that are only declared, or inlined everywhere, have no code. */
static void gather_scopes(struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			if (!dwarf_hasattr(&die, DW_AT_low_pc) &&
					!dwarf_hasattr(&die, DW_AT_ranges))
				break;
			add_ranges(unit, &die, depth);
			gather_scopes(unit, &die, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			gather_scopes(unit, &die, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* Returns the scopes of a unit, or NULL without memory. */
static const struct unit *scopes_of(struct debug *debug, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct unit *larger, *unit;

	for (size_t i = 0; i < debug->units; i++)
		if (debug->unit[i].die == offset)
			return &debug->unit[i];
	larger = realloc(debug->unit, (debug->units + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	debug->unit = larger;
	unit = &debug->unit[debug->units++];
	*unit = (struct unit){ .die = offset };
	gather_scopes(unit, die, 0);
	return unit;
}

/* Returns the deepest scope around the address whose depth is less than `below`, or NULL. */
static const struct scope *scope_around(const struct unit *unit, Dwarf_Addr address, unsigned below)
{
	const struct scope *deepest = NULL;

	for (const struct scope *at = unit->scope; at < unit->scope + unit->count; at++)
		if (address >= at->begin && address < at->end && at->depth < below &&
				(!deepest || at->depth > deepest->depth))
			deepest = at;
	return deepest;
}

/* Fills the functions around an address, from the innermost inlined one to the one that holds the code. */
static unsigned functions_around(struct debug *debug, Dwarf_Die *die, Dwarf_Addr address,
		struct source_place *places, unsigned max)
{
	const struct unit *unit = scopes_of(debug, die);
	const struct scope *scope;
	unsigned count = 0, below = UINT_MAX;

	memset(&places[0], 0, sizeof(places[0]));
	place_of_line(die, address, &places[0]);
	while (unit && count < max && (scope = scope_around(unit, address, below))) {
		Dwarf_Die function;

		below = scope->depth;
		if (!dwarf_offdie(debug->dwarf, scope->die, &function))
			break;
		name_function(die, &function, &places[count++]);
		if (dwarf_tag(&function) == DW_TAG_subprogram || count == max)
			break;
		memset(&places[count], 0, sizeof(places[count]));
		place_of_call(die, &function, &places[count]);
	}
	return count ? count : places[0].line > 0;
}

static unsigned debug_find(void *opened, uintptr_t address, struct source_place *places,
		unsigned max)
{
	struct debug *debug = opened;
	Dwarf_Die unit;

	if (debug->broken)
		return 0;
	if (setjmp(out_of_memory)) {
		debug->broken = true;
		return 0;
	}
	if (!unit_of(debug, address, &unit))
		return 0;
	return functions_around(opened, &unit, address, places, max);
}

/* Finds the entry of the function that holds the code, which lists its calls. Returns false if it fails. */
static bool function_at(struct debug *debug, const struct unit *unit, Dwarf_Addr address,
		Dwarf_Die *function)
{
	unsigned below = UINT_MAX;
	const struct scope *scope;

	while (unit && (scope = scope_around(unit, address, below))) {
		below = scope->depth;
		if (!dwarf_offdie(debug->dwarf, scope->die, function))
			return false;
		if (dwarf_tag(function) == DW_TAG_subprogram)
			return true;
	}
	return false;
}

/* Returns whether the entry is the call. Before version 5 of DWARF these entries were a GNU extension. */
static bool is_call_to(Dwarf_Die *die, Dwarf_Addr returns)
{
	bool gnu = dwarf_tag(die) == DW_TAG_GNU_call_site;
	Dwarf_Attribute attribute;
	Dwarf_Addr at;

	if (!gnu && dwarf_tag(die) != DW_TAG_call_site)
		return false;
	return dwarf_formaddr(dwarf_attr(die, gnu ? DW_AT_low_pc : DW_AT_call_return_pc,
					      &attribute),
			       &at) == 0 &&
			at == returns;
}

/* Finds the call among the children of an entry. Returns false if it is not there. */
static bool find_call(Dwarf_Die *parent, Dwarf_Addr returns, unsigned depth, Dwarf_Die *call)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die))
		return false;
	do {
		if (is_call_to(&die, returns)) {
			*call = die;
			return true;
		}
		if (dwarf_haschildren(&die) && dwarf_tag(&die) != DW_TAG_subprogram &&
				find_call(&die, returns, depth + 1, call))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static const char *called_by(struct debug *debug, uintptr_t returns)
{
	Dwarf_Die unit, function, call, origin;
	struct source_place place = { .linkage = NULL };
	Dwarf_Attribute attribute;
	bool gnu;

	if (!unit_of(debug, returns - 1, &unit) ||
			!function_at(debug, scopes_of(debug, &unit), returns - 1, &function) ||
			!find_call(&function, returns, 0, &call))
		return NULL;
	gnu = dwarf_tag(&call) == DW_TAG_GNU_call_site;
	if (!dwarf_formref_die(dwarf_attr(&call, gnu ? DW_AT_abstract_origin : DW_AT_call_origin,
					       &attribute),
			    &origin))
		return NULL;
	name_function(&unit, &origin, &place);
	return place.linkage;
}

static const char *debug_called(void *opened, uintptr_t returns)
{
	struct debug *debug = opened;

	if (debug->broken)
		return NULL;
	if (setjmp(out_of_memory)) {
		debug->broken = true;
		return NULL;
	}
	return called_by(debug, returns);
}

__attribute__((visibility("default"))) source_debug_entry phasemux_source_debug;

const struct source_debug *phasemux_source_debug(void)
{
	static const struct source_debug debug = { debug_open, debug_find, debug_called,
		debug_close };

	return &debug;
}
