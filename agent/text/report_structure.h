/* SPDX-License-Identifier: BSD-3-Clause */
/* The text's part on the structure of the calls: the loops, and the times and phases between the calls. */
#ifndef PHASEMUX_AGENT_TEXT_REPORT_STRUCTURE_H
#define PHASEMUX_AGENT_TEXT_REPORT_STRUCTURE_H

#include <jansson.h>
#include <stdio.h>

#include "agent/text/format.h"

/* Prints the structures of a report, of the ranks with most processes. Prints nothing if it has none. */
void report_structure(FILE *out, const json_t *report);

/* Returns how often the ranks execute the iteration of a structure: "50", "32 to 112", or "about 50". */
struct format_text report_structure_rounds(const json_t *iteration);

/*
 * Returns what is said of a call that comes back regularly: "MPI_Allreduce in norm comes back after about 62 calls, 83% more
 * regularly than at random: about 200 iterations of 1.51 ms". Owned by the caller; NULL without memory, or if there is none.
 */
char *report_structure_recurrence(const json_t *recurrence);

#endif
