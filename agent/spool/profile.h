/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of the program: how many of the kernel's samples fell on each address, by the prototype of the burst and by
 * the stack of callers above the address. The table is bounded. If it has no room, a new address replaces the rarest of
 * a few and takes over its count (space saving, Metwally et al. 2005). Therefore frequent addresses stay, and their
 * counts are never too low.
 *
 * Addresses differ from process to process. All processes together have a table of the most sampled places,
 * each a loaded file and a place in it (struct profile_total). Its size does not depend on the number of
 * processes.
 *
 * These functions are for one caller at a time.
 */
#ifndef PHASEMUX_AGENT_SPOOL_PROFILE_H
#define PHASEMUX_AGENT_SPOOL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/loader/modules.h"
#include "agent/spool/routes.h"
#include "agent/stacks/stack_tree.h"
#include "agent/symbols/place_files.h"
#include "cluster/prototypes.h"

#define PROFILE_ENTRIES 4096
#define PROFILE_PLACES  2048 /* of all processes together */

/* What the samples of an entry have in common besides their address. */
struct profile_key {
	uint16_t prototype;
	uint16_t stack; /* number in the tree of the profile */
};

struct profile_entry {
	uintptr_t address; /* 0: free */
	struct profile_key key;
	uint32_t samples;
};

/* Zeros are an empty profile. */
struct profile {
	struct profile_entry entry[PROFILE_ENTRIES];
	struct stack_node stack[STACK_TREE_NODES];
	uint32_t left_out
			[PROTOTYPES_MAX]; /* as in struct profile_total; 0 in the profile of one process */
};

struct profile_place {
	uint64_t place; /* agent/symbols/place_files.h */
	struct profile_key key;
	uint32_t samples;
};

/* Profile of several processes, with the routes of their bursts. Plain data; zeros are an empty one. */
struct profile_total {
	struct place_files files;
	uint32_t places, unused;
	struct profile_place place[PROFILE_PLACES];
	struct stack_node stack[STACK_TREE_NODES]; /* with places instead of addresses */
	uint32_t left_out[PROTOTYPES_MAX]; /* samples at places that found no room, by prototype */
	struct routes routes;
};

/* Adds `samples` samples at `address`. */
void profile_add(struct profile *profile, uintptr_t address, struct profile_key key,
		uint32_t samples);

/*
 * Adds a process' profile to a total. modules: the files that the process has loaded. If there is no room, the
 * least sampled places are dropped. Without memory nothing is added.
 */
void profile_share(const struct profile *profile, const struct module *modules, unsigned count,
		struct profile_total *total);

/* Merges the total `in` into `inout`. The function is an mpi_merge. */
void profile_merge(const void *in, void *inout);

/*
 * Converts the total to a profile of this process, whose `count` loaded files are in `modules`, which has room
 * for `max`. Appends files that only other processes have loaded, at addresses where nothing is. Converts
 * the places of the total's routes to addresses, too. Returns the new number of files. Call once per total.
 */
unsigned profile_restore(struct profile_total *total, struct module *modules, unsigned count,
		unsigned max, struct profile *profile);

#endif
