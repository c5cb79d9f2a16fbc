/*
 * Where in the program the bursts of each prototype were, when the kernel sampled them: how many
 * samples fell on which address. A bounded table: where there is no room, the rarest of a few
 * addresses gives way and leaves its count (space saving, Metwally et al. 2005), so that what is
 * frequent stays, and never has too few.
 *
 * One caller at a time.
 */
#ifndef PHASEMUX_AGENT_PROFILE_H
#define PHASEMUX_AGENT_PROFILE_H

#include <stdint.h>

#define PROFILE_ENTRIES 4096

struct profile_entry {
	uintptr_t address; /* 0: free */
	uint32_t prototype;
	uint32_t samples;
};

struct profile {
	struct profile_entry entry[PROFILE_ENTRIES];
};

void profile_add(struct profile *profile, uintptr_t address, uint32_t prototype, uint32_t samples);

#endif
