/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command may be another program at first (prlimit, a script that ends in exec), and become the observed one
 * by exec. The first program was observed too, and could not remove its spool.
 */
#ifndef PHASEMUX_AGENT_CORE_PREDECESSOR_H
#define PHASEMUX_AGENT_CORE_PREDECESSOR_H

/*
 * Removes the spools that this process left when it was another program. spool_folder: folder of the present
 * spool. Call at the start of a process that may have been observed before, which is below `phasemux run`.
 */
void predecessor_remove(const char *spool_folder);

#endif
