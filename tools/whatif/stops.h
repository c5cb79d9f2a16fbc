/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the gain of a change stops: the rank that computes less, and waits longer instead, and the call in which it does. */
#ifndef PHASEMUX_TOOLS_WHATIF_STOPS_H
#define PHASEMUX_TOOLS_WHATIF_STOPS_H

#include <stdbool.h>
#include <stddef.h>

/* The seconds of each rank in simulations of one kind: in bursts, in the calls of each path, and in other calls. */
struct stops_times {
	size_t ranks, paths;
	unsigned count; /* simulations that were added */
	double *seconds;
};

struct stop {
	bool known;        /* a rank loses some of the gain */
	size_t rank, path; /* path: the number of paths for calls without one */
	double less;       /* seconds that the rank computes less */
	double lost;       /* of them, seconds by which the run does not become shorter */
	double waits;      /* seconds that the rank is longer in calls of the path */
};

/* Returns false without memory, or if there are too many ranks: then nothing is known. Call stops_fini() also then. */
bool stops_init(struct stops_times *times, size_t ranks, size_t paths);

/* Adds the times that the program that replays has left in a file. Returns false if the file does not have them. */
bool stops_add(struct stops_times *times, const char *file);

void stops_clear(struct stops_times *times);

/* Compares the times as they were with those after a change that makes the run shorter by `saved` seconds. */
struct stop stops_find(const struct stops_times *nominal, const struct stops_times *changed,
		double saved);

void stops_fini(struct stops_times *times);

#endif
