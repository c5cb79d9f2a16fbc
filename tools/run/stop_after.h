/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command under the preload up to a limit: `phasemux run --stop-after`. The program is ended then as by a user
 * who kills it, and its report is made from the sums that its processes on this host have left.
 */
#ifndef PHASEMUX_TOOLS_RUN_STOP_AFTER_H
#define PHASEMUX_TOOLS_RUN_STOP_AFTER_H

#include <stdint.h>

/* When a program is ended: one of both, the other is 0. */
struct stop_limit {
	double seconds; /* after its start */
	uint64_t iterations; /* that each process of this host has executed which repeats a loop of calls */
};

/* Takes the argument of --stop-after, in optarg. Returns 0, or 2 after the refusal. */
int stop_limit_take(struct stop_limit *limit);

/*
 * Runs the command, and ends it at the limit. A command without iterations runs to its end. spool: folder for the sums;
 * "": the usual one. Returns the exit code of the command; 0 if it was ended and there is a report; 1 if that could not
 * be made.
 */
int stop_after(const struct stop_limit *limit, const char *spool, char **words);

#endif
