#include "agent/site.h"

#include <stddef.h>

static struct span_share *share_of(struct span *span, uint32_t prototype)
{
	struct span_share *largest = &span->share[0], *found = NULL;

	for (unsigned i = 0; i < SPAN_SHARES_MAX && !found; i++) {
		struct span_share *share = &span->share[i];

		if (!share->read || share->prototype == prototype)
			found = share;
		else if (share->ticks > largest->ticks)
			largest = share;
	}
	if (!found)
		found = largest;
	else if (!found->read)
		found->prototype = prototype;
	return found;
}

void span_note_slices(struct span *span, uint32_t prototype, uint32_t count, double ticks)
{
	struct span_share *found = share_of(span, prototype);

	found->read += count;
	found->ticks += ticks;
}

void span_note(struct span *span, uint32_t prototype, double weight, double ticks)
{
	struct span_share *found = share_of(span, prototype);

	found->read++;
	found->ticks += ticks;
	found->unread += weight - 1;
	found->unread_ticks += (weight - 1) * ticks;
}
