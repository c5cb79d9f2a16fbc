/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates how much slower a program is while it is observed, from observed and unobserved stretches of one
 * run. Changes during the run, and from run to run, affect both in the same way. Stretches come in pairs, one
 * observed and one not, in random order. Otherwise a program with a period of a pair's length might do one
 * thing in all observed stretches, and another in the rest.
 */
#ifndef PHASEMUX_AGENT_REPORT_SLOWDOWN_H
#define PHASEMUX_AGENT_REPORT_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

/* A stretch of the run. The number of calls measures what the program has done in it. */
struct stretch {
	uint64_t number; /* by time, equal on all ranks; 2n and 2n + 1 are a pair */
	double seconds;
	uint64_t calls; /* to the runtime, started in the stretch */
	bool observed;
};

/* Slowdown as a share of the program's time: 0.01 is slower by one percent. */
struct slowdown {
	unsigned compared;   /* number of compared pairs */
	double mean, median; /* NAN: no pair was compared */
	double ci95;         /* half-width of the mean's interval; INFINITY: too few pairs */
};

/* Returns whether the stretch with this number is observed: one of each pair is, at random. */
bool slowdown_observes(uint64_t number);

/*
 * Computes the slowdown from stretches in the order of their numbers. The stretches of a pair are compared if
 * the rates of calls were nearly equal in the pairs before and after it, and calls were enough in all of them.
 */
void slowdown_of(const struct stretch *stretches, unsigned count, struct slowdown *slowdown);

#endif
