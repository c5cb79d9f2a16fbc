/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of random programs: loops in loops, of which some have other counts each time, and calls that are not
 * observed. The test that includes this file defines call() and skip_calls(), which keep them.
 */
#ifndef PHASEMUX_TESTS_RANDOM_CALLS_H
#define PHASEMUX_TESTS_RANDOM_CALLS_H

#include "tests/random.h"

/* The program makes the call with this number. */
static void call(uint32_t symbol);

/* The program makes calls that are not observed. */
static void skip_calls(unsigned number);

struct random_program {
	unsigned depth;    /* loops in each other */
	unsigned alphabet; /* calls that differ */
	unsigned rounds;   /* repetitions of all of it */
	unsigned skips; /* one of this many rounds ends with calls that are not observed; 0: none does */
	uint64_t code; /* what is in the loops */
};

/* Draws a program of at most `alphabet` calls that differ, and sets the state of the random numbers. */
static struct random_program draw_program(uint64_t seed, unsigned alphabet)
{
	struct random_program program;

	random_state = seed * 2862933555777941757u + 3037000493u;
	program.depth = 1 + below(4);
	program.alphabet = 1 + below(below(2) ? 4 : alphabet);
	program.rounds = 1 + below(60);
	program.skips = below(3) ? 0 : 1 + below(20);
	program.code = (uint64_t)below(1u << 30) << 20;
	program.code ^= below(1u << 30);
	return program;
}

/* Makes the calls of one loop's body. code: what is in it. */
static void random_part(unsigned depth, unsigned alphabet, uint64_t code)
{
	unsigned parts = 1 + code % 4, vary = (unsigned)(code >> 8) % 4;

	for (unsigned part = 0; part < parts; part++) {
		uint64_t inner = (code + part) * 0x9e3779b97f4a7c15u;
		unsigned rounds = 1 + (unsigned)(inner >> 16) % 6;

		inner ^= inner >> 29;
		if (!depth || inner % 3 == 0) {
			call((uint32_t)(inner >> 5) % alphabet);
			continue;
		}
		if (vary == 1)
			rounds = below(8);
		for (unsigned round = 0; round < rounds; round++)
			random_part(depth - 1, alphabet, inner);
	}
}

/* Makes the calls of one round of a program. */
static void random_round(const struct random_program *program)
{
	random_part(program->depth, program->alphabet, program->code);
	if (program->skips && below(program->skips) == 0)
		skip_calls(1 + below(200));
}

#endif
