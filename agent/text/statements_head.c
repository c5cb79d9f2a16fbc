/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/statements.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define PHASE_LARGE                                                                                \
	0.05 /* share of the computing time of a phase that may explain the run's balance */
#define IMBALANCE_SHOWN 0.01 /* share of all time from which the waiting in a phase is shown */

#define ON_PROCESSOR_KNOWN 0.5 /* share of the computing time of which it must be known */

/* Writes the command, without the folders of the program: "lmp -in in.lj". */
static void write_words(FILE *out, const json_t *command, size_t width)
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
			fputs(i ? " ..." : "...", out);
			break;
		}
		if (i)
			fputc(' ', out);
		/* a word may contain any character, but the command stays on one line */
		for (; *text; text++)
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
}

/* Writes each program of a job that has several, and its ranks. */
static void write_programs(FILE *out, const json_t *report)
{
	const json_t *programs = json_object_get(report, "programs");
	const json_t *program;
	size_t i;

	json_array_foreach (programs, i, program) {
		const json_t *command = json_object_get(program, "command");
		double ranks = report_get(program, "ranks");
		double first = report_get(program, "first_rank");
		double last = report_get(program, "last_rank");

		if (!json_is_array(command))
			fprintf(out, "other programs: %.0f rank%s\n", ranks, ranks == 1 ? "" : "s");
		else if (ranks == 1)
			fprintf(out, "rank %.0f: ", first);
		else if (ranks == last - first + 1)
			fprintf(out, "ranks %.0f to %.0f: ", first, last);
		else
			fprintf(out, "%.0f ranks from %.0f to %.0f: ", ranks, first, last);
		if (json_is_array(command)) {
			write_words(out, command, REPORT_WIDTH - 40);
			fputc('\n', out);
		}
	}
}

/* Writes "job 4711, step 0, 2 nodes, partition main". */
static void write_job(FILE *out, const json_t *report)
{
	const json_t *job = json_object_get(report, "job");
	const char *step = json_string_value(json_object_get(job, "step"));
	const char *partition = json_string_value(json_object_get(job, "partition"));
	double nodes = report_get(job, "nodes");

	if (!json_is_object(job))
		return;
	fprintf(out, "job %s%s%s", report_get_text(job, "id"), step ? ", step " : "",
			step ? step : "");
	if (isfinite(nodes))
		fprintf(out, ", %.0f node%s", nodes, nodes == 1 ? "" : "s");
	fprintf(out, "%s%s\n", partition ? ", partition " : "", partition ? partition : "");
}

/* Writes "started 2026-11-27T09:04:39Z on node1". */
static void write_start(FILE *out, const json_t *report)
{
	const char *date = json_string_value(json_object_get(report, "date"));
	const json_t *hosts = json_object_get(report, "hosts");
	bool has_hosts = isfinite(report_get(hosts, "count"));

	if (!date && !has_hosts)
		return;
	fputs(date ? "started " : "ran", out);
	if (date)
		report_write_name(out, date);
	if (has_hosts) {
		fputc(' ', out);
		statements_hosts_names(out, hosts);
	}
	fputc('\n', out);
}

static void write_command(FILE *out, const json_t *report)
{
	write_words(out, json_object_get(report, "command"), REPORT_WIDTH - 20);
	fputc('\n', out);
}

/* Writes "2 ranks, 4 threads, 31.2 s, Open MPI v4.1.4, AMD EPYC 9755". */
static void write_run(FILE *out, const json_t *report)
{
	const char *processor = report_get_text(report, "processor");
	double threads = report_get(report, "threads"), ranks = report_get(report, "ranks");
	double mean = report_get(report, "threads_mean");
	const char *processes = strcmp(report_get_text(report, "mpi"), "no MPI") == 0 ?
			(ranks == 1 ? "process" : "processes") :
			(ranks == 1 ? "rank" : "ranks");
	double off = report_get_in(report, "toggle", "off_seconds");
	char of_threads[64] = "", of_all[96] = "";

	if (threads > ranks && mean < threads - 0.05)
		snprintf(of_threads, sizeof(of_threads), ", %.0f threads (%.1f at a time)", threads,
				mean);
	else if (threads > ranks)
		snprintf(of_threads, sizeof(of_threads), ", %.0f threads", threads);
	if (isfinite(off))
		snprintf(of_all, sizeof(of_all), " of %s (off for the rest, in turns)",
				format_seconds(report_get(report, "wall_seconds") + off).text);
	fprintf(out, "%.0f %s%s, %s%s, %s%s%s\n", ranks, processes, of_threads,
			format_seconds(report_get(report, "wall_seconds")).text, of_all,
			report_get_text(report, "mpi"), *processor ? ", " : "", processor);
}

static void write_model(FILE *out, const json_t *report)
{
	size_t groups = json_array_size(json_object_get(report, "groups"));

	fprintf(out, "model %s, scheme %s, %zu group%s\n", report_get_text(report, "model"),
			report_get_text(report, "scheme"), groups, groups == 1 ? "" : "s");
}

static void write_efficiency(FILE *out, const json_t *report)
{
	const json_t *efficiency = json_object_get(report, "efficiency");

	fprintf(out, "parallel efficiency %s = load balance %s x communication %s\n",
			format_percent(report_get(efficiency, "parallel")).text,
			format_percent(report_get(efficiency, "load_balance")).text,
			format_percent(report_get(efficiency, "communication")).text);
	if (isfinite(report_get(efficiency, "threads")))
		fprintf(out, "and by level: MPI %s x threads %s\n",
				format_percent(report_get(efficiency, "mpi")).text,
				format_percent(report_get(efficiency, "threads")).text);
}

double statements_on_processor(const json_t *report)
{
	double known = 0, had = 0;
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase) {
		double share = report_get(phase, "time_share");
		double part = phase_processor_seconds(phase) / phase_mean_seconds(phase);

		if (!isfinite(share * part))
			continue;
		known += share;
		had += share * part;
	}
	return known >= ON_PROCESSOR_KNOWN ? had / known : NAN;
}

/* Writes how much of their time the bursts had a processor, if they lacked one, because all times are longer then. */
static void write_on_processor(FILE *out, const json_t *report)
{
	double part = statements_on_processor(report);

	if (part < STATEMENTS_ON_PROCESSOR)
		fprintf(out,
				"bursts had a processor for %s of their time; else they waited for one, or "
				"slept\n",
				format_percent(part).text);
}

/* Returns the share of all threads' time that the ranks of a phase wait, if all of them wait for the slowest one. */
static double waiting_share(const json_t *report, const json_t *phase)
{
	double most = report_get_in(phase, "rank_seconds", "most");
	double mean = report_get_in(phase, "rank_seconds", "mean");

	return report_get(phase, "ranks") * (most - mean) /
			(report_get(report, "threads_mean") * report_get(report, "wall_seconds"));
}

/*
 * Returns the phase that loses most time to imbalance, or the phases together that do, or NULL if none loses a part worth a
 * sentence.
 */
static const json_t *least_balanced(const json_t *report)
{
	const json_t *phase, *worst = NULL;
	double most = IMBALANCE_SHOWN;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase) {
		const json_t *together = phase_together(phase);
		const json_t *all = together ? together : phase;
		double share = waiting_share(report, all);

		if (!(share >= most))
			continue;
		most = share;
		worst = all;
	}
	return worst;
}

/* Returns the phase with most time of those that not all ranks execute, if it is a large part of the run, or NULL. */
static const json_t *largest_of_some(const json_t *report)
{
	double all = report_get(report, "ranks");
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (report_get(phase, "ranks") < all && !json_object_get(phase, "together") &&
				report_get(phase, "time_share") >= PHASE_LARGE)
			return phase;
	return NULL;
}

/*
 * Writes that ranks which execute different phases have unequal work, if that is most of the imbalance of the run. lost:
 * share of all time that is lost to the imbalance of one phase. Returns false, and writes nothing, if it is not.
 */
static bool write_between_phases(FILE *out, const json_t *report, double lost)
{
	const json_t *efficiency = json_object_get(report, "efficiency");
	double all = report_get(efficiency, "communication") - report_get(efficiency, "parallel");
	const json_t *phase = largest_of_some(report);

	if (!phase || !(all >= IMBALANCE_SHOWN) || lost >= all / 2)
		return false;
	fprintf(out,
			"imbalance costs %s of the run, most of it between ranks that execute different "
			"phases: phase %.0f, with %s of the computing time, is ",
			format_percent(all).text, report_get(phase, "id"),
			format_percent(report_get(phase, "time_share")).text);
	phase_write_executing_ranks(out, report, phase);
	fputc('\n', out);
	return true;
}

/* Writes which phase is worth being balanced, and what that would save at most. */
static void write_imbalance(FILE *out, const json_t *report)
{
	const json_t *phase = least_balanced(report);
	double share = report_get(phase, "imbalance_share"), ranks = report_get(phase, "ranks");

	if (write_between_phases(out, report, phase ? waiting_share(report, phase) : 0) || !phase)
		return;
	phase_write_names(out, phase);
	fprintf(out,
			"%s most time to imbalance: %s %.0f computes %s there, the mean of %.0f %s is "
			"%s\n",
			json_object_get(phase, "phases") ? " lose" : " loses",
			phase_rank_word(report, 1), report_get(phase, "slowest_rank"),
			format_seconds(report_get_in(phase, "rank_seconds", "most")).text, ranks,
			phase_rank_word(report, ranks),
			format_seconds(report_get_in(phase, "rank_seconds", "mean")).text);
	if (!isfinite(share))
		return;
	fputs("waiting that a perfect balance of ", out);
	phase_write_names(out, phase);
	fprintf(out, " would save: at most %s of the run\n", format_percent(share).text);
}

/* Writes where phasemux run --stop-after has stopped the program; nothing if it has not. */
static void write_stopped(FILE *out, const json_t *stopped)
{
	double iterations = report_get(stopped, "iterations");

	if (!json_is_object(stopped))
		return;
	fputs("stopped by --stop-after", out);
	if (isfinite(iterations))
		fprintf(out, " when each rank had made %.0f iterations", iterations);
	fprintf(out, ", %s after its start\n", format_seconds(report_get(stopped, "seconds")).text);
}

static void write_recovered(FILE *out, const json_t *report)
{
	const json_t *recovered = json_object_get(report, "recovered");
	const char *missing = report_get_text(recovered, "missing");

	if (!json_is_object(recovered))
		return;
	fprintf(out, "recovered from %.0f of the ranks%s%s\n", report_get(recovered, "ranks"),
			*missing ? "; missing: " : "", missing);
	write_stopped(out, json_object_get(recovered, "stopped"));
}

static void write_emulated(FILE *out, const json_t *report)
{
	const json_t *emulated = json_object_get(report, "emulated");

	if (json_is_object(emulated))
		fprintf(out,
				"emulated (core model %s): all counts are of a modelled processor and not "
				"measured; times are stretched by the emulator\n",
				report_get_text(emulated, "core"));
}

static void write_without_counters(FILE *out, const json_t *report)
{
	if (json_is_string(json_object_get(report, "without_counters")))
		fprintf(out, "no hardware counters: %s\n",
				report_get_text(report, "without_counters"));
}

static void write_warnings(FILE *out, const json_t *report)
{
	const json_t *warning;
	size_t i;

	json_array_foreach (json_object_get(report, "warnings"), i, warning)
		if (json_is_string(warning))
			fprintf(out, "warning: %s\n", json_string_value(warning));
}

const struct statement statements_head[] = {
	{ "command", write_command },
	{ "programs", write_programs },
	{ "job", write_job },
	{ "start", write_start },
	{ "run", write_run },
	{ "counting", write_model },
	{ "efficiency", write_efficiency },
	{ "processor", write_on_processor },
	{ "imbalance", write_imbalance },
	{ "hosts that differ", statements_hosts_differ },
	{ "recovered", write_recovered },
	{ "emulated", write_emulated },
	{ "without counters", write_without_counters },
	{ "warnings", write_warnings },
	{ NULL, NULL },
};
