#include "agent/totals.h"

static void add_tally(struct tally *tally, double bursts, double ticks, double ns_per_tick)
{
	tally->bursts += bursts;
	tally->seconds += ticks * ns_per_tick * 1e-9;
}

/* Where attributed bursts go: a prototype's tally, or what is unclassified. */
static struct tally *tally_of(struct totals *totals, uint32_t prototype)
{
	return prototype < PROTOTYPES_MAX ? &totals->unread[prototype] : &totals->unclassified;
}

/*
 * Spreads the bursts of `span` that were not read over prototypes as those were that were read, of
 * the same span, or else of all spans that start at the same site. False: none was read.
 */
static bool spread(struct totals *totals, const struct site_table *sites,
		const struct span *span, bool same_end, double ns_per_tick)
{
	double bursts = (double)atomic_load_explicit(&span->unread, memory_order_relaxed);
	double ticks = (double)atomic_load_explicit(&span->unread_ticks, memory_order_relaxed);
	double read_bursts = 0, read_ticks = 0;

	for (int pass = 0; pass < 2; pass++)
		for (const struct span *from = sites->span; from < sites->span + SPANS_MAX; from++) {
			if (!from->used || from->from != span->from || (same_end && from != span))
				continue;
			for (unsigned i = 0; i < SPAN_SHARES_MAX && from->share[i].read; i++) {
				const struct span_share *share = &from->share[i];

				if (pass == 0) {
					read_bursts += share->bursts;
					read_ticks += share->ticks;
				} else if (read_ticks > 0) {
					add_tally(tally_of(totals, share->prototype),
							bursts * share->bursts / read_bursts,
							ticks * share->ticks / read_ticks, ns_per_tick);
				}
			}
		}
	return read_ticks > 0;
}

static void attribute_unread(
		struct totals *totals, const struct site_table *sites, double ns_per_tick)
{
	for (const struct span *span = sites->span; span < sites->span + SPANS_MAX; span++) {
		uint64_t unread = atomic_load_explicit(&span->unread, memory_order_relaxed);

		if (!unread || spread(totals, sites, span, true, ns_per_tick) ||
				spread(totals, sites, span, false, ns_per_tick))
			continue;
		add_tally(&totals->unclassified, (double)unread,
				(double)atomic_load_explicit(
						&span->unread_ticks, memory_order_relaxed),
				ns_per_tick);
	}
}

void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, double ns_per_tick)
{
	attribute_unread(totals, sites, ns_per_tick);
	add_tally(&totals->unclassified, account->unclassified_bursts, account->unclassified_ticks,
			ns_per_tick);
	add_tally(&totals->compute, account->bursts, account->ticks, ns_per_tick);
	add_tally(&totals->shorts, account->short_bursts, account->short_ticks, ns_per_tick);
	totals->calls += account->calls;
	totals->reads += account->reads;
	totals->switches += account->switches;
	totals->lost += account->lost;
	totals->threads++;
}
