/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of one thread's calls and the memory that it lives in.
 *
 * The text is a sequence of tokens. A token is a call path that is called `count` times in a row, a
 * loop whose body (a sequence of tokens) is executed `count` times, or a hole: calls of which only
 * the number and the times are known. Runs and loops are the RSDs and PRSDs of ScalaTrace (Noeth et
 * al. 2009). Each loop owns the tokens of its body, so the text is a forest, and each token has a
 * slot of times of its own.
 *
 * A token within a loop is used once in each round, and its count may differ from round to round.
 * Then the counts of all uses are kept in the order of time (counts.h), and the text stays exact.
 *
 * Memory is a fixed number of cells. A cell holds a token, or a part of the counts of one. The
 * struct is plain data without pointers. One thread uses it; no function keeps state elsewhere.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_ARENA_H
#define PHASEMUX_CLUSTER_LOOPS_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/slot.h"

#define LOOPS_BYTES_MAX  65536
#define LOOPS_CELLS      368
#define LOOPS_COUNTS_MAX (LOOPS_CELLS / 4) /* cells that may hold counts */
#define LOOPS_DEPTH_MAX  24                /* levels of nested loops */
#define LOOPS_ROUND_MAX  128               /* calls of a round that is expected call by call */
#define LOOPS_COUNT_MAX  UINT32_MAX        /* of a token in one use */
#define LOOPS_CHAINS     128               /* of places of the top level, by shape */
#define LOOPS_ANY        UINT32_MAX        /* symbol of a call in a hole; call paths are below it */

enum loops_kind { LOOPS_FREE, LOOPS_CALL, LOOPS_LOOP, LOOPS_HOLE, LOOPS_COUNTS };

struct loops_token {
	uint8_t kind;
	uint8_t depth; /* number of levels of loops, with this one */
	bool lossy;    /* not all of its counts are kept */
	uint16_t next; /* cell of the next token of the same body; 0: none, or of the top level */
	uint16_t first, last; /* of a loop: cells of the first and the last token of its body */
	uint16_t length;      /* of a loop: number of tokens of its body */
	uint16_t counts;      /* first cell of its counts; 0: all uses have the same count */
	uint16_t calls;       /* of a loop: calls of a round; 0: they vary, or are too many */
	uint32_t symbol;      /* of a call: its path; of a loop: number of calls in its body */
	uint32_t count;       /* in the last use */
	uint32_t least, most; /* least and most count of all uses */
	uint32_t hash;        /* of the token with its counts and its body */
	uint32_t shape;       /* the same without any count; not 0 */
	/* if counts are kept: number of the last uses that had `count`; of a hole: calls not observed */
	uint64_t run;
	struct loops_slot slot; /* of a loop: times of rounds */
};

#define LOOPS_CHUNK_BYTES 128

/* A part of the counts of a token. */
struct loops_chunk {
	uint8_t kind;
	uint16_t next; /* 0: none */
	uint16_t last; /* of the first part: the last one */
	uint16_t used; /* bytes */
	uint64_t uses; /* of the first part: number of uses that all parts hold */
	uint8_t bytes[LOOPS_CHUNK_BYTES];
};

union loops_cell {
	struct loops_token token;
	struct loops_chunk chunk;
};

/* A call that is not yet part of the text. */
struct loops_pending {
	uint64_t burst, inside; /* ticks */
	uint32_t symbol;
};

struct loops {
	/* the round under way of the last loop: `at` of `length` expected calls have come */
	uint32_t at, length;
	uint64_t calls;   /* all that were added */
	uint64_t exact;   /* calls up to which the text is exact except in holes; UINT64_MAX: all */
	uint64_t unknown; /* calls in holes */
	uint64_t last_unknown; /* number of the first call behind the last hole */
	uint16_t armed;        /* cell of the loop whose round is in `expected`; 0: none */
	bool closed;           /* the call that comes does not continue the last token */
	bool losing;           /* counts were lost since this was last set to false */
	bool finishing;        /* all tokens are compared again */
	bool closing;          /* because the text is to be read */
	uint16_t free;         /* first of the cells that were given back; 0: none */
	uint16_t fresh;        /* first of the cells that were never taken */
	uint16_t free_count, counts_cells;
	uint16_t tokens;   /* of the top level */
	uint16_t appended; /* tokens since all were last compared again */
	uint16_t patience; /* number of new tokens after which all are compared again */
	uint32_t holes;    /* number of holes that were made: their hashes differ */
	uint32_t expected[LOOPS_ROUND_MAX];
	struct loops_pending pending[LOOPS_ROUND_MAX + 1];
	/* the tokens of the top level, and what the search reads of them */
	uint16_t cell[LOOPS_CELLS];
	uint32_t hash[LOOPS_CELLS], shape[LOOPS_CELLS];
	uint32_t end_shape[LOOPS_CELLS]; /* shape of the last token of a loop's body; 0: no loop */
	/*
	 * Chains of places + 1, the last one first; 0 ends a chain. Places with one shape are in
	 * one chain, loops whose bodies end with one shape in another, and all loops in a third.
	 */
	uint16_t head[LOOPS_CHAINS], end_head[LOOPS_CHAINS];
	uint16_t before[LOOPS_CELLS], end_before[LOOPS_CELLS];
	uint16_t loop_before[LOOPS_CELLS];   /* the last loop before the place */
	union loops_cell arena[LOOPS_CELLS]; /* cell 0 is not used */
};

_Static_assert(sizeof(struct loops) <= LOOPS_BYTES_MAX, "the memory of a thread is bounded");

static inline struct loops_token *arena_token(struct loops *loops, unsigned cell)
{
	return &loops->arena[cell].token;
}

static inline const struct loops_token *arena_look(const struct loops *loops, unsigned cell)
{
	return &loops->arena[cell].token;
}

/*
 * Returns the last place at or before `link` - 1 in a chain that has a shape, plus 1, or 0.
 * `shapes` and `before` are those of the chain.
 */
static inline unsigned arena_find(const uint32_t *shapes, const uint16_t *before, unsigned link,
		uint32_t shape)
{
	while (link && shapes[link - 1] != shape)
		link = before[link - 1];
	return link;
}

/* Returns a token of the top level. place: from 0. */
static inline struct loops_token *arena_top(struct loops *loops, unsigned place)
{
	return arena_token(loops, loops->cell[place]);
}

/* Makes all cells of a struct of zeros free. Cells that are not taken stay untouched. */
void arena_init(struct loops *loops);

/* Returns a cell of zeros, or 0 if none is free. */
unsigned arena_take(struct loops *loops);

/* Frees the counts that a token owns. */
void arena_give_counts(struct loops *loops, struct loops_token *token);

/* Frees one cell, with the counts that it owns if it is a token, but not its body. */
void arena_give(struct loops *loops, unsigned cell);

/* Frees the cell of a token, its counts and its body. */
void arena_give_all(struct loops *loops, unsigned cell);

/*
 * Calculates what a token knows of its body: hash, shape, depth, length, calls. The body itself is
 * up to date.
 */
void arena_refresh(struct loops *loops, unsigned cell);

/* Puts a token at the end of the top level, and brings it up to date. */
void arena_push(struct loops *loops, unsigned cell);

/*
 * Takes the last tokens from the top level until it has `tokens` of them. Their cells stay in
 * `cell`.
 */
void arena_pop(struct loops *loops, unsigned tokens);

/* Brings the last token of the top level up to date after its count has changed. */
void arena_refresh_last(struct loops *loops);

/* Returns the number of calls in all uses of a token. */
uint64_t arena_calls(const struct loops *loops, unsigned cell);

/* Returns the first call path of a token, or LOOPS_ANY of a hole. */
uint32_t arena_first_symbol(const struct loops *loops, unsigned cell);

/* Returns 64 bits in which each depends on both numbers. */
static inline uint64_t arena_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 29;
}

#endif
