/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structure of the calls of a job: the loops of each process' main thread (cluster/loops/loops.h), in a form
 * that means the same in every process. Processes with one text have one structure, whose times are added up
 * (PRSDs over ranks; Noeth et al. 2009). The table is bounded. Processes whose structure has no room are counted.
 */
#ifndef PHASEMUX_AGENT_SPOOL_STRUCTURES_H
#define PHASEMUX_AGENT_SPOOL_STRUCTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/spool/rank_set.h"
#include "agent/spool/routes.h"
#include "agent/symbols/place_files.h"
#include "agent/thread/site.h"
#include "cluster/loops/counts.h"
#include "cluster/loops/loops.h"

#define STRUCTURES_MAX        16
#define STRUCTURES_TOKENS_MAX 1024 /* of all structures together */
#define STRUCTURES_PATHS_MAX  384  /* of all structures together */
/* of the counts of all structures together; one process has at most LOOPS_COUNTS_MAX cells of them */
#define STRUCTURES_COUNT_BYTES 65536
#define STRUCTURES_NONE        UINT32_MAX

/* A token of a text (cluster/loops/arena.h). Sums are those of all its processes. */
struct structure_token {
	uint32_t kind;      /* enum loops_kind: LOOPS_CALL, LOOPS_LOOP or LOOPS_HOLE */
	uint32_t depth;     /* number of loops around it; the tokens of a loop's body follow it */
	uint32_t path;      /* of a call: number in the table; STRUCTURES_NONE: no room */
	uint32_t prototype; /* that has most time in the bursts before the call; PROTOTYPES_MAX: none */
	uint32_t least, most; /* how often it was repeated in one use, the least and the most */
	/*
	 * In its loop's body: how often it was repeated in each use, as runs (cluster/loops/counts.h), which are
	 * repeated from the first one on. first: in the counts of its structure. count_bytes 0: all uses are alike
	 */
	uint32_t first_count, count_bytes;
	double count; /* number of calls; of a loop: number of rounds */
	double seconds[SLOT_TIMES];
	double rank_least[SLOT_TIMES], rank_most[SLOT_TIMES]; /* mean seconds of one process */
};

struct structure {
	uint64_t hash;
	uint32_t ranks, first_rank;        /* number of processes, and the lowest rank of them */
	uint32_t first, tokens;            /* in the table of tokens */
	uint32_t first_count, count_bytes; /* in the table of counts */
	struct rank_set set;               /* its processes */
	uint32_t iteration; /* the token, from 0, that is the iteration; STRUCTURES_NONE: none is */
	double iterations,
			iteration_uses; /* rounds in its first rank, and how often that came to them */
	double iterations_hidden;       /* more rounds that its skipped calls may be */
	double iteration_share;         /* of its time outside of holes */
	double calls, unknown;          /* of all processes; calls in holes */
	double exact; /* calls of one process up to which counts are exact; INFINITY: all are */
	double expandable; /* the same without calls in holes; 0 if the counts found no room */
};

/* Plain data; zeros are an empty table. */
struct structures {
	uint32_t count, tokens, paths;
	uint32_t left_out; /* number of processes whose structure has no room, or is not known */
	struct structure all[STRUCTURES_MAX];
	struct structure_token token[STRUCTURES_TOKENS_MAX];
	struct route_end path[STRUCTURES_PATHS_MAX];
	uint32_t count_bytes;
	uint8_t counts[STRUCTURES_COUNT_BYTES];
};

/* The thread whose structure is added: its sites, its clock, and its process. */
struct structures_thread {
	const struct loops *loops; /* after loops_finish; NULL: not known */
	const struct site_table *sites;
	double ns_per_tick;
	uint32_t rank;
	const struct module *modules; /* the `count` files that its process has loaded */
	unsigned count;
};

/*
 * Adds the structure of a thread. Adds the files of its places to `files`. Without memory the process is left
 * out.
 */
void structures_share(const struct structures_thread *thread, struct place_files *files,
		struct structures *structures);

/* Merges the structures `in` into `inout`. The function is an mpi_merge. */
void structures_merge(const void *in, void *inout);

/*
 * Reads the counts of a token of a structure, from *at on, which is 0 for the first run and is moved behind the run
 * that was read. Returns false at the end.
 */
bool structures_next_run(const struct structures *structures, const struct structure *structure,
		const struct structure_token *token, uint32_t *at, struct counts_run *run);

/* Turns the places of all paths into addresses, as place_files_address does. */
void structures_restore(struct structures *structures, const struct place_files *files,
		struct place_modules *modules);

#endif
