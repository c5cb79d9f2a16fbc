/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the program that mean the same in every process: the loaded file, and where in it. Addresses
 * differ from process to process.
 */
#ifndef PHASEMUX_AGENT_PLACE_FILES_H
#define PHASEMUX_AGENT_PLACE_FILES_H

#include <stdint.h>

#include "agent/source.h"

#define PLACE_FILES_MAX 64

struct place_file {
	uint32_t number; /* made from its path; 0: free */
	char path[252];  /* "": too long to be told */
};

/* The files that places are in. Plain data; zeros are none. */
struct place_files {
	uint32_t count, unused;
	struct place_file file[PLACE_FILES_MAX];
};

/* Files of this process with their addresses, and room for files that others alone have loaded. */
struct place_modules {
	struct source_module *module;
	unsigned own; /* files of this process, which stand first */
	unsigned count, max;
};

/*
 * Returns the place of an address: the number of its file in the upper 24 bits, and where in the file. Notes
 * the file, of `count` files of this process. 0: the address is in none of them.
 */
uint64_t place_files_note(struct place_files *files, uintptr_t address,
		const struct source_module *modules, unsigned count);

/* Adds the files of `from` to those of `into`. */
void place_files_merge(const struct place_files *from, struct place_files *into);

/*
 * Returns an address for the place: of this process if it has loaded the file; else where nothing is loaded,
 * in a file that is appended to the modules; 1 if the file is not known or finds no room.
 */
uintptr_t place_files_address(const struct place_files *files, uint64_t place,
		struct place_modules *modules);

#endif
