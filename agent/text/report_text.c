/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "agent/text/report_phases.h"
#include "agent/text/report_structure.h"

#define POLLING_SHOWN 0.0005 /* share of the run's time from which polling is shown */

/* ---- the head ---- */

/* Prints the command, without the folders of the program: "lmp -in in.lj". */
static void print_command(FILE *out, const json_t *command, size_t width)
{
	const json_t *word;
	size_t i, column = 0;

	json_array_foreach (command, i, word) {
		const char *text = json_string_value(word);
		const char *base = text ? strrchr(text, '/') : NULL;

		if (!text)
			continue;
		if (i == 0 && base)
			text = base + 1;
		column += strlen(text) + 1;
		if (column > width) {
			fputs(" ...", out);
			break;
		}
		fputc(' ', out);
		/* a word may contain any character, but the command stays on one line */
		for (; *text; text++)
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
}

/* Prints each program of a job that has several, and its ranks. */
static void print_programs(FILE *out, const json_t *programs)
{
	const json_t *program;
	size_t i;

	json_array_foreach (programs, i, program) {
		const json_t *command = json_object_get(program, "command");
		double ranks = report_get(program, "ranks");
		double first = report_get(program, "first_rank");
		double last = report_get(program, "last_rank");

		if (!json_is_array(command))
			fprintf(out, "  other programs: %.0f rank%s\n", ranks,
					ranks == 1 ? "" : "s");
		else if (ranks == 1)
			fprintf(out, "  rank %.0f:", first);
		else if (ranks == last - first + 1)
			fprintf(out, "  ranks %.0f to %.0f:", first, last);
		else
			fprintf(out, "  %.0f ranks from %.0f to %.0f:", ranks, first, last);
		if (json_is_array(command)) {
			print_command(out, command, REPORT_WIDTH - 40);
			fputc('\n', out);
		}
	}
}

/* Prints "job 4711, step 0, 2 nodes, partition main". */
static void print_job(FILE *out, const json_t *job)
{
	const char *step = json_string_value(json_object_get(job, "step"));
	const char *partition = json_string_value(json_object_get(job, "partition"));
	double nodes = report_get(job, "nodes");

	fprintf(out, "  job %s%s%s", report_get_text(job, "id"), step ? ", step " : "",
			step ? step : "");
	if (isfinite(nodes))
		fprintf(out, ", %.0f node%s", nodes, nodes == 1 ? "" : "s");
	fprintf(out, "%s%s\n", partition ? ", partition " : "", partition ? partition : "");
}

static void print_head(FILE *out, const json_t *report)
{
	const json_t *efficiency = json_object_get(report, "efficiency"), *warning;
	const json_t *recovered = json_object_get(report, "recovered");
	const char *missing = report_get_text(recovered, "missing");
	const char *processor = report_get_text(report, "processor");
	size_t groups = json_array_size(json_object_get(report, "groups"));
	double threads = report_get(report, "threads"), ranks = report_get(report, "ranks");
	double mean = report_get(report, "threads_mean");
	const char *processes = strcmp(report_get_text(report, "mpi"), "no MPI") == 0 ?
			(ranks == 1 ? "process" : "processes") :
			(ranks == 1 ? "rank" : "ranks");
	double off = report_get_in(report, "toggle", "off_seconds");
	char of_threads[64] = "", of_all[96] = "";
	size_t i;

	fputs("phasemux:", out);
	print_command(out, json_object_get(report, "command"), REPORT_WIDTH - 20);
	fputc('\n', out);
	print_programs(out, json_object_get(report, "programs"));
	if (json_is_object(json_object_get(report, "job")))
		print_job(out, json_object_get(report, "job"));
	if (threads > ranks && mean < threads - 0.05)
		snprintf(of_threads, sizeof(of_threads), ", %.0f threads (%.1f at a time)", threads,
				mean);
	else if (threads > ranks)
		snprintf(of_threads, sizeof(of_threads), ", %.0f threads", threads);
	if (isfinite(off))
		snprintf(of_all, sizeof(of_all), " of %s (off for the rest, in turns)",
				format_seconds(report_get(report, "wall_seconds") + off).text);
	report_line(out, 4, "  %.0f %s%s, %s%s, %s%s%s", ranks, processes, of_threads,
			format_seconds(report_get(report, "wall_seconds")).text, of_all,
			report_get_text(report, "mpi"), *processor ? ", " : "", processor);
	report_line(out, 4, "  model %s, scheme %s, %zu group%s", report_get_text(report, "model"),
			report_get_text(report, "scheme"), groups, groups == 1 ? "" : "s");
	report_line(out, 4, "  parallel efficiency %s = load balance %s x communication %s",
			format_percent(report_get(efficiency, "parallel")).text,
			format_percent(report_get(efficiency, "load_balance")).text,
			format_percent(report_get(efficiency, "communication")).text);
	if (isfinite(report_get(efficiency, "threads")))
		report_line(out, 4, "  and by level: MPI %s x threads %s",
				format_percent(report_get(efficiency, "mpi")).text,
				format_percent(report_get(efficiency, "threads")).text);
	if (json_is_object(recovered))
		report_line(out, 4, "  recovered from %.0f of the ranks%s%s",
				report_get(recovered, "ranks"), *missing ? "; missing: " : "",
				missing);
	if (json_is_object(json_object_get(report, "emulated")))
		report_line(out, 4,
				"  emulated (core model %s): all counts are of a modelled processor and not "
				"measured; times are stretched by the emulator",
				report_get_text(json_object_get(report, "emulated"), "core"));
	if (json_is_string(json_object_get(report, "without_counters")))
		report_line(out, 4, "  no hardware counters: %s",
				report_get_text(report, "without_counters"));
	json_array_foreach (json_object_get(report, "warnings"), i, warning)
		report_line(out, 4, "  warning: %s", json_string_value(warning));
	fputc('\n', out);
}

/* ---- the foot ---- */

/* Prints the number of slices and lost samples, if there were any. */
static void print_slices(FILE *out, const json_t *samples)
{
	double slices = report_get(samples, "slices"), lost = report_get(samples, "lost");

	if (slices > 0)
		report_line(out, 2, "Long bursts are cut into %s slices, which count as bursts.",
				format_count(slices).text);
	if (lost > 0)
		report_line(out, 2, "Samples lost because the kernel's buffer was full: %s.",
				format_count(lost).text);
}

/* Prints by how much the budget was exceeded, and the main reason, if it was. */
static void print_budget(FILE *out, const json_t *agent)
{
	static const struct {
		const char *name, *why;
	} kinds[] = { { "start and end", "for start and end, because the run was short" },
		{ "calls", "at the program's calls, to see how long each takes" },
		{ "services", "to learn phases, and to sort bursts into them" },
		{ "reads", "to read counters" }, { "switches", "to switch groups of counters" },
		{ "samples", "by the kernel, to sample long bursts" } };
	const char *over = json_string_value(json_object_get(agent, "over_budget"));

	for (size_t i = 0; over && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(over, kinds[i].name) == 0)
			report_line(out, 2,
					"The budget of %g%% was not kept: phasemux took %s, most of it %s.",
					100 * report_get(agent, "budget"),
					format_percent(report_get(agent, "share")).text,
					kinds[i].why);
}

/* Prints the time in which no call was observed, if there was any. */
static void print_rests(FILE *out, const json_t *rests)
{
	double calls = report_get(rests, "calls");

	if (calls > 0)
		report_line(out, 2,
				"Not observed, to keep the budget: %s of the time, in which %s calls "
				"were made; what was done in it is estimated from the time around it.",
				format_percent(report_get(rests, "time_share")).text,
				format_count(calls).text);
}

/* Prints the number of threads that were not observed, if there were any. */
static void print_unobserved(FILE *out, const json_t *rests)
{
	double threads = report_get(rests, "threads");

	if (threads > 0)
		report_line(out, 2,
				"Not observed: %s threads, which had a processor for %s; there were more "
				"at a time than PHASEMUX_THREADS, or no memory for them.",
				format_count(threads).text,
				format_seconds(report_get(rests, "threads_processor_seconds"))
						.text);
}

/* Prints the number of calls of which only the innermost callers are known, if there were any. */
static void print_paths(FILE *out, const json_t *paths)
{
	double merged = report_get(paths, "merged_calls");

	if (merged > 0)
		report_line(out, 2,
				"Call paths: %s are told apart; %s calls came by others, of which only "
				"the innermost callers are known.",
				format_count(report_get(paths, "kept")).text,
				format_count(merged).text);
}

/* Prints the time in which the program paused the agent, if it did. */
static void print_paused(FILE *out, const json_t *report)
{
	double seconds = report_get_in(report, "paused", "seconds");

	if (isfinite(seconds))
		report_line(out, 2,
				"Paused by the program (MPI_Pcontrol): %s of %s, %s of the run, as rank 0 saw "
				"it; all numbers are of the rest.",
				format_seconds(seconds).text,
				format_seconds(report_get(report, "wall_seconds") + seconds).text,
				format_percent(report_get_in(report, "paused", "time_share")).text);
}

/* Prints the slowdown that PHASEMUX_TOGGLE has measured. */
static void print_toggle(FILE *out, const json_t *toggle)
{
	double compared = report_get(toggle, "compared");
	double mean = report_get_in(toggle, "slowdown", "mean");
	double ci95 = report_get_in(toggle, "slowdown", "ci95");
	double median = report_get_in(toggle, "slowdown", "median");

	if (!json_is_object(toggle))
		return;
	if (isfinite(ci95))
		report_line(out, 2,
				"Measured: while phasemux was on, the program was %.2f%% +- %.2f%% slower "
				"(median %.2f%%; %.0f pairs of stretches, on and off).",
				100 * mean, 100 * ci95, 100 * median, compared);
	else
		report_line(out, 2,
				"How much slower the program is while phasemux is on is not known: %.0f "
				"pairs of stretches, on and off, can be compared.",
				compared);
}

/* Prints the time in which the program waits by asking again and again. */
static void print_polling(FILE *out, const json_t *polling)
{
	double bursts = report_get(polling, "bursts");

	if (!(bursts > 0) || !(report_get(polling, "time_share") >= POLLING_SHOWN))
		return;
	report_line(out, 2,
			"Polling: %s of the run's time, in %s pauses of %s between calls that only ask "
			"(MPI_Test, MPI_Iprobe, ...); they count as waiting, like those calls.",
			format_percent(report_get(polling, "time_share")).text,
			format_count(bursts).text,
			format_seconds(report_get(polling, "seconds") / bursts).text);
}

/* Prints the computing time that is in no phase, and why. */
static void print_left_out(FILE *out, const json_t *report)
{
	const json_t *unclassified = json_object_get(report, "unclassified");
	double lost = report_get_in(report, "lost", "bursts");
	char of_lost[64] = "";

	if (lost > 0)
		snprintf(of_lost, sizeof(of_lost), ", lost %s bursts", format_count(lost).text);
	report_line(out, 2,
			"Not in any phase: unclassified %s (%s bursts), short %s (%s bursts under %s)%s.",
			format_percent(report_get(unclassified, "time_share")).text,
			format_count(report_get(unclassified, "bursts")).text,
			format_percent(report_get_in(report, "short", "time_share")).text,
			format_count(report_get_in(report, "short", "bursts")).text,
			format_seconds(report_get(report, "burst_min_seconds")).text, of_lost);
	if (json_is_string(json_object_get(unclassified, "cause")))
		report_line(out, 2, "  Unclassified because %s; %s.",
				report_get_text(unclassified, "cause"),
				report_get_text(unclassified, "advice"));
	report_line(out, 2, "Counters not read (assigned by call site and length): %s (%s bursts).",
			format_percent(report_get_in(report, "not_read", "time_share")).text,
			format_count(report_get_in(report, "not_read", "bursts")).text);
}

/* Prints the agent's own work and its overhead. */
static void print_overhead(FILE *out, const json_t *agent)
{
	double cost = report_get(agent, "interval_cost"),
	       skipped = report_get(agent, "passed_calls");

	if (skipped > 0)
		report_line(out, 2,
				"Calls too short to time each within the budget: %s; their time is known in "
				"total, and assigned as that of the calls around them.",
				format_count(skipped).text);
	report_line(out, 2,
			"Overhead: %s of CPU time (%s); estimated slowdown %s. %s reads and %s switches "
			"in %s calls, %.0f rounds, %s per process.",
			format_seconds(report_get(agent, "seconds")).text,
			format_percent(report_get(agent, "processor_share")).text,
			format_percent(report_get(agent, "share")).text,
			format_count(report_get(agent, "reads")).text,
			format_count(report_get(agent, "switches")).text,
			format_count(report_get(agent, "calls")).text, report_get(agent, "rounds"),
			format_bytes(report_get(agent, "bytes")).text);
	if (cost >= 1.05)
		report_line(out, 2,
				"Intervals are about %s times as wide as if all bursts had been read.",
				format_count(cost).text);
}

static void print_foot(FILE *out, const json_t *report)
{
	print_left_out(out, report);
	print_polling(out, json_object_get(report, "polling"));
	print_slices(out, json_object_get(report, "samples"));
	print_rests(out, json_object_get(report, "not_observed"));
	print_unobserved(out, json_object_get(report, "not_observed"));
	print_paths(out, json_object_get(report, "call_paths"));
	print_overhead(out, json_object_get(report, "agent"));
	print_budget(out, json_object_get(report, "agent"));
	print_paused(out, report);
	print_toggle(out, json_object_get(report, "toggle"));
}

static bool is_report(const json_t *report, char *why, size_t why_size)
{
	const json_t *phases = json_object_get(report, "phases"), *phase;
	double version = report_get(report, "phasemux");
	bool whole = json_is_array(phases);
	size_t i;

	json_array_foreach (phases, i, phase)
		whole = whole && isfinite(report_get(phase, "id")) &&
				isfinite(report_get(phase, "time_share")) &&
				json_is_object(json_object_get(phase, "counters"));
	if (version == 1 && whole)
		return true;
	if (isfinite(version) && version != 1)
		snprintf(why, why_size, "a report of version %g; this phasemux reads version 1",
				version);
	else
		snprintf(why, why_size, "not a report of phasemux");
	return false;
}

/* Replaces control characters, because a report of unknown origin must not control the terminal. */
static char *plain(char *text)
{
	for (char *at = text; at && *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\n') || *at == 0x7f)
			*at = '?';
	return text;
}

char *report_text(const json_t *report, char *why, size_t why_size)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!is_report(report, why, why_size))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	print_head(out, report);
	report_phases(out, report);
	report_structure(out, report);
	print_foot(out, report);
	fclose(out);
	return plain(text);
}

char *report_csv(const json_t *report, char *why, size_t why_size)
{
	const json_t *phase;
	json_t *counter;
	const char *name;
	char *text = NULL;
	size_t size, i;
	FILE *out;

	if (!is_report(report, why, why_size))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	fputs("phase,time_share,bursts,counter,mean,ci95,observed\n", out);
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		json_object_foreach (json_object_get(phase, "counters"), name, counter)
			fprintf(out, "%.0f,%.9g,%.0f,%s,%.17g,%.9g,%.0f\n", report_get(phase, "id"),
					report_get(phase, "time_share"),
					report_get(phase, "bursts"), name,
					report_get(counter, "mean"), report_get(counter, "ci95"),
					report_get(counter, "observed"));
	fclose(out);
	return plain(text);
}
