/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "agent/text/statements.h"
#include "tools/whatif/simulation.h"

#define PROCESSOR_SHARE_MIN .95 /* of the computing time; less is said */
#define NOMINAL_NEAR                                                                               \
	.1 /* part by which the simulation as it was may be off, so that times of the run follow */
#define MOST_OF_GAIN .5 /* part of what a rank computes less */
#define SPEEDUP_MORE                                                                               \
	.01 /* part by which a faster network must be better, so that it is worth a word */

/* Columns of the table. */
#define WORDS_WIDTH 37
#define TIME_WIDTH  19
#define ERROR_WIDTH 13
#define SAVED_WIDTH 16
#define SPEED_WIDTH (REPORT_WIDTH - WORDS_WIDTH - TIME_WIDTH - 1 - ERROR_WIDTH - SAVED_WIDTH)
#define STEP_WIDTH  8 /* of the surface */

/* ---- how it was ---- */

static bool is_near(const struct simulation *s)
{
	return fabs(s->nominal.mean / s->outcome.recorded - 1) <= NOMINAL_NEAR;
}

static void print_nominal(const struct simulation *s, FILE *out)
{
	report_line(out, 0,
			"Simulated as it was, the run takes %s +-%s. It took %s, so this is %s off.",
			format_seconds(s->nominal.mean).text, format_seconds(s->nominal.ci95).text,
			format_seconds(s->outcome.recorded).text,
			format_percent(fabs(s->nominal.mean / s->outcome.recorded - 1)).text);
}

/* Returns the part of the recorded time in phases in which ranks had a processor; 1 if the run did not count it. */
static double processor_share(const struct simulation *s)
{
	double with = 0, all = 0;

	for (size_t p = 0; p < s->run->phases && p < s->plan->phases; p++) {
		double seconds = s->run->phase[p].own.mean * s->run->phase[p].own.ranks;

		with += seconds * fmin(1, s->plan->phase[p].processor);
		all += seconds;
	}
	return all > 0 ? with / all : 1;
}

static void print_processors(const struct simulation *s, FILE *out)
{
	double share = processor_share(s);

	if (share < PROCESSOR_SHARE_MIN)
		report_line(out, 0,
				"In the recorded run, ranks had a processor in %s of their computing time. In the simulation each rank always has one.",
				format_percent(share).text);
}

/* ---- the answer in words ---- */

/* Prints the time with a change, beside that of the run. If the simulation of the run is far off, both are simulated. */
static void print_answer(const struct simulation *s, const struct scenario *scenario, FILE *out)
{
	double before = is_near(s) ? s->outcome.recorded : s->nominal.mean;
	double saved = scenario->saved.mean;

	report_line(out, 0, "%s %s, %s %s instead of %s: %s +-%s %s.",
			s->scenarios.chosen ? "One single change of the program brings most: with" :
					      "With",
			scenario->words,
			is_near(s) ? "the run would take about" : "the simulation takes",
			format_seconds(before * (1 - saved)).text, format_seconds(before).text,
			format_percent(fabs(saved)).text, format_percent(scenario->saved.ci95).text,
			saved >= 0 ? "less" : "more");
}

/* Returns the first call of a path in a body, or NULL. */
static const json_t *find_call(const json_t *body, size_t path)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token) {
		const json_t *inner = json_object_get(token, "body");
		const json_t *found = inner                               ? find_call(inner, path) :
				report_get(token, "path") == (double)path ? token :
									    NULL;

		if (found)
			return found;
	}
	return NULL;
}

const json_t *simulation_call(const struct simulation *s, size_t path)
{
	const json_t *structure,
			*all = json_object_get(json_object_get(s->run->report, "structure"),
					"structures");
	size_t i;

	json_array_foreach (all, i, structure) {
		const json_t *found = find_call(json_object_get(structure, "text"), path);

		if (found)
			return found;
	}
	return NULL;
}

/* Says where the gain stops, if a rank loses some of it. */
static void print_stop(const struct simulation *s, const struct scenario *scenario, FILE *out)
{
	const struct stop *stop = &scenario->stop;
	const json_t *call = simulation_call(s, stop->path);
	const char *function = json_string_value(json_object_get(call, "function"));

	if (!stop->known || !call)
		return;
	report_line(out, 0,
			"%s of the gain stops at rank %zu's %s%s%s: the rank computes %s less, and is %s longer in this call.",
			stop->lost > MOST_OF_GAIN * stop->less ? "Most" : "Some", stop->rank,
			report_get_text(call, "call"), function && *function ? " in " : "",
			function ? function : "", format_seconds(stop->less).text,
			format_seconds(stop->waits).text);
}

/* ---- the table ---- */

static void print_row(const char *words, const char *time, const char *error, const char *saved,
		const char *speedup, FILE *out)
{
	fprintf(out, "%-*s", WORDS_WIDTH, words);
	/* long words have a line of their own */
	if (strlen(words) >= WORDS_WIDTH)
		fprintf(out, "\n%*s", WORDS_WIDTH, "");
	fprintf(out, "%*s %-*s%*s%*s\n", TIME_WIDTH, time, ERROR_WIDTH, error, SAVED_WIDTH, saved,
			SPEED_WIDTH, speedup);
}

static void print_scenario(const struct simulation *s, const struct scenario *scenario, bool all,
		FILE *out)
{
	char error[64], saved[64], speedup[32];

	snprintf(error, sizeof(error), "+-%s", format_seconds(scenario->seconds.ci95).text);
	snprintf(saved, sizeof(saved), "%s%s", scenario->saved.mean < 0 ? "-" : "",
			format_percent(fabs(scenario->saved.mean)).text);
	snprintf(speedup, sizeof(speedup), "%.2f", s->nominal.mean / scenario->seconds.mean);
	print_row(all ? "all of these" : scenario->words,
			format_seconds(scenario->seconds.mean).text, error, saved, speedup, out);
}

/* Prints a row for each change, as table 9.5 of the thesis. */
static void print_table(const struct simulation *s, FILE *out)
{
	const struct scenarios *scenarios = &s->scenarios;
	char error[64];

	snprintf(error, sizeof(error), "+-%s", format_seconds(s->nominal.ci95).text);
	fputc('\n', out);
	print_row("change", "simulated time", "", "saved", "speedup", out);
	print_row("as it was", format_seconds(s->nominal.mean).text, error, "-", "-", out);
	for (size_t i = 0; i < scenarios->count; i++)
		print_scenario(s, &scenarios->all[i],
				!scenarios->chosen && i && i + 1 == scenarios->count, out);
	if (scenarios->left_out)
		fprintf(out, "%zu further %s not simulated.\n", scenarios->left_out,
				scenarios->left_out == 1 ? "change was" : "changes were");
}

/* ---- the surface ---- */

static double speedup_at(const struct simulation *s, size_t bandwidth, size_t processor)
{
	return s->surface.seconds[0][0] / s->surface.seconds[bandwidth][processor];
}

/* Returns the first step of the bandwidth, with a processor, behind which a faster network brings nothing more. */
static size_t useful_bandwidth(const struct simulation *s, size_t processor)
{
	size_t step = 0;

	while (step + 1 < SURFACE_STEPS &&
			speedup_at(s, SURFACE_STEPS - 1, processor) >
					(1 + SPEEDUP_MORE) * speedup_at(s, step, processor))
		step++;
	return step;
}

static void print_surface(const struct simulation *s, FILE *out)
{
	size_t last = SURFACE_STEPS - 1, step = useful_bandwidth(s, last);

	report_line(out, 0,
			"With a processor and a network %.0f times as fast, the run is %.3g times as fast; with the processor alone, %.3g times. Beside this processor, more than %.0f times the bandwidth brings less than 1%%.",
			surface_times(last), speedup_at(s, last, last), speedup_at(s, 0, last),
			surface_times(step));
	fprintf(out, "\n%-*s", WORDS_WIDTH, "speedup: bandwidth below, processor");
	for (size_t c = 0; c < SURFACE_STEPS; c++)
		fprintf(out, "%*.0fx", STEP_WIDTH - 1, surface_times(c));
	for (size_t b = 0; b < SURFACE_STEPS; b++) {
		char name[32];

		snprintf(name, sizeof(name), "%.0fx", surface_times(b));
		fprintf(out, "\n%*s", WORDS_WIDTH, name);
		for (size_t c = 0; c < SURFACE_STEPS; c++)
			fprintf(out, "%*.2f", STEP_WIDTH, speedup_at(s, b, c));
	}
	fputs("\n", out);
}

/* ---- what it rests on ---- */

static void print_machine(const struct simulation *s, FILE *out)
{
	const struct platform *p = &s->platform;
	long nodes = (p->ranks + p->ranks_per_node - 1) / p->ranks_per_node;
	char memory[160];

	snprintf(memory, sizeof(memory), "%s, at %.3g GB/s%s",
			format_seconds(p->memory_latency).text, p->memory_bandwidth * 1e-9,
			s->memory_known ? "" : " (assumed: --calibrate measures it)");
	if (nodes == 1)
		report_line(out, 2,
				"The simulated machine (SimGrid) is one node, with a processor for each of the %ld ranks. Messages take at least %s.",
				p->ranks, memory);
	else
		report_line(out, 2,
				"The simulated machine (SimGrid) has %ld nodes with a processor for each of their %ld ranks. Messages between nodes take at least %s, at %.3g GB/s%s, and in a node %s.",
				nodes, p->ranks_per_node, format_seconds(p->latency).text,
				p->bandwidth * 1e-9,
				s->network_known ? "" :
						   " (assumed: --network or --calibrate says it)",
				memory);
}

/* Returns the scenario that answers: all that was asked for, or the change of the program that brings most; or NULL. */
static const struct scenario *answer_of(const struct scenarios *scenarios)
{
	if (!scenarios->chosen)
		return scenarios->count ? &scenarios->all[scenarios->count - 1] : NULL;
	for (size_t i = 0; i < scenarios->count; i++)
		if (!scenarios->all[i].of_processor && scenarios->all[i].saved.mean > 0)
			return &scenarios->all[i];
	return NULL;
}

void simulation_text(const struct simulation *s, FILE *out)
{
	const struct scenario *answer = answer_of(&s->scenarios);

	fputs("phasemux whatif: ", out);
	statements_head[0].write(out, s->run->report);
	fputc('\n', out);
	print_nominal(s, out);
	print_processors(s, out);
	if (answer) {
		print_answer(s, answer, out);
		print_stop(s, answer, out);
	}
	if (s->surface.known)
		print_surface(s, out);
	if (s->scenarios.count > 1)
		print_table(s, out);
	fputc('\n', out);
	print_machine(s, out);
	report_line(out, 2,
			"The half-widths are those of %d simulations in which the lengths of bursts%s were drawn otherwise.",
			SCENARIO_TRIALS, s->window ? ", and the rounds of loops," : "");
	if (s->window)
		report_line(out, 2,
				"%.0f of %.0f calls were simulated, in rounds from all parts of the run. The other rounds are taken to be like them; --whole simulates all.",
				s->simulated, s->outcome.matching.calls);
	outcome_calls_text(&s->outcome, s->window ? "can be simulated" : "were simulated", out);
}
