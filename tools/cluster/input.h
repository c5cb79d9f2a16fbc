/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input files that may be compressed. .gz and .xz are read through gzip and xz, which every
 * distribution has, so that no library is needed.
 */
#ifndef PHASEMUX_TOOLS_CLUSTER_INPUT_H
#define PHASEMUX_TOOLS_CLUSTER_INPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct input {
	FILE *file;
	pid_t child; /* gzip or xz; 0: none, the file is read directly */
};

/* Opens the file at path. Returns 0 or -errno. */
int input_open(struct input *input, const char *path);

/* Closes the file. Returns 0, or -EIO if the file could not be decompressed to its end. */
int input_close(struct input *input);

/*
 * Makes the name of a file that belongs to a trace, with another ending: "a/b.prv.xz", ".pcf" ->
 * "a/b.pcf". With `look`, chooses one that exists, compressed or not. Returns false if there is none.
 */
bool input_beside(const char *path, const char *ending, bool look, char *name, size_t size);

/* Returns whether the name is a Paraver trace's: *.prv, *.prv.gz, *.prv.xz. */
bool input_is_trace(const char *path);

#endif
