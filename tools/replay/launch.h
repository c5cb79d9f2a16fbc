/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the program that replays, or the one that measures messages, with the compiler of the user's MPI, or of SimGrid, and starts it under the launcher. */
#ifndef PHASEMUX_TOOLS_REPLAY_LAUNCH_H
#define PHASEMUX_TOOLS_REPLAY_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

struct launch {
	const char *folder;   /* of what is written */
	const char *compiler; /* of the MPI; NULL: the one beside the launcher */
	char **launcher;      /* words of the command, which end with NULL */
	const char *plan;     /* file */
	size_t seed;
	unsigned copies; /* mask, as of cursor_new */
	double stall;    /* seconds */
	size_t window; /* calls of a rank in a row that are taken of long loops (sample.h); 0: all */
	char **changes;  /* factors of the program that replays, which end with NULL; NULL: none */
	bool simulated;  /* the launcher is SimGrid's */
	bool measures;   /* it measures messages, as program/pingpong.c says, and has no plan */
	const char *log; /* file of the launcher's output; NULL: it goes to stderr */
};

struct launch_result {
	int code;       /* exit code of the launcher, or 128 + its signal */
	bool has_ended; /* rank 0 has left the result of a replay */
	long ranks;     /* that the launcher started */
	double seconds; /* of the rank that took longest; 0: their number is not that of the plan */
	double deprived; /* part of its bursts in which a rank had no processor; of the rank with the largest part */
};

/*
 * Builds the program if the folder does not have it yet, runs it, and waits for its end. Returns false with one line in `why`
 * if it cannot be built or started.
 */
bool launch_run(const struct launch *launch, struct launch_result *result, char *why,
		size_t why_size);

/* Says whether a command is in PATH. */
bool launch_finds(const char *name);

/*
 * Finds the compiler that belongs to a launcher: `mpicc` with the ending of its name, in its folder, for each name that a
 * chain of symbolic links has. Otherwise it is "mpicc".
 */
void launch_compiler(char *const *launcher, char *compiler, size_t size);

#endif
