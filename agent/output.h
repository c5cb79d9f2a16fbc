/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a run's results. It and its files are made so that nobody else can plant or read
 * them: folders 0700, files 0600, never through a link, never over an existing file.
 */
#ifndef PHASEMUX_AGENT_OUTPUT_H
#define PHASEMUX_AGENT_OUTPUT_H

#include <stddef.h>

#include "agent/job.h"

/* A job step's results lie in a folder of their own in that of the job: phasemux.4711/step.0 */
#define OUTPUT_STEP "step."

/*
 * The setting `output` with %j (batch job, or this process where there is none), %p (process), %h
 * (host) and %% filled in, as an absolute path, and in it the folder of the job's step if it has
 * one. 0, or -ENAMETOOLONG.
 */
int output_folder(const char *pattern, const struct job *job, char *folder, size_t size);

/*
 * Makes the folder where it is missing, and that of the job around one of a step. A descriptor of
 * it, or -errno: -EPERM when one of them belongs to somebody else or others can write to it, -ELOOP
 * or -ENOTDIR when it is a link or a file.
 */
int output_open(const char *folder);

/*
 * A number such that BASE.SUFFIX (1), or BASE-2.SUFFIX, ... is not there yet for any of the `count`
 * suffixes; 0 when there are a thousand.
 */
unsigned output_number(int folder_fd, const char *base, const char *const suffixes[],
		unsigned count);

/* Writes a new file of that name. 0 or -errno; what was begun and failed is removed. */
int output_write(int folder_fd, const char *base, unsigned number, const char *suffix,
		const char *text, size_t length);

/* Removes the file of that name; what is not there is gone already. */
void output_remove(int folder_fd, const char *base, unsigned number, const char *suffix);

#endif
