/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs a job consists of (MPMD), and which ranks run each. A program is its whole command line. */
#ifndef PHASEMUX_AGENT_PROGRAMS_H
#define PHASEMUX_AGENT_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/mpi_adapter.h"

#define PROGRAMS_MAX          8
#define PROGRAM_COMMAND_BYTES 504 /* of a command; what is longer is cut */

struct program {
	char command[PROGRAM_COMMAND_BYTES]; /* words, each with its NUL */
	uint32_t command_bytes;
	uint32_t ranks, first, last; /* how many ranks run it; the lowest, and the highest */
};

struct programs {
	uint32_t count; /* of those listed, by their lowest ranks if they were added in that order */
	uint32_t others; /* ranks of further ones */
	struct program program[PROGRAMS_MAX];
};

/* Adds a rank. `command` has `bytes` bytes, which hold words, each with its NUL. */
void programs_add(struct programs *programs, const char *command, size_t bytes, unsigned rank);

/* Returns a number of 48 bits that is the same for equal commands, and differs for others. */
double programs_hash(const char *command, size_t bytes);

/*
 * Lists the programs of all ranks in `programs` on rank 0. All ranks together, each with its own command.
 * Returns 0 or -EIO.
 */
int programs_reduce(struct programs *programs, const struct mpi_adapter *adapter,
		const struct mpi_world *world, const char *command, size_t bytes);

#endif
