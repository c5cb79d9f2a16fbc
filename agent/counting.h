/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this process counts: the processor and what it really lets us count, the model or the user's
 * list of events, and the groups that they are packed into. Decided once, when the process becomes
 * a target, by all ranks of a job together; `phasemux run` and `phasemux doctor` decide the same
 * way beforehand.
 */
#ifndef PHASEMUX_AGENT_COUNTING_H
#define PHASEMUX_AGENT_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/model.h"
#include "multiplex/plan.h"
#include "sampling/event.h"
#include "sampling/group.h"
#include "sampling/pmu.h"
#include "sampling/probe.h"
#include "sampling/processor.h"

#define COUNTING_WARNINGS_MAX 8

/* Events as a user or a model lists them. */
struct counting_list {
	unsigned count, common;
	struct event event[PLAN_EVENTS_MAX];
	unsigned model_event[PLAN_EVENTS_MAX]; /* the model's number of that event */
	uint8_t together[PLAN_EVENTS_MAX];     /* as in plan_pack */
	uint16_t on[PLAN_EVENTS_MAX];          /* as in plan_pack_on */
};

/*
 * What a process cannot count, in numbers of which the largest over all processes holds for all:
 * groups must be the same on every rank. All doubles.
 */
struct counting_limits {
	double trouble;     /* 1: this process cannot take part at all */
	double no_hardware; /* 1: no hardware events here */
	double counters;    /* minus how many really count */
	double list[2];     /* a number made from the list of hardware events, and minus it */
	double sample_ns;   /* that a sample takes */
	double missing[PLAN_EVENTS_MAX];          /* 1: this processor refuses that event */
	double missing_software[PLAN_EVENTS_MAX]; /* the same of the kernel's software events */
};

struct counting {
	struct processor processor;
	const struct pmu *pmu;
	struct probe probe;
	bool hardware;       /* the groups hold hardware events */
	char without[512];   /* why not, and what would help; "" where there are hardware events */
	struct model *model; /* NULL: the user's own list, or time alone */
	struct event event[PLAN_EVENTS_MAX];   /* by event number of the plan */
	unsigned model_event[PLAN_EVENTS_MAX]; /* the model's number of that event */
	struct plan plan; /* without anything to count: one group of no event */
	unsigned warnings;
	char warning[COUNTING_WARNINGS_MAX][256]; /* events that are not to be had, one a line */

	struct counting_list wanted, software;
	struct model *wanted_model, *software_model;

	/* of the software events, each by itself, until counting_let_go */
	struct group tried[GROUP_EVENTS_MAX];
};

/*
 * Looks what this process could count: resolves what `events` (the setting of that name) asks for,
 * and tries each on the machine. pmu_path: the scripted PMU's shared object, or NULL. Takes a few
 * milliseconds. 0; -EINVAL: the setting makes no sense (one line in why); -ENOMEM. On failure
 * nothing needs freeing.
 */
int counting_look(struct counting *counting, const char *events, const char *pmu_path, char *why,
		size_t why_size);

/*
 * What this process cannot do; the caller takes the maximum over all processes. The software events
 * that are tried for it stay open: for the first of a kind that is opened and the last that is closed,
 * the kernel rewrites its own code, and stops all processors for that.
 */
void counting_limits(struct counting *counting, struct counting_limits *limits);

/* To be called when the process' own events are open. */
void counting_let_go(struct counting *counting);

/*
 * Decides, within the limits of all processes: hardware events; or else the kernel's software
 * events; or else time alone. Always succeeds.
 */
void counting_settle(struct counting *counting, const struct counting_limits *limits);

void counting_fini(struct counting *counting);

#endif
