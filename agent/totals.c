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

/* How unread bursts spread: over the shares of which spans, and in what proportion. */
struct spreading {
	bool same_end; /* the span's own; false: of all spans that start at the same site */
	bool by_chance; /* for how many unread ones each read burst stands; false: as the read ones */
};

static struct tally share_weight(const struct span_share *share, bool by_chance)
{
	return by_chance ? (struct tally){ share->unread, share->unread_ticks } :
			   (struct tally){ share->read, share->ticks };
}

/* Bursts, and ticks, that are placed by their call sites. */
static struct tally unread_of(const struct span *span)
{
	struct tally unread = {
		(double)atomic_load_explicit(&span->unread, memory_order_relaxed) + span->left,
		(double)atomic_load_explicit(&span->unread_ticks, memory_order_relaxed) +
				span->left_ticks,
	};

	return unread;
}

/* Spreads the bursts of `span` that were not read over prototypes. False: nothing tells how. */
static bool spread(struct totals *totals, const struct site_table *sites, const struct span *span,
		struct spreading how, double ns_per_tick)
{
	struct tally unread = unread_of(span), all = { 0, 0 };

	for (int pass = 0; pass < 2; pass++)
		for (const struct span *of = sites->span; of <= sites->span + sites->spans; of++) {
			if (!of->used || of->from != span->from || (how.same_end && of != span))
				continue;
			for (unsigned i = 0; i < SPAN_SHARES_MAX && of->share[i].read; i++) {
				struct tally weight = share_weight(&of->share[i], how.by_chance);

				if (pass == 0) {
					all.bursts += weight.bursts;
					all.seconds += weight.seconds;
				} else if (all.bursts > 0 && all.seconds > 0) {
					add_tally(tally_of(totals, of->share[i].prototype),
							unread.bursts * weight.bursts / all.bursts,
							unread.seconds * weight.seconds /
									all.seconds,
							ns_per_tick);
				}
			}
		}
	return all.bursts > 0 && all.seconds > 0;
}

/* What was not read goes where the best that is known of it says. */
static void attribute_unread(struct totals *totals, const struct site_table *sites,
		double ns_per_tick)
{
	static const struct spreading best_first[] = { { true, true }, { true, false },
		{ false, true }, { false, false } };

	for (const struct span *span = sites->span; span <= sites->span + sites->spans; span++) {
		struct tally unread = unread_of(span);
		bool placed = unread.bursts <= 0;

		for (size_t i = 0; i < sizeof(best_first) / sizeof(*best_first) && !placed; i++)
			placed = spread(totals, sites, span, best_first[i], ns_per_tick);
		if (!placed)
			add_tally(&totals->unclassified, unread.bursts, unread.seconds,
					ns_per_tick);
	}
}

struct work account_work(const struct account *account, double passed_ticks)
{
	return (struct work){
		.calls = account->hook_ticks + account->passed * passed_ticks,
		.reads = account->read_ticks,
		.switches = account->switch_ticks,
		.services = account->service_ticks,
		.samples = account->sample_ticks,
	};
}

double work_sum(const struct work *work)
{
	return work->calls + work->reads + work->switches + work->services + work->samples;
}

static void add_work(struct totals *totals, const struct work *ticks, double ns_per_tick)
{
	double seconds = ns_per_tick * 1e-9;

	totals->work.calls += ticks->calls * seconds;
	totals->work.reads += ticks->reads * seconds;
	totals->work.switches += ticks->switches * seconds;
	totals->work.services += ticks->services * seconds;
	totals->work.samples += ticks->samples * seconds;
	totals->agent_seconds += work_sum(ticks) * seconds;
}

void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, double passed_ticks, double ns_per_tick)
{
	struct work work = account_work(account, passed_ticks);

	attribute_unread(totals, sites, ns_per_tick);
	add_tally(&totals->unclassified, account->unclassified_bursts, account->unclassified_ticks,
			ns_per_tick);
	add_tally(&totals->compute, account->bursts, account->ticks, ns_per_tick);
	add_tally(&totals->shorts, account->short_bursts, account->short_ticks, ns_per_tick);
	totals->calls += account->calls;
	totals->passed += account->passed;
	totals->reads += account->reads;
	totals->switches += account->switches;
	totals->lost += account->lost;
	totals->slices += account->slices;
	totals->samples += account->samples;
	totals->lost_samples += account->lost_samples;
	add_work(totals, &work, ns_per_tick);
	totals->threads++;
}
