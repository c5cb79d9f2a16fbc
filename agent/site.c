#include "agent/site.h"

#include "cluster/prototypes.h"

static uint32_t add_site(struct site_table *table, uint16_t *head, uint32_t path, uint32_t call)
{
	uint32_t number = table->sites < SITES_MAX - 1 ? ++table->sites : 0;

	if (number) {
		table->site[number].path = (uint16_t)path;
		table->site[number].call = (uint16_t)call;
		*head = (uint16_t)number;
	}
	return number;
}

/* There is no room: what starts where it does, or 0. */
static uint32_t like_span(struct site_table *table, uint32_t from)
{
	uint32_t number = table->site[from].span;

	table->span[number].used = true;
	return number;
}

static uint32_t add_span(struct site_table *table, uint16_t *head, uint32_t from, uint32_t to)
{
	uint32_t number = table->spans + 1;

	if (number == SPANS_MAX)
		return like_span(table, from);
	table->spans = number;
	table->span[number].used = true;
	table->span[number].from = (uint16_t)from;
	table->span[number].to = (uint16_t)to;
	*head = (uint16_t)number;
	return number;
}

uint32_t site_search(struct site_table *table, uint32_t path, uint32_t call)
{
	uint32_t at = (path * 5 + call) % SITE_HEADS;

	for (int probes = 0; probes < SITE_PROBES; probes++) {
		uint32_t number = table->site_head[at];

		if (!number)
			return add_site(table, &table->site_head[at], path, call);
		if (table->site[number].path == path && table->site[number].call == call)
			return number;
		at = (at + 1) % SITE_HEADS;
	}
	return 0;
}

uint32_t span_search(struct site_table *table, uint32_t from, uint32_t to)
{
	uint32_t at = (from * 31 + to * 17) % SPAN_HEADS;

	for (int probes = 0; probes < SITE_PROBES; probes++) {
		uint32_t number = table->span_head[at];

		if (!number)
			return add_span(table, &table->span_head[at], from, to);
		if (table->span[number].from == from && table->span[number].to == to)
			return number;
		at = (at + 1) % SPAN_HEADS;
	}
	return like_span(table, from);
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

/* Adds the time of the span's bursts, and the same times what reads of them are worth. */
static void add_preferred(const struct span *span, const float *factor, double *ticks,
		double *preferred)
{
	for (unsigned i = 0; i < SPAN_SHARES_MAX && span->share[i].read; i++) {
		double all = span->share[i].ticks + span->share[i].unread_ticks;
		uint32_t prototype = span->share[i].prototype;

		*ticks += all;
		*preferred += all * (prototype < PROTOTYPES_MAX ? (double)factor[prototype] : 1);
	}
}

void site_prefer(struct site_table *table, uint32_t spans, const float *factor)
{
	for (uint32_t s = 0; s <= spans; s++) {
		const struct span *span = &table->span[s];
		double ticks = 0, preferred = 0;
		bool first = span->share[0].read > 0;

		for (uint32_t t = 0; t < s && first; t++)
			first = table->span[t].from != span->from || !table->span[t].share[0].read;
		for (uint32_t t = s; t <= spans && first; t++)
			if (table->span[t].share[0].read && table->span[t].from == span->from)
				add_preferred(&table->span[t], factor, &ticks, &preferred);
		if (ticks > 0)
			atomic_store_explicit(&table->site[span->from].more,
					(float)(preferred / ticks - 1), memory_order_relaxed);
	}
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
