/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds programs into which the loader does not preload a library, before a command starts, and tells the user.
 */
#ifndef PHASEMUX_TOOLS_RUN_REACH_H
#define PHASEMUX_TOOLS_RUN_REACH_H

#include <stdbool.h>

/*
 * Returns whether the path can be in LD_PRELOAD. Blanks and colons separate paths there, and a $ has a meaning.
 */
bool reach_can_preload(const char *path);

/*
 * Prints on stderr which words of a command, which ends with NULL, are programs that cannot be observed, and
 * why. Such programs are linked statically, are for another kind of processor, run with other rights than
 * their user's, or are started by an env that takes the preload away. The first word is searched like execvp
 * does; of the others only paths count.
 */
void reach_say(char *const *words);

#endif
