/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/statements.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define DIFFERENCE_SHOWN 0.01   /* of the time, from which a phase of the region is named */
#define POLLING_SHOWN    0.0005 /* share of the run's time from which polling is shown */

/* Writes the number of slices and lost samples, if there were any. */
static void write_slices(FILE *out, const json_t *report)
{
	const json_t *samples = json_object_get(report, "samples");
	double slices = report_get(samples, "slices"), lost = report_get(samples, "lost");

	if (slices > 0)
		fprintf(out, "Long bursts are cut into %s slices, which count as bursts.\n",
				format_count(slices).text);
	if (lost > 0)
		fprintf(out, "Samples lost because the kernel's buffer was full: %s.\n",
				format_count(lost).text);
}

/* Writes by how much the budget was exceeded, and the main reason, if it was. */
static void write_budget(FILE *out, const json_t *report)
{
	const json_t *agent = json_object_get(report, "agent");
	static const struct {
		const char *name, *why;
	} kinds[] = { { "start and end", "for start and end, because the run was short" },
		{ "calls", "at the program's calls, to see how long each takes" },
		{ "services", "to learn phases, to sort bursts into them, and to begin and end threads" },
		{ "helper", "in a thread of its own, to switch groups and to learn phases" },
		{ "reads", "to read counters" }, { "switches", "to switch groups of counters" },
		{ "samples", "by the kernel, to sample long bursts" } };
	const char *over = json_string_value(json_object_get(agent, "over_budget"));

	for (size_t i = 0; over && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(over, kinds[i].name) == 0)
			fprintf(out, "The budget of %g%% was not kept: phasemux took %s, most of it %s.\n",
					100 * report_get(agent, "budget"),
					format_percent(report_get(agent, "share")).text,
					kinds[i].why);
}

/* Writes the time in which no call was observed, if there was any. */
static void write_rests(FILE *out, const json_t *report)
{
	const json_t *rests = json_object_get(report, "not_observed");
	double calls = report_get(rests, "calls");

	if (calls > 0)
		fprintf(out,
				"Not observed, to keep the budget: %s of the time, in which %s calls "
				"were made; what was done in it is estimated from the time around it.\n",
				format_percent(report_get(rests, "time_share")).text,
				format_count(calls).text);
}

/* Writes the number of threads that were not observed, if there were any. */
static void write_unobserved(FILE *out, const json_t *report)
{
	const json_t *rests = json_object_get(report, "not_observed");
	double threads = report_get(rests, "threads");

	if (threads > 0)
		fprintf(out,
				"Not observed: %s threads, which had a processor for %s; there were more "
				"at a time than PHASEMUX_THREADS, or no memory for them.\n",
				format_count(threads).text,
				format_seconds(report_get(rests, "threads_processor_seconds"))
						.text);
}

/* Writes the number of calls of which only the innermost callers are known, if there were any. */
static void write_paths(FILE *out, const json_t *report)
{
	const json_t *paths = json_object_get(report, "call_paths");
	double merged = report_get(paths, "merged_calls");

	if (merged > 0)
		fprintf(out,
				"Call paths: %s are told apart; %s calls came by others, of which only "
				"the innermost callers are known.\n",
				format_count(report_get(paths, "kept")).text,
				format_count(merged).text);
}

/* Writes the time in which the program paused the agent, if it did. */
static void write_paused(FILE *out, const json_t *report)
{
	double seconds = report_get_in(report, "paused", "seconds");

	if (isfinite(seconds))
		fprintf(out,
				"Paused by the program (MPI_Pcontrol): %s of %s, %s of the run, as rank 0 saw "
				"it; all numbers are of the rest.\n",
				format_seconds(seconds).text,
				format_seconds(report_get(report, "wall_seconds") + seconds).text,
				format_percent(report_get_in(report, "paused", "time_share")).text);
}

/* Writes the slowdown that PHASEMUX_TOGGLE has measured. */
static void write_toggle(FILE *out, const json_t *report)
{
	const json_t *toggle = json_object_get(report, "toggle");
	double compared = report_get(toggle, "compared");
	double mean = report_get_in(toggle, "slowdown", "mean");
	double ci95 = report_get_in(toggle, "slowdown", "ci95");
	double median = report_get_in(toggle, "slowdown", "median");

	if (!json_is_object(toggle))
		return;
	if (isfinite(ci95))
		fprintf(out,
				"Measured: while phasemux was on, the program was %.2f%% +- %.2f%% slower "
				"(median %.2f%%; %.0f pairs of stretches, on and off).\n",
				100 * mean, 100 * ci95, 100 * median, compared);
	else
		fprintf(out,
				"How much slower the program is while phasemux is on is not known: %.0f "
				"pairs of stretches, on and off, can be compared.\n",
				compared);
}

/* Writes the leads of a loop. */
static void write_shape(FILE *out, const json_t *shape)
{
	const json_t *ranks = json_object_get(shape, "lead_ranks"), *rank;
	double leads = report_get(shape, "leads"), all = report_get(shape, "ranks");
	bool peers = json_is_string(json_object_get(shape, "peers"));
	size_t i;

	if (leads == all && all > 1) {
		fprintf(out, "  In a loop of %s ranks%s, each of them reads counters.\n",
				format_count(all).text, peers ? " with the same peers" : "");
		return;
	}
	fprintf(out, "  In a loop of %s rank%s%s, counters are read in rank%s ",
			format_count(all).text, all == 1 ? "" : "s",
			peers && all > 1 ? " with the same peers" : "", leads == 1 ? "" : "s");
	json_array_foreach ((json_t *)ranks, i, rank)
		fprintf(out, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", json_integer_value(rank));
	fprintf(out, "%s.\n", isfinite(leads) ? "" : " and others");
}

/* Writes whether the calls of spared ranks kept their arguments. */
static void write_checks(FILE *out, const json_t *leads)
{
	double checks = report_get(leads, "checks"),
	       differing = report_get(leads, "differing_checks");

	if (!(checks > 0))
		return;
	fprintf(out, "  The other ranks checked the arguments of their calls %s time%s: ",
			format_count(checks).text, checks == 1 ? "" : "s");
	if (differing > 0)
		fprintf(out,
				"in %s of these they were not as when the leads were named, so "
				"these ranks read again for some time.\n",
				format_percent(differing / checks).text);
	else
		fputs("they were as when the leads were named.\n", out);
}

/* Writes which ranks read for others. */
static void write_leads(FILE *out, const json_t *report)
{
	const json_t *leads = json_object_get(report, "leads"), *shape;
	const json_t *shapes = json_object_get(leads, "shapes");
	const json_t *clusters = json_object_get(leads, "clusters");
	double count = (double)json_array_size(clusters);
	const char *setting = json_string_value(json_object_get(leads, "setting"));
	size_t i;

	if (!json_is_object(leads))
		return;
	fprintf(out,
			"Leads%s%s%s: in %s of the time, ranks repeated loops of which leads are known; "
			"they left %s bursts to these.\n",
			setting ? " (PHASEMUX_LEADS=" : "", setting ? setting : "",
			setting ? ")" : "", format_percent(report_get(leads, "time_share")).text,
			format_count(report_get(leads, "spared_bursts")).text);
	if (count > 0)
		fprintf(out,
				"  When most ranks voted, they were in %s cluster%s by the loops that they "
				"repeat:\n",
				format_count(count).text, count == 1 ? "" : "s");
	json_array_foreach ((json_t *)(count > 0 ? clusters : shapes), i, shape)
		write_shape(out, shape);
	write_checks(out, leads);
}

/* Writes the time in which the program waits by asking again and again. */
static void write_polling(FILE *out, const json_t *report)
{
	const json_t *polling = json_object_get(report, "polling");
	double bursts = report_get(polling, "bursts");

	if (!(bursts > 0) || !(report_get(polling, "time_share") >= POLLING_SHOWN))
		return;
	fprintf(out,
			"Polling: %s of the run's time, in %s pauses of %s between calls that only ask "
			"(MPI_Test, MPI_Iprobe, ...); they count as waiting, like those calls.\n",
			format_percent(report_get(polling, "time_share")).text,
			format_count(bursts).text,
			format_seconds(report_get(polling, "seconds") / bursts).text);
}

/* Writes the computing time that is in no phase, and why. */
static void write_left_out(FILE *out, const json_t *report)
{
	const json_t *unclassified = json_object_get(report, "unclassified");
	double lost = report_get_in(report, "lost", "bursts");
	char of_lost[64] = "";

	if (lost > 0)
		snprintf(of_lost, sizeof(of_lost), ", lost %s bursts", format_count(lost).text);
	fprintf(out, "Not in any phase: unclassified %s (%s bursts), short %s (%s bursts under %s)%s.\n",
			format_percent(report_get(unclassified, "time_share")).text,
			format_count(report_get(unclassified, "bursts")).text,
			format_percent(report_get_in(report, "short", "time_share")).text,
			format_count(report_get_in(report, "short", "bursts")).text,
			format_seconds(report_get(report, "burst_min_seconds")).text, of_lost);
	if (json_is_string(json_object_get(unclassified, "cause")))
		fprintf(out, "  Unclassified because %s; %s.\n",
				report_get_text(unclassified, "cause"),
				report_get_text(unclassified, "advice"));
	fprintf(out, "Counters not read (assigned by call site and length): %s (%s bursts).\n",
			format_percent(report_get_in(report, "not_read", "time_share")).text,
			format_count(report_get_in(report, "not_read", "bursts")).text);
}

/* Writes the agent's own work and its overhead. */
static void write_overhead(FILE *out, const json_t *report)
{
	const json_t *agent = json_object_get(report, "agent");
	double cost = report_get(agent, "interval_cost"),
	       skipped = report_get(agent, "passed_calls");

	if (skipped > 0)
		fprintf(out,
				"Calls too short to time each within the budget: %s; their time is known in "
				"total, and assigned as that of the calls around them.\n",
				format_count(skipped).text);
	fprintf(out,
			"Overhead: %s of CPU time (%s); estimated slowdown %s. %s reads and %s switches "
			"in %s calls, %.0f rounds, %s per process.\n",
			format_seconds(report_get(agent, "seconds")).text,
			format_percent(report_get(agent, "processor_share")).text,
			format_percent(report_get(agent, "share")).text,
			format_count(report_get(agent, "reads")).text,
			format_count(report_get(agent, "switches")).text,
			format_count(report_get(agent, "calls")).text, report_get(agent, "rounds"),
			format_bytes(report_get(agent, "bytes")).text);
	if (cost >= 1.05)
		fprintf(out, "Intervals are about %s times as wide as if all bursts had been read.\n",
				format_count(cost).text);
}

/* Writes why there is no region. */
static void write_no_region(FILE *out, const json_t *region)
{
	double rounds = report_get(region, "compared_rounds");

	if (!isfinite(report_get(region, "ordered_seconds")))
		fprintf(out,
				"No region (PHASEMUX_REGION): when the program ended, no loop of calls with "
				"steady phases was known, after %s comparisons.\n",
				format_count(rounds).text);
	else
		fprintf(out,
				"No region (PHASEMUX_REGION): it was ordered after %s, and then no rank "
				"repeated the loop any more, or could write it.\n",
				format_seconds(report_get(region, "ordered_seconds")).text);
}

/* Writes a number of ranks, if there are any, with what holds for them. */
static void write_region_ranks(FILE *out, const json_t *region, const char *key, const char *what)
{
	double ranks = report_get(region, key);

	if (ranks > 0)
		fprintf(out, "  %s rank%s %s.\n", format_count(ranks).text, ranks == 1 ? "" : "s",
				what);
}

/* Writes how far the region is from the whole run. */
static void write_distance(FILE *out, const json_t *region)
{
	const json_t *phase;
	double distance = report_get(region, "distance");
	size_t i;

	if (!isfinite(distance))
		return;
	fprintf(out, "  Its distance from the whole run is %s of the time",
			format_percent(distance).text);
	json_array_foreach (json_object_get(region, "phases"), i, phase) {
		double share = report_get(phase, "time_share");
		double difference = report_get(phase, "difference");

		if (fabs(difference) >= DIFFERENCE_SHOWN)
			fprintf(out, "; phase %.0f: %s in the region, %s in the run",
					report_get(phase, "id"), format_percent(share).text,
					format_percent(share - difference).text);
	}
	fputs(".\n", out);
}

/* Writes what was recorded as the region, and how far it is from the whole run. */
static void write_region(FILE *out, const json_t *report)
{
	const json_t *region = json_object_get(report, "region");
	const json_t *met = json_object_get(region, "requirement");
	double ranks = report_get(region, "ranks"), whole = report_get(region, "whole_ranks");

	if (!json_is_object(region))
		return;
	if (!(ranks > 0)) {
		write_no_region(out, region);
		return;
	}
	fprintf(out,
			"Region: %s iterations of %s rank%s, %s calls, ordered after %s; phasemux region "
			"writes it for Paraver and Perfetto.\n",
			format_count(report_get(region, "iterations")).text,
			format_count(ranks).text, ranks == 1 ? "" : "s",
			format_count(report_get(region, "calls")).text,
			format_seconds(report_get(region, "ordered_seconds")).text);
	fprintf(out,
			"  Requirements, step %.0f of %.0f: %s of the time in phases that are there again in "
			"%.0f round%s in a row; it was %s.\n",
			report_get(met, "step"), report_get(met, "steps"),
			format_percent(report_get(met, "time_share")).text,
			report_get(met, "rounds"), report_get(met, "rounds") == 1 ? "" : "s",
			format_percent(report_get(met, "matched")).text);
	if (whole < ranks)
		fprintf(out, "  %s of these ranks recorded all iterations.\n",
				whole > 0 ? format_count(whole).text : "None");
	write_region_ranks(out, region, "cut_ranks",
			"had no room for all calls, or could not write them");
	write_region_ranks(out, region, "late_ranks", "began later than the others");
	write_region_ranks(out, region, "inexact_ranks",
			"had not observed all calls before, and may be some iterations off");
	write_distance(out, region);
}

const struct statement statements_foot[] = {
	{ "left out", write_left_out },
	{ "leads", write_leads },
	{ "polling", write_polling },
	{ "slices", write_slices },
	{ "not observed", write_rests },
	{ "threads", write_unobserved },
	{ "call paths", write_paths },
	{ "overhead", write_overhead },
	{ "budget", write_budget },
	{ "paused", write_paused },
	{ "slowdown", write_toggle },
	{ "region", write_region },
	{ NULL, NULL },
};
