/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/totals.h"

#include <math.h>

static void add_tally(struct tally *tally, double bursts, double ticks, double ns_per_tick)
{
	tally->bursts += bursts;
	tally->seconds += ticks * ns_per_tick * 1e-9;
}

double totals_threads(const struct totals *totals, double wall_seconds)
{
	return account_mean_threads(totals->threads, totals->ended_threads, totals->ended_seconds,
			wall_seconds);
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

/* Adds the placed bursts in no phase, together with the read ones that no prototype claimed. */
static void add_placed(struct totals *totals, const struct unread_placed *placed,
		const struct account *account, double ns_per_tick)
{
	struct tally unclassified = placed->unclassified;

	add_tally(&unclassified, account->unclassified_bursts, account->unclassified_ticks,
			ns_per_tick);
	totals->shorts.bursts += placed->shorts.bursts;
	totals->shorts.seconds += placed->shorts.seconds;
	/* rounding may make this negative, because short bursts were subtracted */
	totals->unclassified.bursts += fmax(unclassified.bursts, 0);
	totals->unclassified.seconds += fmax(unclassified.seconds, 0);
	totals->compute.bursts += placed->slices;
}

void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, const uint32_t *phase, uint32_t prototypes,
		const struct totals_clock *clock)
{
	double ns_per_tick = clock->ns_per_tick;
	struct work work = account_work(account, clock->skip_ticks);
	struct unread_placed placed = unread_add(&totals->unread, sites, phase, prototypes,
			clock->burst_min, ns_per_tick);

	add_placed(totals, &placed, account, ns_per_tick);
	add_tally(&totals->unclaimed, account->unclassified_bursts, account->unclassified_ticks,
			ns_per_tick);
	add_tally(&totals->compute, account->bursts, account->ticks, ns_per_tick);
	add_tally(&totals->shorts, account->short_bursts, account->short_ticks, ns_per_tick);
	add_tally(&totals->polling, account->polls, account->poll_ticks, ns_per_tick);
	totals->calls += account->calls;
	totals->skipped += account->skipped;
	totals->reads += account->reads;
	totals->switches += account->switches;
	totals->lost += account->lost;
	totals->slices += account->slices;
	totals->samples += account->samples;
	totals->lost_samples += account->lost_samples;
	totals->paths += account->paths;
	totals->rested_calls += account->rested_calls;
	totals->rested_seconds += account->rested_ticks * ns_per_tick * 1e-9;
	totals->spared_bursts += account->spared_bursts;
	totals->repeated_seconds += account->repeated_ticks * ns_per_tick * 1e-9;
	totals->repeated_calls += account->repeated_calls;
	totals->left_loops += account->left_loops;
	totals->checks += account->checks;
	totals->differing_checks += account->differing_checks;
	totals->merged_calls += account->merged_calls;
	add_work(totals, &work, ns_per_tick);
	totals->threads += account->threads;
	totals->ended_threads += account->ended;
	totals->ended_seconds += (account->ended_ticks - account->late_ticks) * ns_per_tick * 1e-9;
}
