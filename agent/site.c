#include "agent/site.h"

uint32_t site_add_new(struct site_table *table, uint16_t *head, uint32_t path, uint32_t call)
{
	uint32_t number = table->sites < SITES_MAX - 1 ? ++table->sites : 0;

	if (number) {
		table->site[number].path = (uint16_t)path;
		table->site[number].call = (uint16_t)call;
		*head = (uint16_t)number;
	}
	return number;
}

uint32_t span_add_new(struct site_table *table, uint16_t *head, uint32_t from, uint32_t to)
{
	uint32_t number = table->spans < SPANS_MAX - 1 ? ++table->spans : 0;

	table->span[number].used = true;
	if (number) {
		table->span[number].from = (uint16_t)from;
		table->span[number].to = (uint16_t)to;
		*head = (uint16_t)number;
	}
	return number;
}

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
