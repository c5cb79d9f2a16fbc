/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of structures: which processes execute the loops of a structure how often.
 *
 * The counts of a variant are bytes: those of each token, in the order of the text. They begin with a number of runs
 * (cluster/loops/counts.h). The runs are how often the token was repeated in each of its uses, and are repeated from
 * the first one on. The number 0 is that of a token whose uses are all alike: one run follows, which has its count. Of a
 * hole this run has count 1, and as many uses as the hole has calls, or the other way round.
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_VARIANTS_H
#define PHASEMUX_AGENT_STRUCTURES_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/structures/table.h"
#include "cluster/loops/loops.h"

#define VARIANTS_TOKEN_BYTES                                                                       \
	(COUNTS_RUN_BYTES + 5) /* of a token at most, without what is in cells */
/* of the counts of one process at most: its cells, the last run of each token, which is in none, and their numbers */
#define VARIANTS_BYTES_MAX                                                                         \
	(LOOPS_COUNTS_MAX * LOOPS_CHUNK_BYTES + LOOPS_CELLS * VARIANTS_TOKEN_BYTES)

/* The counts of one token. */
struct variants_counts {
	bool varies;          /* false: all uses are alike, and there is one run */
	uint32_t runs;        /* that are left to be read */
	const uint8_t *bytes; /* of the next run */
};

/* Writes the counts of a token to at most its cells' bytes and VARIANTS_TOKEN_BYTES. Returns their number. */
unsigned variants_write(const struct loops *loops, const struct loops_token *token, uint8_t *bytes);

/* Writes counts that are the same at all uses to at most VARIANTS_TOKEN_BYTES bytes. Returns their number. */
unsigned variants_write_same(struct counts_run run, uint8_t *bytes);

/* Reads where the counts of a token are. Returns the number of the bytes that its number of runs takes. */
unsigned variants_read(const uint8_t *bytes, struct variants_counts *counts);

/* Reads the next run. Returns the number of its bytes, or 0 at the end. */
unsigned variants_next_run(struct variants_counts *counts, struct counts_run *run);

/* Returns the number of the bytes that the counts of a token have. */
unsigned variants_length(const uint8_t *bytes);

/*
 * Adds processes to those of a structure. variant: its ranks are not valid. counts: `count_bytes` of it, which are not
 * those of the table. Without room the processes become a part of the variant without counts.
 */
void variants_add(struct structures *structures, const struct structure_variant *variant,
		const struct rank_set *set, const uint8_t *counts);

/* Removes a variant. Another one takes its number. */
void variants_take(struct structures *structures, uint32_t number);

/* Removes all variants of a structure. */
void variants_remove(struct structures *structures, uint32_t structure);

/* Returns the ranks of a variant. Those that found no room are missing. */
struct rank_set variants_ranks(const struct structures *structures,
		const struct structure_variant *variant);

#endif
