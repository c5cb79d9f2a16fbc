/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for places in the program: the calls between which bursts lie, and functions. */
#ifndef PHASEMUX_AGENT_TEXT_PLACE_H
#define PHASEMUX_AGENT_TEXT_PLACE_H

#include <jansson.h>
#include <stdbool.h>

#define PLACE_NAME_MAX 72 /* characters of a function's name in a line */

struct place_text {
	char text[512];
};

/* Returns a name of the document, shortened to at most `most` characters. */
struct place_text place_name(const char *name, size_t most);

/*
 * Returns one end of a pair of places, by its key "from" or "to": "MPI_Send in step solver.c:120". If a wrapper
 * made the call, it is "MPI_Send in step solver.c:120 (exchange)". If the compiler inlined the function that
 * made the call, it is "MPI_Send in step solver.c:120 (in main main.c:7)". Returns "" if nothing is known.
 * most: characters of each function's name.
 */
struct place_text place_end(const json_t *pair, const char *key, size_t most);

/*
 * Returns the caller at a place of a call path (`from_path`, `to_path`), from 0 for the innermost one: "main main.c:7". Returns ""
 * if the path is shorter.
 */
struct place_text place_caller(const json_t *pair, const char *path, size_t frame, size_t most);

/* Returns whether an end of the pair is known. */
bool place_known(const json_t *pair);

#endif
