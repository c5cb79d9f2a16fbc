/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan says which calls each rank of a replay makes: the loops of the calls, how often each rank repeats them, and the
 * sequences of their arguments, as report.json has them (docs/trace-format.md). It is a text of words and numbers that
 * `phasemux replay` writes (plan_write.h) and the program that replays reads. A plan does not grow with the run's length.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_PLAN_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/replay/plan/calls.h"

#define PLAN_HEAD      "phasemux_replay_plan"
#define PLAN_VERSION   2
#define PLAN_NAME_MAX  48
#define PLAN_RANKS_MAX (1 << 24)
#define PLAN_DEPTH_MAX 50 /* loops in loops */

/* Paths of calls without a number. */
#define PLAN_PATH_NONE    (-1) /* the calls have no arguments */
#define PLAN_PATH_UNKNOWN (-2) /* their arguments are not known */

/* Values that are no numbers. */
#define PLAN_ANY     (INT64_MIN + 1) /* any source, any tag */
#define PLAN_NONE    (INT64_MIN + 2) /* no process, or no request */
#define PLAN_UNKNOWN (INT64_MIN + 3)

struct plan_range {
	long first, step, count;
};

struct plan_ranks {
	size_t count;
	struct plan_range *range;
};

struct plan_stream;

struct plan_item {
	uint64_t times;
	int64_t value;
	struct plan_stream *loop; /* NULL: the value */
};

struct plan_stream {
	size_t count;
	struct plan_item *item;
	uint64_t length; /* number of values; UINT64_MAX: as many, or more */
};

/* The values of an argument of these ranks. */
struct plan_values {
	struct plan_ranks ranks;
	uint64_t number; /* of values of each rank */
	int64_t mean;    /* of numbers; PLAN_UNKNOWN: there are none */
	struct plan_stream stream;
};

struct plan_argument {
	size_t count;
	struct plan_values *values;
};

struct plan_path {
	bool opens; /* each call opens a request, or as many as ARGUMENT_REQUESTS says */
	struct plan_argument argument[ARGUMENTS];
};

enum plan_kind { PLAN_CALL, PLAN_LOOP, PLAN_HOLE };

struct plan_token {
	enum plan_kind kind;
	char name[PLAN_NAME_MAX]; /* of a call */
	enum call_kind call;
	long path;  /* of a call; negative: it has no number */
	long phase; /* place in plan.phase; -1: none */
	double burst, least,
			most; /* seconds: mean of the burst before the call, and range of the ranks' means */
	double seconds; /* mean of the call */
	size_t number;  /* of the token in its structure, a loop before its body */
	size_t length;  /* of the body */
	struct plan_token *body;
};

/* How often a token is repeated each time that it is reached: runs, after the last of which comes the first again. */
struct plan_counts {
	size_t runs; /* 0: not known */
	struct {
		uint64_t count, uses;
	} * run;
};

struct plan_variant {
	struct plan_ranks ranks;
	int64_t exact_calls;        /* the counts hold up to this call; -1: for all calls */
	struct plan_counts *counts; /* of each token */
};

struct plan_structure {
	size_t tokens;
	struct plan_token text; /* a loop */
	size_t variants;
	struct plan_variant *variant;
};

/* How the lengths of the bursts of a phase vary. */
struct plan_phase {
	double variation; /* standard deviation of bursts of one token, divided by their mean */
	double processor; /* share of its time in which a burst had a processor; 1 if it is not known */
	size_t factors; /* number of ranks; 0: all are alike */
	double *factor; /* the mean length of the bursts of each rank, divided by that of all ranks */
};

struct plan {
	long ranks;
	double seconds;     /* recorded time */
	double call_most;   /* seconds: no recorded call was longer */
	int64_t bytes_most; /* of a message whose size is not known; 0: all are known */
	size_t phases, paths, structures;
	struct plan_phase *phase;
	struct plan_path *path;
	struct plan_structure *structure;
};

/*
 * Reads a plan from a text, which a 0 ends, and which it changes. size: without the 0. Returns NULL if it is no plan, is of
 * another version, or if there is no memory. The caller frees the plan with plan_free.
 */
struct plan *plan_parse(char *text, size_t size);

/* Reads a plan from a file. Returns NULL with one line in `why`. The caller frees it with plan_free. */
struct plan *plan_read(const char *file, char *why, size_t why_size);

void plan_free(struct plan *plan);

/* Return a sum and a product, or UINT64_MAX if it is larger. */
static inline uint64_t plan_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t plan_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

bool plan_has_rank(const struct plan_ranks *ranks, long rank);

#endif
