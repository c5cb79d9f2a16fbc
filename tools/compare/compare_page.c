/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/compare_page.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/page/parts/formulas.h"
#include "agent/page/parts/glossary.h"
#include "agent/page/parts/losses.h"
#include "agent/page/parts/markup.h"
#include "agent/page/parts/patterns.h"
#include "agent/text/report_line.h"
#include "tools/compare/words.h"

#define LONGER  "url(#c2)" /* fill of what takes more time */
#define SHORTER "url(#c6)"
#define PLAIN   "url(#c3)" /* fill of time that is not broken down */
#define ROW     40         /* px, of a bar with the words above it */
#define FRAME   99.0       /* %, width of the longest bar */

/* ---- a bar to both sides of 0 ---- */

/* Writes a difference as a bar from the middle, in which `most` is half of the width. */
static void write_bar(struct page *page, double change, double ci95, double most)
{
	bool told = fabs(change) > ci95 || !isfinite(ci95);
	double middle = 50, width = fmin(48 * fabs(change) / most, 48);
	double error = isfinite(ci95) ? 48 * ci95 / most : 0;
	double at = change < 0 ? middle - width : middle, end = middle + 48 * change / most;

	page_markup(page,
			"<td class=\"bar\"><svg width=\"100%%\" height=\"14\" aria-hidden=\"true\"><rect "
			"class=\"track\" width=\"100%%\" height=\"14\"/>");
	if (isfinite(change) && most > 0) {
		page_markup(page,
				"<rect class=\"part\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"14\" "
				"fill=\"%s\"/>",
				at, width,
				!told                      ? "url(#unknown)" :
						change < 0 ? SHORTER :
							     LONGER);
		if (error > 0.5)
			page_markup(page,
					"<g class=\"whisker\"><line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"7\" "
					"y2=\"7\" stroke-width=\"1.5\"/></g>",
					fmax(end - error, 0), fmin(end + error, 100));
	}
	page_markup(page,
			"<g class=\"whisker\"><line x1=\"50%%\" x2=\"50%%\" y1=\"0\" y2=\"14\" "
			"stroke-width=\"1\"/></g></svg></td>");
}

/* Returns the largest difference in an array with its interval, as far as that is not wider than itself. */
static double largest_of(const json_t *array, const char *key)
{
	const json_t *one;
	double most = 0;
	size_t i;

	json_array_foreach (array, i, one) {
		double change = fabs(report_get(one, key)), error = report_get(one, "ci95");

		if (isfinite(change))
			most = fmax(most, change + (isfinite(error) ? fmin(error, change) : 0));
	}
	return most;
}

/* ---- the verdict and the runs ---- */

static void write_title(struct page *page)
{
	const json_t *before = json_object_get(page->report, "before");
	const json_t *after = json_object_get(page->report, "after");

	page_words(page, "%.80s compared with %.80s", words_path(json_array_get(after, 0)).text,
			words_path(json_array_get(before, 0)).text);
}

static void write_tile(struct page *page, const char *value, const char *what)
{
	page_markup(page, "<div class=\"tile\"><b>");
	page_text(page, value);
	page_markup(page, "</b> %s</div>\n", what);
}

static void write_tiles(struct page *page)
{
	const json_t *wall = json_object_get(page->report, "wall_seconds");
	double before = report_get(wall, "before"), after = report_get(wall, "after");
	char change[32] = "-";

	if (before > 0 && isfinite(after))
		snprintf(change, sizeof(change), "%+.1f%%", 100 * (after / before - 1));
	page_markup(page, "<div class=\"tiles\">\n");
	write_tile(page, words_value(before, WORDS_SECONDS).text, "wall time before");
	write_tile(page, words_value(after, WORDS_SECONDS).text, "wall time after");
	write_tile(page, change, "difference");
	page_markup(page, "</div>\n");
}

static void write_runs(struct page *page, const char *side)
{
	const json_t *run, *word;
	size_t i, k;

	json_array_foreach (json_object_get(page->report, side), i, run) {
		page_markup(page, "<tr><th scope=\"row\">%s</th>", side);
		page_cell(page, "", "%s", report_get_text(run, "path"));
		page_markup(page, "<td><code>");
		json_array_foreach (json_object_get(run, "command"), k, word)
			page_words(page, "%s%.200s", k ? " " : "",
					json_is_string(word) ? json_string_value(word) : "?");
		page_markup(page, "</code></td>");
		page_cell(page, "", "%s",
				json_is_string(json_object_get(run, "date")) ?
						report_get_text(run, "date") :
						"-");
		page_cell(page, "n", "%s", words_value(report_get(run, "ranks"), WORDS_COUNT).text);
		page_cell(page, "n", "%s",
				words_value(report_get(run, "wall_seconds"), WORDS_SECONDS).text);
		page_markup(page, "</tr>\n");
	}
}

static void write_times(struct page *page, const char *key, const char *name)
{
	const json_t *time = json_object_get(page->report, key);

	page_markup(page, "<tr><th scope=\"row\">%s</th>", name);
	page_cell(page, "n", "%s", words_value(report_get(time, "before"), WORDS_SECONDS).text);
	page_cell(page, "n", "%s", words_value(report_get(time, "after"), WORDS_SECONDS).text);
	page_cell(page, "", "%s", words_change(time, WORDS_SECONDS).text);
	page_markup(page, "</tr>\n");
}

static void write_verdict(struct page *page)
{
	const json_t *note;
	size_t i;

	page_markup(page, "<p class=\"verdict\">");
	page_text(page, words_verdict(page->report).text);
	page_markup(page, "</p>\n");
	json_array_foreach (json_object_get(page->report, "notes"), i, note) {
		page_markup(page, "<p class=\"missing\">");
		page_text(page, json_string_value(note));
		page_markup(page, "</p>\n");
	}
	write_tiles(page);
	page_markup(page,
			"<table>\n<tr><th scope=\"col\">time</th><th scope=\"col\" class=\"n\">before</th><th "
			"scope=\"col\" class=\"n\">after</th><th scope=\"col\">difference</th></tr>\n");
	write_times(page, "wall_seconds", "wall time");
	write_times(page, "useful_seconds", "computing time of a thread");
	page_markup(page,
			"</table>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			"aria-label=\"Runs\">\n<table>\n<tr><th scope=\"col\">side</th><th "
			"scope=\"col\">result</th><th scope=\"col\">command</th><th "
			"scope=\"col\">started</th><th scope=\"col\" class=\"n\">ranks</th><th "
			"scope=\"col\" class=\"n\">wall time</th></tr>\n");
	write_runs(page, "before");
	write_runs(page, "after");
	page_markup(page, "</table>\n</div>\n");
}

/* ---- causes ---- */

static void write_causes(struct page *page)
{
	const json_t *causes = json_object_get(page->report, "causes"), *cause;
	double most = largest_of(causes, "seconds");
	size_t i;

	page_markup(page,
			"<table class=\"breakdown\">\n<tr><th scope=\"col\">cause</th><th scope=\"col\">seconds</th><th scope=\"col\">shorter | "
			"longer</th></tr>\n");
	json_array_foreach (causes, i, cause) {
		page_markup(page, "<tr><th scope=\"row\">");
		page_text(page, words_cause(cause).text);
		page_markup(page, "</th>");
		page_cell(page, "", "%s", words_part(cause).text);
		write_bar(page, report_get(cause, "seconds"), report_get(cause, "ci95"), most);
		page_markup(page, "</tr>\n");
	}
	page_markup(page,
			"</table>\n<p class=\"note\">The rows sum to the difference of the wall time. Bars to the "
			"right take time, bars to the left save time. Hatched: the 95%% interval includes 0. "
			"Black lines: intervals; where there is none, the interval is not known.</p>\n");
}

/* ---- phases ---- */

/* Returns the fill of a component, by its place among the losses of the whole comparison. */
static struct pattern fill_of(const json_t *comparison, const char *name)
{
	const json_t *phases = json_object_get(comparison, "phases"), *phase, *component;
	const char *seen[64];
	unsigned count = 0, losses = 0;
	size_t i, k;

	json_array_foreach (phases, i, phase)
		json_array_foreach (json_object_get(phase, "cpi_breakdown"), k, component) {
			const char *own = report_get_text(component, "component");
			unsigned n = 0;

			if (json_integer_value(json_object_get(component, "level")))
				continue;
			if (strcmp(own, name) == 0)
				return pattern_of_component(name, losses);
			while (n < count && strcmp(seen[n], own) != 0)
				n++;
			if (n == count && count < 64) {
				seen[count++] = own;
				losses += component_kind(own) == COMPONENT_LOSS;
			}
		}
	return pattern_of_component(name, losses);
}

static struct words name_of(const json_t *phase)
{
	struct words before = words_ids(json_object_get(phase, "before"));
	struct words after = words_ids(json_object_get(phase, "after")), words;

	if (strcmp(report_get_text(phase, "status"), "both") == 0)
		snprintf(words.text, sizeof(words.text), "%.40s (was %.40s)", after.text,
				before.text);
	else
		snprintf(words.text, sizeof(words.text), "%.40s %s",
				*after.text ? after.text : before.text,
				strcmp(report_get_text(phase, "status"), "new") == 0 ?
						"(new)" :
						"(before, vanished)");
	return words;
}

static void write_place(struct page *page, const json_t *phase)
{
	if (json_is_string(json_object_get(phase, "from")))
		page_words(page, "from %s ", report_get_text(phase, "from"));
	if (json_is_string(json_object_get(phase, "to")))
		page_words(page, "to %s", report_get_text(phase, "to"));
	if (*words_matched(phase))
		page_words(page, " (%s)", words_matched(phase));
}

static void write_table(struct page *page)
{
	const json_t *phase;
	size_t i;

	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
			"phases\">\n<table class=\"rows\">\n<tr><th scope=\"col\">phase</th><th scope=\"col\" "
			"class=\"n\">before</th><th scope=\"col\" class=\"n\">after</th><th "
			"scope=\"col\">difference</th><th scope=\"col\">place</th></tr>\n");
	json_array_foreach (json_object_get(page->report, "phases"), i, phase) {
		const json_t *seconds = json_object_get(phase, "seconds");
		bool shown = words_is_shown(page->report, phase);

		page_markup(page, "<tr><th scope=\"row\">");
		if (shown)
			page_markup(page, "<a href=\"#phase-%zu\">", i + 1);
		page_text(page, name_of(phase).text);
		page_markup(page, shown ? "</a></th>" : "</th>");
		page_cell(page, "n", "%s", words_time(phase, "before").text);
		page_cell(page, "n", "%s", words_time(phase, "after").text);
		page_cell(page, "d", "%s", words_change(seconds, WORDS_SECONDS).text);
		page_markup(page, "<td>");
		write_place(page, phase);
		page_markup(page, "</td></tr>\n");
	}
	page_markup(page,
			"</table>\n</div>\n<p class=\"note\">Computing time of a thread, in the mean of all "
			"threads.</p>\n");
}

/* Writes the time of one side as a bar, divided by the components of the CPI. */
static void write_side(struct page *page, const json_t *phase, const char *side, double y,
		double most)
{
	double seconds = report_get_in(phase, "seconds", side);
	double cpi = report_get_in(phase, "cpi", side), at = 0;
	double width = most > 0 && isfinite(seconds) ? FRAME * seconds / most : 0;
	const json_t *component;
	size_t i;

	page_markup(page, "<text x=\"0\" y=\"%.0f\">", y + 13);
	page_words(page, "%s: %s", side, words_time(phase, side).text);
	page_markup(page, "</text>");
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		double share = report_get(component, side) / cpi;
		const char *name = report_get_text(component, "component");

		if (json_integer_value(json_object_get(component, "level")) || !(share > 0) ||
				!isfinite(share))
			continue;
		share = fmin(share, 1 - at);
		page_markup(page,
				"<rect class=\"part\" x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" "
				"height=\"14\" fill=\"%s\"><title>",
				width * at, y + 18, width * share,
				fill_of(page->report, name).text);
		page_words(page, "%s, %.60s: CPI %.3f", side, name, report_get(component, side));
		page_markup(page, "</title></rect>");
		at += share;
	}
	if (at < 0.995 && width > 0)
		page_markup(page,
				"<rect class=\"part\" x=\"%.2f%%\" y=\"%.0f\" width=\"%.2f%%\" "
				"height=\"14\" fill=\"%s\"/>",
				width * at, y + 18, width * (1 - at),
				at > 0 ? "url(#unknown)" : PLAIN);
	page_markup(page, "\n");
}

static void write_row(struct page *page, const char *name, bool inner, const json_t *change,
		enum words_unit unit, double most)
{
	double before = report_get(change, "before"), after = report_get(change, "after");

	if (!isfinite(before) && !isfinite(after))
		return;
	page_markup(page, "<tr><th scope=\"row\"%s>", inner ? " class=\"inner\"" : "");
	page_term(page, name);
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", words_value(before, unit).text);
	page_cell(page, "n", "%s", words_value(after, unit).text);
	page_cell(page, "d", "%s", words_change(change, unit).text);
	if (most > 0)
		write_bar(page, report_get(change, "difference"), report_get(change, "ci95"), most);
	else
		page_markup(page, "<td></td>");
	page_markup(page, "</tr>\n");
}

static void write_numbers(struct page *page, const json_t *phase)
{
	const json_t *breakdown = json_object_get(phase, "cpi_breakdown"), *component;
	double most = largest_of(breakdown, "difference");
	size_t i;

	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers of the "
			"phase\">\n<table class=\"breakdown\">\n<tr><th scope=\"col\">number</th><th "
			"scope=\"col\" class=\"n\">before</th><th scope=\"col\" class=\"n\">after</th><th "
			"scope=\"col\">difference</th><th scope=\"col\">%s</th></tr>\n",
			most > 0 ? "less | more cycles" : "");
	for (const struct words_row *row = words_rows; row->name; row++)
		write_row(page, row->name, false, json_object_get(phase, row->key), row->unit, 0);
	json_array_foreach (breakdown, i, component)
		if (words_component_is_shown(component))
			write_row(page, report_get_text(component, "component"), true, component,
					WORDS_CPI, most);
	page_markup(page, "</table>\n</div>\n");
}

/* Writes the parts of the phase's difference that are told apart. */
static void write_parts(struct page *page, const json_t *causes)
{
	const json_t *cause;
	bool any = false;
	size_t i;

	json_array_foreach (causes, i, cause) {
		if (!words_part_is_shown(cause))
			continue;
		page_markup(page, any ? "; " : "<p>because of ");
		page_words(page, "%s %s", words_cause(cause).text, words_part(cause).text);
		any = true;
	}
	if (any)
		page_markup(page, "</p>\n");
}

static void write_phase(struct page *page, const json_t *phase, size_t number, double most)
{
	page_markup(page, "<article id=\"phase-%zu\">\n<h3>phase ", number);
	page_words(page, "%s: %s", name_of(phase).text,
			words_change(json_object_get(phase, "seconds"), WORDS_SECONDS).text);
	page_markup(page, "</h3>\n<p>");
	write_place(page, phase);
	page_markup(page, "</p>\n");
	write_parts(page, json_object_get(phase, "causes"));
	page_markup(page,
			"<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"Time before and after\"><title>Time before and after</title>\n",
			2 * ROW);
	write_side(page, phase, "before", 0, most);
	write_side(page, phase, "after", ROW, most);
	page_markup(page, "</svg>\n");
	write_numbers(page, phase);
	page_markup(page, "</article>\n");
}

static void write_key(struct page *page)
{
	const json_t *component, *phase;
	const char *seen[64];
	unsigned count = 0;
	size_t i, k;

	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		json_array_foreach (json_object_get(phase, "cpi_breakdown"), k, component) {
			const char *name = report_get_text(component, "component");
			unsigned n = 0;

			while (n < count && strcmp(seen[n], name) != 0)
				n++;
			if (json_integer_value(json_object_get(component, "level")) || n < count ||
					count == 64)
				continue;
			page_markup(page, count ? "" : "<ul class=\"key\">\n");
			seen[count++] = name;
			pattern_swatch(page, fill_of(page->report, name).text);
			page_term(page, name);
			page_markup(page, "</li>\n");
		}
	page_markup(page, count ? "</ul>\n" : "");
}

static void write_phases(struct page *page)
{
	const json_t *phases = json_object_get(page->report, "phases"), *phase;
	double most = 0;
	size_t i;

	if (!json_array_size(phases)) {
		page_markup(page, "<p class=\"missing\">No run has a phase.</p>\n");
		return;
	}
	write_table(page);
	write_key(page);
	json_array_foreach (phases, i, phase)
		most = fmax(most,
				fmax(report_get_in(phase, "seconds", "before"),
						report_get_in(phase, "seconds", "after")));
	page_markup(page,
			"<p class=\"note\">Bars: the computing time of a thread, of the same scale in all "
			"phases, divided by the components of the CPI.</p>\n");
	json_array_foreach (phases, i, phase)
		if (words_is_shown(page->report, phase))
			write_phase(page, phase, i + 1, most);
}

/* ---- the page ---- */

static void write_glossary(struct page *page)
{
	page_terms(page, page_formulas);
}

static const struct {
	const char *name, *title;
	void (*write)(struct page *page);
} views[] = {
	{ "verdict", "Verdict", write_verdict },
	{ "causes", "Where the difference comes from", write_causes },
	{ "phases", "Phases", write_phases },
	{ "glossary", "Glossary", write_glossary },
};

#define VIEWS (sizeof(views) / sizeof(*views))

static void write_page(struct page *page)
{
	page_head(page, write_title);
	patterns_write(page);
	page_markup(page, "<header>\n<h1>phasemux: ");
	write_title(page);
	page_markup(page, "</h1>\n<nav aria-label=\"Views\">\n<ul>\n");
	for (size_t i = 0; i < VIEWS; i++)
		page_markup(page, "<li><a href=\"#%s\">%s</a></li>\n", views[i].name,
				views[i].title);
	page_markup(page, "</ul>\n</nav>\n</header>\n<main>\n");
	for (size_t i = 0; i < VIEWS; i++) {
		page_markup(page,
				"<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
				views[i].name, views[i].name, views[i].name, views[i].title);
		views[i].write(page);
		page_markup(page, "</section>\n");
	}
	page_foot(page, "a comparison (phasemux compare --json)");
}

char *compare_page(const json_t *comparison)
{
	char *text = NULL;
	struct page page;
	bool whole;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	whole = page_init(&page, comparison, out) == 0;
	if (whole)
		write_page(&page);
	page_fini(&page);
	if (fclose(out) == 0 && whole)
		return text;
	free(text);
	return NULL;
}
