/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/simulated.h"

#include <math.h>
#include <stdbool.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define STEPS_MAX 16  /* of the surface, in each direction */
#define CELL      40  /* units */
#define LEFT      64  /* units, room for the bandwidths */
#define TOP       24  /* units, room for the processors */
#define DARK      0.8 /* opacity of the highest speedup */

static void write_seconds(FILE *out, const json_t *trials)
{
	fprintf(out, "%s", format_seconds(report_get(trials, "mean")).text);
	if (report_get(trials, "ci95") > 0)
		fprintf(out, " +-%s", format_seconds(report_get(trials, "ci95")).text);
}

static void write_nominal(struct page *page, const json_t *simulation)
{
	const json_t *simulated = json_object_get(simulation, "simulated_seconds");
	double recorded = report_get(simulation, "recorded_seconds");

	fputs("Simulated as it was, the run takes ", page->words);
	write_seconds(page->words, simulated);
	fprintf(page->words, ". It took %s, so this is %s off.\n", format_seconds(recorded).text,
			format_percent(fabs(report_get(simulated, "mean") / recorded - 1)).text);
	page_flush_lines(page, "<p>", "</p>");
}

/* ---- the changes ---- */

/* Writes where the gain of a change stops. */
static void write_stop(FILE *out, const json_t *stop)
{
	if (!json_is_object(stop))
		return;
	fprintf(out, "rank %.0f is %s longer in %s", report_get(stop, "rank"),
			format_seconds(report_get(stop, "waits_more_seconds")).text,
			report_get_text(stop, "call"));
	if (json_is_string(json_object_get(stop, "function")))
		fprintf(out, " in %s", report_get_text(stop, "function"));
}

static void write_change(struct page *page, const json_t *change)
{
	const json_t *seconds = json_object_get(change, "simulated_seconds");
	double saved = report_get_in(change, "saved_share", "mean");

	page_markup(page, "<tr><th scope=\"row\">");
	page_text(page, report_get_text(change, "change"));
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", format_seconds(report_get(seconds, "mean")).text);
	page_cell(page, "d", "+-%s", format_seconds(report_get(seconds, "ci95")).text);
	page_cell(page, "n", "%s%s", saved < 0 ? "-" : "", format_percent(fabs(saved)).text);
	page_cell(page, "n", "%.2f", report_get(change, "speedup"));
	page_markup(page, "<td>");
	write_stop(page->words, json_object_get(change, "stop"));
	page_flush(page);
	page_markup(page, "</td></tr>\n");
}

static void write_changes(struct page *page, const json_t *changes)
{
	const json_t *change;
	size_t i;

	if (!json_array_size(changes))
		return;
	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of simulated "
			"changes\">\n<table class=\"breakdown rows\">\n<tr><th scope=\"col\">change</th><th scope=\"col\" "
			"class=\"n\">simulated time</th><th scope=\"col\">interval</th><th scope=\"col\" "
			"class=\"n\">saved</th><th scope=\"col\" class=\"n\">speedup</th><th scope=\"col\">where the "
			"gain stops</th></tr>\n");
	json_array_foreach (changes, i, change)
		write_change(page, change);
	page_markup(page, "</table>\n</div>\n");
}

/* ---- the surface ---- */

static double number_at(const json_t *list, size_t i)
{
	const json_t *number = json_array_get(list, i);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

struct figure {
	const json_t *processors, *bandwidths, *seconds;
	size_t columns, rows;
	double first, most; /* seconds as it was; highest speedup */
};

static double speedup_at(const struct figure *figure, size_t row, size_t column)
{
	return figure->first / number_at(json_array_get(figure->seconds, row), column);
}

/* Finds the size and the highest speedup. Returns whether there is something to show. */
static bool read_figure(struct figure *figure, const json_t *surface)
{
	*figure = (struct figure){ .processors = json_object_get(surface, "cpu"),
		.bandwidths = json_object_get(surface, "bandwidth"),
		.seconds = json_object_get(surface, "seconds"),
		.most = 1 };
	figure->columns = json_array_size(figure->processors);
	figure->rows = json_array_size(figure->bandwidths);
	figure->first = number_at(json_array_get(figure->seconds, 0), 0);
	if (!figure->columns || figure->columns > STEPS_MAX || !figure->rows ||
			figure->rows > STEPS_MAX || !(figure->first > 0))
		return false;
	for (size_t row = 0; row < figure->rows; row++)
		for (size_t column = 0; column < figure->columns; column++)
			figure->most = fmax(figure->most, speedup_at(figure, row, column));
	return true;
}

static void write_cell(struct page *page, const struct figure *figure, size_t row, size_t column)
{
	double speedup = speedup_at(figure, row, column);
	size_t x = LEFT + column * CELL, y = TOP + row * CELL;

	if (!isfinite(speedup) || speedup <= 0)
		return;
	page_markup(page,
			"<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" fill=\"#56b4e9\" "
			"fill-opacity=\"%.2f\"/><text class=\"small\" x=\"%zu\" y=\"%zu\" "
			"text-anchor=\"middle\">%.3g</text>",
			x, y, CELL, CELL,
			figure->most > 1 ? DARK * fmax(0, log(speedup)) / log(figure->most) : 0,
			x + CELL / 2, y + CELL / 2 + 4, speedup);
}

/* Writes a square of its speedup for each machine, darker if it is higher. */
static void write_surface(struct page *page, const json_t *surface)
{
	struct figure figure;

	if (!read_figure(&figure, surface))
		return;
	page_markup(page,
			"<p>How many times as fast the run is: the processor is 1, 2, 4, ... times as fast from column "
			"to column, and the network from row to row.</p>\n<div class=\"scroll\" tabindex=\"0\" "
			"role=\"region\" aria-label=\"Speedups\">\n<svg class=\"figure\" role=\"img\" width=\"%zu\" "
			"height=\"%zu\" aria-label=\"Speedup by processor and bandwidth\">",
			LEFT + figure.columns * CELL, TOP + figure.rows * CELL);
	for (size_t column = 0; column < figure.columns; column++)
		page_markup(page,
				"<text class=\"small\" x=\"%zu\" y=\"16\" text-anchor=\"middle\">%.3gx</text>",
				LEFT + column * CELL + CELL / 2,
				number_at(figure.processors, column));
	for (size_t row = 0; row < figure.rows; row++) {
		page_markup(page,
				"\n<text class=\"small\" x=\"%d\" y=\"%zu\" text-anchor=\"end\">%.3gx</text>",
				LEFT - 8, TOP + row * CELL + CELL / 2 + 4,
				number_at(figure.bandwidths, row));
		for (size_t column = 0; column < figure.columns; column++)
			write_cell(page, &figure, row, column);
	}
	page_markup(page, "</svg>\n</div>\n");
}

void page_simulated(struct page *page)
{
	const json_t *simulation = json_object_get(page->report, "simulation");

	if (!json_is_object(simulation))
		return;
	page_markup(page, "<h3 id=\"simulated\">On a simulated machine</h3>\n");
	write_nominal(page, simulation);
	write_changes(page, json_object_get(simulation, "changes"));
	write_surface(page, json_object_get(simulation, "surface"));
	page_markup(page,
			"<p class=\"note\">\"phasemux whatif --simulate\" has made the run again with SimGrid. The "
			"intervals come from the lengths of bursts, which are drawn at random.</p>\n");
}
