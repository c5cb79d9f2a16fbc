/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/site.h"

#include "cluster/prototypes.h"
#include "multiplex/mix.h"

static uint32_t add_site(struct site_table *table, uint16_t *head, uint32_t path, uint32_t call)
{
	/* a site with path 0 stands for a call wherever it is made */
	uint32_t most = path ? SITES_MAX - 1 - SITES_MERGED : SITES_MAX - 1;
	uint32_t sites = atomic_load_explicit(&table->sites, memory_order_relaxed);
	uint32_t number = sites < most ? sites + 1 : 0;

	if (number) {
		table->site[number].path = (uint16_t)path;
		table->site[number].call = (uint16_t)call;
		*head = (uint16_t)number;
		/* pairs with the acquire in save_sites */
		atomic_store_explicit(&table->sites, number, memory_order_release);
	}
	return number;
}

uint32_t span_place(const struct site_table *table, uint32_t from, uint32_t to)
{
	const struct site *a = &table->site[from], *b = &table->site[to];
	uint64_t number;

	if (!a->path || (to && !b->path))
		return 0;
	number = to ? path_between(&table->paths, a->path, b->path) :
		      ~table->paths.path[a->path].signature;
	number = mix_bits(number + a->call * MIX_STEP + (to ? b->call + 1 : 0));
	return (uint32_t)(number >> 32) | 1;
}

#define ORDER_MIN 3  /* number of changes from which the order is known */
#define ORDER_RUN 50 /* number of bursts in a row that are a long run */

/* Returns the share of the changes that was told, without the first one, which cannot be; -1: not known. */
static float share_told(uint32_t told, uint32_t changes)
{
	return changes >= ORDER_MIN ? (float)told / (float)(changes - 1) : -1;
}

float span_regular(const struct span_order *order)
{
	float told = share_told(order->told, order->changes);
	float confirmed = share_told(order->confirmed, order->left);

	if (order->bursts >= ORDER_MIN && order->changes < ORDER_MIN &&
			order->changes * ORDER_RUN <= order->bursts)
		return 1;
	return told > confirmed ? told : confirmed;
}

static bool is_merged(const struct site_table *table, uint32_t from, uint32_t to)
{
	return !table->site[from].path && !table->site[to].path;
}

/*
 * Returns the number of a span without room. It is that of the last span which started at its site, or else of
 * the one between the same two calls, or 0.
 */
static uint32_t like_span(struct site_table *table, uint32_t from, uint32_t to)
{
	uint32_t number = table->site[from].span;

	if (!number && !is_merged(table, from, to))
		number = span_search(table, site_search(table, 0, table->site[from].call),
				site_search(table, 0, table->site[to].call));
	table->span[number].used = true;
	return number;
}

static uint32_t add_span(struct site_table *table, uint16_t *head, uint32_t from, uint32_t to)
{
	uint32_t number = table->spans + 1;

	if (number >= SPANS_MAX - (is_merged(table, from, to) ? 0 : SPANS_MERGED))
		return like_span(table, from, to);
	table->spans = number;
	table->span[number].used = true;
	table->span[number].from = (uint16_t)from;
	table->span[number].to = (uint16_t)to;
	table->span[number].place = span_place(table, from, to);
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
	return like_span(table, from, to);
}

static unsigned distance(uint8_t a, uint8_t b)
{
	return a > b ? a - b : b - a;
}

uint32_t span_length_search(struct site_table *table, struct span *span, uint8_t bin)
{
	unsigned nearest = 0;

	for (unsigned i = 0; i < span->lengths; i++) {
		if (distance(span->bin[i], bin) < distance(span->bin[nearest], bin))
			nearest = i;
	}
	if (span->lengths && span->bin[nearest] == bin) {
		span->last = (uint8_t)nearest;
		return span_length_number(span, nearest);
	}
	if (span->lengths == SPAN_LENGTHS_MAX || table->lengths == LENGTHS_MAX - 1)
		return span->lengths ? span_length_number(span, nearest) : 0;
	span->last = span->lengths++;
	span->bin[span->last] = bin;
	atomic_store_explicit(&span->length[span->last], (uint16_t)++table->lengths,
			memory_order_relaxed);
	return table->lengths;
}

bool site_learn_long(struct site *site, uint64_t ticks)
{
	bool foreseen = site_foresees_long(site);

	if (site->runs[0])
		site->long_ticks += ((float)ticks - site->long_ticks) / 4;
	else
		site->long_ticks = (float)ticks;
	site->runs[1] = site->runs[0];
	site->runs[0] = site->run;
	site->run = 0;
	return foreseen;
}

static struct span_share *share_of(struct span_length *length, uint32_t prototype)
{
	struct span_share *largest = &length->share[0], *found = NULL;

	for (unsigned i = 0; i < SPAN_SHARES_MAX && !found; i++) {
		struct span_share *share = &length->share[i];

		if (!share->read || share->prototype == prototype)
			found = share;
		else if (span_share_read_ticks(share) > span_share_read_ticks(largest))
			largest = share;
	}
	if (!found)
		found = largest;
	else if (!found->read)
		found->prototype = (uint16_t)prototype;
	return found;
}

/* Adds `count` bursts of `ticks` together, which stand for `unread` other bursts. */
static void add_to_share(struct span_share *share, uint32_t count, double ticks, double unread)
{
	double part;

	if (count > UINT32_MAX - share->read)
		return;
	share->read += count;
	part = (double)count / share->read;
	share->mean_ticks += (float)((ticks / count - (double)share->mean_ticks) * part);
	share->mean_unread += (float)((unread / count - (double)share->mean_unread) * part);
}

void span_note_slices(struct span_length *length, uint32_t prototype, uint32_t count, double ticks)
{
	if (count)
		add_to_share(share_of(length, prototype), count, ticks, 0);
}

void span_note(struct span_length *length, uint32_t prototype, double weight, double ticks)
{
	add_to_share(share_of(length, prototype), 1, ticks, weight - 1);
}

bool span_is_noted(const struct site_table *table, const struct span *span)
{
	for (unsigned i = 0; i < SPAN_LENGTHS_MAX; i++)
		if (span_length_number(span, i) &&
				table->length[span_length_number(span, i)].share[0].read)
			return true;
	return false;
}

/*
 * Adds the time of the span's bursts to *ticks, and this time multiplied by what their reads are worth to
 * *preferred.
 */
static void add_preferred(const struct site_table *table, const struct span *span,
		const float *factor, double *ticks, double *preferred)
{
	for (unsigned l = 0; l < SPAN_LENGTHS_MAX && span_length_number(span, l); l++)
		for (unsigned i = 0; i < SPAN_SHARES_MAX; i++) {
			const struct span_share *share =
					&table->length[span_length_number(span, l)].share[i];
			double all = span_share_ticks(share);

			*ticks += all;
			*preferred += all *
					(share->prototype < PROTOTYPES_MAX ?
									(double)factor[share->prototype] :
									1);
		}
}

void site_prefer(struct site_table *table, uint32_t spans, const float *factor)
{
	bool noted[SPANS_MAX];

	for (uint32_t s = 0; s <= spans; s++)
		noted[s] = span_is_noted(table, &table->span[s]);
	for (uint32_t s = 0; s <= spans; s++) {
		const struct span *span = &table->span[s];
		double ticks = 0, preferred = 0;
		bool first = noted[s];

		for (uint32_t t = 0; t < s && first; t++)
			first = !noted[t] || table->span[t].from != span->from;
		for (uint32_t t = s; t <= spans && first; t++)
			if (noted[t] && table->span[t].from == span->from)
				add_preferred(table, &table->span[t], factor, &ticks, &preferred);
		if (ticks > 0)
			atomic_store_explicit(&table->site[span->from].more,
					(float)(preferred / ticks - 1), memory_order_relaxed);
	}
}
