/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the texts of threads and ranks by 64-bit hashes, and adds the times of equal texts.
 *
 * Symbols are numbers of one thread. `names` gives each of them a signature that means the same in
 * all threads.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_COMPARE_H
#define PHASEMUX_CLUSTER_LOOPS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

struct loops_names {
	uint64_t (*signature)(const void *data, uint32_t symbol); /* NULL: symbols are signatures */
	const void *data;
};

/* Returns the signature of a symbol. names NULL: symbols are signatures. */
static inline uint64_t loops_signature(const struct loops_names *names, uint32_t symbol)
{
	return names && names->signature ? names->signature(names->data, symbol) : symbol;
}

/*
 * Returns the hash of a text: of its calls, its loops and all counts that are kept, but not of
 * times.
 */
uint64_t compare_hash(const struct loops *loops, const struct loops_names *names);

/*
 * Returns the hash of a text without any count: its shape. Ranks that execute the same loops have one shape, whatever
 * the numbers of their rounds, and of the calls in their holes.
 */
uint64_t compare_shape(const struct loops *loops, const struct loops_names *names);

/*
 * Returns the hash of a loop's body, which begins at the rotation whose sequence of hashes is the
 * least. Therefore loops that were entered at different calls have one hash. counts: with the
 * counts of the tokens in the body; without them it is the shape, which is the same if a solver
 * needs another number of steps.
 */
uint64_t compare_hash_body(const struct loops *loops, unsigned cell,
		const struct loops_names *names, bool counts);

/*
 * Adds the times of `from` to those of `into` if both have the same text. Afterwards the numbers of
 * calls and rounds in the slots of `into` are those of all threads together: it can be walked
 * (expand_tokens) and merged, but neither expanded nor continued. Returns 0, or -EINVAL if the
 * texts differ, and then adds nothing. Call loops_finish for both before.
 */
int compare_merge(struct loops *into, const struct loops_names *into_names,
		const struct loops *from, const struct loops_names *from_names);

#endif
