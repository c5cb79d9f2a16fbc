/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of the program or of the processor: what becomes of the time of each phase. */
#ifndef PHASEMUX_AGENT_WHATIF_CHANGE_H
#define PHASEMUX_AGENT_WHATIF_CHANGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/run_times.h"

#define CHANGE_NAME_MAX 128

struct change {
	double factor[RUN_TIMES_PHASES_MAX]; /* of the time of each phase: speed x (1 - cycles) */
	double error[RUN_TIMES_PHASES_MAX];  /* half-width of the 95% interval of the factor */
	double speed[RUN_TIMES_PHASES_MAX];  /* product of the factors that were asked for */
	/* part of the cycles that the components of the CPI, or another cache, save together, and its half-width */
	double cycles[RUN_TIMES_PHASES_MAX], cycles_error[RUN_TIMES_PHASES_MAX];
	bool balanced[RUN_TIMES_PHASES_MAX]; /* the ranks of its set share the work alike */
	bool all_balanced;    /* all ranks have the same work in each phase, and outside */
	double rest;          /* factor of the time outside of all phases */
	double communication; /* factor of the time in calls that is not waiting for others */
};

/* Nothing is changed. */
void change_none(struct change *change);

/* Multiplies the time of a phase, by its place. */
void change_phase(struct change *change, size_t phase, double factor);

/* Lets the ranks that execute the phase, or any phase of its set, have the same work in it. */
void change_balance(struct change *change, const struct run_times *run, size_t phase);

/*
 * Multiplies the cycles of a component of the CPI, "COMPONENT" or "COMPONENT/PART", in the phases in which it is known. Upper
 * and lower case are equal. What several components save is added. Returns the number of these phases.
 */
size_t change_component(struct change *change, const struct run_times *run, const char *name,
		double factor);

/*
 * Lets each phase take the time that was simulated with a last cache `times` as large. Returns the number of phases of
 * which that is known.
 */
size_t change_cache(struct change *change, const struct run_times *run, double times);

/* Makes all computing `speed` times as fast. */
void change_speed(struct change *change, const struct run_times *run, double speed);

/* Calls visit(data, name) for each component, and each part, that some phase knows. Each name comes once. */
void change_components(const struct run_times *run, void (*visit)(void *data, const char *name),
		void *data);

#endif
