/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader does not preload a library into: seen before a command starts, so that its user is told. */
#ifndef PHASEMUX_TOOLS_REACH_H
#define PHASEMUX_TOOLS_REACH_H

#include <stdbool.h>

/* Returns whether LD_PRELOAD can hold the path. Blanks and colons separate paths there, and a $ has a meaning. */
bool reach_can_preload(const char *path);

/*
 * Says on stderr which words of a command, which ends with NULL, are programs that cannot be observed, and why:
 * they are linked statically, for another kind of processor, or run with other rights than their user's. The
 * first word is sought as execvp does; of the others only paths count.
 */
void reach_say(char *const *words);

#endif
