/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes that are equal in all processes of a run. None resists an attacker. */
#ifndef PHASEMUX_AGENT_HOST_HASH_H
#define PHASEMUX_AGENT_HOST_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325) /* FNV-1a's offset basis of 64 bits */
#define HASH_PRIME UINT64_C(0x100000001b3)      /* FNV-1a's prime of 64 bits */

/* Returns the hash after these bytes, by FNV-1a. hash: that of what comes before; at first HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ byte[i]) * HASH_PRIME;
	return hash;
}

/*
 * Returns a product whose upper bits depend on all bits of the key (Fibonacci hashing: the factor is 2^64 by the
 * golden ratio). One multiplication, for tables that are looked up often.
 */
static inline uint64_t hash_spread(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
