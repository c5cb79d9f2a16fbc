/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes time in which the program could compute: waiting, and components of the cycles per instruction. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_LOSSES_H
#define PHASEMUX_AGENT_PAGE_PARTS_LOSSES_H

#include <jansson.h>
#include <stdbool.h>

enum component_kind {
	COMPONENT_LOSS,       /* cycles in which the processor could have done more */
	COMPONENT_WORK,       /* cycles that the instructions take at the processor's peak rate */
	COMPONENT_UNEXPLAINED /* no event explains them */
};

/* Returns the kind of a component of the outer level, by its name in multiplex/models. */
enum component_kind component_kind(const char *name);

/* A loss between ranks or threads, or a component of the CPI in all phases together. */
struct loss {
	double share;          /* of the time of all ranks */
	double ci95;           /* half-width; 0: not estimated from a sample */
	const char *component; /* NULL: a loss between ranks or threads */
	const char *what;      /* if component is NULL */
	unsigned phases;       /* in which the component was seen */
	double phase;          /* id of the phase with most of it */
	double in_phase;       /* share of the time of all ranks that is in this phase */
	double of_phase;       /* share of this phase's time */
};

#define LOSSES_TOP 3

/* The largest losses, in their order, with a share of 0 behind the last one. */
struct losses {
	struct loss top[LOSSES_TOP];
};

/*
 * Finds the largest losses of the run. Components whose value is not known are no losses. Names are those of the
 * report.
 */
void losses_find(const json_t *report, struct losses *losses);

/* Returns whether the intervals of the shares of two losses tell that the first one is larger. */
bool losses_apart(const struct loss *one, const struct loss *other);

#endif
