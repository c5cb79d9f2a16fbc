/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the programs of a job (MPMD), and the ranks that run each. A program is its whole command line. */
#ifndef PHASEMUX_AGENT_RANKS_PROGRAMS_H
#define PHASEMUX_AGENT_RANKS_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/mpi/mpi_adapter.h"

#define PROGRAMS_MAX          8
#define PROGRAM_COMMAND_BYTES 504 /* maximum length of a command; longer ones are cut */

struct program {
	char command[PROGRAM_COMMAND_BYTES]; /* words, each followed by a NUL */
	uint32_t command_bytes;
	uint32_t ranks, first, last; /* number of ranks that run it; lowest and highest rank */
};

struct programs {
	uint32_t count;  /* number of listed programs, in the order in which they were added */
	uint32_t others; /* number of ranks of other programs */
	struct program program[PROGRAMS_MAX];
};

/* Adds a rank. `command` has `bytes` bytes, which hold words, each followed by a NUL. */
void programs_add(struct programs *programs, const char *command, size_t bytes, unsigned rank);

/* Returns a hash of the command, of 48 bits. */
double programs_hash(const char *command, size_t bytes);

/*
 * Lists the programs of all ranks in `programs`, by their lowest ranks. All ranks call it together, each with
 * its own command. Returns 0 or -EIO.
 */
int programs_reduce(struct programs *programs, const struct mpi_adapter *adapter,
		const struct mpi_world *world, const char *command, size_t bytes);

#endif
