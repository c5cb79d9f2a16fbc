/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names an address in the program for people: function, file and line from debug information, else the function
 * from a symbol table, else the loaded file and the offset in it. One thread uses this at the end of a run.
 */
#ifndef PHASEMUX_AGENT_SYMBOLS_SOURCE_H
#define PHASEMUX_AGENT_SYMBOLS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/loader/modules.h"

/*
 * A place in the program. function and file are "" if they are not known. offset is the offset in the function,
 * or in the module if the function is not known.
 */
struct source_place {
	/*
	 * Name as in the source of C++ and Fortran, without arguments. If it is too long, template arguments
	 * are cut (agent/symbols/name.h).
	 */
	char function[256];
	char file[256]; /* as given to the compiler */
	unsigned line;
	char module[64]; /* without its folder */
	size_t offset;
	/* the linker's name, or NULL; used only between the reader of debug information and source.c */
	const char *linkage;
};

/* Room for one more name than a call chain has frames, because inlined functions are frames, too. */
#define SOURCE_PLACES_MAX 8

struct source;

/*
 * Returns a source for addresses in these files, or NULL without memory. Each file is opened when an address in
 * it is looked up first. folder: the folder with the shared objects of phasemux, which must outlive what is
 * returned. If the object that reads debug information is missing there, only lines are missing.
 */
struct source *source_open(const char *folder, const struct module *modules, unsigned count);
void source_close(struct source *source);

/* Returns the name of the file at a return address, without its folder; "?" if there is no file. */
const char *source_module_name(const struct source *source, uintptr_t address);

/*
 * Fills the places that a return address stands for, innermost first. There are several if the compiler inlined
 * functions. Returns how many were filled, at least 1.
 */
unsigned source_find(struct source *source, uintptr_t address, struct source_place *places,
		unsigned max);

/*
 * Fills the name by which the function that holds `inside` was called. returns: the caller's return address.
 * The name differs from that of source_find if functions of equal code were merged. Returns false if it is not
 * known, or does not differ.
 */
bool source_alias(struct source *source, uintptr_t inside, uintptr_t returns, char *name,
		size_t size);

/* Returns whether code can have called and returned to this address; true if the code is not known. */
bool source_is_return(struct source *source, uintptr_t address);

/*
 * Returns whether the function that holds an instruction keeps a frame pointer, and has set it there. false if it is
 * not known. returned: the instruction called, and the address is the one to which that call returns.
 */
bool source_keeps_frame(struct source *source, uintptr_t address, bool returned);

/* Writes "file:line"; without a line "function+0x12", without a function "module+0x1234". */
void source_position(const struct source_place *place, char *text, size_t size);

/* ---- between source.c and the shared object that reads debug information ---- */

#define SOURCE_DEBUG_FILE  "libphasemux-source.so"
#define SOURCE_DEBUG_ENTRY "phasemux_source_debug"

struct source_debug {
	/* Returns the debug information in this file, or NULL if there is none. */
	void *(*open)(const char *path);
	/*
	 * Fills the places of a call's address in the file, innermost first. Sets `linkage`, which is valid
	 * until `close`, instead of `function`. Returns how many were filled, 0 if nothing is known.
	 */
	unsigned (*find)(void *opened, uintptr_t address, struct source_place *places,
			unsigned max);
	/*
	 * Returns the linker's name of the function that is called, in the source, by the call that returns to
	 * this address; NULL if it is not known. The name is valid until `close`.
	 */
	const char *(*called)(void *opened, uintptr_t returns);
	void (*close)(void *opened);
};

/* Type of the only symbol that the shared object exports. */
typedef const struct source_debug *source_debug_entry(void);

#endif
