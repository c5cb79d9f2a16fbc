/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands before a program in a command (prlimit, a script that ends in exec) becomes that program by exec.
 * It was observed until then, and could not take its spool away.
 */
#ifndef PHASEMUX_AGENT_PREDECESSOR_H
#define PHASEMUX_AGENT_PREDECESSOR_H

/*
 * Removes the spools that this process left when it was another program. spool_folder: of its present run. Call
 * at its start, where the process may have been observed before: it is the command of `phasemux run`.
 */
void predecessor_remove(const char *spool_folder);

#endif
