/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the program an address is, for people: function, file and line through the debug
 * information that there is, the function alone from the symbol table, else the file that was
 * loaded and the offset in it. Used at the end of a run, by one thread.
 */
#ifndef PHASEMUX_AGENT_SOURCE_H
#define PHASEMUX_AGENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded file: addresses in [begin, end) are `base` above those that the file states. */
struct source_module {
	uintptr_t base, begin, end;
	char path[512];
};

#define SOURCE_MODULES_MAX 256

/*
 * A place in the program. function and file are "" where they are not known; offset is that in the
 * function, or in the module where there is no function.
 */
struct source_place {
	/*
	 * C++ and Fortran names as their authors wrote them, without arguments; of a name that is longer,
	 * template arguments are left out (agent/name.h).
	 */
	char function[256];
	char file[256]; /* as the compiler was told it */
	unsigned line;
	char module[64]; /* without its folder */
	size_t offset;
	/* Between the reader of debug information and source.c: the name as the linker knows it, or NULL. */
	const char *linkage;
};

/* Room for one more name than a call chain has frames: inlined functions are frames too. */
#define SOURCE_PLACES_MAX 8

struct source;

/*
 * Lists at most `max` files that this process has loaded or has unloaded, without the addresses at which
 * several files have been. Returns how many.
 */
unsigned source_modules(struct source_module *modules, unsigned max);

/* Sets the function that lists unloaded files (agent/unloaded.h). Call on one thread, before source_modules. */
void source_remember(unsigned (*unloaded)(struct source_module *modules, unsigned max));

/*
 * For addresses in these files; each is opened when an address in it is asked for. folder (must
 * outlive what is returned): where the shared objects of phasemux are; the one that reads debug
 * information is opened there, and missing it costs the lines alone. NULL without memory.
 */
struct source *source_open(const char *folder, const struct source_module *modules, unsigned count);
void source_close(struct source *source);

/* The file's name without its folder, "?" where no file is. */
const char *source_module_name(const struct source *source, uintptr_t address);

/*
 * The places that a return address stands for, innermost first: more than one where the compiler
 * inlined functions into one another. Returns how many were filled, at least 1.
 */
unsigned source_find(struct source *source, uintptr_t address, struct source_place *places,
		unsigned max);

/*
 * The name by which the function that holds `inside` was called, where the caller's return address is
 * `returns`. It differs from the name of source_find if the compiler made functions of equal code one.
 * Returns false if it is not known, or the same.
 */
bool source_alias(struct source *source, uintptr_t inside, uintptr_t returns, char *name,
		size_t size);

/* "file:line"; without lines "function+0x12", without functions "module+0x1234". */
void source_position(const struct source_place *place, char *text, size_t size);

/* ---- between source.c and the shared object that reads debug information ---- */

#define SOURCE_DEBUG_FILE  "libphasemux-source.so"
#define SOURCE_DEBUG_ENTRY "phasemux_source_debug"

struct source_debug {
	/* The debug information that this file holds; NULL: none. */
	void *(*open)(const char *path);
	/*
	 * As source_find, for the address of a call as the file states it. `linkage` is set in place of
	 * `function`, and is valid until `close`. Returns 0 if nothing is known.
	 */
	unsigned (*find)(void *opened, uintptr_t address, struct source_place *places,
			unsigned max);
	/*
	 * The linker's name of the function that is called by the call which returns to this address, as
	 * the source says. Valid until `close`. Returns NULL if it is not known.
	 */
	const char *(*called)(void *opened, uintptr_t returns);
	void (*close)(void *opened);
};

/* The one symbol that it exports has this type. */
typedef const struct source_debug *source_debug_entry(void);

#endif
