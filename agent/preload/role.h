/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether a process is the program that the user wants to see, or one that starts it. `phasemux run`
 * starts a command. Launchers start others, and are never observed themselves. Some of them become the program
 * (env, nice), and some start it as their child and wait for it (timeout, flock). Needs only libc.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_ROLE_H
#define PHASEMUX_AGENT_PRELOAD_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads the words by which this process was called, each with its NUL, as many as `size` bytes have room for. Returns their
 * bytes; -1: they cannot be read.
 */
ssize_t role_words(char *words, size_t size);

/* The role of a process in a command of `phasemux run`. */
enum wrap_role {
	ROLE_MPI,     /* not of such a command: a target if it initialises MPI */
	ROLE_COMMAND, /* the command given to `phasemux run`: a target from its start */
	ROLE_BELOW, /* started by the command: a target if it uses OpenMP, or is the user's and computes */
};

/*
 * Returns the role of this process. command: number of the process that `phasemux run` became. If that one is a
 * launcher that starts one program and waits for it, its child is the command too.
 */
enum wrap_role role_below(long command);

/* Returns whether this process is a launcher, by the name of its file. */
bool role_is_launcher(void);

/*
 * Returns whether this process is a launcher that does not become what it starts, but waits for it and ends, by the name of
 * its file.
 */
bool role_is_waiting(void);

/* Returns whether the process of this number is a launcher of an MPI or its helper, by the name of its file. */
bool role_is_mpi_launcher(long process);

/*
 * Returns whether this process, which has the role ROLE_BELOW, is a program of the user. Its file is outside of the
 * system's folders, or is an interpreter of a language in which people compute. It is no worker: its parent runs another
 * file, or both run the same interpreter, and this process has a script. The parent is no debugger, tracer or launcher of
 * an MPI.
 */
bool role_is_of_user(void);

/* Returns whether a launcher of an MPI on this host has started this process itself, and not a script. */
bool role_is_rank(void);

#endif
