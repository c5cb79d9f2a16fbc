/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the folder of a run's results, so that no other user can read or replace it or its files. Folders have
 * the mode 0700, files 0600. Links are never followed, and existing files never overwritten.
 */
#ifndef PHASEMUX_AGENT_SETUP_OUTPUT_H
#define PHASEMUX_AGENT_SETUP_OUTPUT_H

#include <stddef.h>

#include "agent/setup/job.h"

/* Start of the name of a job step's folder in the folder of the job: phasemux.4711/step.0 */
#define OUTPUT_STEP "step."

/*
 * Fills in %j (batch job, or this process if there is none), %p (process), %h (host) and %% in the setting
 * `output`. Writes the result as an absolute path, with the folder of the job's step if it has one. Returns 0
 * or -ENAMETOOLONG.
 */
int output_folder(const char *pattern, const struct job *job, char *folder, size_t size);

/*
 * Creates the folder if it is missing, and for a step's folder also the one of its job. Returns a descriptor,
 * which the caller closes, or -errno: -EPERM if a folder belongs to another user or is writable for others,
 * -ELOOP or -ENOTDIR if it is a link or a file.
 */
int output_open(const char *folder);

/* A file BASE.SUFFIX, or BASE-2.SUFFIX and so on with a number from 2. */
struct output_name {
	const char *base, *suffix;
};

/* Returns the first number from 1 with which none of the `count` files exists; 0 if a thousand numbers are taken. */
unsigned output_number(int folder_fd, const struct output_name *files, unsigned count);

/* Writes a new file. Returns 0 or -errno. If writing fails, the file is removed. */
int output_write(int folder_fd, const char *base, unsigned number, const char *suffix,
		const char *text, size_t length);

/* Returns the number of files whose names start with `start`. */
unsigned output_count(int folder_fd, const char *start);

/* Removes a file. It need not exist. */
void output_remove(int folder_fd, const char *base, unsigned number, const char *suffix);

#endif
