/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/outlook.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "agent/page/parts/data.h"
#include "agent/page/simulated.h"
#include "agent/text/report_line.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/change.h"
#include "agent/whatif/communication.h"
#include "agent/whatif/run_times.h"
#include "agent/whatif/sentences.h"

#define ROWS_MAX     5
#define TIMES_DIGITS 6    /* the words of the script have three, of sums of hundreds of them */
#define CELLS_MAX    8192 /* times of ranks in phases on the page; each takes some 8 bytes */

bool page_has_outlook(const json_t *report)
{
	const json_t *phase = json_array_get(json_object_get(report, "phases"), 0);

	return json_is_object(json_object_get(report, "rank_times")) &&
			isfinite(report_get_in(phase, "rank_seconds", "most"));
}

static void write_row(struct page *page, const struct answers *answers, const struct answer *answer)
{
	struct sentences_row row;

	sentences_row(&row, answers, answer);
	page_markup(page, "<tr><th scope=\"row\">");
	page_text(page, answer->words);
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", row.time);
	page_cell(page, "d", "%s", row.error);
	page_cell(page, "n", "%s", row.saved);
	page_cell(page, "n", "%s", row.speedup);
	page_markup(page, "</tr>\n");
}

static void write_table(struct page *page, const struct answers *answers)
{
	if (!answers->count)
		return;
	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
			"changes\">\n<table class=\"breakdown rows\">\n<tr><th scope=\"col\">change</th><th scope=\"col\" "
			"class=\"n\">wall time</th><th scope=\"col\">interval</th><th scope=\"col\" "
			"class=\"n\">saved</th><th scope=\"col\" class=\"n\">speedup</th></tr>\n");
	for (size_t i = 0; i < answers->count && i < ROWS_MAX; i++)
		write_row(page, answers, &answers->answer[i]);
	page_markup(page, "</table>\n</div>\n");
}

static void write_answers(struct page *page, const struct answers *answers)
{
	sentences_answer(page->words, answers);
	sentences_places(page->words, answers);
	page_flush_lines(page, "<p>", "</p>");
	write_table(page, answers);
	sentences_basis(page->words, answers);
	page_flush_lines(page, "<p class=\"note\">", "</p>");
	page_markup(page,
			"<p class=\"note\">\"phasemux whatif\" answers more such questions about this "
			"result.</p>\n");
}

/* ---- the times from which the script of the page computes other changes ---- */

static json_t *phases_of(const struct run_times *run)
{
	json_t *phases = json_array();

	for (size_t p = 0; p < run->phases; p++) {
		const struct phase_times *times = &run->phase[p];

		json_array_append_new(phases,
				json_pack("{s:f,s:f,s:f}", "id", report_get(times->phase, "id"),
						"all", times->own.mean * times->own.ranks, "most",
						times->own.most));
	}
	return phases;
}

/* Returns the most time of a row in a set. The table of rows is an estimate, and the report's most is exact. */
static double most_in_set(const struct run_times *run, size_t set)
{
	double most = 0;

	for (size_t row = 0; row < run->rows; row++) {
		double sum = 0;

		for (size_t own = set; own < run->phases; own = run->phase[own].next)
			sum += run_times_cell(run, row, own);
		most = sum > most ? sum : most;
	}
	return most;
}

/*
 * Returns a set: its phases, its most, the factor that makes the most of the table's rows this one, and the half-width of its
 * time as a part of it.
 */
static json_t *set_of(const struct run_times *run, size_t set)
{
	double time = 0, error = 0, most = most_in_set(run, set);
	json_t *phases = json_array();

	for (size_t p = set; p < run->phases; p = run->phase[p].next) {
		double own = run->phase[p].own.mean * run->phase[p].own.ranks;

		json_array_append_new(phases, json_integer((json_int_t)p));
		time += own;
		error = hypot(error, run->phase[p].error * own);
	}
	return json_pack("{s:o,s:f,s:f,s:f}", "phases", phases, "most", run->phase[set].all.most,
			"scale", most > 0 ? run->phase[set].all.most / most : 0., "error",
			time > 0 ? error / time : 0.);
}

/* Returns the sets of phases that different ranks execute at one place. */
static json_t *sets_of(const struct run_times *run)
{
	json_t *sets = json_array();

	for (size_t p = 0; p < run->phases; p++)
		if (run->phase[p].set == p)
			json_array_append_new(sets, set_of(run, p));
	return sets;
}

static json_t *cells_of(const struct run_times *run)
{
	json_t *cells = json_array();

	for (size_t row = 0; row < run->rows; row++) {
		json_t *cell = json_array();

		for (size_t p = 0; p <= run->phases; p++)
			json_array_append_new(cell, json_real(run_times_cell(run, row, p)));
		json_array_append_new(cells, cell);
	}
	return cells;
}

/* The components of the CPI: for each phase the part of its time that the component has, and its half-width. */
struct components {
	const struct run_times *run;
	struct change change;
	json_t *parts; /* by the name of the component */
};

static void add_component(void *data, const char *name)
{
	struct components *components = data;
	struct change *change = &components->change;
	json_t *parts = json_array();

	change_none(change);
	change_component(change, components->run, name, 0);
	for (size_t p = 0; p < components->run->phases; p++)
		json_array_append_new(parts,
				json_pack("[f,f]", change->cycles[p], change->cycles_error[p]));
	json_object_set_new(components->parts, name, parts);
}

static json_t *components_of(const struct run_times *run)
{
	struct components *components = calloc(1, sizeof(*components));
	json_t *parts = json_object();

	if (components) {
		components->run = run;
		components->parts = parts;
		change_components(run, add_component, components);
	}
	free(components);
	return parts;
}

static void write_times(struct page *page, const struct run_times *run)
{
	double useful = 0;
	json_t *times;

	if (run->rows * (run->phases + 1) > CELLS_MAX) {
		page_markup(page,
				"<p class=\"note\">The times of the ranks in the phases are too many for this "
				"page, so that it cannot try other changes.</p>\n");
		return;
	}
	for (size_t row = 0; row < run->rows; row++)
		useful = fmax(useful, run->useful[row]);
	times = json_pack("{s:f,s:f,s:f,s:f,s:f,s:[f,f],s:o,s:o,s:o,s:o}", "wall", run->wall,
			"ranks", run->ranks, "threads", run->threads, "rest", run_times_rest(run),
			"useful", useful, "communication", run->communication.least,
			run->communication.most, "phases", phases_of(run), "sets", sets_of(run),
			"cells", cells_of(run), "components", components_of(run));
	if (times)
		page_json(page->out, "whatif-data", times, TIMES_DIGITS);
	json_decref(times);
}

/* What the view computes, which is too large for the stack of a thread of the program. */
struct outlook {
	struct run_times run;
	struct answers answers;
};

void page_outlook(struct page *page)
{
	struct outlook *outlook = malloc(sizeof(*outlook));
	char why[256] = "no memory";

	if (!outlook || !run_times_read(&outlook->run, page->report, why, sizeof(why))) {
		fprintf(page->words, "Not known: %s.\n", why);
		page_flush_lines(page, "<p>", "</p>");
	} else {
		communication_read(&outlook->run);
		answers_of_run(&outlook->answers, &outlook->run);
		write_answers(page, &outlook->answers);
		page_simulated(page);
		write_times(page, &outlook->run);
	}
	if (outlook)
		run_times_fini(&outlook->run);
	free(outlook);
}
