/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/places.h"

#include <math.h>
#include <string.h>

#include "agent/page/icicle.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/place.h"
#include "agent/text/report_line.h"

#define ROWS_MAX  400   /* of each table */
#define NAMES_MAX 3     /* frames of a call path in a row */
#define SHARE_MIN 0.005 /* of the phase's time; pairs of places with less are left to report.json */
#define POSITION  160   /* characters of a position */

/* Writes one end of a pair of places: the call, its function, its position, and the functions above it. */
static void write_end(struct page *page, const json_t *pair, const char *key)
{
	struct place_text end = place_end(pair, key, PLACE_NAME_MAX);
	const json_t *frame;
	char name[16];
	size_t i;

	page_markup(page, "<td>");
	page_text(page, *end.text ? end.text : "another call");
	if (json_is_string(json_object_get(pair, key))) {
		page_markup(page, "<br><code>");
		page_text(page, place_name(report_get_text(pair, key), POSITION).text);
		page_markup(page, "</code>");
	}
	snprintf(name, sizeof(name), "%s_path", key);
	json_array_foreach (json_object_get(pair, name), i, frame) {
		const char *function = report_get_text(frame, "function");

		if (i == NAMES_MAX || !*function)
			break; /* without names, positions are in report.json */
		page_markup(page, i ? " &larr; " : "<br>called by ");
		page_text(page, place_name(function, PLACE_NAME_MAX).text);
	}
	page_markup(page, "</td>");
}

static void write_pairs(struct page *page)
{
	const json_t *phase, *pair;
	unsigned rows = 0, left = 0;
	size_t i, k;

	page_markup(page,
			"<h3>Between which calls</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			"aria-label=\"Between which calls\">\n<table class=\"rows\">\n<tr><th "
			"scope=\"col\">phase</th><th scope=\"col\" class=\"n\">share of its "
			"time</th><th scope=\"col\">from</th><th scope=\"col\">to</th></tr>\n");
	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		json_array_foreach (json_object_get(phase, "source"), k, pair) {
			double id = report_get(phase, "id");

			if (rows == ROWS_MAX || report_get(pair, "share") < SHARE_MIN) {
				left++;
				continue;
			}
			rows++;
			page_markup(page,
					"<tr data-phase=\"%.0f\"><th scope=\"row\"><a "
					"href=\"#phase-%.0f\">%.0f</a></th>",
					id, id, id);
			page_cell(page, "n", "%s",
					format_whole_percent(report_get(pair, "share")).text);
			write_end(page, pair, "from");
			write_end(page, pair, "to");
			page_markup(page, "</tr>\n");
		}
	page_markup(page, "</table>\n</div>\n");
	if (left)
		page_markup(page,
				"<p class=\"note\">%u more pairs, which have less of the time, are in report.json.</p>\n",
				left);
}

/* Writes the sampled lines, or functions without lines, of a phase. Returns the number of rows. */
static unsigned write_samples(struct page *page, const json_t *phase, unsigned room)
{
	const json_t *profile = json_object_get(phase, "profile"), *row;
	bool lines = json_array_size(json_object_get(profile, "lines")) > 0;
	double id = report_get(phase, "id");
	unsigned rows = 0;
	size_t i;

	json_array_foreach (json_object_get(profile, lines ? "lines" : "functions"), i, row) {
		if (rows == room)
			break;
		rows++;
		page_markup(page,
				"<tr data-phase=\"%.0f\"><th scope=\"row\"><a "
				"href=\"#phase-%.0f\">%.0f</a></th>",
				id, id, id);
		page_cell(page, "n", "%s", format_whole_percent(report_get(row, "share")).text);
		if (isfinite(report_get(row, "samples")))
			page_cell(page, "n", "%.0f", report_get(row, "samples"));
		else
			page_cell(page, "n", "-");
		page_cell(page, "", "%s",
				place_name(report_get_text(row, "function"), PLACE_NAME_MAX).text);
		page_markup(page, "<td><code>");
		if (lines)
			page_text(page, place_name(report_get_text(row, "line"), POSITION).text);
		page_markup(page, "</code></td></tr>\n");
	}
	return rows;
}

static void write_profiles(struct page *page)
{
	const json_t *phase;
	unsigned rows = 0;
	bool sampled = false;
	size_t i;

	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		sampled |= report_get_in(phase, "profile", "samples") > 0;
	if (!sampled) {
		page_markup(page,
				"<p class=\"missing\">No burst was long enough to be sampled by the "
				"kernel, so lines inside the phases are not known.</p>\n");
		return;
	}
	page_markup(page,
			"<h3>Where the kernel sampled them</h3>\n<div class=\"scroll\" tabindex=\"0\" "
			"role=\"region\" aria-label=\"Samples\">\n<table class=\"rows\">\n<tr><th "
			"scope=\"col\">phase</th><th scope=\"col\" class=\"n\">share of its "
			"samples</th><th scope=\"col\" class=\"n\">samples</th><th "
			"scope=\"col\">function</th><th scope=\"col\">line</th></tr>\n");
	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		rows += write_samples(page, phase, ROWS_MAX - rows);
	page_markup(page,
			"</table>\n</div>\n<p class=\"note\">With n samples the 95%% interval of a "
			"share is up to 1 / sqrt(n) wide on each side.</p>\n");
	if (rows == ROWS_MAX)
		page_markup(page, "<p class=\"note\">Further rows are in report.json.</p>\n");
}

void page_places(struct page *page)
{
	write_pairs(page);
	write_profiles(page);
	page_icicles(page);
}
