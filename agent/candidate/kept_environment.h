/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment that the program started with, for a thread of the agent. getenv() is not safe while the program
 * changes its environment, which frees the old list. The texts that the kernel has given to the program stay.
 */
#ifndef PHASEMUX_AGENT_CANDIDATE_KEPT_ENVIRONMENT_H
#define PHASEMUX_AGENT_CANDIDATE_KEPT_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Keeps the list. Call in the constructor, before anything has changed the environment. Returns false if it has too
 * many entries.
 */
bool kept_environment_start(void);

/* Like getenv(), in the list that was kept; getenv() itself if none was. */
char *kept_environment_look(const char *name);

#endif
