/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process is to `phasemux run`, which starts a command: the program that the user wants to see, or
 * something that starts it. Launchers start others, and are never observed by themselves. Some of them become
 * the program (env, nice), some start it as their child and wait for it (timeout, flock). Needs libc alone.
 */
#ifndef PHASEMUX_AGENT_ROLE_H
#define PHASEMUX_AGENT_ROLE_H

#include <stdbool.h>

/* What a process is that has been told by `phasemux run` to be, or have in it, a target. */
enum wrap_role {
	ROLE_MPI,     /* not told: a target if it initialises MPI */
	ROLE_COMMAND, /* the command given to `phasemux run`: a target from its start */
	ROLE_BELOW,   /* started by that one: a target if it uses OpenMP */
};

/*
 * Returns what this process is, if process number `command` is the one that `phasemux run` became: the command
 * too if that one is a launcher which starts one program and waits for it, and this is that program.
 */
enum wrap_role role_below(long command);

/* Returns whether this process is a launcher, by the name of its file. */
bool role_is_launcher(void);

#endif
