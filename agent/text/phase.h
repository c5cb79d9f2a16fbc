/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words and numbers for one phase of a report: in what it differs from others, where it was sampled, what was
 * counted in it. Each text is without indentation and without a new line, so that every view of a report has the
 * same ones.
 */
#ifndef PHASEMUX_AGENT_TEXT_PHASE_H
#define PHASEMUX_AGENT_TEXT_PHASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "agent/text/format.h"

/* Returns whether the phase has enough of the time to be shown by itself. */
bool phase_is_shown(const json_t *phase);

/* The phases that are not shown by themselves: their number, and their share of the time. */
struct phase_smaller {
	unsigned count;
	double share;
};

struct phase_smaller phase_smaller(const json_t *phases);

/* Return a number of the phase, NAN if it is not known. */
double phase_mean_seconds(const json_t *phase);
double phase_ipc(const json_t *phase);
double phase_instructions(const json_t *phase);

/* Returns the seconds that a mean burst of the phase had a processor; NAN if neither of the kernel's clocks was read. */
double phase_processor_seconds(const json_t *phase);

/* The half-widths of a phase's share of the time, number of bursts and mean, as texts. */
struct phase_intervals {
	bool visible; /* false: they are below a thousandth, or not known */
	struct format_text share, bursts, mean;
};

struct phase_intervals phase_intervals(const json_t *phase);

/*
 * Writes in what the phase differs from those of the same place: the length of its bursts, their IPC, who calls the code, or
 * their first counter. Returns false, and writes nothing, if no other phase has its place or if none of these differs.
 */
bool phase_write_apart(FILE *out, const json_t *phases, const json_t *phase);

/*
 * Writes that reads of the counters take a large part of the phase's bursts. read_seconds: time of one read; a
 * burst has one at each end. Returns false, and writes nothing, if they do not.
 */
bool phase_write_reads(FILE *out, const json_t *phase, double read_seconds);

/* Returns what `count` ranks of the report are called: "rank" or "ranks", or without MPI "process" or "processes". */
const char *phase_rank_word(const json_t *report, double count);

/* Writes "phase 4", or of several phases together "phases 4 and 5". */
void phase_write_names(FILE *out, const json_t *object);

/*
 * Returns what the phase has together with others of its place, if it is the first one of them. Otherwise, or if different
 * ranks do not execute different phases at its place, returns NULL.
 */
const json_t *phase_together(const json_t *phase);

/* Writes which ranks execute a phase that not all of them execute: "only in rank 3", or "in 3 of 4 ranks". */
void phase_write_executing_ranks(FILE *out, const json_t *report, const json_t *phase);

/*
 * Writes how many ranks execute the phase, if not all of them do, and how it is distributed over these, if they differ.
 * Returns false, and writes nothing, if neither applies or is known.
 */
bool phase_write_ranks(FILE *out, const json_t *report, const json_t *phase);

/*
 * Writes where the phase was sampled most: "in forces 71%, neighbours 20% (125 samples)", or if there are few
 * samples "in forces (2 samples), neighbours (1 sample)". lines: by lines and not by functions. Returns false,
 * and writes nothing, if it was not sampled.
 */
bool phase_write_hot(FILE *out, const json_t *phase, bool lines);

/*
 * Returns whether the component's value is known well enough: it has an interval, or is 0, because its events
 * occurred in no burst.
 */
bool phase_component_known(const json_t *component);

/*
 * Returns whether the phase has a breakdown that says something. A single known component would be the remainder,
 * which shows nothing.
 */
bool phase_has_breakdown(const json_t *phase);

/* A component's CPI, its half-width ("+- 0.003", "exact") and its share of the phase's CPI, as texts. */
struct phase_component {
	struct format_text value, interval,
			share; /* interval and share are "" if value is no number */
};

struct phase_component phase_component(const json_t *component, double cpi);

struct phase_spread {
	char text[160];
};

/*
 * Returns how much times vary between iterations: " (standard deviation 12.0%, 180 us to 410 us in a sample)", or "" if sd is not
 * known. sd, least, most: of the iterations that were measured. mean: of which sd is printed as a share. All in seconds.
 */
struct phase_spread phase_spread(double mean, double sd, double least, double most);

/*
 * Writes the parallel efficiency of the phase and its factors. Returns false, and writes nothing, if it is good or not known.
 */
bool phase_write_efficiency(FILE *out, const json_t *phase);

/* Writes the bursts and the time of the phase in an iteration. Returns false, and writes nothing, if it is rare or not known. */
bool phase_write_iteration(FILE *out, const json_t *phase);

/*
 * Writes that the phase's bursts get longer or shorter while the program runs. Returns false, and writes nothing, if they
 * do not, or not by enough to be certain.
 */
bool phase_write_drift(FILE *out, const json_t *phase);

/* Returns whether most bursts of the phase are slices of longer ones. */
bool phase_is_sliced(const json_t *phase);

/* Returns "slice" if the phase is sliced, else "burst". */
const char *phase_unit(const json_t *phase);

/* Writes that most bursts of the phase are slices. Returns false, and writes nothing, if it is not sliced. */
bool phase_write_slices(FILE *out, const json_t *phase);

/*
 * Writes a counter's mean per burst or slice (`unit`), with its interval, or with the number of these that counted
 * it. width: columns of the mean.
 */
void phase_write_counter(FILE *out, const char *name, const json_t *counter, const char *unit,
		int width);

#endif
