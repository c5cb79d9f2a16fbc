/* SPDX-License-Identifier: BSD-3-Clause */
/* The results that a command shows: the report.json or trace.json of a folder, of the steps of a job, or one file. */
#ifndef PHASEMUX_TOOLS_RESULTS_RESULTS_H
#define PHASEMUX_TOOLS_RESULTS_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RESULTS_MAX 1000 /* number of results of one folder, or of all steps of a job */

/* Zeros are none. */
struct results {
	unsigned count;
	char *path[RESULTS_MAX];
	json_t *report[RESULTS_MAX];
	bool takes_traces; /* a trace serves if its report is missing */
};

/*
 * Finds the results of a folder or a file. step: only this one; NULL: all. Returns false after one line on
 * stderr.
 */
bool results_find(struct results *results, const char *path, const char *step);

/*
 * Finds the folder in this one with the newest report, also of a step of a job, and says on stderr which one it is.
 * Returns false after one line on stderr if there is none.
 */
bool results_newest(char *folder, size_t size);

/* Returns whether a folder has results, or the trace of one. */
bool results_exist(const char *folder);

/*
 * Loads what was found and is not loaded yet, and makes a report of a trace. Refuses other files. Returns false after one line
 * on stderr.
 */
bool results_load(struct results *results);

/* Prints on stderr which results there are, because a command shows only one of them. */
void results_refuse(const struct results *results);

void results_fini(struct results *results);

#endif
