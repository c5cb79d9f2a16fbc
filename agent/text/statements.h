/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a report says of the run as a whole, sentence by sentence. Each view of report.json shows the statements in
 * its own layout: the text wraps them at its width, the page puts them into tables and lists.
 */
#ifndef PHASEMUX_AGENT_TEXT_STATEMENTS_H
#define PHASEMUX_AGENT_TEXT_STATEMENTS_H

#include <jansson.h>
#include <stdio.h>

/*
 * A statement. `write` writes it as lines of any length, each with its newline, or nothing if it does not apply
 * to this report.
 */
struct statement {
	const char *name; /* what it is about; NULL behind the last one */
	void (*write)(FILE *out, const json_t *report);
};

/* What ran, and what was counted how. The first one is the command. */
extern const struct statement statements_head[];

/* What was left out, and what phasemux itself cost. */
extern const struct statement statements_foot[];

#define STATEMENTS_ON_PROCESSOR                                                                    \
	0.9 /* share of the time of bursts below which it is said that they lacked a processor */

/* Returns the share of their time in which bursts had a processor; NAN if it is not known of most of the computing time. */
double statements_on_processor(const json_t *report);

/* Writes "on node1", or "on 68 hosts: node1 (4 ranks), node2 (4), node3 (4), node4 (2) and 64 more". */
void statements_hosts_names(FILE *out, const json_t *hosts);

/*
 * Is a `write` of a statement. Writes "slowest host node1: its ranks compute 2.31 s in the mean, those of others 1.90 s;
 * efficiency 45.3%", and "lowest clock: ..." if the difference is more than ranks of one host differ.
 */
void statements_hosts_differ(FILE *out, const json_t *report);

#endif
