/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the differences between reports whose numbers are chosen, so that each part of a difference is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tests/tap.h"
#include "tools/compare/compare_text.h"
#include "tools/compare/comparison.h"
#include "tools/compare/match.h"
#include "tools/compare/measure.h"

#define THREADS 4
#define CLOCK   2e9 /* Hz */

static bool near(double one, double other)
{
	return fabs(one - other) <= 1e-9 * fmax(1, fmax(fabs(one), fabs(other)));
}

/* ---- differences ---- */

static void test_difference(void)
{
	const struct measure two[] = { { 10, 0.1 }, { 12, 0.1 } },
			     more[] = { { 20, 0 }, { 22, 0 } };
	const struct measure wide[] = { { 10, 50 }, { 12, 50 } },
			     lost[] = { { NAN, NAN }, { 3, 0.4 } };
	const struct measure exact = { 7, 0 }, rough = { 8, NAN };
	struct difference difference = difference_of(two, 2, more, 2);

	/* the pooled variance is 2; t with 2 degrees of freedom is 4.3027 */
	ok(near(difference.change, 10) && fabs(difference.ci95 - 4.3027 * sqrt(2)) < 1e-3,
			"two runs on each side: Student's t");
	ok(difference_told(&difference), "and 10 is told apart from 0");
	difference = difference_of(two, 2, &exact, 1);
	ok(fabs(difference.ci95 - 12.706 * sqrt(2 * 1.5)) < 1e-2,
			"a single run varies as those of the other side");
	ok(!difference_told(&difference), "so that -4 is not told apart");
	difference = difference_of(wide, 2, more, 2);
	ok(near(difference.ci95, 50 / sqrt(2)), "the interval is not below those of the runs");
	difference = difference_of(lost, 2, &exact, 1);
	ok(near(difference.before, 3) && near(difference.change, 4) && near(difference.ci95, 0.4),
			"a run without the value is left out");
	difference = difference_of(lost, 1, &exact, 1);
	ok(!isfinite(difference.change) && !difference_told(&difference),
			"nothing is known of one side");
	difference = difference_of(&exact, 1, &rough, 1);
	ok(near(difference.change, 1) && !difference_told(&difference),
			"without an interval nothing is told apart");
	difference = difference_of(&exact, 1, &exact, 1);
	ok(!difference_told(&difference), "equal exact values are not told apart");
	ok(near(logarithmic_mean(2, 8), 6 / log(4)) && near(logarithmic_mean(3, 3), 3) &&
					fabs(logarithmic_mean(1, 1 + 1e-7) - 1.00000005) < 1e-12,
			"logarithmic means");
}

/* ---- reports ---- */

/* A phase of a report, of which `bursts` are those of all threads. */
struct made {
	int id;
	const char *function, *call; /* where it starts; it ends in the same function */
	int line;
	double bursts, instructions, front_end,
			back_end; /* the latter two in CPI, beside 0.25 for retiring */
};

static double cpi_of(const struct made *phase)
{
	return 0.25 + phase->front_end + phase->back_end;
}

static double seconds_of(const struct made *phase)
{
	return phase->bursts * phase->instructions * cpi_of(phase) / CLOCK;
}

static json_t *make_phase(const struct made *phase, double all)
{
	double cpi = cpi_of(phase);
	char from[64], to[64];

	snprintf(from, sizeof(from), "%s.c:%d", phase->function, phase->line);
	snprintf(to, sizeof(to), "%s.c:%d", phase->function, phase->line + 5);
	return json_pack("{s:i,s:f,s:f,s:{s:f,s:f},s:f,s:f,s:{s:{s:f,s:f},s:{s:f,s:f}},"
			 "s:[{s:s,s:i,s:f,s:f},{s:s,s:i,s:f,s:f},{s:s,s:i,s:f,s:f}],"
			 "s:[{s:s,s:s,s:s,s:s,s:s,s:s,s:f}]}",
			"id", phase->id, "time_share", seconds_of(phase) / all, "bursts",
			phase->bursts, "duration_seconds", "mean",
			phase->instructions * cpi / CLOCK, "ci95", 0.0, "ipc", 1 / cpi, "cpi", cpi,
			"counters", "cycles", "mean", phase->instructions * cpi, "ci95", 0.0,
			"instructions", "mean", phase->instructions, "ci95", 0.0, "cpi_breakdown",
			"component", "retiring", "level", 0, "cpi", 0.25, "ci95", 0.001,
			"component", "front end", "level", 0, "cpi", phase->front_end, "ci95",
			0.001, "component", "back end", "level", 0, "cpi", phase->back_end, "ci95",
			0.001, "source", "from", from, "from_call", phase->call, "from_function",
			phase->function, "to", to, "to_call", "MPI_Send", "to_function",
			phase->function, "share", 1.0);
}

/* Makes a report of these phases up to id 0. wall: in multiples of the computing time of a thread. */
static json_t *make_report(const struct made *phases, double balance, double wall)
{
	json_t *array = json_array();
	double all = 0, useful;

	for (const struct made *phase = phases; phase->id; phase++)
		all += seconds_of(phase);
	for (const struct made *phase = phases; phase->id; phase++)
		json_array_append_new(array, make_phase(phase, all));
	useful = all / THREADS;
	return json_pack("{s:i,s:i,s:f,s:f,s:f,s:{s:f,s:f,s:f},s:o}", "phasemux", 1, "ranks",
			THREADS, "threads_mean", (double)THREADS, "wall_seconds", wall * useful,
			"compute_seconds", all, "efficiency", "parallel", 1 / wall, "load_balance",
			balance, "communication", 1 / wall / balance, "phases", array);
}

static json_t *compare(json_t *before, json_t *after)
{
	struct run *runs = calloc(2, sizeof(*runs));
	json_t *comparison;

	run_read(&runs[0], "before", before);
	run_read(&runs[1], "after", after);
	comparison = comparison_make(runs, 2, 1, 0.05);
	free(runs);
	json_decref(before);
	json_decref(after);
	return comparison;
}

/* Returns the phase with this number after (or before, if it has vanished). */
static const json_t *phase_with(const json_t *comparison, const char *side, int id)
{
	const json_t *phase, *number;
	size_t i, k;

	json_array_foreach (json_object_get(comparison, "phases"), i, phase)
		json_array_foreach (json_object_get(phase, side), k, number)
			if (json_integer_value(number) == id)
				return phase;
	return NULL;
}

static bool is_match(const json_t *comparison, int before, int after)
{
	return phase_with(comparison, "before", before) == phase_with(comparison, "after", after);
}

static double seconds_by(const json_t *object, const char *name)
{
	const json_t *cause;
	size_t i;

	json_array_foreach (json_object_get(object, "causes"), i, cause)
		if (strcmp(report_get_text(cause, "cause"), name) == 0 ||
				strcmp(report_get_text(cause, "component"), name) == 0)
			return report_get(cause, "seconds");
	return NAN;
}

static double sum_of(const json_t *object)
{
	const json_t *cause;
	double sum = 0;
	size_t i;

	json_array_foreach (json_object_get(object, "causes"), i, cause)
		sum += report_get(cause, "seconds");
	return sum;
}

/* Three phases, of which the second one does half of its work, and the third one misses more. Numbers change. */
static void test_causes(void)
{
	const struct made before[] = {
		{ 1, "force", "MPI_Waitall", 10, 400, 1e7, 0.1, 0.3 },
		{ 2, "build", "MPI_Waitall", 50, 100, 2e7, 0.1, 0.3 },
		{ 3, "solve", "MPI_Recv", 90, 800, 1e6, 0.1, 0.3 },
		{ 4, "gone", "MPI_Bcast", 20, 40, 3e6, 0.1, 0.3 },
		{ 0 },
	};
	const struct made after[] = {
		{ 3, "force", "MPI_Waitall", 12, 400, 1e7, 0.1, 0.3 },
		{ 1, "build", "MPI_Waitall", 50, 100, 1e7, 0.1, 0.3 },
		{ 2, "solve", "MPI_Recv", 90, 800, 1e6, 0.1, 0.7 },
		{ 5, "fresh", "MPI_Bcast", 20, 40, 9e6, 0.1, 0.3 },
		{ 0 },
	};
	json_t *comparison = compare(make_report(before, 0.9, 1.25), make_report(after, 0.8, 1.4));
	const json_t *build = phase_with(comparison, "before", 2);
	const json_t *solve = phase_with(comparison, "before", 3);
	const json_t *cpi = json_object_get(solve, "cpi_breakdown");
	double change = report_get_in(comparison, "wall_seconds", "difference");

	ok(is_match(comparison, 1, 3) && is_match(comparison, 2, 1) && is_match(comparison, 3, 2),
			"phases are matched by place, not by number");
	ok(strcmp(report_get_text(phase_with(comparison, "after", 5), "status"), "new") == 0 &&
					strcmp(report_get_text(phase_with(comparison, "before", 4),
							       "status"),
							"gone") == 0,
			"one is new, one has vanished");
	ok(near(seconds_by(comparison, "new"), 40 * 9e6 * 0.65 / CLOCK / THREADS) &&
					near(seconds_by(comparison, "gone"),
							-40 * 3e6 * 0.65 / CLOCK / THREADS),
			"with their times");
	ok(near(report_get_in(build, "seconds", "difference"),
			   -100 * 1e7 * 0.65 / CLOCK / THREADS) &&
					near(seconds_by(build, "work"),
							report_get_in(build, "seconds",
									"difference")),
			"half of the work is all of the difference where nothing else changes");
	ok(near(seconds_by(solve, "back end"), 800 * 1e6 * 0.4 / CLOCK / THREADS) &&
					near(seconds_by(solve, "work"), 0) &&
					near(seconds_by(solve, "front end"), 0),
			"a component's part is its cycles");
	ok(json_is_true(json_object_get(json_array_get(cpi, 2), "told_apart")) &&
					json_is_false(json_object_get(json_array_get(cpi, 1),
							"told_apart")),
			"the component that has changed is told apart, and no other");
	ok(near(sum_of(comparison), change), "the causes sum to the difference of the wall time");
	ok(near(sum_of(solve), report_get_in(solve, "seconds", "difference")),
			"and those of a phase to that of its time");
	ok(near(seconds_by(comparison, "load balance") + seconds_by(comparison, "communication"),
			   change - report_get_in(comparison, "useful_seconds", "difference")),
			"load balance and communication have what is not computing time");
	ok(json_is_false(json_object_get(comparison, "worse")) ==
					(change < 0.05 *
									report_get_in(comparison,
											"wall_seconds",
											"before")),
			"worse is what exceeds the threshold");
	json_decref(comparison);
}

/* Phases of one place, a phase in two parts, and one whose function has another name. */
static void test_match(void)
{
	const struct made before[] = {
		{ 1, "step", "MPI_Recv", 10, 100, 8e6, 0.1, 0.3 },
		{ 2, "step", "MPI_Recv", 10, 100, 1e6, 0.1, 0.3 },
		{ 3, "whole", "MPI_Recv", 10, 300, 1e6, 0.1, 0.3 },
		{ 4, "old_name", "MPI_Waitall", 10, 50, 3e5, 0.2, 0.9 },
		{ 5, "other", "MPI_Waitall", 10, 50, 3e5, 0.2, 0.1 },
		{ 0 },
	};
	const struct made after[] = {
		{ 1, "step", "MPI_Recv", 10, 100, 4e6, 0.1, 0.3 },
		{ 2, "step", "MPI_Recv", 10, 100, 1e6, 0.1, 0.3 },
		{ 3, "whole", "MPI_Recv", 10, 200, 1e6, 0.1, 0.31 },
		{ 4, "whole", "MPI_Recv", 10, 100, 1e6, 0.1, 0.4 },
		{ 5, "new_name", "MPI_Waitall", 30, 50, 3e5, 0.2, 0.9 },
		{ 6, "unlike", "MPI_Waitall", 30, 50, 3e6, 0.2, 0.9 },
		{ 0 },
	};
	json_t *comparison = compare(make_report(before, 1, 1), make_report(after, 1, 1));

	ok(is_match(comparison, 1, 1) && is_match(comparison, 2, 2),
			"of two phases of one place, each has the one that behaves as it does");
	ok(is_match(comparison, 3, 3) && is_match(comparison, 3, 4) &&
					near(report_get_in(phase_with(comparison, "before", 3),
							     "bursts", "after"),
							300.0 / THREADS),
			"a phase in two parts is one with both");
	ok(is_match(comparison, 4, 5) &&
					strcmp(report_get_text(phase_with(comparison, "before", 4),
							       "matched_by"),
							"behaviour") == 0,
			"a function with another name is matched by behaviour");
	ok(!is_match(comparison, 5, 6) &&
					strcmp(report_get_text(phase_with(comparison, "after", 6),
							       "status"),
							"new") == 0,
			"but not what behaves otherwise");
	ok(near(sum_of(comparison), report_get_in(comparison, "wall_seconds", "difference")),
			"the causes sum to the difference of the wall time");
	json_decref(comparison);
}

/* Runs that differ in nothing, and reports that have nothing but what each report must have. */
static void test_least(void)
{
	const struct made phases[] = { { 1, "f", "MPI_Recv", 1, 100, 1e6, 0.1, 0.3 }, { 0 } };
	json_t *comparison = compare(make_report(phases, 1, 1), make_report(phases, 1, 1));
	json_t *least = json_pack("{s:i,s:[{s:i,s:f,s:{}}]}", "phasemux", 1, "phases", "id", 7,
			"time_share", 0.5, "counters");
	char *text;

	ok(near(sum_of(comparison), 0) && json_is_false(json_object_get(comparison, "worse")),
			"equal runs differ in nothing");
	json_decref(comparison);
	comparison = compare(json_incref(least), json_deep_copy(least));
	json_decref(least);
	ok(is_match(comparison, 7, 7), "a phase of which nothing is known is matched");
	ok(json_is_null(json_object_get(json_object_get(comparison, "wall_seconds"),
			   "difference")) &&
					json_is_false(json_object_get(comparison, "worse")),
			"times that are not known are not compared");
	text = compare_text(comparison);
	ok(text && strstr(text, "The wall times are not known."), "and the text says so");
	free(text);
	json_decref(comparison);
	comparison = compare(make_report(phases + 1, 1, 1), make_report(phases + 1, 1, 1));
	ok(json_array_size(json_object_get(comparison, "phases")) == 0, "no phases at all");
	json_decref(comparison);
}

/* The number of slices follows from the time, so it is no cause of a difference. */
static void test_slices(void)
{
	const struct made few[] = { { 1, "f", "MPI_Recv", 1, 100, 1e6, 0.1, 0.3 }, { 0 } };
	const struct made more[] = { { 1, "f", "MPI_Recv", 1, 150, 1e6, 0.1, 0.3 }, { 0 } };
	json_t *before = make_report(few, 1, 1.1), *after = make_report(more, 1, 1.1), *comparison;
	json_t *phase = json_array_get(json_object_get(after, "phases"), 0);
	const json_t *matched;

	json_object_set_new(phase, "read", json_integer(150));
	json_object_set_new(phase, "slices", json_integer(100));
	comparison = compare(before, after);
	matched = phase_with(comparison, "before", 1);
	ok(json_is_null(json_object_get(json_object_get(matched, "bursts"), "difference")),
			"the number of slices is not compared with that of bursts");
	ok(near(report_get_in(matched, "instructions", "difference"), 50e6 / THREADS),
			"their work is");
	ok(near(sum_of(matched), report_get_in(matched, "seconds", "difference")),
			"and the causes sum to the difference");
	json_decref(comparison);
}

int main(void)
{
	test_difference();
	test_slices();
	test_causes();
	test_match();
	test_least();
	return tap_done();
}
