/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/phases.h"

#include <math.h>
#include <string.h>

#include "agent/page/figures/inside.h"
#include "agent/page/parts/formulas.h"
#include "agent/page/parts/glossary.h"
#include "agent/page/stack.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/place.h"
#include "agent/text/report_line.h"
#include "agent/text/when.h"

#define PLACE_ENOUGH 0.5 /* share of the first pair of places below which a second pair is shown */

/* ---- the table of all phases ---- */

static void write_place(struct page *page, const json_t *phase)
{
	const json_t *pair = json_array_get(json_object_get(phase, "source"), 0);

	if (!pair || !place_known(pair)) {
		page_markup(page, "<td>place not known</td>");
		return;
	}
	page_markup(page, "<td>");
	page_words(page, "from %s ", place_end(pair, "from", PLACE_NAME_MAX).text);
	page_markup(page, "<br>");
	page_words(page, "to %s (%s)", place_end(pair, "to", PLACE_NAME_MAX).text,
			format_whole_percent(report_get(pair, "share")).text);
	if (phase_is_shown(phase)) {
		phase_write_apart(page->words, json_object_get(page->report, "phases"), phase);
		page_flush_lines(page, "<br><small>", "</small>");
	}
	page_markup(page, "</td>");
}

/* Writes a cell with a number, and its half-width under it. */
static void write_estimate(struct page *page, const char *text, const char *error, bool visible)
{
	page_markup(page, "<td class=\"n\">");
	page_text(page, text);
	if (visible && *error) {
		page_markup(page, "<br><small>");
		page_text(page, error);
		page_markup(page, "</small>");
	}
	page_markup(page, "</td>");
}

static void write_row(struct page *page, const json_t *phase, bool cycles)
{
	struct phase_intervals intervals = phase_intervals(phase);
	double id = report_get(phase, "id"), ipc = phase_ipc(phase);

	page_markup(page, "<tr data-phase=\"%.0f\">", id);
	page_markup(page,
			phase_is_shown(phase) ?
					"<th scope=\"row\"><a href=\"#phase-%.0f\">%.0f</a></th>" :
					"<th scope=\"row\"><span id=\"phase-%.0f\">%.0f</span></th>",
			id, id);
	write_estimate(page, format_percent(report_get(phase, "time_share")).text,
			intervals.share.text, intervals.visible);
	write_estimate(page, format_count(report_get(phase, "bursts")).text, intervals.bursts.text,
			intervals.visible);
	write_estimate(page, format_seconds(phase_mean_seconds(phase)).text, intervals.mean.text,
			intervals.visible);
	if (cycles) {
		page_cell(page, "n", "%s", format_count(phase_instructions(phase)).text);
		if (isfinite(ipc))
			page_cell(page, "n", "%.2f", ipc);
		else
			page_cell(page, "n", "not known");
	}
	write_place(page, phase);
	page_markup(page, "</tr>\n");
}

/* Writes the phases that are too small to be shown by themselves. */
static void write_smaller(struct page *page, bool cycles)
{
	const json_t *phases = json_object_get(page->report, "phases"), *phase;
	struct phase_smaller smaller = phase_smaller(phases);
	size_t i;

	if (!smaller.count)
		return;
	page_markup(page, "<tr class=\"sum\"><th></th>");
	page_cell(page, "n", "%s", format_percent(smaller.share).text);
	page_markup(page, "<td colspan=\"%d\">", cycles ? 5 : 3);
	page_words(page, "in %u smaller phase%s, which are in the rows below", smaller.count,
			smaller.count == 1 ? "" : "s");
	page_markup(page, "</td></tr>\n");
	json_array_foreach (phases, i, phase)
		if (!phase_is_shown(phase))
			write_row(page, phase, cycles);
}

static void write_table(struct page *page, bool cycles)
{
	const json_t *phase;
	size_t i;

	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
			"phases\">\n<table class=\"rows\">\n<tr><th scope=\"col\">phase</th><th scope=\"col\" "
			"class=\"n\">time</th><th scope=\"col\" class=\"n\">bursts</th><th "
			"scope=\"col\" class=\"n\">mean</th>%s<th scope=\"col\">place</th></tr>\n",
			cycles ? "<th scope=\"col\" class=\"n\">instr.</th><th scope=\"col\" "
				 "class=\"n\">IPC</th>" :
				 "");
	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		if (phase_is_shown(phase))
			write_row(page, phase, cycles);
	write_smaller(page, cycles);
	page_markup(page,
			"</table>\n</div>\n<p class=\"note\">time: share of the computing time; bursts and "
			"mean: their number and mean duration; small numbers: half-widths of 95%% "
			"intervals.</p>\n");
}

/* ---- one phase ---- */

static void write_pair(struct page *page, const json_t *pair, const char *word)
{
	struct place_text from = place_end(pair, "from", PLACE_NAME_MAX);
	struct place_text to = place_end(pair, "to", PLACE_NAME_MAX);

	page_markup(page, "<p>");
	page_words(page, "%s%sfrom %s to %s (%s)", word, *word ? " " : "",
			*from.text ? from.text : "another call",
			*to.text ? to.text : "another call",
			format_whole_percent(report_get(pair, "share")).text);
	page_markup(page, "</p>\n");
}

static void write_words(struct page *page)
{
	page_flush_lines(page, "<p>", "</p>");
}

static void write_where(struct page *page, const json_t *phase)
{
	const json_t *source = json_object_get(phase, "source");
	const json_t *first = json_array_get(source, 0), *second = json_array_get(source, 1);

	if (first && place_known(first))
		write_pair(page, first, "");
	else
		page_markup(page, "<p>place not known</p>\n");
	if (second && place_known(second) && report_get(first, "share") < PLACE_ENOUGH)
		write_pair(page, second, "also");
	phase_write_apart(page->words, json_object_get(page->report, "phases"), phase);
	write_words(page);
	phase_write_ranks(page->words, page->report, phase);
	write_words(page);
	phase_write_efficiency(page->words, phase);
	write_words(page);
	phase_write_iteration(page->words, phase);
	write_words(page);
	phase_write_drift(page->words, phase);
	write_words(page);
	phase_write_when(page->words, page->report, phase);
	write_words(page);
	phase_write_slices(page->words, phase);
	write_words(page);
	phase_write_reads(page->words, phase, report_get_in(page->report, "agent", "read_seconds"));
	write_words(page);
	phase_write_hot(page->words, phase, false);
	write_words(page);
	phase_write_hot(page->words, phase, true);
	write_words(page);
}

#define UNSEEN 0.0005 /* part of a bar's width that is less than a tenth of a pixel */

/* Writes a component's share of the CPI as a bar, with its interval. fill: NULL: its value is not known. */
static void write_bar(struct page *page, double share, double error, const char *fill)
{
	page_markup(page, "<td class=\"bar\"><svg aria-hidden=\"true\">");
	if (fill) {
		share = fmin(fmax(share, 0), 1);
		if (share >= UNSEEN)
			page_markup(page,
					"<rect width=\"%.2f%%\" height=\"14\" "
					"fill=\"%s\"/>",
					100 * share, fill);
		if (error > 0.005)
			page_markup(page,
					"<g class=\"whisker\"><line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"7\" "
					"y2=\"7\"/></g>",
					100 * fmax(share - error, 0), 100 * fmin(share + error, 1));
	} else {
		page_markup(page, "<rect width=\"100%%\" height=\"14\" fill=\"url(#unknown)\"/>");
	}
	page_markup(page, "</svg></td>");
}

/* fill: of the outer component that it is, or is a part of. */
static void write_component(struct page *page, const json_t *component, double cpi,
		const char *fill)
{
	bool inner = json_integer_value(json_object_get(component, "level"));
	struct phase_component text = phase_component(component, cpi);
	const char *name = report_get_text(component, "component");

	page_markup(page, "<tr><th scope=\"row\"%s>", inner ? " class=\"inner\"" : "");
	page_component_name(page, name);
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", text.value.text);
	page_cell(page, "", "%s", text.interval.text);
	page_cell(page, "n", "%s", text.share.text);
	write_bar(page, report_get(component, "cpi") / cpi, report_get(component, "ci95") / cpi,
			phase_component_known(component) ? fill : NULL);
	page_markup(page, "</tr>\n");
}

static void write_breakdown(struct page *page, const json_t *phase)
{
	double cpi = report_get(phase, "cpi");
	struct pattern fill = { "" };
	const json_t *component;
	size_t i;

	if (!phase_has_breakdown(phase)) {
		page_markup(page, "<p class=\"missing\">");
		page_words(page, "CPI %.3f; too few bursts of each group for a breakdown", cpi);
		page_markup(page, "</p>\n");
		return;
	}
	page_markup(page,
			"<table class=\"breakdown\">\n<tr><th scope=\"col\">component</th><th "
			"scope=\"col\" class=\"n\">CPI</th><th scope=\"col\">95%%</th><th "
			"scope=\"col\" class=\"n\">share</th><th scope=\"col\">of the CPI "
			"%.3f</th></tr>\n",
			cpi);
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		if (!json_integer_value(json_object_get(component, "level")))
			fill = stack_pattern(page->report, report_get_text(component, "component"));
		write_component(page, component, cpi, fill.text);
	}
	page_markup(page, "</table>\n");
}

static void write_counters(struct page *page, const json_t *phase)
{
	json_t *counters = json_object_get(phase, "counters"), *value;
	const char *name;

	if (!json_object_size(counters))
		return;
	page_markup(page,
			"<table>\n<tr><th scope=\"col\">counter</th><th "
			"scope=\"col\">mean</th></tr>\n");
	json_object_foreach (counters, name, value) {
		page_markup(page, "<tr><th scope=\"row\">");
		page_event_name(page, name);
		page_markup(page, "</th><td>");
		phase_write_counter(page->words, name, value, phase_unit(phase), 0);
		page_flush(page);
		page_markup(page, "</td></tr>\n");
	}
	page_markup(page, "</table>\n");
}

static void write_metrics(struct page *page, const json_t *phase)
{
	json_t *metrics = json_object_get(phase, "metrics"), *value;
	const char *name;

	if (!json_object_size(metrics))
		return;
	page_markup(page,
			"<table>\n<tr><th scope=\"col\">metric</th><th "
			"scope=\"col\">value</th></tr>\n");
	json_object_foreach (metrics, name, value) {
		double error = report_get(value, "ci95"), number = report_get(value, "value");
		const char *unit = report_get_text(value, "unit");

		page_markup(page, "<tr><th scope=\"row\">");
		page_metric_name(page, name);
		page_markup(page, "</th><td>");
		if (isfinite(number) && isfinite(error) && error > 0)
			page_words(page, "%s %s", format_interval(number, error, 0, 0).text, unit);
		else if (isfinite(number) && !isfinite(error) && number != 0)
			page_term(page, "too few");
		else
			page_words(page, "%s %s", format_count(number).text, unit);
		page_markup(page, "</td></tr>\n");
	}
	page_markup(page, "</table>\n");
}

static void write_phase(struct page *page, const json_t *phase)
{
	double id = report_get(phase, "id");
	bool broken_down = json_array_size(json_object_get(phase, "cpi_breakdown"));

	page_markup(page, "<article id=\"phase-%.0f\" data-phase=\"%.0f\">\n<h3>phase %.0f: ", id,
			id, id);
	page_words(page, "%s of the computing time",
			format_percent(report_get(phase, "time_share")).text);
	page_markup(page, "</h3>\n");
	write_where(page, phase);
	if (broken_down) {
		write_breakdown(page, phase);
		page_markup(page, "<details><summary>counters and metrics</summary>\n");
	}
	write_counters(page, phase);
	write_metrics(page, phase);
	page_markup(page, broken_down ? "</details>\n" : "");
	page_inside(page, phase);
	page_markup(page, "</article>\n");
}

void page_phases(struct page *page)
{
	const json_t *phases = json_object_get(page->report, "phases"), *phase;
	bool cycles = false;
	size_t i;

	if (!json_array_size(phases)) {
		page_markup(page,
				"<p class=\"missing\">none: the run was too short, or no burst was "
				"long enough</p>\n");
		return;
	}
	json_array_foreach (phases, i, phase)
		cycles |= isfinite(phase_ipc(phase));
	write_table(page, cycles);
	json_array_foreach (phases, i, phase)
		if (phase_is_shown(phase))
			write_phase(page, phase);
}
