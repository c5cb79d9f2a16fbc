/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a token was repeated in each of its uses. If all uses have the same count, nothing but
 * the count is kept. Otherwise the counts of the uses are a sequence of runs, in the order of time.
 * The last run is open: it is in the token (`count`, `run`). The runs before it are in cells, one
 * or two numbers each, 7 bits a byte.
 *
 * A sequence that is shorter than the uses of the token is repeated from its start. Therefore a
 * loop in a loop keeps its counts only once if they are the same in each round of the outer loop.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_COUNTS_H
#define PHASEMUX_CLUSTER_LOOPS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

#define COUNTS_RUN_BYTES 15 /* of a run at most: 33 bits and 64 bits, 7 bits a byte */

/* A run: `uses` uses (> 0) in a row, each with this count. */
struct counts_run {
	uint32_t count;
	uint64_t uses;
};

#define COUNTS_NUMBER_BYTES 10 /* of a number at most */

/* Writes a number, 7 bits a byte. Returns the number of its bytes. */
unsigned counts_write_number(uint8_t *bytes, uint64_t number);

/* Reads a number that counts_write_number has written. Returns the number of its bytes. */
unsigned counts_read_number(const uint8_t *bytes, uint64_t *number);

/* Writes a run to at most COUNTS_RUN_BYTES bytes. Returns their number. */
unsigned counts_write_run(uint8_t *bytes, struct counts_run run);

/* Reads a run that counts_write_run has written. Returns the number of its bytes. */
unsigned counts_read_run(const uint8_t *bytes, struct counts_run *run);

/* The place in a sequence of counts. Zeros are its start. */
struct counts_reader {
	uint16_t part, at; /* cell and byte of the next run */
	bool begun;        /* `part` is valid */
	uint32_t count;
	uint64_t left; /* uses that the present run still has */
};

/* Returns the number of uses after which the counts of a token are repeated. uses: of the token. */
uint64_t counts_period(const struct loops *loops, const struct loops_token *token, uint64_t uses);

/*
 * Returns a run of equal counts from the reader's place, at most `most` (> 0) uses long, and moves
 * the reader behind it. After the last run of the sequence comes its first.
 */
uint64_t counts_next_run(const struct loops *loops, const struct loops_token *token,
		struct counts_reader *reader, uint64_t most);

/* Returns whether two tokens have the same sequence of counts, and all of it is kept. */
bool counts_equal(const struct loops *loops, const struct loops_token *a,
		const struct loops_token *b);

/*
 * Makes the sequence of `a` (which has `uses` uses) the one of `a` and then `b` (which has `more`
 * uses). If there is no room for it, it stays as it is, `a` is lossy, and loops->losing is set. `b`
 * may lose its cells, and is to be freed.
 */
void counts_join(struct loops *loops, struct loops_token *a, uint64_t uses, struct loops_token *b,
		uint64_t more);

/*
 * Adds `more` to the count of the last use of a token that has `uses` uses. Returns false if that
 * is not possible without a loss, and then changes nothing.
 */
bool counts_extend(struct loops *loops, struct loops_token *token, uint64_t uses, uint32_t more);

/* Adds one use with this count to a token that has `uses` uses. Losses are as in counts_join. */
void counts_add(struct loops *loops, struct loops_token *token, uint64_t uses, uint32_t count);

#endif
