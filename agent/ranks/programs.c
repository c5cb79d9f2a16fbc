/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/programs.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agent/host/hash.h"

#define DOUBLE_BYTES 6 /* bytes of a text that one double holds exactly */
#define WORDS        (PROGRAM_COMMAND_BYTES / DOUBLE_BYTES)

static size_t kept_bytes(size_t bytes)
{
	return bytes < PROGRAM_COMMAND_BYTES ? bytes : PROGRAM_COMMAND_BYTES;
}

static bool is_program(const struct program *program, const char *command, size_t bytes)
{
	return program->command_bytes == kept_bytes(bytes) &&
			memcmp(program->command, command, kept_bytes(bytes)) == 0;
}

void programs_add(struct programs *programs, const char *command, size_t bytes, unsigned rank)
{
	struct program *program = programs->program;
	uint32_t i = 0;

	while (i < programs->count && !is_program(&program[i], command, bytes))
		i++;
	if (i == PROGRAMS_MAX) {
		programs->others++;
		return;
	}
	program += i;
	if (i == programs->count) {
		programs->count++;
		*program = (struct program){ .command_bytes = (uint32_t)kept_bytes(bytes),
			.first = rank,
			.last = rank };
		memcpy(program->command, command, kept_bytes(bytes));
	}
	program->ranks++;
	program->first = rank < program->first ? rank : program->first;
	program->last = rank > program->last ? rank : program->last;
}

double programs_hash(const char *command, size_t bytes)
{
	return (double)(hash_bytes(HASH_START, command, bytes) >> 16);
}

/* Values of one program from each rank, whose maxima over the ranks describe it. */
struct told {
	double last, below; /* rank + 1 and size - rank of a rank that runs the program, else 0 */
	double words[WORDS], bytes;
};

/* Packs a text into numbers that a double holds exactly. */
static void pack_command(const char *command, size_t bytes, struct told *told)
{
	unsigned char padded[PROGRAM_COMMAND_BYTES] = { 0 };

	memcpy(padded, command, kept_bytes(bytes));
	told->bytes = (double)kept_bytes(bytes);
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t word = 0;

		for (size_t k = 0; k < DOUBLE_BYTES; k++)
			word = word << 8 | padded[i * DOUBLE_BYTES + k];
		told->words[i] = (double)word;
	}
}

static void unpack(const struct told *told, struct program *program)
{
	program->command_bytes = (uint32_t)told->bytes;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t word = (uint64_t)told->words[i];

		for (size_t k = DOUBLE_BYTES; k-- > 0; word >>= 8)
			program->command[i * DOUBLE_BYTES + k] = (char)(word & 0xff);
	}
}

/*
 * Fills the program of the lowest rank whose program is not listed yet. *listed: this rank's program is listed.
 * Returns 1, or 0 if all programs are listed, or -EIO.
 */
static int next_program(struct program *program, const struct mpi_adapter *adapter,
		const struct mpi_world *world, const char *command, size_t bytes, bool *listed)
{
	double claim = *listed ? 0 : world->size - world->rank, ranks;
	struct told told = { .last = 0 };
	bool mine;

	if (adapter->max(&claim, 1))
		return -EIO;
	if (!(claim > 0))
		return 0;
	if (world->size - world->rank == (int)claim)
		pack_command(command, bytes, &told);
	if (adapter->max(told.words, WORDS + 1))
		return -EIO;
	unpack(&told, program);
	mine = is_program(program, command, bytes);
	*listed |= mine;
	told.last = mine ? world->rank + 1 : 0;
	told.below = mine ? world->size - world->rank : 0;
	ranks = mine;
	if (adapter->max(&told.last, 2) || adapter->sum(&ranks, 1))
		return -EIO;
	program->ranks = (uint32_t)ranks;
	program->last = (uint32_t)told.last - 1;
	program->first = (uint32_t)(world->size - (int)told.below);
	return 1;
}

int programs_reduce(struct programs *programs, const struct mpi_adapter *adapter,
		const struct mpi_world *world, const char *command, size_t bytes)
{
	bool listed = false;
	double others;

	while (programs->count < PROGRAMS_MAX) {
		int more = next_program(&programs->program[programs->count], adapter, world,
				command, bytes, &listed);

		if (more < 0)
			return more;
		if (!more)
			return 0;
		programs->count++;
	}
	others = !listed;
	if (adapter->sum(&others, 1))
		return -EIO;
	programs->others = (uint32_t)others;
	return 0;
}
