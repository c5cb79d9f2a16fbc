/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structure of the calls of a job: the loops of each process' main thread (cluster/loops/loops.h), in a form
 * that means the same in every process, and is merged over them (table.h).
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_STRUCTURES_H
#define PHASEMUX_AGENT_STRUCTURES_STRUCTURES_H

#include <stdint.h>

#include "agent/structures/table.h"
#include "agent/symbols/place_files.h"
#include "agent/thread/site.h"
#include "cluster/loops/loops.h"
#include "cluster/recurrence/recurrence.h"

/* The thread whose structure is added: its sites, its clock, and its process. */
struct structures_thread {
	const struct loops *loops; /* after loops_finish; NULL: not known */
	const struct site_table *sites;
	double ns_per_tick;
	uint32_t rank;
	const struct module *modules; /* the `count` files that its process has loaded */
	unsigned count;
	struct recurrence recurrence; /* of its calls; 0 rounds: none is known */
};

/*
 * Adds the structure of a thread. Adds the files of its places to `files`. Without memory the process is left
 * out.
 */
void structures_share(const struct structures_thread *thread, struct place_files *files,
		struct structures *structures);

/*
 * Merges the structures `in` into `inout`. The function is an mpi_merge. Structures with one shape, or with loops that
 * one of them executes only once or twice (fit.h), become one.
 */
void structures_merge(const void *in, void *inout);

/* Turns the places of all paths into addresses, as place_files_address does. */
void structures_restore(struct structures *structures, const struct place_files *files,
		struct place_modules *modules);

#endif
