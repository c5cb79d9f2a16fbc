/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/persistent.h"

#include <stdlib.h>
#include <string.h>

/* Returns the place of the first request from a number on. */
static size_t place_from(const struct persistents *persistents, uint64_t number)
{
	size_t first = 0, end = persistents->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (persistents->request[middle].number < number)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

struct persistent *persistents_find(const struct persistents *persistents, uint64_t number)
{
	size_t at = place_from(persistents, number);

	return at < persistents->count && persistents->request[at].number == number ?
			&persistents->request[at] :
			NULL;
}

static bool make_room(struct persistents *persistents)
{
	size_t room = persistents->room ? 2 * persistents->room : 8;
	struct persistent *grown;

	if (persistents->count < persistents->room)
		return true;
	grown = realloc(persistents->request, room * sizeof(*grown));
	if (!grown)
		return false;
	persistents->request = grown;
	persistents->room = room;
	return true;
}

enum persistents_added persistents_add(struct persistents *persistents,
		const struct cursor_call *call)
{
	uint64_t number = (uint64_t)call->value[ARGUMENT_REQUEST];
	struct persistent *request;
	size_t at;

	if (!call->makes)
		return PERSISTENTS_NOT_KEPT;
	if (call->reason != CURSOR_CARRIED || persistents->count == CALLS_PERSISTENT_MAX) {
		persistents->incomplete = true;
		return PERSISTENTS_NOT_KEPT;
	}
	if (persistents_find(persistents, number))
		return PERSISTENTS_TWICE;
	if (!make_room(persistents))
		return PERSISTENTS_NO_MEMORY;
	at = place_from(persistents, number);
	request = &persistents->request[at];
	memmove(request + 1, request, (persistents->count++ - at) * sizeof(*request));
	*request = (struct persistent){ .number = number, .call = *call };
	return PERSISTENTS_ADDED;
}

void persistents_fini(struct persistents *persistents)
{
	free(persistents->request);
	*persistents = (struct persistents){ .count = 0 };
}
