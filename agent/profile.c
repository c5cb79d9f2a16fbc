#include "agent/profile.h"

#include <stddef.h>

#define WAYS 8 /* an address has a place among so many */

void profile_add(struct profile *profile, uintptr_t address, uint32_t prototype, uint32_t samples)
{
	uint64_t hash = (address ^ (uint64_t)prototype << 48) * 0x9e3779b97f4a7c15u;
	size_t set = (size_t)(hash >> 32) % (PROFILE_ENTRIES / WAYS) * WAYS;
	struct profile_entry *least = &profile->entry[set];

	for (size_t i = set; i < set + WAYS; i++) {
		struct profile_entry *entry = &profile->entry[i];

		if (entry->address == address && entry->prototype == prototype) {
			entry->samples += samples;
			return;
		}
		if (entry->samples < least->samples)
			least = entry;
	}
	/* a free one has no samples */
	least->address = address;
	least->prototype = prototype;
	least->samples += samples;
}
