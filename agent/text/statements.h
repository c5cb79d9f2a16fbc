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

#endif
