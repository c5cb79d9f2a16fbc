/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/report/parts/fold_json.h"
#include "agent/report/parts/hotspots.h"
#include "agent/report/parts/places.h"
#include "agent/report/parts/run_json.h"
#include "agent/report/silent.h"
#include "agent/report/parts/structure.h"
#include "multiplex/estimate/layout.h"

#define OUTSIDE_FEW                                                                                \
	0.1 /* share of a phase that may be outside of the iterations if it is counted per iteration */
#define TOGETHER_FEW                                                                               \
	0.01 /* share of the computing time below which phases of one place are not joined */
#define OVER_BUDGET 1.1 /* times the budget: a higher cost is reported as over the budget */

static json_t *whole(double value)
{
	return json_integer((json_int_t)llround(value));
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* ---- the run ---- */

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
	double mean = fmin(share(totals->compute.seconds, threads), facts->wall_seconds);
	double most = fmin(facts->compute_seconds_most, facts->wall_seconds);
	double outside = totals->outside_mpi_seconds, all = threads * facts->wall_seconds;
	json_t *object;

	object = json_pack("{s:o,s:o,s:o}", "parallel",
			document_number(share(mean, facts->wall_seconds)), "load_balance",
			document_number(share(mean, most)), "communication",
			document_number(share(most, facts->wall_seconds)));

	if (outside > 0 && totals->threads > facts->world->size) {
		object = document_set(object, "mpi", document_number(share(outside, all)));
		object = document_set(object, "threads",
				document_number(fmin(share(mean * threads, outside), 1)));
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
			document_number(share(part->seconds, totals->compute.seconds)), "bursts",
			whole(part->bursts));
}

/* Returns the report's "polling": the time between calls that only ask. */
static json_t *polling(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	const struct tally *polling = &totals->polling;

	return json_pack("{s:o,s:o,s:o}", "seconds", document_number(polling->seconds),
			"time_share", document_number(share(polling->seconds, available(facts))),
			"bursts", whole(polling->bursts));
}

/* ---- phases ---- */

struct phase {
	uint32_t number; /* in the table of prototypes */
	struct phase_estimate estimate;
	struct tally all; /* bursts that were read, and those that were placed */
	struct tally_error error;
};

static int by_time(const void *a, const void *b)
{
	double x = ((const struct phase *)a)->all.seconds;
	double y = ((const struct phase *)b)->all.seconds;

	return (x < y) - (x > y);
}

static void phase_members(const struct prototype_table *table, uint32_t number,
		bool member[PROTOTYPES_MAX])
{
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		member[p] = p < table->count && table->all[p].phase == number;
}

/* Returns the unread bursts of a phase, with the variances of their number and time. */
static struct phase_unread unread_of(const struct report_facts *facts, const bool *member,
		uint32_t number)
{
	const struct unread *all = &facts->totals->unread;
	struct phase_unread unread = { .bursts = 0 };

	for (unsigned p = 0; p < facts->table->count; p++)
		if (member[p]) {
			unread.bursts += all->prototype[p].bursts;
			unread.seconds += all->prototype[p].seconds;
		}
	if (number <= PROTOTYPES_MAX) {
		unread.bursts2 = all->phase[number - 1].bursts2;
		unread.bursts_seconds = all->phase[number - 1].bursts_seconds;
		unread.seconds2 = all->phase[number - 1].seconds2;
	}
	return unread;
}

/* Returns the half-width of the 95% interval of a quantity with this variance. */
static double half_width(double variance)
{
	return 1.96 * sqrt(fmax(variance, 0));
}

/* Fills phases (room for PROTOTYPES_MAX), most time first. Returns how many have bursts. */
static unsigned estimate_phases(const struct report_facts *facts, struct phase *phases)
{
	const struct prototype_table *table = facts->table;
	unsigned count = 0;

	for (uint32_t number = 1; number <= table->phases && count < PROTOTYPES_MAX; number++) {
		struct phase *phase = &phases[count];
		struct phase_unread unread;
		bool member[PROTOTYPES_MAX];

		phase_members(table, number, member);
		phase->number = number;
		unread = unread_of(facts, member, number);
		estimate_phase(facts->sums, member, &unread, &phase->estimate);
		phase->all.bursts = (double)phase->estimate.read + unread.bursts;
		phase->all.seconds = phase->estimate.seconds + unread.seconds;
		phase->error = (struct tally_error){ unread.bursts2, unread.bursts_seconds,
			unread.seconds2 };
		count += phase->estimate.read > 0 && phase->all.seconds > 0;
	}
	qsort(phases, count, sizeof(*phases), by_time);
	return count;
}

/* Returns whether every burst of the phase was read, so that nothing is estimated. */
static bool is_read_whole(const struct phase *phase)
{
	return phase->all.bursts <= (double)phase->estimate.read + 1e-6;
}

/* Returns the half-width of an event's interval; NAN if one burst was read, because it shows no variation. */
static double event_interval(const struct phase *phase, const struct estimate *event)
{
	bool exact = is_read_whole(phase) && event->observed == phase->estimate.read;

	return event->observed > 1 ? estimate_interval(event->mean, event->ci95, exact) : NAN;
}

/* Returns each event's mean in a phase, and its spread between bursts. */
static json_t *counters(const struct report_facts *facts, const struct phase *phase)
{
	const struct counting *counting = facts->counting;
	struct spread spread[PLAN_EVENTS_MAX];
	bool member[PROTOTYPES_MAX];
	json_t *object = json_object();

	phase_members(facts->table, phase->number, member);
	estimate_spread(facts->sums, member, phase->number, spread);
	for (unsigned e = 0; e < counting->plan.events; e++) {
		const struct estimate *event = &phase->estimate.event[e];
		json_t *row = json_pack("{s:o,s:o,s:o,s:o}", "mean",
				document_number(event->observed ? event->mean : NAN), "ci95",
				document_number(event_interval(phase, event)), "observed",
				whole((double)event->observed), "sd",
				document_number(spread[e].sd));

		if (spread[e].deciles) {
			json_t *deciles = json_array();

			for (unsigned d = 0; d < 9; d++)
				deciles = document_append(deciles,
						document_number(spread[e].decile[d]));
			row = document_set(row, "deciles", deciles);
		}
		object = document_set(object, counting->event[e].name, row);
	}
	return object;
}

/* Copies the estimates to the model's event numbers. Events that this machine cannot count are not observed. */
static void by_model_event(const struct counting *counting, const struct phase_estimate *estimate,
		struct phase_estimate *out)
{
	*out = *estimate;
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++)
		out->event[e] = (struct estimate){ .mean = NAN, .ci95 = INFINITY, .observed = 0 };
	for (unsigned e = 0; e < counting->plan.events; e++)
		out->event[counting->model_event[e]] = estimate->event[e];
}

/* Returns the half-width of the interval of a value that is derived from several counters. scale: the value. */
static double derived_interval(const struct counting *counting, const struct phase *phase,
		double scale, double ci95)
{
	bool exact = is_read_whole(phase) && counting->plan.groups == 1;

	return phase->estimate.read > 1 ? estimate_interval(scale, ci95, exact) : NAN;
}

static json_t *breakdown(const struct counting *counting, const struct phase *phase)
{
	const struct phase_estimate *estimate = &phase->estimate;
	double cpi = estimate->event[0].mean / estimate->event[1].mean;
	struct cpi_component components[MODEL_COMPONENTS_MAX];
	struct phase_estimate by_model;
	json_t *list = json_array();
	unsigned count;

	if (!counting->model || !counting->hardware)
		return list;
	by_model_event(counting, estimate, &by_model);
	count = model_breakdown(counting->model, &by_model, components);
	for (unsigned i = 0; i < count; i++)
		list = document_append(list,
				json_pack("{s:s,s:i,s:o,s:o}", "component", components[i].name,
						"level", (int)components[i].level, "cpi",
						document_number(components[i].cpi), "ci95",
						document_number(derived_interval(counting, phase,
								cpi, components[i].ci95))));
	return list;
}

/* Returns the model's derived metrics, as far as this machine could count their events. */
static json_t *metrics(const struct counting *counting, const struct phase *phase)
{
	struct model_metric values[MODEL_METRICS_MAX];
	struct phase_estimate by_model;
	json_t *object = json_object();
	unsigned count;

	if (!counting->model || !counting->hardware)
		return object;
	by_model_event(counting, &phase->estimate, &by_model);
	count = model_metrics(counting->model, &by_model, values);
	for (unsigned i = 0; i < count; i++)
		if (!isnan(values[i].value))
			object = document_set(object, values[i].name,
					json_pack("{s:o,s:o,s:s}", "value",
							document_number(values[i].value), "ci95",
							document_number(derived_interval(counting,
									phase, values[i].value,
									values[i].ci95)),
							"unit", values[i].unit));
	return object;
}

/* Returns the numbers of the phase's prototypes, as in the table of bursts. */
static json_t *prototypes(const struct prototype_table *table, uint32_t number)
{
	json_t *list = json_array();

	for (unsigned p = 0; p < table->count; p++)
		if (table->all[p].phase == number)
			list = document_append(list, json_integer(p));
	return list;
}

/* Returns what the balance of phases is compared with. */
static struct run_seconds run_seconds(const struct report_facts *facts)
{
	const struct totals *totals = facts->totals;
	double threads = totals_threads(totals, facts->wall_seconds);

	return (struct run_seconds){
		.wall = totals->threads > facts->world->size ? NAN : facts->wall_seconds,
		.waiting = facts->wall_seconds - share(totals->compute.seconds, threads),
	};
}

/* Returns how a phase is distributed over the ranks; NULL: not known. */
static const struct phase_rank *ranks_of(const struct report_facts *facts, uint32_t number)
{
	const struct phase_ranks *ranks = facts->phase_ranks;

	return ranks && number <= ranks->phases ? &ranks->phase[number - 1] : NULL;
}

/* Adds how the phase is distributed over the ranks. */
static json_t *add_ranks(json_t *object, const struct report_facts *facts, uint32_t number)
{
	struct run_seconds seconds = run_seconds(facts);

	return run_phase_ranks(object, ranks_of(facts, number), facts->counting->hardware,
			&seconds);
}

/* Adds how a phase and the others of its set (phase_sets.h) are distributed together, if it is in one with enough time. */
static json_t *add_together(json_t *object, const struct report_facts *facts,
		const struct phase *phases, unsigned count, uint32_t number)
{
	const struct phase_sets *sets = facts->phase_sets;
	const struct phase_rank *set = sets && facts->phase_ranks ?
			phase_sets_of(sets, facts->phase_ranks, number) :
			NULL;
	struct run_seconds seconds = run_seconds(facts);
	json_t *list;

	if (!set || set->seconds < TOGETHER_FEW * facts->totals->compute.seconds)
		return object;
	list = json_array();
	for (unsigned i = 0; i < count; i++)
		if (sets->set[phases[i].number - 1] == sets->set[number - 1])
			list = document_append(list, json_integer((json_int_t)i + 1));
	return document_set(object, "together",
			run_phase_ranks(json_pack("{s:o}", "phases", list), set,
					facts->counting->hardware, &seconds));
}

/*
 * Returns the bursts and the time of the phase in an iteration of a rank that executes it, or null if that is not known: so
 * much of the phase may be outside of the iterations, or ranks have several threads.
 */
static json_t *per_iteration(const struct report_facts *facts, const struct phase *phase)
{
	const struct phase_rank *of = ranks_of(facts, phase->number);
	struct structure_iterations iterations = structure_iterations(facts->structures);
	double all, outside = iterations.outside * facts->totals->compute.seconds;

	if (!of || !of->ranks || !(iterations.rounds > 0) ||
			facts->totals->threads > facts->world->size ||
			!(outside <= OUTSIDE_FEW * phase->all.seconds) ||
			!(iterations.equal || (int)of->ranks == facts->world->size))
		return json_null();
	all = iterations.rounds * of->ranks;
	return json_pack("{s:o,s:o}", "bursts", document_number(phase->all.bursts / all), "seconds",
			document_number(phase->all.seconds / all));
}

/* Returns how the length of the phase's bursts changes while the run goes on, or null. */
static json_t *drift_object(const struct report_facts *facts, const struct phase *phase)
{
	bool member[PROTOTYPES_MAX];
	struct drift drift;

	phase_members(facts->table, phase->number, member);
	drift = estimate_drift(facts->sums, member);
	if (!isfinite(drift.change))
		return json_null();
	return json_pack("{s:o,s:o}", "change", document_number(drift.change), "ci95",
			document_number(drift.ci95));
}

static json_t *phase_object(const struct report_facts *facts, struct places *places,
		const struct phase *phase, int id)
{
	const struct phase_estimate *estimate = &phase->estimate;
	double cycles = NAN, instructions = NAN;
	json_t *object;

	if (facts->counting->hardware) {
		cycles = estimate->event[0].mean;
		instructions = estimate->event[1].mean;
	}
	object = json_pack(
			"{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o},s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			"id", id, "prototypes", prototypes(facts->table, phase->number),
			"time_share",
			document_number(share(phase->all.seconds, facts->totals->compute.seconds)),
			"time_share_ci95",
			document_number(half_width(phase->error.seconds2) /
					facts->totals->compute.seconds),
			"bursts", whole(phase->all.bursts), "bursts_ci95",
			document_number(half_width(phase->error.bursts2)), "read",
			whole((double)estimate->read), "slices", whole((double)estimate->slices),
			"duration_seconds", "mean",
			document_number(share(phase->all.seconds, phase->all.bursts)), "ci95",
			document_number(estimate_interval(estimate->duration.mean,
					estimate->duration.ci95, is_read_whole(phase))),
			"sd", document_number(estimate->duration_sd), "ipc",
			document_number(instructions / cycles), "cpi",
			document_number(cycles / instructions), "counters", counters(facts, phase),
			"cpi_breakdown", breakdown(facts->counting, phase), "metrics",
			metrics(facts->counting, phase), "source",
			places ? places_of_phase(places, facts->table, phase->number) :
				 json_array(),
			"profile",
			hotspots_of_phase(facts->profile, facts->table, phase->number,
					facts->source),
			"fold", fold_json(facts->fold, facts->counting, phase->number));
	object = document_set(object, "drift", drift_object(facts, phase));
	if (facts->structures)
		object = document_set(object, "per_iteration", per_iteration(facts, phase));
	return add_ranks(object, facts, phase->number);
}

/* Returns by what factor unread bursts widen the intervals, weighted by phases' time; null: not known. */
static json_t *interval_cost(const struct phase *phases, unsigned count)
{
	double sum = 0, seconds = 0;

	for (unsigned i = 0; i < count; i++) {
		if (isnan(phases[i].estimate.widened))
			continue;
		sum += phases[i].estimate.widened * phases[i].all.seconds;
		seconds += phases[i].all.seconds;
	}
	return seconds > 0 ? json_real(sum / seconds) : json_null();
}

/* Returns the structure of the calls, or null. number: by the phase's number in the table: its number in the report, or 0. */
static json_t *structure(const struct report_facts *facts, struct places *places,
		const unsigned *number)
{
	if (!facts->structures || !places)
		return json_null();
	return structure_json(&(struct structure_facts){ facts->structures, facts->arguments,
					      facts->table, number },
			places);
}

/* Returns where in the run the time of each phase lies, or null. number: as in structure(). */
static json_t *timeline(const struct report_facts *facts, const unsigned *number)
{
	return run_timeline(&(struct run_timeline){ facts->timeline, facts->timeline_labels, number,
			facts->wall_seconds + facts->off_seconds });
}

/* Parts of the document that need the phases. */
struct phase_parts {
	json_t *phases, *structure, *timeline, *interval_cost;
};

static void phase_parts(const struct report_facts *facts, struct silent *silent,
		struct phase_parts *parts)
{
	struct phase *all = calloc(PROTOTYPES_MAX, sizeof(*all));
	json_t *list = json_array();
	unsigned count = all ? estimate_phases(facts, all) : 0;
	struct places *places = places_new(facts->routes, facts->structures, facts->source);
	unsigned number[PROTOTYPES_MAX + 1] = { 0 };

	for (unsigned i = 0; i < count; i++)
		silent_add(silent, &all[i].estimate);
	silent_decide(silent, facts->counting);
	for (unsigned i = 0; i < count; i++)
		silent_remove(silent, &all[i].estimate);
	for (unsigned i = 0; i < count; i++)
		list = document_append(list,
				add_together(phase_object(facts, places, &all[i], (int)i + 1),
						facts, all, count, all[i].number));
	for (unsigned i = 0; i < count; i++)
		number[all[i].number] = i + 1;
	*parts = (struct phase_parts){ list, structure(facts, places, number),
		timeline(facts, number), interval_cost(all, count) };
	places_free(places);
	free(all);
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
	double read = fmin(1, share(totals->reads / 2, totals->compute.bursts));
	double times = read > 0 ? (1 - pow(1 - read, facts->waiting)) / read : facts->waiting;

	return share(totals->agent_seconds + own * (times - 1), available);
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
			document_number(share(totals->agent_seconds, all)), "start_seconds",
			document_number(share(totals->start_seconds, facts->world->size)),
			"end_seconds",
			document_number(share(totals->end_seconds, facts->world->size)), "bytes",
			whole(share(totals->agent_bytes, facts->world->size)), "calls",
			whole(totals->calls), "passed_calls", whole(totals->skipped), "reads",
			whole(totals->reads), "read_seconds", document_number(read_seconds),
			"rounds", (int)facts->rounds, "switches", whole(totals->switches), "budget",
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

	if (!(share(totals->unclassified.seconds, totals->compute.seconds) > UNCLASSIFIED_MANY))
		return object;
	cause = find_cause(facts);
	object = document_set(object, "cause", json_string(cause.cause));
	return document_set(object, "advice", json_string(cause.advice));
}

/* Returns the number of bursts whose counters could not be read or were impossible; they count as not read. */
static json_t *lost(const struct totals *totals)
{
	return json_pack("{s:o}", "bursts", whole(totals->lost));
}

/* Returns the kernel's samples in bursts that were read, the slices cut at them, and the lost samples. */
static json_t *samples(const struct totals *totals)
{
	return json_pack("{s:o,s:o,s:o}", "in_bursts", whole(totals->samples), "slices",
			whole(totals->slices), "lost", whole(totals->lost_samples));
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
			document_number(share(totals->rested_seconds, available(facts))), "calls",
			whole(totals->rested_calls), "threads", whole(totals->beyond_threads),
			"threads_processor_seconds", document_number(totals->beyond_seconds));
}

/* Returns the number of call paths that are kept, and the number of calls by other paths. */
static json_t *call_paths(const struct totals *totals)
{
	return json_pack("{s:o,s:o}", "kept", whole(totals->paths), "merged_calls",
			whole(totals->merged_calls));
}

static json_t *stretches(const struct report_facts *facts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < facts->stretches; i++) {
		const struct stretch *stretch = &facts->stretch[i];

		list = document_append(list,
				json_pack("{s:o,s:o,s:b}", "seconds",
						document_number(stretch->seconds), "calls",
						whole((double)stretch->calls), "on",
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
			document_number(share(facts->off_seconds,
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
	report = document_set(report, "threads", whole(facts->totals->threads));
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
	return document_set(report, "leads",
			run_leads(facts->leads, facts->clusters, totals,
					facts->wall_seconds * facts->world->size));
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
	report = document_set(report, "bursts", whole(totals->compute.bursts));
	report = document_set(report, "burst_min_seconds",
			document_number(facts->burst_min_seconds));
	report = document_set(report, "efficiency", efficiency(facts));
	report = document_set(report, "rank_times",
			run_rank_times(facts->times, facts->alone ? 1 : facts->world->size,
					facts->wall_seconds));
	report = document_set(report, "phases", parts.phases);
	report = document_set(report, "timeline", parts.timeline);
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
