/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When and where the region is recorded (PHASEMUX_REGION). In each round, ranks report how often they have executed their
 * iteration, and their time in each phase since the last round. Rank 0 compares the shares of the phases with those of the
 * round before. If phases that are there in both hold enough of the time for some rounds in a row, the program is steady, and
 * rank 0 orders the region. The requirements fall step by step if it is not. This is the choice of a representative region of
 * Llort et al. ("On-line detection of large-scale parallel application's structure", slides 9 and 10). There, clusters match
 * if they overlap in the space of their metrics. Here, a phase keeps its number over all rounds.
 *
 * Plain data and arithmetic. All structs are parts of messages, and are the same on all ranks.
 */
#ifndef PHASEMUX_AGENT_REGION_STEADY_H
#define PHASEMUX_AGENT_REGION_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#define REGION_SHAPES_MAX 8  /* loops that ranks repeat; ranks with others record nothing */
#define REGION_PHASES_MAX 31 /* phases that are told apart; those above share the last place */

/* Ranks that repeat one loop. */
struct region_loop {
	uint64_t shape;     /* as in struct vote_kind */
	double ranks;       /* number of them */
	double least, most; /* iterations that a rank has executed */
	double rate;        /* iterations in a second, of the fastest rank */
	double calls;       /* calls in an iteration, of all these ranks together */
};

/* What ranks give to a round. */
struct region_part {
	uint64_t loops;
	double ranks; /* number of all ranks that take part */
	struct region_loop loop[REGION_SHAPES_MAX];
	double seconds[REGION_PHASES_MAX + 1]; /* since the last round, by phase; 0: in none */
};

/* What ranks are to record. */
struct region_order {
	uint64_t iterations; /* of each loop; 0: nothing is ordered */
	uint64_t calls_max;  /* calls of a rank */
	uint64_t loops;
	struct {
		uint64_t shape;
		uint64_t first; /* number of iterations after which the region starts */
	} loop[REGION_SHAPES_MAX];
};

/* What the user wants: iterations, or bytes; the other one is 0. */
struct region_wish {
	double iterations, bytes;
};

/* A set of requirements. */
struct steady_level {
	double share;    /* of the time in phases that match */
	unsigned rounds; /* in a row */
	double ranks;    /* share of all ranks that repeat a loop */
};

#define STEADY_LEVELS 5
extern const struct steady_level steady_levels[STEADY_LEVELS];

/* The state of the choice. On rank 0. Zeros are a choice with the highest requirements. */
struct steady {
	unsigned level;
	unsigned tried;  /* rounds at this level */
	unsigned row;    /* rounds in a row that have met its share */
	unsigned rounds; /* that were compared */
	bool known;      /* `share` is that of the last round */
	double share[REGION_PHASES_MAX + 1];
	double matched; /* share of the time in phases that matched, in the last round */
};

/* Adds the ranks of a part to another one. Both have room for the loops with the lowest shapes. */
void region_part_merge(const struct region_part *from, struct region_part *into);

/* Compares a round with the last one. Returns whether the requirements are met. They fall after some rounds. */
bool steady_look(struct steady *steady, const struct region_part *part);

/*
 * Fills the order of a region that starts after `ahead` seconds, when all ranks know of it. Loops with about as many
 * iterations start with the same one, because they are parts of one iteration of the program.
 */
void steady_order(struct region_order *order, const struct region_part *part,
		const struct region_wish *wish, double ahead);

#endif
