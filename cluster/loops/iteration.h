/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iteration of a program: the shallowest loop that holds at least half of the time and is executed at least
 * three times each time that the program comes to it. A call that is repeated in a row is a loop of one call. The
 * longest round of a loop counts as much as the mean of the others, because it may hold what the program did before
 * the loop, or a wait for a processor. The rest of that round does not count at all.
 *
 * There is none if the order of most calls is not known. If no loop is long enough, loops that differ only in counts,
 * anywhere in the text, count together against the time that is not in holes. Calls that were not observed may have
 * been rounds of it, too.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_ITERATION_H
#define PHASEMUX_CLUSTER_LOOPS_ITERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/compare.h"

#define ITERATION_ROUNDS_MIN 3
#define ITERATION_KNOWN      4 /* the order of at least 1 / ITERATION_KNOWN of the calls is known */

struct iteration {
	uint16_t cell;   /* the loop, or the call */
	uint64_t rounds; /* that were executed, in all uses of the loop */
	uint64_t hidden; /* more rounds, if the calls that were not observed were rounds as well */
	uint64_t uses;  /* number of times that the program came to the loop; 1 for most programs */
	double share;   /* of the time of all calls and bursts outside of holes, 0.5 .. 1 */
	uint64_t hash;  /* of the body with all counts, wherever it begins */
	uint64_t shape; /* without counts */
};

/* Memory for loops that differ only in counts. Nothing in it is of use to the caller. */
struct iteration_room {
	struct iteration_shape {
		uint64_t shape; /* compare_hash_body */
		unsigned cell;  /* the heaviest of these loops */
		uint64_t weight, as_loop, most, rounds, uses;
	} shape[LOOPS_CELLS];
};

/*
 * Finds the iteration of a text. Returns false if it has none. Times are those of the slots; if all
 * are 0, calls count instead. Call after loops_finish.
 *
 * The fold may enter a loop in its middle, after a call that happens to precede it. Therefore
 * rounds are those of the whole stretch of calls that repeats with the loop's period, also before
 * and behind the loop (a run in the sense of Main and Lorentz 1984). Rounds beside the loop that
 * have a few other calls inside count as well. Both are known for loops of the top level.
 */
bool iteration_find(const struct loops *loops, const struct loops_names *names,
		struct iteration *iteration);

/*
 * Returns the cell of the iteration of a text, which need not be finished; 0: it has none. It needs little of the stack, and
 * may be called within an intercepted call.
 */
unsigned iteration_cell(const struct loops *loops, struct iteration_room *room);

#endif
