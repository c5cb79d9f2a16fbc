/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef PHASEMUX_AGENT_HOST_ARRAY_H
#define PHASEMUX_AGENT_HOST_ARRAY_H

#include <stdlib.h>

#define ARRAY_ROOM_FIRST 16

/*
 * Returns the array with room for one more element than the `used` ones, which may have moved it. *room: number of elements
 * that it has room for, 0 if the array is NULL. Returns NULL without memory; the array is then as it was.
 */
static inline void *array_with_room(void *array, size_t *room, size_t used, size_t element_bytes)
{
	size_t more = *room ? 2 * *room : ARRAY_ROOM_FIRST;
	void *grown;

	if (used < *room)
		return array;
	grown = realloc(array, more * element_bytes);
	if (grown)
		*room = more;
	return grown;
}

#endif
