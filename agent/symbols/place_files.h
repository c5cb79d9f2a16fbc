/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the program that are valid in every process: a loaded file, and an offset in it. Addresses differ
 * from process to process.
 */
#ifndef PHASEMUX_AGENT_SYMBOLS_PLACE_FILES_H
#define PHASEMUX_AGENT_SYMBOLS_PLACE_FILES_H

#include <stdint.h>

#include "agent/loader/modules.h"

#define PLACE_FILES_MAX 64

struct place_file {
	uint32_t number; /* made from its path; 0: free */
	char path[252];  /* "": it is too long */
};

/* The files that places are in. Plain data; zeros are none. */
struct place_files {
	uint32_t count, unused;
	struct place_file file[PLACE_FILES_MAX];
};

/* Files of this process with their addresses, and room for files that only other processes have loaded. */
struct place_modules {
	struct module *module;
	unsigned own; /* number of files of this process, which come first */
	unsigned count, max;
};

/*
 * Returns the place of an address: the number of its file in the upper 24 bits, and the offset in the file.
 * Adds the file, one of `count` files of this process, to `files`. Returns 0 if the address is in none of them.
 */
uint64_t place_files_note(struct place_files *files, uintptr_t address,
		const struct module *modules, unsigned count);

/* Adds the files of `from` to those of `into`. */
void place_files_merge(const struct place_files *from, struct place_files *into);

/*
 * Returns an address for the place. If this process has not loaded the file, it is appended to the modules, at
 * an address where nothing is loaded. Returns 1 if the file is not known or there is no room for it.
 */
uintptr_t place_files_address(const struct place_files *files, uint64_t place,
		struct place_modules *modules);

#endif
