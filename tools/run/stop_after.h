/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command under the preload for a limited time: `phasemux run --stop-after SECONDS`. The program is ended then
 * as by a user who kills it, and its report is made from the sums that its processes on this host have left.
 */
#ifndef PHASEMUX_TOOLS_RUN_STOP_AFTER_H
#define PHASEMUX_TOOLS_RUN_STOP_AFTER_H

/*
 * Runs the command, and ends it after `seconds`. spool: folder for the sums; "": the usual one. Returns the exit code
 * of the command; 0 if it was ended and there is a report; 1 if that could not be made.
 */
int stop_after(double seconds, const char *spool, char **words);

#endif
