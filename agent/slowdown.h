/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much slower a program is while it is observed, from stretches of one run in which it was, and was
 * not: what changes in the course of the run, and from run to run, meets both alike. Stretches come in
 * pairs, one observed and one not, in random order: a program with a period of its own, of a pair's length
 * perhaps, would else do one thing in all those that are observed, and another in the others.
 */
#ifndef PHASEMUX_AGENT_SLOWDOWN_H
#define PHASEMUX_AGENT_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

/* Of the run: calls to the runtime that began in it are what the program has done. */
struct stretch {
	uint64_t number; /* by time, of all ranks; 2n and 2n + 1 are a pair */
	double seconds;
	uint64_t calls;
	bool observed;
};

/* Of the program's time, 0.01: slower by one percent. */
struct slowdown {
	unsigned compared;   /* pairs */
	double mean, median; /* NAN: none was compared */
	double ci95;         /* half-width of the mean's interval; INFINITY: too few */
};

/* Whether the stretch of that number is one to observe: one of each pair, by lot. */
bool slowdown_observes(uint64_t number);

/*
 * From stretches in the order of their numbers. Those of a pair are compared with each other, where the
 * program did nearly the same in the pairs before and after it, and enough in all of them for a rate.
 */
void slowdown_of(const struct stretch *stretches, unsigned count, struct slowdown *slowdown);

#endif
