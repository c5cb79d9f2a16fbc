/* SPDX-License-Identifier: BSD-3-Clause */
/* A changed program on a changed machine that is to be simulated, its words, and what the simulation has found. */
#ifndef PHASEMUX_TOOLS_WHATIF_SCENARIO_H
#define PHASEMUX_TOOLS_WHATIF_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/answers.h"
#include "agent/whatif/change.h"
#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"
#include "tools/whatif/labels.h"
#include "tools/whatif/stops.h"

#define SCENARIO_TRIALS    3 /* simulations with other lengths of bursts */
#define SCENARIO_WORDS_MAX 2048
/* Several options have each change alone, the latency, the bandwidth, and all of them. */
#define SCENARIOS_MAX (ANSWERS_MAX + 3)

/* A value of each trial, as a mean with its 95% interval. */
struct trials {
	double value[SCENARIO_TRIALS];
	double mean, ci95;
};

/* What the options of the network ask for. */
struct scenario_network {
	double latency_times, bandwidth_times; /* 1: no change */
};

struct scenario {
	char words[SCENARIO_WORDS_MAX],
			option[SCENARIO_WORDS_MAX]; /* option: "" if there are several */
	bool of_processor;                          /* the program itself is not changed */
	struct change change;
	struct scenario_network network;
	struct trials seconds, saved; /* saved: part of the time as it was */
	struct stop stop;
};

struct scenarios {
	size_t count;
	size_t left_out; /* single changes that phasemux has not tried */
	bool chosen;     /* by phasemux, and not by the user */
	struct scenario all[SCENARIOS_MAX];
};

/*
 * Adds each change alone, and if there are several, all of them as the last scenario. Returns false with one line in `why` if
 * this run cannot answer one of them.
 */
bool scenarios_ask(struct scenarios *scenarios, const struct run_times *run,
		const struct request *requests, size_t count, struct scenario_network network,
		char *why, size_t why_size);

/* Adds the single changes that bring most by the estimate of the report, the best one first, but at most `most`. */
void scenarios_choose(struct scenarios *scenarios, const struct run_times *run, size_t most);

/* Puts those that save most first. */
void scenarios_sort(struct scenarios *scenarios);

void trials_summarize(struct trials *trials);

/*
 * Returns the words of a change for the program that replays (changes_take), behind `times` if that is wanted. They end with
 * NULL. Returns NULL without memory. The caller frees them and what they point to by one free().
 */
char **scenario_factors(const struct change *change, const struct run_times *run,
		const struct labels *labels, bool times);

#endif
