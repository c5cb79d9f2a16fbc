#include "agent/report_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH         100
#define BAR_WIDTH     40
#define HOT_SHOWN     3
#define HOT_SHARE     0.05
#define PHASE_SHOWN   0.01 /* smaller phases are in report.json */
#define POLLING_SHOWN 0.0005

/* A number of the document; NAN where there is none. */
static double get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double get_in(const json_t *object, const char *key, const char *inner)
{
	return get(json_object_get(object, key), inner);
}

static const char *get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

/* ---- numbers for people ---- */

struct text {
	char of[32];
};

static struct text format_scaled(double value, const char *const units[], unsigned count,
		double step)
{
	struct text text;
	unsigned unit = 0;

	if (!isfinite(value)) {
		snprintf(text.of, sizeof(text.of), "-");
		return text;
	}
	while (unit + 1 < count && fabs(value) >= 0.9995 * step) {
		value /= step;
		unit++;
	}
	snprintf(text.of, sizeof(text.of), "%.*f%s%s",
			fabs(value) >= 99.95 || value == 0   ? 0 :
					fabs(value) >= 9.995 ? 1 :
							       2,
			value, *units[unit] ? " " : "", units[unit]);
	return text;
}

static struct text format_count(double value)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	struct text text;

	if (value == floor(value) && fabs(value) < 1000) {
		snprintf(text.of, sizeof(text.of), "%.0f", value);
		return text;
	}
	return format_scaled(value, units, 6, 1000);
}

static struct text format_seconds(double seconds)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return format_scaled(seconds * 1e9, units, 4, 1000);
}

static struct text format_bytes(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };

	return format_scaled(bytes, units, 4, 1024);
}

static struct text format_percent(double part)
{
	struct text text;

	if (!isfinite(part))
		snprintf(text.of, sizeof(text.of), "-");
	else if (part > 0 && part < 0.0005)
		snprintf(text.of, sizeof(text.of), "<0.1%%");
	else
		snprintf(text.of, sizeof(text.of), "%.1f%%", 100 * part);
	return text;
}

/* Prints words, and begins a new, indented line before one that would pass the width. */
static void print_wrapped(FILE *out, const char *words, int indent)
{
	int column = (int)strspn(words, " ");

	fprintf(out, "%*s", column, "");
	words += column;
	for (bool first = true; *words; first = false) {
		int length = (int)strcspn(words, " ");

		if (!first && column + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, words);
		column += length;
		words += length;
		words += strspn(words, " ");
	}
	fputc('\n', out);
}

__attribute__((format(printf, 3, 4))) static void print_line(FILE *out, int indent,
		const char *format, ...)
{
	char *line = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) >= 0)
		print_wrapped(out, line, indent);
	va_end(arguments);
	free(line);
}

/* ---- the head ---- */

/* What was run, without the folders of the program: "lmp -in in.lj". */
static void print_command(FILE *out, const json_t *report)
{
	const json_t *word;
	size_t i, column = 0;

	fputs("phasemux:", out);
	json_array_foreach (json_object_get(report, "command"), i, word) {
		const char *text = json_string_value(word);
		const char *base = text ? strrchr(text, '/') : NULL;

		if (!text)
			continue;
		if (i == 0 && base)
			text = base + 1;
		column += strlen(text) + 1;
		if (column > WIDTH - 20) {
			fputs(" ...", out);
			break;
		}
		fputc(' ', out);
		/* a word may hold anything: keep to one line */
		for (; *text; text++)
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
	fputc('\n', out);
}

/* "job 4711, step 0, 2 nodes, partition main" */
static void print_job(FILE *out, const json_t *job)
{
	const char *step = json_string_value(json_object_get(job, "step"));
	const char *partition = json_string_value(json_object_get(job, "partition"));
	double nodes = get(job, "nodes");

	fprintf(out, "  job %s%s%s", get_text(job, "id"), step ? ", step " : "", step ? step : "");
	if (isfinite(nodes))
		fprintf(out, ", %.0f node%s", nodes, nodes == 1 ? "" : "s");
	fprintf(out, "%s%s\n", partition ? ", partition " : "", partition ? partition : "");
}

static void print_head(FILE *out, const json_t *report)
{
	const json_t *efficiency = json_object_get(report, "efficiency"), *warning;
	const json_t *recovered = json_object_get(report, "recovered");
	const char *missing = get_text(recovered, "missing");
	size_t groups = json_array_size(json_object_get(report, "groups"));
	double threads = get(report, "threads"), ranks = get(report, "ranks");
	const char *processes = strcmp(get_text(report, "mpi"), "no MPI") == 0 ?
			(ranks == 1 ? "process" : "processes") :
			(ranks == 1 ? "rank" : "ranks");
	double off = get_in(report, "toggle", "off_seconds");
	char of_threads[32] = "", of_all[96] = "";
	size_t i;

	print_command(out, report);
	if (json_is_object(json_object_get(report, "job")))
		print_job(out, json_object_get(report, "job"));
	if (threads > ranks)
		snprintf(of_threads, sizeof(of_threads), ", %.0f threads", threads);
	if (isfinite(off))
		snprintf(of_all, sizeof(of_all), " of %s (off for the rest, in turns)",
				format_seconds(get(report, "wall_seconds") + off).of);
	print_line(out, 4, "  %.0f %s%s, %s%s, %s, %s", ranks, processes, of_threads,
			format_seconds(get(report, "wall_seconds")).of, of_all,
			get_text(report, "mpi"), get_text(report, "processor"));
	print_line(out, 4, "  model %s, scheme %s, %zu group%s", get_text(report, "model"),
			get_text(report, "scheme"), groups, groups == 1 ? "" : "s");
	print_line(out, 4, "  parallel efficiency %s = load balance %s x communication %s",
			format_percent(get(efficiency, "parallel")).of,
			format_percent(get(efficiency, "load_balance")).of,
			format_percent(get(efficiency, "communication")).of);
	if (isfinite(get(efficiency, "threads")))
		print_line(out, 4, "  and by level: MPI %s x threads %s",
				format_percent(get(efficiency, "mpi")).of,
				format_percent(get(efficiency, "threads")).of);
	if (json_is_object(recovered))
		print_line(out, 4, "  recovered from %.0f of the ranks%s%s",
				get(recovered, "ranks"), *missing ? "; missing: " : "", missing);
	if (json_is_string(json_object_get(report, "without_counters")))
		print_line(out, 4, "  no hardware counters: %s",
				get_text(report, "without_counters"));
	json_array_foreach (json_object_get(report, "warnings"), i, warning)
		print_line(out, 4, "  warning: %s", json_string_value(warning));
	fputc('\n', out);
}

/* ---- phases ---- */

struct place_text {
	char of[256];
};

/*
 * One end of a pair of places, by its key "from" or "to": "MPI_Send in step solver.c:120", without
 * folders; without lines "MPI_Send in step+0x12". Where a wrapper made the call: "MPI_Send in step
 * solver.c:120 (exchange)".
 */
static struct place_text format_end(const json_t *pair, const char *key)
{
	const char *position = get_text(pair, key), *base = strrchr(position, '/'), *inner;
	struct place_text text;
	char name[32];
	const char *function, *call;
	int length;

	snprintf(name, sizeof(name), "%s_call", key);
	call = get_text(pair, name);
	snprintf(name, sizeof(name), "%s_function", key);
	function = get_text(pair, name);
	/* a position without a line says its function itself, and "module+0x1234" has none */
	if (*call && strcmp(position, "?") == 0)
		length = snprintf(text.of, sizeof(text.of), "%s", call);
	else if (*function && strncmp(position, function, strlen(function)) != 0)
		length = snprintf(text.of, sizeof(text.of), "%s%s%s %s", call, *call ? " in " : "",
				function, base ? base + 1 : position);
	else
		length = snprintf(text.of, sizeof(text.of), "%s%s%s", call, *call ? " in " : "",
				position);
	snprintf(name, sizeof(name), "%s_path", key);
	inner = json_string_value(json_object_get(json_array_get(json_object_get(pair, name), 0),
			"function"));
	if (inner && *inner && strcmp(inner, function) != 0 && length < (int)sizeof(text.of))
		snprintf(text.of + length, sizeof(text.of) - (size_t)length, " (%s)", inner);
	return text;
}

/* Between which calls most of the phase's time was spent. */
static void print_ends(FILE *out, const json_t *phase)
{
	const json_t *pair = json_array_get(json_object_get(phase, "source"), 0);
	struct place_text from, to;
	int room = WIDTH - 6 - 11;

	if (!pair)
		return;
	from = format_end(pair, "from");
	to = format_end(pair, "to");
	/* a line each where they do not fit into one */
	if ((int)(strlen(from.of) + strlen(to.of)) > room)
		fprintf(out, "      from %.*s\n      to   %.*s\n", room + 4, from.of, room + 4,
				to.of);
	else
		fprintf(out, "      from %s to %s\n", from.of, to.of);
}

/* "in   forces 71.2%, neighbours 20.1%": where the phase was sampled most. */
static void print_hot(FILE *out, const json_t *profile, const char *list, const char *key,
		const char *word)
{
	const json_t *row;
	char line[512];
	int used = 0;
	size_t i;

	json_array_foreach (json_object_get(profile, list), i, row) {
		const char *name = get_text(row, key), *base = strrchr(name, '/');

		if (i == HOT_SHOWN || get(row, "share") < HOT_SHARE ||
				used > (int)sizeof(line) - 160)
			break;
		used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%.120s %s",
				i ? ", " : "", strcmp(key, "line") == 0 && base ? base + 1 : name,
				format_percent(get(row, "share")).of);
	}
	if (used)
		print_line(out, 9, "      %s %s", word, line);
}

static void print_bar(FILE *out, double part)
{
	int length = (int)lround(fmin(fmax(part, 0), 1) * BAR_WIDTH);

	if (length > 0)
		fputs("  ", out);
	while (length-- > 0)
		fputc('#', out);
	fputc('\n', out);
}

/* How many of the components that sum to the CPI have a value with an interval. */
static unsigned count_known(const json_t *phase)
{
	const json_t *component;
	unsigned known = 0;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		known += !json_integer_value(json_object_get(component, "level")) &&
				isfinite(get(component, "cpi")) && isfinite(get(component, "ci95"));
	return known;
}

/* Components that sum to the CPI, each with its interval, its share and a bar. */
static void print_breakdown(FILE *out, const json_t *phase)
{
	const json_t *component;
	double cpi = get(phase, "cpi");
	size_t i;

	/* one alone would be what the others leave */
	if (count_known(phase) < 2) {
		fprintf(out, "      CPI %.3f; too few bursts of each group for a breakdown\n", cpi);
		return;
	}
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		double value = get(component, "cpi"), error = get(component, "ci95");
		int level = (int)json_integer_value(json_object_get(component, "level"));

		fprintf(out, "      %*s%-*s", 2 * level, "", 26 - 2 * level,
				get_text(component, "component"));
		if (!isfinite(value)) {
			fputs("  not available\n", out);
			continue;
		}
		if (isfinite(error))
			fprintf(out, " %7.3f +- %-6.3f %6s", value, error,
					format_percent(value / cpi).of);
		else
			fprintf(out, " %7s    %-6s %6s", "too few", "", "");
		print_bar(out, isfinite(error) ? value / cpi : 0);
	}
}

/* The kernel's two clocks count nanoseconds. */
static struct text format_counter(const char *name, double value)
{
	int is_time = !strcmp(name, "task-clock") || !strcmp(name, "cpu-clock");

	return is_time ? format_seconds(1e-9 * value) : format_count(value);
}

/* Without a CPI: what was counted, per burst. */
static void print_counters(FILE *out, const json_t *phase)
{
	const json_t *counters = json_object_get(phase, "counters");
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)counters, name, value) {
		double mean = get(value, "mean"), error = get(value, "ci95");

		if (isfinite(mean) && isfinite(error))
			fprintf(out, "      %-26s %9s +- %-9s per burst\n", name,
					format_counter(name, mean).of,
					format_counter(name, error).of);
		else
			fprintf(out, "      %-26s %9s\n", name,
					isfinite(mean) ? "too few" : "not observed");
	}
}

/* read_seconds: what a read of its counters takes; a burst has one at each end. */
static void print_phase(FILE *out, const json_t *phase, double read_seconds)
{
	double mean = get_in(phase, "duration_seconds", "mean");
	double ipc = get(phase, "ipc"), instructions = NAN;
	const json_t *counters = json_object_get(phase, "counters");
	void *second = json_object_iter_next((json_t *)counters,
			json_object_iter((json_t *)counters));

	/* cycles and instructions stand first in every model */
	if (isfinite(ipc) && second)
		instructions = get(json_object_iter_value(second), "mean");
	fprintf(out, "%5.0f  %6s  %9s  %9s", get(phase, "id"),
			format_percent(get(phase, "time_share")).of,
			format_count(get(phase, "bursts")).of, format_seconds(mean).of);
	if (isfinite(ipc))
		fprintf(out, "  %9s  %6.2f", format_count(instructions).of, ipc);
	fputc('\n', out);
	print_ends(out, phase);
	if (mean < 2 * read_seconds)
		print_line(out, 6,
				"      shorter than reading counters at both ends (%s): its counts are partly "
				"those of the reads",
				format_seconds(2 * read_seconds).of);
	print_hot(out, json_object_get(phase, "profile"), "functions", "function", "in");
	print_hot(out, json_object_get(phase, "profile"), "lines", "line", "at");
	if (json_array_size(json_object_get(phase, "cpi_breakdown")))
		print_breakdown(out, phase);
	else
		print_counters(out, phase);
}

static void print_phases(FILE *out, const json_t *report)
{
	double read_seconds = get_in(report, "agent", "read_seconds"), small = 0;
	const json_t *phase;
	unsigned smalls = 0;
	size_t i;

	fprintf(out, "phase    time     bursts       mean%s\n",
			json_is_null(json_object_get(report, "without_counters")) ?
					"     instr.     IPC" :
					"");
	json_array_foreach (json_object_get(report, "phases"), i, phase) {
		if (get(phase, "time_share") >= PHASE_SHOWN) {
			print_phase(out, phase, read_seconds);
		} else {
			small += get(phase, "time_share");
			smalls++;
		}
	}
	if (smalls)
		fprintf(out, "       %6s  in %u smaller phase%s\n", format_percent(small).of,
				smalls, smalls == 1 ? "" : "s");
	if (!i)
		fprintf(out, "       none: the run was too short, or no burst was long enough\n");
	fputc('\n', out);
}

/* ---- the foot ---- */

/* Long bursts and their samples, where there were any. */
static void print_slices(FILE *out, const json_t *samples)
{
	double slices = get(samples, "slices"), lost = get(samples, "lost");

	if (slices > 0)
		print_line(out, 2, "Long bursts are cut into %s slices, which count as bursts.",
				format_count(slices).of);
	if (lost > 0)
		print_line(out, 2, "Samples that found no room: %s.", format_count(lost).of);
}

/* Calls whose callers are not all known, where there were any. */
static void print_paths(FILE *out, const json_t *paths)
{
	double merged = get(paths, "merged_calls");

	if (merged > 0)
		print_line(out, 2,
				"Call paths: %s are told apart; %s calls came by others, of which only "
				"the innermost callers are known.",
				format_count(get(paths, "kept")).of, format_count(merged).of);
}

/* What PHASEMUX_TOGGLE has found. */
static void print_toggle(FILE *out, const json_t *toggle)
{
	double compared = get(toggle, "compared"), mean = get_in(toggle, "slowdown", "mean");
	double ci95 = get_in(toggle, "slowdown", "ci95"),
	       median = get_in(toggle, "slowdown", "median");

	if (!json_is_object(toggle))
		return;
	if (isfinite(ci95))
		print_line(out, 2,
				"Measured: while phasemux was on, the program was %.2f%% +- %.2f%% slower "
				"(median %.2f%%; %.0f pairs of stretches, on and off).",
				100 * mean, 100 * ci95, 100 * median, compared);
	else
		print_line(out, 2,
				"How much slower the program is while phasemux is on is not known: %.0f "
				"pairs of stretches, on and off, can be compared.",
				compared);
}

/* Where the program waits by asking again and again. */
static void print_polling(FILE *out, const json_t *polling)
{
	double bursts = get(polling, "bursts");

	if (!(bursts > 0) || !(get(polling, "time_share") >= POLLING_SHOWN))
		return;
	print_line(out, 2,
			"Polling: %s of the run's time, in %s pauses of %s between calls that only ask "
			"(MPI_Test, MPI_Iprobe, ...); they count as waiting, like those calls.",
			format_percent(get(polling, "time_share")).of, format_count(bursts).of,
			format_seconds(get(polling, "seconds") / bursts).of);
}

static void print_foot(FILE *out, const json_t *report)
{
	const json_t *agent = json_object_get(report, "agent");
	double lost = get_in(report, "lost", "bursts"), cost = get(agent, "interval_cost");
	double passed = get(agent, "passed_calls");
	struct text alone = format_percent(get(agent, "processor_share"));
	struct text waited = format_percent(get(agent, "share"));
	bool waits = strcmp(alone.of, waited.of) != 0;

	print_line(out, 2,
			"Left out: unclassified %s (%s bursts), short %s (%s bursts under %s)%s%s%s.",
			format_percent(get_in(report, "unclassified", "time_share")).of,
			format_count(get_in(report, "unclassified", "bursts")).of,
			format_percent(get_in(report, "short", "time_share")).of,
			format_count(get_in(report, "short", "bursts")).of,
			format_seconds(get(report, "burst_min_seconds")).of,
			lost > 0 ? ", lost " : "", lost > 0 ? format_count(lost).of : "",
			lost > 0 ? " bursts" : "");
	print_polling(out, json_object_get(report, "polling"));
	print_line(out, 2, "Not read, placed by call site: %s (%s bursts).",
			format_percent(get_in(report, "not_read", "time_share")).of,
			format_count(get_in(report, "not_read", "bursts")).of);
	print_slices(out, json_object_get(report, "samples"));
	print_paths(out, json_object_get(report, "call_paths"));
	if (passed > 0)
		print_line(out, 2,
				"Too fast to time each within the budget: %s calls; their time is "
				"known together, and placed as that of those around them.",
				format_count(passed).of);
	print_line(out, 2,
			"phasemux itself: %s (%s%s%s%s), %s reads and %s switches in %s calls, "
			"%.0f rounds, %s per process%s%s%s.",
			format_seconds(get(agent, "seconds")).of, alone.of, waits ? "; " : "",
			waits ? waited.of : "", waits ? " where ranks wait for each other" : "",
			format_count(get(agent, "reads")).of,
			format_count(get(agent, "switches")).of,
			format_count(get(agent, "calls")).of, get(agent, "rounds"),
			format_bytes(get(agent, "bytes")).of,
			cost >= 1.05 ? "; intervals are about " : "",
			cost >= 1.05 ? format_count(cost).of : "",
			cost >= 1.05 ? " times as wide as if all bursts had been read" : "");
	print_toggle(out, json_object_get(report, "toggle"));
}

static bool is_report(const json_t *report, char *why, size_t why_size)
{
	const json_t *phases = json_object_get(report, "phases"), *phase;
	double version = get(report, "phasemux");
	bool whole = json_is_array(phases);
	size_t i;

	json_array_foreach (phases, i, phase)
		whole = whole && isfinite(get(phase, "id")) && isfinite(get(phase, "time_share")) &&
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

/* A report may come from anywhere: no name in it speaks to the terminal. */
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
	print_phases(out, report);
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
			fprintf(out, "%.0f,%.9g,%.0f,%s,%.17g,%.9g,%.0f\n", get(phase, "id"),
					get(phase, "time_share"), get(phase, "bursts"), name,
					get(counter, "mean"), get(counter, "ci95"),
					get(counter, "observed"));
	fclose(out);
	return plain(text);
}
