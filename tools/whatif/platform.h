/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine that SimGrid simulates: nodes with as many processors as they have ranks, a network between them, and the
 * memory through which ranks of one node send.
 */
#ifndef PHASEMUX_TOOLS_WHATIF_PLATFORM_H
#define PHASEMUX_TOOLS_WHATIF_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

struct platform {
	long ranks, ranks_per_node;
	double latency, bandwidth; /* of the network: seconds, and bytes per second of each node */
	double memory_latency, memory_bandwidth; /* within a node */
};

/* Within a node, if it was not measured. */
#define PLATFORM_MEMORY_LATENCY   0.5e-6 /* seconds */
#define PLATFORM_MEMORY_BANDWIDTH 5e9    /* bytes per second */

/*
 * Words of the command that starts a program there, which end with NULL. `words` points into `text`.
 */
#define PLATFORM_WORDS_MAX 16
#define PLATFORM_WORD_MAX  4200 /* bytes of a word, which may be a path */
struct platform_command {
	char *words[PLATFORM_WORDS_MAX];
	char text[PLATFORM_WORDS_MAX][PLATFORM_WORD_MAX];
};

/*
 * Writes the two files that SimGrid needs to a folder, and the command that starts a program with them. Returns false
 * with one line in `why` if they cannot be written.
 */
bool platform_write(const struct platform *platform, const char *folder,
		struct platform_command *command, char *why, size_t why_size);

#endif
