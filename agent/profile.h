/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the program the bursts of each prototype were, when the kernel sampled them: how many
 * samples fell on which address. A bounded table: where there is no room, the rarest of a few
 * addresses gives way and leaves its count (space saving, Metwally et al. 2005), so that what is
 * frequent stays, and never has too few.
 *
 * Addresses differ from process to process. What they have together is a table of what was sampled
 * most by the loaded file and the place in it (struct profile_total), of a size that does not depend
 * on how many they are.
 *
 * One caller at a time.
 */
#ifndef PHASEMUX_AGENT_PROFILE_H
#define PHASEMUX_AGENT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/place_files.h"
#include "agent/routes.h"
#include "agent/source.h"

#define PROFILE_ENTRIES 4096
#define PROFILE_PLACES  2048 /* of all processes */

struct profile_entry {
	uintptr_t address; /* 0: free */
	uint32_t prototype;
	uint32_t samples;
};

/* Zeros are an empty one. */
struct profile {
	struct profile_entry entry[PROFILE_ENTRIES];
};

struct profile_place {
	uint64_t place; /* agent/place_files.h */
	uint32_t prototype;
	uint32_t samples;
};

/* What processes have together, with the routes of their bursts. Plain data; zeros are an empty one. */
struct profile_total {
	struct place_files files;
	uint32_t places, unused;
	struct profile_place place[PROFILE_PLACES];
	struct routes routes;
};

void profile_add(struct profile *profile, uintptr_t address, uint32_t prototype, uint32_t samples);

/*
 * Adds a process' profile to a total; modules: the files that it has loaded. What finds no room is
 * what was sampled least. Without memory nothing is added.
 */
void profile_share(const struct profile *profile, const struct source_module *modules,
		unsigned count, struct profile_total *total);

/* Merges two totals; `in` into `inout`, as an mpi_merge. */
void profile_merge(const void *in, void *inout);

/*
 * The total as a profile of this process, whose loaded files are `modules`, `count` of room for
 * `max`: files that others alone have loaded are appended, at addresses where nothing is. The places of
 * the total's routes become such addresses. Returns how many files there are now. Once per total.
 */
unsigned profile_restore(struct profile_total *total, struct source_module *modules, unsigned count,
		unsigned max, struct profile *profile);

#endif
