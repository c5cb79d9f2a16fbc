/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the structures of a job's calls. Processes whose loops have one shape (cluster/loops/compare.h) have one
 * structure: a text of tokens, whose times are added up (PRSDs over ranks; Noeth et al. 2009). How often each of them
 * executes its loops is data beside it: the processes of a structure whose counts are equal are a variant of it.
 *
 * The table is bounded. Processes whose structure has no room are counted, and those whose counts have no room are a
 * variant without counts.
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_TABLE_H
#define PHASEMUX_AGENT_STRUCTURES_TABLE_H

#include <stdint.h>

#include "agent/spool/routes.h"
#include "agent/structures/rank_lists.h"
#include "cluster/loops/arena.h"
#include "cluster/loops/counts.h"

#define STRUCTURES_MAX        16
#define STRUCTURES_TOKENS_MAX 1024 /* of all structures together */
#define STRUCTURES_PATHS_MAX  384  /* of all structures together */
/* of all structures together; the last STRUCTURES_MAX are for variants without counts */
#define STRUCTURES_VARIANTS_MAX 512
#define STRUCTURES_COUNT_BYTES  65536 /* of the counts of all variants together */
#define STRUCTURES_NONE         UINT32_MAX

/* A token of a text (cluster/loops/arena.h). Sums are those of all its processes. */
struct structure_token {
	uint32_t kind;      /* enum loops_kind: LOOPS_CALL, LOOPS_LOOP or LOOPS_HOLE */
	uint32_t depth;     /* number of loops around it; the tokens of a loop's body follow it */
	uint32_t path;      /* of a call: number in the table; STRUCTURES_NONE: no room */
	uint32_t prototype; /* that has most time in the bursts before the call; PROTOTYPES_MAX: none */
	uint32_t least, most; /* how often it was repeated in one use, the least and the most */
	double count;         /* number of calls; of a loop: number of rounds */
	double seconds[SLOT_TIMES];
	double rank_least[SLOT_TIMES], rank_most[SLOT_TIMES]; /* mean seconds of one process */
};

/* Processes of one structure that execute its loops equally often. */
struct structure_variant {
	uint32_t structure;                /* its number */
	uint32_t ranks;                    /* number of processes */
	uint32_t first_range;              /* its ranks (rank_lists.h) */
	uint32_t first_count, count_bytes; /* in the table of counts; 0 bytes: no room */
	double calls;                      /* of all its processes */
	/* calls of one process up to which its counts are exact, without those in holes; INFINITY: all are */
	double expandable;
};

/* The call that comes back most regularly, of a structure that may have no iteration (cluster/recurrence). */
struct structure_recurrence {
	uint32_t ranks; /* number of processes of which it is known; the others are of the first one of them */
	uint32_t first_rank;
	uint32_t path; /* number in the table; STRUCTURES_NONE: no room */
	double likeness, rounds, calls, seconds, share; /* calls and seconds are those of a round */
};

struct structure {
	uint64_t shape;             /* of a gathered one: 0 */
	uint32_t gathered;          /* 1: its text is a loop of parts (gather.h) */
	uint32_t ranks, first_rank; /* number of processes, and the lowest rank of them */
	uint32_t first, tokens;     /* in the table of tokens */
	uint32_t iteration; /* the token, from 0, that is the iteration; STRUCTURES_NONE: none is */
	double iterations,
			iteration_uses; /* rounds in its first rank, and how often that came to them */
	double iterations_hidden;       /* more rounds that its skipped calls may be */
	double iteration_share;         /* of its time outside of holes */
	double iterations_least, iterations_most; /* rounds of one process */
	struct structure_recurrence recurrence;   /* if its first ranks have no iteration */
	double calls, unknown;                    /* of all processes; calls in holes */
	double exact; /* calls of one process up to which counts are exact; INFINITY: all are */
};

/* Plain data; zeros are an empty table. */
struct structures {
	uint32_t count, tokens, paths, variants;
	uint32_t left_out; /* number of processes whose structure has no room, or is not known */
	uint32_t count_bytes;
	struct structure all[STRUCTURES_MAX];
	struct structure_token token[STRUCTURES_TOKENS_MAX];
	struct structure_variant variant[STRUCTURES_VARIANTS_MAX];
	struct rank_lists ranks; /* of all variants */
	struct route_end path[STRUCTURES_PATHS_MAX];
	uint8_t counts[STRUCTURES_COUNT_BYTES];
};

#endif
