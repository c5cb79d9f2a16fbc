/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_phases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbols/name.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define BAR_WIDTH      40
#define HOT_SHOWN      3
#define HOT_SHARE      0.05
#define PHASE_SHOWN    0.01 /* smaller phases are in report.json */
#define NAME_CHARS_MAX 72   /* characters of a function's name in a line */
#define INDENT         6    /* columns before the lines under a phase */

/*
 * Number of samples from which their shares are shown. The 95% interval of a share of n samples is at most
 * 1.96 x sqrt(0.25 / n) wide on each side, which is 22 points for 20 samples. A function with a seventh of the
 * time is missed with a probability of (6/7)^20 = 5%. If there are fewer, the number of samples says more.
 */
#define SAMPLES_SHARED 20

/* Factor between two means below which they do not distinguish two phases. */
#define MEANS_APART 1.1

/* Share of the first pair of places below which a second pair is shown. */
#define PLACE_ENOUGH 0.5

/* ---- where it is ---- */

struct place_text {
	char text[512];
};

/* Returns a name of the document, shortened to at most `most` characters. */
static struct place_text short_name(const char *name, size_t most)
{
	struct place_text text;
	char *whole = strdup(name);

	if (whole)
		name_shorten(whole, most < sizeof(text.text) ? most : sizeof(text.text) - 1);
	snprintf(text.text, sizeof(text.text), "%s", whole ? whole : "?");
	free(whole);
	return text;
}

/*
 * Returns a function and a position in it, without folders: "step solver.c:120". A position without a line
 * contains its function, "step+0x12", or has none, "module+0x1234".
 */
static struct place_text format_place(const char *function, const char *position, size_t most)
{
	size_t length = strlen(function);
	const char *base = strrchr(position, '/');
	struct place_text text, name = short_name(function, most);

	if (!length)
		return short_name(position, most);
	if (strncmp(position, function, length) == 0)
		snprintf(text.text, sizeof(text.text), "%.180s%.60s", name.text, position + length);
	else
		snprintf(text.text, sizeof(text.text), "%.180s %.60s", name.text,
				base ? base + 1 : position);
	return text;
}

/* Returns the text added to the place of an end: the caller of the function, or the wrapper around the call. */
static struct place_text format_beside(const json_t *pair, const char *key, const char *function,
		size_t most)
{
	const json_t *caller, *path;
	struct place_text text = { "" }, place;
	const char *wrapper;
	char name[32];

	snprintf(name, sizeof(name), "%s_caller", key);
	caller = json_object_get(pair, name);
	if (json_is_object(caller)) {
		place = format_place(report_get_text(caller, "function"),
				report_get_text(caller, "position"), most);
		snprintf(text.text, sizeof(text.text), " (in %.240s)", place.text);
		return text;
	}
	snprintf(name, sizeof(name), "%s_path", key);
	path = json_object_get(pair, name);
	wrapper = json_string_value(json_object_get(json_array_get(path, 0), "function"));
	if (wrapper && *wrapper && strcmp(wrapper, function) != 0) {
		place = short_name(wrapper, most);
		snprintf(text.text, sizeof(text.text), " (%.240s)", place.text);
	}
	return text;
}

/*
 * Returns one end of a pair of places, by its key "from" or "to": "MPI_Send in step solver.c:120". If a wrapper
 * made the call, it is "MPI_Send in step solver.c:120 (exchange)". If the compiler inlined the function that
 * made the call, it is "MPI_Send in step solver.c:120 (in main main.c:7)". Returns "" if nothing is known.
 */
static struct place_text format_end(const json_t *pair, const char *key, size_t most)
{
	const char *position = report_get_text(pair, key), *call, *function;
	struct place_text text = { "" }, place, beside;
	char name[32];

	snprintf(name, sizeof(name), "%s_call", key);
	call = report_get_text(pair, name);
	snprintf(name, sizeof(name), "%s_function", key);
	function = report_get_text(pair, name);
	if (strcmp(position, "?") == 0) {
		snprintf(text.text, sizeof(text.text), "%s", call);
		return text;
	}
	place = format_place(function, position, most);
	beside = format_beside(pair, key, function, most);
	snprintf(text.text, sizeof(text.text), "%.60s%s%.150s%.200s", call, *call ? " in " : "",
			place.text, beside.text);
	return text;
}

/* Returns the text of format_end, shortened to at most `room` columns. */
static struct place_text fit_end(const json_t *pair, const char *key, int room)
{
	struct place_text text = format_end(pair, key, NAME_CHARS_MAX);

	for (size_t most = NAME_CHARS_MAX; (int)strlen(text.text) > room && most > 16; most -= 8)
		text = format_end(pair, key, most);
	name_shorten(text.text, (size_t)room);
	return text;
}

/* Prints both ends of a pair and its share, on two lines if they do not fit into one. */
static void print_pair(FILE *out, const json_t *pair, const char *word)
{
	struct format_text share = format_whole_percent(report_get(pair, "share"));
	int before = INDENT + (int)strlen(word) + (*word != '\0');
	int room = REPORT_WIDTH - before - (int)strlen("from ") - (int)strlen(share.text) - 3;
	struct place_text from = fit_end(pair, "from", room), to = fit_end(pair, "to", room);

	if (!*from.text)
		strcpy(from.text, "another call");
	if (!*to.text)
		strcpy(to.text, "another call");
	fprintf(out, "%*s%s%sfrom %s", INDENT, "", word, *word ? " " : "", from.text);
	if ((int)(strlen(from.text) + strlen(to.text) + strlen(" to ")) > room)
		fprintf(out, "\n%*sto   %s (%s)\n", before, "", to.text, share.text);
	else
		fprintf(out, " to %s (%s)\n", to.text, share.text);
}

static bool is_known(const json_t *pair)
{
	return *format_end(pair, "from", NAME_CHARS_MAX).text ||
			*format_end(pair, "to", NAME_CHARS_MAX).text;
}

/* Prints the calls between which most of the phase's time was spent. */
static void print_ends(FILE *out, const json_t *phase)
{
	const json_t *source = json_object_get(phase, "source");
	const json_t *first = json_array_get(source, 0), *second = json_array_get(source, 1);

	if (first && is_known(first))
		print_pair(out, first, "");
	else if (!json_array_size(json_object_get(json_object_get(phase, "profile"), "functions")))
		fprintf(out, "%*splace not known\n", INDENT, "");
	if (second && is_known(second) && report_get(first, "share") < PLACE_ENOUGH)
		print_pair(out, second, "also");
}

/* ---- the difference to another phase of the same place ---- */

static double mean_of(const json_t *phase)
{
	return report_get_in(phase, "duration_seconds", "mean");
}

static double ipc_of(const json_t *phase)
{
	return report_get(phase, "ipc");
}

/* Returns the mean of the first counter, which is the CPU time or cycles. */
static double first_counter_of(const json_t *phase)
{
	json_t *counters = json_object_get(phase, "counters");

	return report_get(json_object_iter_value(json_object_iter(counters)), "mean");
}

/* Returns whether the event is one of the kernel's two clocks, which count nanoseconds. */
static bool is_time(const char *name)
{
	return !strcmp(name, "task-clock") || !strcmp(name, "cpu-clock");
}

static struct format_text format_counter(const char *name, double value)
{
	return is_time(name) ? format_seconds(1e-9 * value) : format_count(value);
}

static bool is_shown(const json_t *phase)
{
	return report_get(phase, "time_share") >= PHASE_SHOWN;
}

static bool same_place(const json_t *one, const json_t *other)
{
	const json_t *a = json_array_get(json_object_get(one, "source"), 0);
	const json_t *b = json_array_get(json_object_get(other, "source"), 0);
	struct place_text x, y;

	if (!a || !b)
		return false;
	x = format_end(a, "from", NAME_CHARS_MAX);
	y = format_end(b, "from", NAME_CHARS_MAX);
	if (strcmp(x.text, y.text) != 0)
		return false;
	x = format_end(a, "to", NAME_CHARS_MAX);
	y = format_end(b, "to", NAME_CHARS_MAX);
	return strcmp(x.text, y.text) == 0;
}

/* Rank of a phase among the phases of its place, by one of its numbers. */
struct standing {
	unsigned others; /* number of other shown phases of the same place */
	unsigned larger; /* how many of these have a larger number */
	bool apart;      /* its number differs from those of all others */
	double first;    /* id of the first of the others */
};

static struct standing stand(const json_t *phases, const json_t *phase,
		double (*number)(const json_t *phase))
{
	struct standing standing = { .apart = true };
	double own = number(phase);
	const json_t *other;
	size_t i;

	json_array_foreach (phases, i, other) {
		double theirs = number(other);

		if (other == phase || !is_shown(other) || !same_place(phase, other))
			continue;
		if (!standing.others++)
			standing.first = report_get(other, "id");
		standing.larger += theirs > own;
		standing.apart &= fmax(own, theirs) >= MEANS_APART * fmin(own, theirs) &&
				fmin(own, theirs) > 0;
	}
	return standing;
}

/*
 * Prints in what the phase differs from those of the same place: the length of its bursts, their IPC, or their
 * first counter.
 */
static void print_apart(FILE *out, const json_t *phases, const json_t *phase)
{
	struct standing by_mean = stand(phases, phase, mean_of);
	struct standing by_ipc = stand(phases, phase, ipc_of);
	struct standing by_counter = stand(phases, phase, first_counter_of);
	const char *counter = json_object_iter_key(
			json_object_iter(json_object_get((json_t *)phase, "counters")));
	bool longest = by_mean.larger == 0, shortest = by_mean.larger == by_mean.others;
	const char *most = by_mean.others > 1 ? "est" : "";
	char what[96];

	if (!by_mean.others)
		return;
	if (by_mean.apart && (longest || shortest))
		snprintf(what, sizeof(what), "the %s%s ones, %s", longest ? "long" : "short", most,
				format_seconds(mean_of(phase)).text);
	else if (by_mean.apart)
		snprintf(what, sizeof(what), "those of %s", format_seconds(mean_of(phase)).text);
	else if (by_ipc.apart)
		snprintf(what, sizeof(what), "those with an IPC of %.2f", ipc_of(phase));
	else if (counter && by_counter.apart)
		snprintf(what, sizeof(what), "those with a %.26s of %s", counter,
				format_counter(counter, first_counter_of(phase)).text);
	else
		return;
	if (by_mean.others == 1)
		report_line(out, INDENT, "      %s (phase %.0f has the same place)", what,
				by_mean.first);
	else
		report_line(out, INDENT, "      %s (%u other phases have the same place)", what,
				by_mean.others);
}

/* ---- where it was sampled ---- */

static double samples_of(const json_t *row, double all)
{
	double samples = report_get(row, "samples");

	return isfinite(samples) ? samples : round(report_get(row, "share") * all);
}

/*
 * Prints where the phase was sampled most: "in forces 71%, neighbours 20% (125 samples)", or if there are few
 * samples "in forces (2 samples), neighbours (1 sample)".
 */
static void print_hot(FILE *out, const json_t *profile, const char *list, const char *key,
		const char *word)
{
	double all = report_get(profile, "samples");
	bool shared = all >= SAMPLES_SHARED;
	char line[8 * 64 * HOT_SHOWN] = "";
	unsigned shown = 0;
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(profile, list), i, row) {
		const char *name = report_get_text(row, key), *base = strrchr(name, '/');
		double share = report_get(row, "share"), samples = samples_of(row, all);
		struct place_text text;
		size_t used = strlen(line);

		if (shown == HOT_SHOWN || (shared && share < HOT_SHARE))
			break;
		if (strcmp(name, "?") == 0)
			continue;
		text = short_name(strcmp(key, "line") == 0 && base ? base + 1 : name,
				NAME_CHARS_MAX);
		if (shared)
			snprintf(line + used, sizeof(line) - used, "%s%s %s", shown ? ", " : "",
					text.text, format_whole_percent(share).text);
		else
			snprintf(line + used, sizeof(line) - used, "%s%s (%.0f sample%s)",
					shown ? ", " : "", text.text, samples,
					samples == 1 ? "" : "s");
		shown++;
	}
	if (shown && shared)
		report_line(out, INDENT + 3, "      %s %s (%s samples)", word, line,
				format_count(all).text);
	else if (shown)
		report_line(out, INDENT + 3, "      %s %s", word, line);
}

/* ---- what was counted ---- */

static void print_bar(FILE *out, double part)
{
	int length = (int)lround(fmin(fmax(part, 0), 1) * BAR_WIDTH);

	if (length > 0)
		fputs("  ", out);
	while (length-- > 0)
		fputc('#', out);
	fputc('\n', out);
}

/*
 * Returns whether the component's value is known well enough: it has an interval, or is 0, because its events
 * occurred in no burst.
 */
static bool is_component_known(const json_t *component)
{
	double value = report_get(component, "cpi");

	return isfinite(value) && (isfinite(report_get(component, "ci95")) || value == 0);
}

/* Returns how many of the components that sum to the CPI are known well enough. */
static unsigned count_known(const json_t *phase)
{
	const json_t *component;
	unsigned known = 0;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		known += !json_integer_value(json_object_get(component, "level")) &&
				is_component_known(component);
	return known;
}

static void print_component(FILE *out, const json_t *component, double cpi)
{
	double value = report_get(component, "cpi"), error = report_get(component, "ci95");
	int level = (int)json_integer_value(json_object_get(component, "level"));
	char interval[16] = "";

	fprintf(out, "      %*s%-*s", 2 * level, "", 26 - 2 * level,
			report_get_text(component, "component"));
	if (!isfinite(value)) {
		fputs("  not available\n", out);
		return;
	}
	if (!is_component_known(component)) {
		fprintf(out, " %7s    %-6s %6s\n", "too few", "", "");
		return;
	}
	if (!isfinite(error))
		interval[0] = '\0';
	else if (error == 0)
		snprintf(interval, sizeof(interval), "exact");
	else if (error < 0.0005)
		snprintf(interval, sizeof(interval), "+- <0.001");
	else
		snprintf(interval, sizeof(interval), "+- %.3f", error);
	fprintf(out, " %7.3f %-9s %6s", value, interval, format_percent(value / cpi).text);
	print_bar(out, value / cpi);
}

/* Prints the components that sum to the CPI, each with its interval, its share and a bar. */
static void print_breakdown(FILE *out, const json_t *phase)
{
	const json_t *component;
	double cpi = report_get(phase, "cpi");
	size_t i;

	/* a single component would be the remainder, which shows nothing */
	if (count_known(phase) < 2) {
		fprintf(out, "      CPI %.3f; too few bursts of each group for a breakdown\n", cpi);
		return;
	}
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		print_component(out, component, cpi);
}

/* Prints a counter's mean per burst, with its interval, or with the number of bursts that counted it. */
static void print_counter(FILE *out, const char *name, const json_t *counter)
{
	double mean = report_get(counter, "mean"), error = report_get(counter, "ci95");
	double observed = report_get(counter, "observed");
	struct format_text text = format_counter(name, mean);

	fprintf(out, "      %-26s ", name);
	if (!isfinite(mean))
		fputs("not observed\n", out);
	else if (!isfinite(error))
		fprintf(out, "%9s (%s burst%s)\n", text.text, format_count(observed).text,
				observed == 1 ? "" : "s");
	else if (error == 0)
		fprintf(out, "%9s exact per burst\n", text.text);
	else
		fprintf(out, "%s per burst\n", format_interval(mean, error, is_time(name), 9).text);
}

/* Prints the mean of each counter per burst, if there is no CPI. */
static void print_counters(FILE *out, const json_t *phase)
{
	const json_t *counters = json_object_get(phase, "counters");
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)counters, name, value)
		print_counter(out, name, value);
}

/* Prints the intervals of the phase's share, number of bursts and mean, under these, if they are estimates. */
static void print_intervals(FILE *out, const json_t *phase)
{
	double seconds = report_get_in(phase, "duration_seconds", "ci95");
	double bursts_error = report_get(phase, "bursts_ci95");
	struct format_text share = format_half_percent(report_get(phase, "time_share_ci95"));
	struct format_text bursts = format_half_width(bursts_error, bursts_error, 0);
	struct format_text mean = format_half_width(1e9 * seconds, 1e9 * mean_of(phase), 1);

	/* an interval below a thousandth is not visible in the numbers above it */
	if (!(bursts_error > 1e-3 * report_get(phase, "bursts")) &&
			!(seconds > 1e-3 * mean_of(phase)))
		return;
	fprintf(out, "       %6s  %9s  %9s\n", share.text, bursts.text, mean.text);
}

/* Prints a phase. read_seconds: time that a read of its counters takes; a burst has a read at each end. */
static void print_phase(FILE *out, const json_t *phases, const json_t *phase, double read_seconds)
{
	double mean = mean_of(phase), ipc = ipc_of(phase), instructions = NAN;
	const json_t *counters = json_object_get(phase, "counters");
	const json_t *profile = json_object_get(phase, "profile");
	void *second = json_object_iter_next((json_t *)counters,
			json_object_iter((json_t *)counters));

	/* cycles and instructions are the first events of every model */
	if (isfinite(ipc) && second)
		instructions = report_get(json_object_iter_value(second), "mean");
	fprintf(out, "%5.0f  %6s  %9s  %9s", report_get(phase, "id"),
			format_percent(report_get(phase, "time_share")).text,
			format_count(report_get(phase, "bursts")).text, format_seconds(mean).text);
	if (isfinite(ipc))
		fprintf(out, "  %9s  %6.2f", format_count(instructions).text, ipc);
	fputc('\n', out);
	print_intervals(out, phase);
	print_ends(out, phase);
	print_apart(out, phases, phase);
	if (mean < 2 * read_seconds)
		report_line(out, INDENT,
				"      shorter than reading counters at both ends (%s): its counts are partly "
				"those of the reads",
				format_seconds(2 * read_seconds).text);
	print_hot(out, profile, "functions", "function", "in");
	print_hot(out, profile, "lines", "line", "at");
	if (json_array_size(json_object_get(phase, "cpi_breakdown")))
		print_breakdown(out, phase);
	else
		print_counters(out, phase);
}

void report_phases(FILE *out, const json_t *report)
{
	double read_seconds = report_get_in(report, "agent", "read_seconds"), small = 0;
	const json_t *phases = json_object_get(report, "phases"), *phase;
	unsigned smalls = 0;
	size_t i;

	fprintf(out, "phase    time     bursts       mean%s\n",
			json_is_null(json_object_get(report, "without_counters")) ?
					"     instr.     IPC" :
					"");
	json_array_foreach (phases, i, phase) {
		if (is_shown(phase)) {
			print_phase(out, phases, phase, read_seconds);
		} else {
			small += report_get(phase, "time_share");
			smalls++;
		}
	}
	if (smalls)
		fprintf(out, "       %6s  in %u smaller phase%s\n", format_percent(small).text,
				smalls, smalls == 1 ? "" : "s");
	if (!i)
		fprintf(out, "       none: the run was too short, or no burst was long enough\n");
	fputc('\n', out);
}
