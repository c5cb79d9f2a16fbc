/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/report/phase_json.h"
#include "agent/report/parts/region_json.h"
#include "agent/report/parts/run_json.h"
#include "agent/report/silent.h"
#include "multiplex/estimate/layout.h"

#define OVER_BUDGET 1.1 /* times the budget: a higher cost is reported as over the budget */

static json_t *groups(const struct counting *counting)
{
	json_t *list = json_array();

	for (unsigned g = 0; g < counting->plan.groups; g++) {
		const struct plan_group *group = &counting->plan.group[g];
		json_t *events = json_array();

		for (unsigned i = 0; i < group->count; i++)
			events = document_append(events,
					document_text(counting->event[group->event[i]].name));
		list = document_append(list, json_pack("{s:o}", "events", events));
	}
	return list;
}

static json_t *warnings(const struct counting *counting, const struct silent *silent)
{
	json_t *list = json_array();
	char text[1024];

	for (unsigned i = 0; i < counting->warnings; i++)
		list = document_append(list, document_text(counting->warning[i]));
	if (silent->count) {
		silent_explain(silent, counting, text, sizeof(text));
		list = document_append(list, document_text(text));
	}
	return list;
}

/*
 * Returns the parallel efficiency = load balance x communication efficiency (thesis 9.3). If ranks have
 * threads, it is also MPI efficiency x thread efficiency. MPI efficiency is the share of the time that ranks
 * are not in MPI. Thread efficiency is the share of this time that their threads compute.
 */
static json_t *efficiency(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	double threads = totals_threads(totals, facts->wall_seconds);
	/* what was computed in rests is estimated, and may be more than there was time for */
	double mean = fmin(document_share(totals->compute.seconds, threads), facts->wall_seconds);
	double most = fmin(facts->compute_seconds_most, facts->wall_seconds);
	double outside = totals->outside_mpi_seconds, all = threads * facts->wall_seconds;
	json_t *object;

	object = json_pack("{s:o,s:o,s:o}", "parallel",
			document_number(document_share(mean, facts->wall_seconds)), "load_balance",
			document_number(document_share(mean, most)), "communication",
			document_number(document_share(most, facts->wall_seconds)));

	if (outside > 0 && totals->threads > facts->world->size) {
		object = document_set(object, "mpi", document_number(document_share(outside, all)));
		object = document_set(object, "threads",
				document_number(fmin(document_share(mean * threads, outside), 1)));
	}
	return object;
}

/* Returns the sum of the threads' lifetimes, in seconds. */
static double available(const struct report_facts *facts)
{
	return facts->wall_seconds * totals_threads(facts->totals, facts->wall_seconds);
}

static json_t *tally(const struct tally *part, const struct totals *totals)
{
	return json_pack("{s:o,s:o}", "time_share",
			document_number(document_share(part->seconds, totals->compute.seconds)),
			"bursts", document_whole(part->bursts));
}

/* Returns the report's "polling": the time between calls that only ask. */
static json_t *polling(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	const struct tally *polling = &totals->polling;

	return json_pack("{s:o,s:o,s:o}", "seconds", document_number(polling->seconds),
			"time_share",
			document_number(document_share(polling->seconds, available(facts))),
			"bursts", document_whole(polling->bursts));
}

/*
 * Returns the share of the program's time that the agent costs, if ranks wait for each other between any two
 * bursts. Work that all ranks do at the same moment counts once. Work that each does at its own moments counts
 * as often as any rank does it. If a rank reads a part p of its bursts, at least one of P ranks reads in
 * 1 - (1 - p)^P of the steps.
 */
static double waited_share(const struct report_facts *facts, double available)
{
	const struct totals *totals = facts->totals;
	double own = totals->work.reads + totals->work.switches + totals->work.samples;
	double read = fmin(1, document_share(totals->reads / 2, totals->compute.bursts));
	double times = read > 0 ? (1 - pow(1 - read, facts->waiting)) / read : facts->waiting;

	return document_share(totals->agent_seconds + own * (times - 1), available);
}

/*
 * Returns the kind of work that took most of the agent's time, if that exceeded the budget by more than a
 * tenth; else NULL. Work that ranks wait for counts as often as in waited_share.
 */
static const char *over_budget(const struct report_facts *facts, double available)
{
	const struct totals *totals = facts->totals;
	const struct work *work = &totals->work;
	double own = waited_share(facts, available) * available - totals->agent_seconds;
	double read = work->reads + work->switches + work->samples;
	double times = read > 0 ? 1 + own / read : 1;
	const struct {
		const char *name;
		double seconds;
	} kinds[] = { { "start and end",
				      totals->agent_seconds - work->calls - work->services -
						      totals->helper_seconds - read },
		{ "calls", work->calls }, { "services", work->services },
		{ "helper", totals->helper_seconds }, { "reads", times * work->reads },
		{ "switches", times * work->switches }, { "samples", times * work->samples } };
	size_t most = 0;

	if (!(facts->budget > 0) || !(waited_share(facts, available) > OVER_BUDGET * facts->budget))
		return NULL;
	for (size_t i = 1; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].seconds > kinds[most].seconds)
			most = i;
	return kinds[most].name;
}

/* Returns the agent's own work and its cost. Takes over the reference to interval_cost. */
static json_t *agent(const struct report_facts *facts, json_t *interval_cost)
{
	const struct totals *totals = facts->totals;
	const struct work *work = &totals->work;
	double all = available(facts);
	double read_seconds = totals->reads > 0 ? totals->work.reads / totals->reads :
						  facts->counting->probe.read_ns * 1e-9;

	const char *over = over_budget(facts, all);

	return json_pack(
			"{s:o,s:{s:o,s:o,s:o,s:o,s:o,s:o},s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o}",
			"interval_cost", interval_cost, "work", "calls",
			document_number(work->calls), "reads", document_number(work->reads),
			"switches", document_number(work->switches), "services",
			document_number(work->services), "samples", document_number(work->samples),
			"helper", document_number(totals->helper_seconds), "seconds",
			document_number(totals->agent_seconds), "share",
			document_number(waited_share(facts, all)), "processor_share",
			document_number(document_share(totals->agent_seconds, all)),
			"start_seconds",
			document_number(document_share(totals->start_seconds, facts->world->size)),
			"end_seconds",
			document_number(document_share(totals->end_seconds, facts->world->size)),
			"bytes",
			document_whole(document_share(totals->agent_bytes, facts->world->size)),
			"calls", document_whole(totals->calls), "passed_calls",
			document_whole(totals->skipped), "reads", document_whole(totals->reads),
			"read_seconds", document_number(read_seconds), "rounds", (int)facts->rounds,
			"switches", document_whole(totals->switches), "budget",
			document_number(facts->budget), "over_budget",
			over ? json_string(over) : json_null());
}

/* Returns the bursts that were not read, but attributed to phases through call sites. */
static json_t *not_read(const struct totals *totals)
{
	struct tally all = { 0, 0 };

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		all.bursts += totals->unread.prototype[p].bursts;
		all.seconds += totals->unread.prototype[p].seconds;
	}
	return tally(&all, totals);
}

/* Share of the computing time above which the report explains unclassified time. */
#define UNCLASSIFIED_MANY 0.03

/* Length of a run below which phases are learnt from too few bursts. */
#define SHORT_RUN_SECONDS 2.

/* Part of the budget from which it may be what keeps bursts from being read. */
#define BUDGET_LIMITS 0.5

struct cause {
	const char *cause, *advice;
};

/* Returns the most likely reason why bursts are in no phase, and what to do. */
static struct cause find_cause(const struct report_facts *facts)
{
	static const struct cause none = { "no bursts were alike often enough to form a phase",
		"run the program for longer, or with a larger PHASEMUX_BUDGET" };
	static const struct cause full = { "all prototypes that phases are made of are in use",
		"cluster by fewer metrics, as with PHASEMUX_CLUSTER_BY=duration" };
	static const struct cause brief = { "the run was too short to learn all of its phases",
		"run the program for longer" };
	static const struct cause unread = {
		"most of these bursts were not read, and none that was "
		"read between the same calls is in a phase",
		"a larger PHASEMUX_BUDGET reads more of them"
	};
	static const struct cause late = {
		"most of these bursts ended before their phase was known, and had no room to wait",
		"a longer run learns its phases in a smaller part of it"
	};
	static const struct cause diverse = {
		"these bursts are not alike often enough to form a phase",
		"a longer run may repeat them, or PHASEMUX_CLUSTER_BY=duration,callpath group them"
	};
	const struct totals *totals = facts->totals;
	bool limited;

	if (!facts->table->phases)
		return none;
	if (facts->table->count >= PROTOTYPES_MAX)
		return full;
	if (facts->wall_seconds < SHORT_RUN_SECONDS)
		return brief;
	if (totals->unclaimed.seconds >= totals->unclassified.seconds / 2)
		return diverse;
	limited = facts->budget > 0 &&
			waited_share(facts, available(facts)) > BUDGET_LIMITS * facts->budget;
	return limited ? unread : late;
}

/* Returns the bursts in no phase. If they take much of the time, adds the cause and what to do. */
static json_t *unclassified(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	json_t *object = tally(&totals->unclassified, totals);
	struct cause cause;

	if (!(document_share(totals->unclassified.seconds, totals->compute.seconds) >
			    UNCLASSIFIED_MANY))
		return object;
	cause = find_cause(facts);
	object = document_set(object, "cause", json_string(cause.cause));
	return document_set(object, "advice", json_string(cause.advice));
}

/* Returns the number of bursts whose counters could not be read or were impossible; they count as not read. */
static json_t *lost(const struct totals *totals)
{
	return json_pack("{s:o}", "bursts", document_whole(totals->lost));
}

/* Returns the kernel's samples in bursts that were read, the slices cut at them, and the lost samples. */
static json_t *samples(const struct totals *totals)
{
	return json_pack("{s:o,s:o,s:o}", "in_bursts", document_whole(totals->samples), "slices",
			document_whole(totals->slices), "lost",
			document_whole(totals->lost_samples));
}

/*
 * Returns the time in which the agent observed nothing, to keep within the budget, and the number of calls in
 * it. Adds the threads that were not observed at all, because too many existed at the same time.
 */
static json_t *not_observed(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;

	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "seconds",
			document_number(totals->rested_seconds), "time_share",
			document_number(document_share(totals->rested_seconds, available(facts))),
			"calls", document_whole(totals->rested_calls), "threads",
			document_whole(totals->beyond_threads), "threads_processor_seconds",
			document_number(totals->beyond_seconds));
}

/* Returns the number of call paths that are kept, and the number of calls by other paths. */
static json_t *call_paths(const struct totals *totals)
{
	return json_pack("{s:o,s:o}", "kept", document_whole(totals->paths), "merged_calls",
			document_whole(totals->merged_calls));
}

static json_t *stretches(const struct report_facts *facts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < facts->stretches; i++) {
		const struct stretch *stretch = &facts->stretch[i];

		list = document_append(list,
				json_pack("{s:o,s:o,s:b}", "seconds",
						document_number(stretch->seconds), "calls",
						document_whole((double)stretch->calls), "on",
						stretch->observed));
	}
	return list;
}

/* Returns by how much the program was slower while it was observed, or null if it was observed all the time. */
static json_t *toggle(const struct report_facts *facts)
{
	const struct slowdown *slowdown = facts->slowdown;

	if (!slowdown)
		return json_null();
	return json_pack("{s:o,s:i,s:{s:o,s:o,s:o},s:o}", "off_seconds",
			document_number(facts->off_seconds), "compared", (int)slowdown->compared,
			"slowdown", "mean", document_number(slowdown->mean), "ci95",
			document_number(slowdown->ci95), "median",
			document_number(slowdown->median), "stretches", stretches(facts));
}

/* Returns the time in which the program had paused phasemux, or null if it never did. */
static json_t *paused(const struct report_facts *facts)
{
	if (!facts->paused)
		return json_null();
	return json_pack("{s:o,s:o}", "seconds", document_number(facts->off_seconds), "time_share",
			document_number(document_share(facts->off_seconds,
					facts->wall_seconds + facts->off_seconds)));
}

void report_account(json_t *report, const struct report_facts *facts)
{
	json_t *cost = json_object_get(json_object_get(report, "agent"), "interval_cost");

	/* without memory, the part stays as it was */
	json_object_set_new(report, "agent", agent(facts, json_incref(cost)));
}

/*
 * Takes prototypes of short bursts out of their phases, and counts their bursts as short. Such bursts were
 * read and classified before it was known how short a burst is too short. No later training corrects them,
 * because no later sample holds such bursts.
 */
static void leave_out_short(const struct report_facts *facts, struct prototype_table *table,
		struct totals *totals)
{
	for (unsigned p = 0; p < table->count; p++) {
		const double *common = sums_common(facts->sums, p);
		struct tally *unread = &totals->unread.prototype[p];

		if (!phase_labels_is_short(facts->sums, p, facts->burst_min_seconds))
			continue;
		table->all[p].phase = 0;
		totals->shorts.bursts += common[BLOCK_READ] + unread->bursts;
		totals->shorts.seconds += common[COMMON_ELAPSED] + unread->seconds;
		*unread = (struct tally){ 0, 0 };
	}
}

/* Returns the emulated processor of the counts, or null if they were measured. */
static json_t *emulated(const struct processor *processor)
{
	char core[sizeof(processor->brand)];

	if (!processor_is_emulated(processor, core, sizeof(core)))
		return json_null();
	return json_pack("{s:o}", "core", document_text(core));
}

/* Sets what the run was, and what could be counted in it. */
static json_t *set_run(json_t *report, const struct report_facts *facts)
{
	const struct counting *counting = facts->counting;
	const char *model = counting->model ? model_name(counting->model) :
			counting->hardware  ? "events" :
					      "time";

	report = document_set(report, "command", run_command(facts->command, facts->command_bytes));
	report = document_set(report, "programs", run_programs(facts->programs));
	report = document_set(report, "job", run_job(facts->job));
	report = document_set(report, "date", run_date(facts->started));
	report = document_set(report, "hosts", run_hosts(facts->hosts));
	report = document_set(report, "scheme", json_string(scheme_name(facts->scheme)));
	report = document_set(report, "ranks", json_integer(facts->alone ? 1 : facts->world->size));
	report = document_set(report, "threads", document_whole(facts->totals->threads));
	report = document_set(report, "threads_mean",
			document_number(totals_threads(facts->totals, facts->wall_seconds)));
	report = document_set(report, "mpi", document_text(facts->world->library));
	report = document_set(report, "processor", document_text(counting->processor.brand));
	report = document_set(report, "emulated", emulated(&counting->processor));
	report = document_set(report, "model", json_string(model));
	report = document_set(report, "counters",
			json_integer(counting->hardware ? counting->probe.counters : 0));
	return document_set(report, "without_counters",
			counting->hardware ? json_null() : document_text(counting->obstacle));
}

/* Sets what is in no phase, what was not observed, and what the agent did. Takes over the reference to interval_cost. */
static json_t *set_rest(json_t *report, const struct report_facts *facts, json_t *interval_cost)
{
	const struct totals *totals = facts->totals;

	report = document_set(report, "unclassified", unclassified(facts));
	report = document_set(report, "short", tally(&totals->shorts, totals));
	report = document_set(report, "polling", polling(facts));
	report = document_set(report, "not_read", not_read(totals));
	report = document_set(report, "lost", lost(totals));
	report = document_set(report, "samples", samples(totals));
	report = document_set(report, "not_observed", not_observed(facts));
	report = document_set(report, "call_paths", call_paths(totals));
	report = document_set(report, "agent", agent(facts, interval_cost));
	report = document_set(report, "paused", paused(facts));
	report = document_set(report, "toggle", toggle(facts));
	report = document_set(report, "leads",
			run_leads(facts->leads, facts->clusters, totals,
					facts->wall_seconds * facts->world->size));
	return document_set(report, "region",
			region_json(facts->region, &totals->region,
					json_object_get(report, "phases")));
}

/* Returns what each training has found, or null if it is not known (NULL). */
static json_t *rounds(const struct history *history)
{
	json_t *list = json_array();

	if (!history) {
		json_decref(list);
		return json_null();
	}
	for (unsigned i = 0; i < history->count; i++) {
		const struct history_round *round = &history->round[i];

		list = document_append(list,
				json_pack("{s:o,s:i,s:i,s:i,s:i,s:i,s:o}", "seconds",
						document_number(round->seconds), "sampled_bursts",
						(int)round->sampled, "phases", (int)round->phases,
						"came", (int)round->came, "went", (int)round->went,
						"prototypes", (int)round->prototypes, "kept",
						i ? document_number((double)round->kept) :
						    json_null()));
	}
	return list;
}

static json_t *build(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	json_t *report = json_object();
	struct phase_parts parts;
	struct silent silent = { .count = 0 };

	if (!report)
		return NULL;
	phase_parts(facts, &silent, &parts);
	report = document_set(report, "phasemux", json_integer(1));
	report = document_set(report, "version", json_string(PHASEMUX_VERSION));
	report = set_run(report, facts);
	report = document_set(report, "warnings", warnings(facts->counting, &silent));
	report = document_set(report, "groups", groups(facts->counting));
	report = document_set(report, "wall_seconds", document_number(facts->wall_seconds));
	report = document_set(report, "compute_seconds", document_number(totals->compute.seconds));
	report = document_set(report, "bursts", document_whole(totals->compute.bursts));
	report = document_set(report, "burst_min_seconds",
			document_number(facts->burst_min_seconds));
	report = document_set(report, "efficiency", efficiency(facts));
	report = document_set(report, "rank_times",
			run_rank_times(facts->times, facts->alone ? 1 : facts->world->size,
					facts->wall_seconds));
	report = document_set(report, "phases", parts.phases);
	report = document_set(report, "timeline", parts.timeline);
	report = document_set(report, "rounds", rounds(facts->history));
	report = document_set(report, "sample", parts.sample);
	report = document_set(report, "structure", parts.structure);
	report = set_rest(report, facts, parts.interval_cost);
	if (facts->recovered)
		report = document_set(report, "recovered", json_incref((json_t *)facts->recovered));
	return report;
}

json_t *report_build(const struct report_facts *facts)
{
	struct report_facts of_long = *facts;
	struct prototype_table *table = malloc(sizeof(*table));
	struct totals *totals = malloc(sizeof(*totals));
	json_t *report = NULL;

	if (table && totals) {
		*table = *facts->table;
		*totals = *facts->totals;
		leave_out_short(facts, table, totals);
		of_long.table = table;
		of_long.totals = totals;
		report = build(&of_long);
	}
	free(totals);
	free(table);
	return report;
}
