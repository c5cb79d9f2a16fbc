/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan_write.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "agent/whatif/run_times.h"
#include "tools/replay/plan/plan.h"
#include "tools/results/structure_arguments.h"
#include "tools/results/structure_calls.h"

#define NS                1e9 /* in a second */
#define COMMUNICATORS_MAX 1024

static bool is_size(unsigned argument)
{
	return argument == ARGUMENT_BYTES || argument == ARGUMENT_FROM_BYTES;
}

/* Returns a number that is not negative; 0 if it is not known. */
static double positive(double number)
{
	return isfinite(number) && number > 0 ? number : 0;
}

static long long whole(double number)
{
	return llround(fmin(positive(number), 1e18));
}

/* ---- arguments ---- */

static void write_ranks(FILE *out, const json_t *object)
{
	const json_t *ranges = json_object_get(object, "rank_ranges"), *range;
	double first = report_get(object, "first_rank");
	bool has_first = isfinite(first) && !structure_in_ranges(object, (long)positive(first));
	size_t i;

	fprintf(out, "%zu", json_array_size(ranges) + has_first);
	json_array_foreach (ranges, i, range)
		for (size_t j = 0; j < 3; j++)
			fprintf(out, " %lld", whole(json_number_value(json_array_get(range, j))));
	if (has_first)
		fprintf(out, " %lld 1 1", whole(first));
}

static size_t count_items(const json_t *stream);

static bool is_valid_item(const json_t *item)
{
	const json_t *what = json_array_get(item, 1);

	return json_integer_value(json_array_get(item, 0)) >= 1 &&
			(json_is_array(what) ? count_items(what) > 0 : what != NULL);
}

/* Returns how many items a stream has before the first one that is not valid. */
static size_t count_items(const json_t *stream)
{
	size_t count = 0;

	while (count < json_array_size(stream) && is_valid_item(json_array_get(stream, count)))
		count++;
	return count;
}

/* The communicators that the program made, in the order of their numbers. In a plan they are numbered from 2 on. */
struct communicators {
	size_t count;
	json_int_t number[COMMUNICATORS_MAX];
};

static size_t find_communicator(const struct communicators *communicators, json_int_t number)
{
	size_t at = 0;

	while (at < communicators->count && communicators->number[at] < number)
		at++;
	return at;
}

/* Adds the communicators of a stream. Those that find no room have the last number, and share a copy with others. */
static void add_communicators(struct communicators *into, const json_t *stream)
{
	const json_t *item;
	size_t i;

	json_array_foreach (stream, i, item) {
		const json_t *what = json_array_get(item, 1);
		json_int_t number = json_integer_value(what);
		size_t at = find_communicator(into, number);

		if (json_is_array(what)) {
			add_communicators(into, what);
			continue;
		}
		if (!json_is_integer(what) || number < 2 || into->count == COMMUNICATORS_MAX ||
				(at < into->count && into->number[at] == number))
			continue;
		memmove(into->number + at + 1, into->number + at,
				(into->count++ - at) * sizeof(*into->number));
		into->number[at] = number;
	}
}

/* communicators: NULL: the value is none. */
static void write_value(FILE *out, const json_t *value, const struct communicators *communicators)
{
	if (communicators && json_integer_value(value) >= 2)
		fprintf(out, " %zu",
				2 + find_communicator(communicators, json_integer_value(value)));
	else if (json_is_integer(value))
		fprintf(out, " %lld", (long long)json_integer_value(value));
	else if (json_is_string(value) && strcmp(json_string_value(value), "any") == 0)
		fputs(" any", out);
	else if (json_is_string(value) && strcmp(json_string_value(value), "none") == 0)
		fputs(" none", out);
	else
		fputs(" ?", out);
}

static void write_stream(FILE *out, const json_t *stream, const struct communicators *communicators)
{
	size_t count = count_items(stream);

	fprintf(out, " %zu", count);
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(stream, i), *what = json_array_get(item, 1);

		fprintf(out, " %lld", (long long)json_integer_value(json_array_get(item, 0)));
		if (json_is_array(what)) {
			fputs(" (", out);
			write_stream(out, what, communicators);
		} else {
			write_value(out, what, communicators);
		}
	}
}

/* Returns the mean of the values of all ranks, because a size must be the same in all ranks of a collective. */
static double mean_of(const json_t *list)
{
	double sum = 0, number = 0;
	const json_t *values;
	size_t i;

	json_array_foreach (list, i, values) {
		double numbers = report_get(values, "values") - report_get(values, "marks");

		if (numbers > 0 && isfinite(report_get(values, "mean"))) {
			sum += numbers * report_get(values, "mean");
			number += numbers;
		}
	}
	return sum / number;
}

static void write_argument(FILE *out, const json_t *list, unsigned argument,
		const struct communicators *communicators)
{
	double mean = is_size(argument) ? mean_of(list) : NAN;
	const json_t *values;
	size_t i;

	fprintf(out, "%zu\n", json_array_size(list));
	json_array_foreach (list, i, values) {
		write_ranks(out, values);
		fprintf(out, " %lld",
				whole(report_get(values, "values") / report_get(values, "ranks")));
		if (isfinite(mean))
			fprintf(out, " %lld", whole(mean));
		else
			fputs(" ?", out);
		write_stream(out, json_object_get(values, "stream"),
				argument == ARGUMENT_COMMUNICATOR ? communicators : NULL);
		fputc('\n', out);
	}
}

static void write_paths(FILE *out, const json_t *paths)
{
	const char *communicator = structure_arguments_key(ARGUMENT_COMMUNICATOR);
	struct communicators communicators = { 0 };
	const json_t *path, *values;
	size_t i, k;

	json_array_foreach (paths, i, path)
		json_array_foreach (json_object_get(path, communicator), k, values)
			add_communicators(&communicators, json_object_get(values, "stream"));
	fprintf(out, "paths %zu\n", json_array_size(paths));
	json_array_foreach (paths, i, path) {
		fprintf(out, "%d\n", json_is_true(json_object_get(path, "opens_requests")));
		for (unsigned j = 0; j < ARGUMENTS; j++)
			write_argument(out, json_object_get(path, structure_arguments_key(j)), j,
					&communicators);
	}
}

static bool has_unknown(const json_t *stream)
{
	const json_t *item;
	size_t i;

	json_array_foreach (stream, i, item) {
		const json_t *what = json_array_get(item, 1);

		if (json_is_array(what) ? has_unknown(what) : json_is_null(what))
			return true;
	}
	return false;
}

/*
 * Returns the most bytes of a message if the size of some message is not known, because the receives then need room for
 * the mean; else 0.
 */
static double most_bytes(const json_t *paths)
{
	const json_t *path, *values;
	bool unknown = false;
	double most = 0;
	size_t i, j;

	json_array_foreach (paths, i, path) {
		const json_t *list = json_object_get(path, "bytes");

		if (!json_object_get(path, "to"))
			continue;
		json_array_foreach (list, j, values) {
			const json_t *stream = json_object_get(values, "stream");

			most = fmax(most, positive(report_get(values, "most")));
			unknown |= !json_is_null(json_object_get(values, "exact_values")) ||
					!json_is_array(stream) || has_unknown(stream);
		}
	}
	return unknown ? fmin(most, INT_MAX) : 0;
}

/* ---- loops ---- */

/* Writes one word, also for names that are none. */
static void write_name(FILE *out, const char *name)
{
	size_t length = strlen(name);
	bool is_word = length > 0 && length < PLAN_NAME_MAX;

	for (size_t i = 0; i < length; i++)
		is_word &= name[i] > ' ';
	fputs(is_word ? name : "?", out);
}

struct text {
	FILE *out;
	const json_t *phases, *paths;
	double ranks; /* of the structure */
};

/* Returns the place of a token's phase in the report, or -1. */
static long phase_of(const struct text *text, const json_t *token)
{
	double id = report_get(token, "phase");
	const json_t *phase;
	size_t i;

	json_array_foreach (text->phases, i, phase)
		if (report_get(phase, "id") == id)
			return (long)i;
	return -1;
}

static long path_of(const struct text *text, const json_t *token)
{
	const json_t *path = json_object_get(token, "path");
	json_int_t number = json_integer_value(path);

	if (!path)
		return PLAN_PATH_NONE;
	return json_is_integer(path) && number >= 0 &&
					number < (json_int_t)json_array_size(text->paths) ?
			(long)number :
			PLAN_PATH_UNKNOWN;
}

static double range_of(const json_t *token, size_t end)
{
	const json_t *times = json_object_get(token, "burst_seconds");

	return positive(json_number_value(json_array_get(json_object_get(times, "ranks"), end)));
}

static void write_body(const struct text *text, const json_t *body)
{
	const json_t *token;
	size_t i;

	fprintf(text->out, "%zu\n", json_array_size(body));
	json_array_foreach (body, i, token) {
		double burst = structure_calls_mean(token, "burst_seconds");
		double seconds = structure_calls_mean(token, "call_seconds");

		if (json_object_get(token, "body")) {
			fputs("loop ", text->out);
			write_body(text, json_object_get(token, "body"));
		} else if (json_is_true(json_object_get(token, "unobserved"))) {
			fprintf(text->out, "hole %.17g %.17g\n", burst, seconds);
		} else {
			fputs("call ", text->out);
			write_name(text->out, report_get_text(token, "call"));
			fprintf(text->out, " %ld %ld %.17g %.17g %.17g %.17g\n",
					path_of(text, token), phase_of(text, token), burst,
					range_of(token, 0), range_of(token, 1), seconds);
		}
	}
}

static void write_runs(FILE *out, const json_t *runs)
{
	const json_t *run;
	size_t i;

	fprintf(out, " %zu", json_array_size(runs));
	json_array_foreach (runs, i, run)
		fprintf(out, " %lld %lld", (long long)json_integer_value(json_array_get(run, 0)),
				(long long)json_integer_value(json_array_get(run, 1)));
}

/* Writes how often a token is repeated. list: the counts of a variant; NULL: they are in the text. */
static void write_count(const struct text *text, const json_t *token, const json_t *list,
		size_t number)
{
	const json_t *repeats = json_object_get(token, "repeats");
	const json_t *counts = json_object_get(token, "counts");
	double least = json_number_value(json_array_get(repeats, 0)),
	       most = json_number_value(json_array_get(repeats, 1));

	if (list)
		counts = json_array_get(list, number);
	if (json_is_true(json_object_get(token, "unobserved")) && !json_is_array(list))
		fprintf(text->out, " 1 %lld 1", whole(report_get(token, "count") / text->ranks));
	else if (json_is_integer(counts))
		fprintf(text->out, " 1 %lld 1", (long long)json_integer_value(counts));
	else if (json_array_size(counts))
		write_runs(text->out, counts);
	else if (list && !counts && least != most)
		fputs(" 0", text->out);
	else
		fprintf(text->out, " 1 %lld 1", whole(most));
}

static void write_counts(const struct text *text, const json_t *body, const json_t *list,
		size_t *number)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token) {
		write_count(text, token, list, (*number)++);
		write_counts(text, json_object_get(token, "body"), list, number);
	}
}

/*
 * Returns up to which call of a rank the counts hold, or -1. A rank has no more calls than there are, whatever the counts of
 * a file of unknown origin are.
 */
static long long exact_calls(const json_t *variant)
{
	const json_t *exact = json_object_get(variant, "expandable_calls");
	double calls = ceil(report_get(variant, "calls") / report_get(variant, "ranks"));

	if (json_is_number(exact))
		return whole(json_number_value(exact));
	return isfinite(calls) && calls > 0 ? whole(calls) : -1;
}

/* variant: the structure itself if all of its ranks are alike. */
static void write_variant(const struct text *text, const json_t *structure, const json_t *variant)
{
	size_t number = 0;

	write_ranks(text->out, variant);
	fprintf(text->out, " %lld", exact_calls(variant));
	write_counts(text, json_object_get(structure, "text"), json_object_get(variant, "counts"),
			&number);
	fputc('\n', text->out);
}

static void write_structures(FILE *out, const json_t *report)
{
	const json_t *all = json_object_get(report, "structure"), *structure, *variant;
	size_t i, j;

	fprintf(out, "structures %zu\n", json_array_size(json_object_get(all, "structures")));
	json_array_foreach (json_object_get(all, "structures"), i, structure) {
		const json_t *variants = json_object_get(structure, "variants");
		const struct text text = { out, json_object_get(report, "phases"),
			json_object_get(json_object_get(all, "arguments"), "paths"),
			report_get(structure, "ranks") };

		write_body(&text, json_object_get(structure, "text"));
		fprintf(out, "%zu\n", json_is_array(variants) ? json_array_size(variants) : 1);
		if (!json_is_array(variants))
			write_variant(&text, structure, structure);
		json_array_foreach (variants, j, variant)
			write_variant(&text, structure, variant);
	}
}

/* ---- times ---- */

/* The bursts of a phase, by the means of the tokens. */
struct spread {
	double count, sum, squares;
};

/* Adds the tokens of a phase in a body. *longest: the longest time of a rank in the calls of a token. */
static void look_at_body(const struct text *text, const json_t *body, struct spread *of_phase,
		double *longest)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token) {
		double count = positive(report_get(token, "count"));
		double mean = structure_calls_mean(token, "burst_seconds");
		const json_t *ranks =
				json_object_get(json_object_get(token, "call_seconds"), "ranks");
		long phase = phase_of(text, token);

		if (json_object_get(token, "body")) {
			look_at_body(text, json_object_get(token, "body"), of_phase, longest);
			continue;
		}
		*longest = fmax(*longest,
				positive(json_number_value(json_array_get(ranks, 1))) * count /
						text->ranks);
		if (phase >= 0) {
			of_phase[phase].count += count;
			of_phase[phase].sum += count * mean;
			of_phase[phase].squares += count * mean * mean;
		}
	}
}

/* Returns the share of its time in which a burst of a phase had a processor; 1 if the run did not count that. */
static double processor_share(const json_t *phase)
{
	const json_t *clock = json_object_get(json_object_get(phase, "counters"), "task-clock");
	double share = report_get(clock, "mean") /
			(report_get_in(phase, "duration_seconds", "mean") * NS);

	return share > 0 && share < 1 ? share : 1;
}

/*
 * Returns the standard deviation of the bursts of a phase that belong to one token, divided by their mean. The report has
 * that of all bursts of the phase, of which a part is between the means of the tokens. It is that of the CPU time if the run
 * counted it, because preemption is no work of the program.
 */
static double variation(const json_t *phase, const struct spread *spread)
{
	const json_t *clock = json_object_get(json_object_get(phase, "counters"), "task-clock");
	bool has_clock = report_get(clock, "mean") > 0 && report_get(clock, "sd") >= 0;
	double mean = report_get_in(phase, "duration_seconds", "mean");
	double sd = has_clock ? report_get(clock, "sd") / report_get(clock, "mean") :
				report_get_in(phase, "duration_seconds", "sd") / mean;
	double of_tokens = spread->sum / spread->count;
	double between = spread->squares / spread->count / (of_tokens * of_tokens) - 1;

	return positive(sqrt(fmax(0, sd * sd - positive(between))));
}

/*
 * Returns the seconds of a rank in a phase, and in the others of its set: different ranks execute these at one place, where
 * the structure has one of them for all.
 */
static double seconds_of_set(const struct run_times *run, size_t row, size_t phase)
{
	double sum = 0;

	for (size_t p = run->phase[phase].set; p < run->phases; p = run->phase[p].next)
		sum += positive(run_times_cell(run, row, p));
	return sum;
}

/* Writes how much longer the bursts of each rank are than those of all ranks, if the report has the times of each rank. */
static void write_factors(FILE *out, const struct run_times *run, size_t phase)
{
	double sum = 0, ranks = 0;

	for (size_t i = 0; i < run->rows && phase < run->phases; i++) {
		double seconds = seconds_of_set(run, i, phase);

		sum += seconds;
		ranks += seconds > 0;
	}
	if (!run->rows || run->deciles || run->rows != (size_t)run->ranks || !(sum > 0)) {
		fputs(" 0\n", out);
		return;
	}
	fprintf(out, " %zu", run->rows);
	for (size_t i = 0; i < run->rows; i++) {
		double seconds = seconds_of_set(run, i, phase);

		fprintf(out, " %.6g", seconds > 0 ? seconds * ranks / sum : 1);
	}
	fputc('\n', out);
}

static void write_phases(FILE *out, const json_t *report, const struct spread *of_phase)
{
	const json_t *phases = json_object_get(report, "phases"), *phase;
	static struct run_times run;
	char why[256];
	size_t i;

	memset(&run, 0, sizeof(run));
	if (!run_times_read(&run, report, why, sizeof(why)))
		run.rows = 0;
	fprintf(out, "phases %zu\n", json_array_size(phases));
	json_array_foreach (phases, i, phase) {
		fprintf(out, "%.6g %.6g", variation(phase, &of_phase[i]), processor_share(phase));
		write_factors(out, &run, i);
	}
	run_times_fini(&run);
}

static bool check(const json_t *report, char *why, size_t why_size)
{
	double ranks = report_get(report, "ranks"), seconds = report_get(report, "wall_seconds");

	why[0] = 0;
	if (!json_is_object(json_object_get(report, "structure")))
		snprintf(why, why_size,
				"the report has no structure of calls, and a replay needs a run with PHASEMUX_TRACE=calls");
	else if (!structure_arguments_are_kept(report))
		snprintf(why, why_size,
				"the report has no arguments of calls, and a replay needs a run with PHASEMUX_TRACE=calls");
	else if (!(ranks >= 1 && ranks <= PLAN_RANKS_MAX) || !(seconds > 0))
		snprintf(why, why_size, "the report has no number of ranks, or no wall time");
	return !why[0];
}

bool plan_write(const json_t *report, FILE *out, char *why, size_t why_size)
{
	const json_t *all = json_object_get(report, "structure"), *structure;
	const json_t *paths = json_object_get(json_object_get(all, "arguments"), "paths");
	const json_t *phases = json_object_get(report, "phases");
	struct spread *of_phase;
	double longest = 0, seconds = report_get(report, "wall_seconds");
	size_t i;

	if (!check(report, why, why_size))
		return false;
	of_phase = calloc(json_array_size(phases) + 1, sizeof(*of_phase));
	if (!of_phase) {
		snprintf(why, why_size, "no memory");
		return false;
	}
	json_array_foreach (json_object_get(all, "structures"), i, structure) {
		const struct text text = { out, phases, paths, report_get(structure, "ranks") };

		look_at_body(&text, json_object_get(structure, "text"), of_phase, &longest);
	}
	fprintf(out, PLAN_HEAD " %d\nranks %.0f\nseconds %.17g\ncall_most %.17g\nbytes_most %.0f\n",
			PLAN_VERSION, report_get(report, "ranks"), seconds, fmin(longest, seconds),
			most_bytes(paths));
	write_phases(out, report, of_phase);
	write_paths(out, paths);
	write_structures(out, report);
	fputs("end\n", out);
	free(of_phase);
	return true;
}
