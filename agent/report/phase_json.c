/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/phase_json.h"

#include <math.h>
#include <stdlib.h>

#include "agent/report/parts/sample_json.h"
#include "agent/report/parts/document.h"
#include "agent/report/parts/fold_json.h"
#include "agent/report/parts/hotspots.h"
#include "agent/report/parts/phase_calls.h"
#include "agent/report/parts/places.h"
#include "agent/report/parts/run_json.h"
#include "agent/report/parts/structure.h"
#include "multiplex/estimate/layout.h"

#define OUTSIDE_FEW                                                                                \
	0.1 /* share of a phase that may be outside of the iterations if it is counted per iteration */
#define TOGETHER_FEW                                                                               \
	0.01 /* share of the computing time below which phases of one place are not joined */

#define STRAY_ERROR 1.9 /* half-widths are 1.96 standard errors, which is a little more */

struct phase {
	uint32_t number;             /* in the table of prototypes */
	bool member[PROTOTYPES_MAX]; /* by prototype: whether the phase has it */
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

/*
 * Returns the unread bursts of a phase, with the variances of their number and time. It is not known whether the strays
 * belong to the phase, and they are all alike in this. So the 95% intervals reach from none to all of them.
 */
static struct phase_unread unread_of(const struct report_facts *facts, const struct phase *phase)
{
	const struct unread *all = &facts->totals->unread;
	struct phase_unread unread = { .bursts = 0 };
	double bursts, seconds;

	for (unsigned p = 0; p < facts->table->count; p++)
		if (phase->member[p]) {
			unread.bursts += all->prototype[p].bursts;
			unread.seconds += all->prototype[p].seconds;
		}
	if (phase->number <= PROTOTYPES_MAX) {
		bursts = all->stray[phase->number - 1].bursts / STRAY_ERROR;
		seconds = all->stray[phase->number - 1].seconds / STRAY_ERROR;
		unread.bursts2 = all->phase[phase->number - 1].bursts2 + bursts * bursts;
		unread.bursts_seconds =
				all->phase[phase->number - 1].bursts_seconds + bursts * seconds;
		unread.seconds2 = all->phase[phase->number - 1].seconds2 + seconds * seconds;
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

		phase->number = number;
		for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
			phase->member[p] = p < table->count && table->all[p].phase == number;
		unread = unread_of(facts, phase);
		estimate_phase(facts->sums, phase->member, &unread, &phase->estimate);
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
	json_t *object = json_object();

	estimate_spread(facts->sums, phase->member, phase->number, spread);
	for (unsigned e = 0; e < counting->plan.events; e++) {
		const struct estimate *event = &phase->estimate.event[e];
		json_t *row = json_pack("{s:o,s:o,s:o,s:o}", "mean",
				document_number(event->observed ? event->mean : NAN), "ci95",
				document_number(event_interval(phase, event)), "observed",
				document_whole((double)event->observed), "sd",
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
static json_t *prototypes(const struct phase *phase)
{
	json_t *list = json_array();

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		if (phase->member[p])
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
		.waiting = facts->wall_seconds - document_share(totals->compute.seconds, threads),
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

/* Adds how much the time of the phase varies between the iterations of a rank, whose mean is `mean` seconds. */
static json_t *add_spread(json_t *object, const struct iteration_spread *spread, double mean)
{
	bool known = iteration_spread_is_like(spread, mean);

	object = document_set(object, "seconds_sd",
			document_number(known ? iteration_spread_sd(spread) : NAN));
	object = document_set(object, "seconds_least",
			document_number(known ? spread->least : NAN));
	object = document_set(object, "seconds_most", document_number(known ? spread->most : NAN));
	return document_set(object, "measured", document_number(known ? spread->count : NAN));
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
	json_t *object;

	if (!of || !of->ranks || !(iterations.rounds > 0) ||
			facts->totals->threads > facts->world->size ||
			!(outside <= OUTSIDE_FEW * phase->all.seconds) ||
			!(iterations.equal || (int)of->ranks == facts->world->size))
		return json_null();
	all = iterations.rounds * of->ranks;
	object = json_pack("{s:o,s:o}", "bursts", document_number(phase->all.bursts / all),
			"seconds", document_number(phase->all.seconds / all));
	return add_spread(object, &of->spread, phase->all.seconds / all);
}

/* Returns how the length of the phase's bursts changes while the run goes on, or null. */
static json_t *drift_object(const struct report_facts *facts, const struct phase *phase)
{
	struct drift drift = estimate_drift(facts->sums, phase->member);

	if (!isfinite(drift.change))
		return json_null();
	return json_pack("{s:o,s:o}", "change", document_number(drift.change), "ci95",
			document_number(drift.ci95));
}

/* Returns the parallel efficiency of the phase and its factors, or null. */
static json_t *efficiency(const struct report_facts *facts, const struct phase *phase)
{
	const struct phase_rank *of = ranks_of(facts, phase->number);
	struct phase_calls calls = phase_calls(facts->structures, facts->table, phase->number);

	return phase_calls_json(&calls, phase->all.seconds,
			of && of->ranks ? of->seconds / of->ranks / of->most : NAN);
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
			"id", id, "prototypes", prototypes(phase), "time_share",
			document_number(document_share(phase->all.seconds,
					facts->totals->compute.seconds)),
			"time_share_ci95",
			document_number(half_width(phase->error.seconds2) /
					facts->totals->compute.seconds),
			"bursts", document_whole(phase->all.bursts), "bursts_ci95",
			document_number(half_width(phase->error.bursts2)), "read",
			document_whole((double)estimate->read), "slices",
			document_whole((double)estimate->slices), "duration_seconds", "mean",
			document_number(document_share(phase->all.seconds, phase->all.bursts)),
			"ci95",
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
	object = document_set(object, "efficiency", efficiency(facts, phase));
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
					      facts->table, number,
					      facts->phase_ranks ? &facts->phase_ranks->iterations :
								   NULL },
			places);
}

/* Returns where in the run the time of each phase lies, or null. number: as in structure(). */
static json_t *timeline(const struct report_facts *facts, const unsigned *number)
{
	return run_timeline(&(struct run_timeline){ facts->timeline, facts->timeline_labels, number,
			facts->wall_seconds + facts->off_seconds });
}

/* Returns a sample of the bursts, or null. number: as in structure(). */
static json_t *sample(const struct report_facts *facts, const unsigned *number)
{
	return sample_json(&(struct sample_facts){ facts->sample, facts->metric, facts->metrics,
			facts->table, number, facts->burst_min_seconds });
}

void phase_parts(const struct report_facts *facts, struct silent *silent, struct phase_parts *parts)
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
		timeline(facts, number), sample(facts, number), interval_cost(all, count) };
	places_free(places);
	free(all);
}
