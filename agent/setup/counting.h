/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what this process counts: the processor and the events that it can really count, the model or the
 * user's list of events, and the groups that these are packed into. All ranks of a job decide together, once,
 * when the process becomes a target. `phasemux run` and `phasemux doctor` decide in the same way beforehand.
 */
#ifndef PHASEMUX_AGENT_SETUP_COUNTING_H
#define PHASEMUX_AGENT_SETUP_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multiplex/models/model.h"
#include "multiplex/plan.h"
#include "sampling/event.h"
#include "sampling/group.h"
#include "sampling/pmu.h"
#include "sampling/probe.h"
#include "sampling/processor.h"

#define COUNTING_WARNINGS_MAX 8

/* Events in the order in which a user or a model lists them. */
struct counting_list {
	unsigned count, common;
	struct event event[PLAN_EVENTS_MAX];
	unsigned model_event[PLAN_EVENTS_MAX]; /* the model's number of each event */
	uint8_t together[PLAN_EVENTS_MAX];     /* argument of plan_pack */
	uint16_t counter_set[PLAN_EVENTS_MAX]; /* argument of plan_pack_on */
};

/*
 * Limits of what a process can count. The maximum of each number over all processes holds for all of them,
 * because groups must be the same on every rank. All members are doubles.
 */
struct counting_limits {
	double trouble;     /* 1: this process cannot take part at all */
	double no_hardware; /* 1: hardware events cannot be counted here */
	double counters;    /* minus the number of counters that really count */
	double list[2]; /* a number made from the list of hardware events, and minus this number */
	double sample_ns;                         /* time that a sample takes */
	double missing[PLAN_EVENTS_MAX];          /* 1: this processor refuses the hardware event */
	double missing_software[PLAN_EVENTS_MAX]; /* 1: the kernel refuses the software event */
};

struct counting {
	struct processor processor;
	const struct pmu *pmu;
	struct probe probe;
	bool hardware;       /* the groups hold hardware events */
	char obstacle[512];  /* why not, and what would help; "" if they hold hardware events */
	struct model *model; /* NULL: the user's own list, or time alone */
	struct event event[PLAN_EVENTS_MAX];   /* by event number of the plan */
	unsigned model_event[PLAN_EVENTS_MAX]; /* the model's number of each event */
	struct plan plan; /* one group without events if nothing can be counted */
	unsigned warnings;
	char warning[COUNTING_WARNINGS_MAX][256]; /* events that are not available, one a line */

	struct counting_list wanted, software;
	struct model *wanted_model, *software_model;

	/* software events that were tried, a group each; open until counting_let_go */
	struct group tried[GROUP_EVENTS_MAX];
};

/*
 * Finds what this process could count: resolves the events that the setting `events` asks for, and tests what
 * the processor can count. pmu_path: the scripted PMU's shared object, or NULL: the counters of the emulator
 * if the process runs in one, else those of the kernel. Takes a few milliseconds. Returns 0, -ENOMEM, or
 * -EINVAL if the setting is invalid, with one line in `why`. On failure nothing needs freeing.
 */
int counting_look(struct counting *counting, const char *events, const char *pmu_path, char *why,
		size_t why_size);

/*
 * Tries every event, and fills in the limits of this process. The caller takes the maximum over all processes.
 * The software events that are tried stay open. When the first event of a kind is opened or the last is
 * closed, the kernel rewrites its own code, and stops all processors meanwhile.
 */
void counting_limits(struct counting *counting, struct counting_limits *limits);

/* Closes the events that counting_limits keeps open. Call when the process' own events are open. */
void counting_let_go(struct counting *counting);

/*
 * Chooses the events within the limits of all processes: hardware events, else the kernel's software events,
 * else time alone. Always succeeds.
 */
void counting_settle(struct counting *counting, const struct counting_limits *limits);

/* Adds a warning to the report, if there is room for one. */
__attribute__((format(printf, 2, 3))) void counting_warn(struct counting *counting,
		const char *format, ...);

/* Closes what is open, and frees the models. */
void counting_fini(struct counting *counting);

#endif
