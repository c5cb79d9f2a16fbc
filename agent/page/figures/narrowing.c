/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/figures/narrowing.h"

#include <math.h>
#include <string.h>

#include "agent/page/parts/formulas.h"
#include "agent/page/parts/patterns.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

/* Horizontal positions are percentages of the figure, and vertical ones are pixels. */
#define LEFT      10.0
#define WIDTH     89.0
#define TOP       24
#define HEIGHT    160
#define FOOT      44
#define UNITS     1000 /* of the plot's sides in paths */
#define BINS_MAX  256
#define LINES_MAX 8
#define LARGE     0.05 /* share of the time from which a phase has a line */
#define ENOUGH    0.05 /* half-width, as a part of the value, that is narrow enough */
#define LABELS    0.09 /* part of the width between the numbers of two lines */
#define LAST      0.95 /* part of the width at which the first number is */
#define EDGE      0.95 /* part of the width from which a tick has its text at its left */

/* The widest interval of a phase. */
struct line {
	double id;
	const char *name; /* of the component; NULL: the mean duration */
	double end; /* half-width at the end of the run, as a part of the CPI or of the duration */
	double part[BINS_MAX]; /* of the time in the phase that is over at the end of each bin */
};

struct narrowing {
	struct page *page;
	double seconds, bin, most; /* most: half-width at the upper end of the figure */
	unsigned bins, count;
	bool unknown; /* some component of the large phases is not known */
	struct line line[LINES_MAX];
};

/* ---- the lines ---- */

/* Finds the widest interval of a phase. Returns false if none is known, or if all values are exact. */
static bool find_widest(const json_t *phase, struct line *line)
{
	const json_t *component;
	size_t i;

	line->end = 0;
	line->name = NULL;
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		double part = report_get(component, "ci95") / report_get(phase, "cpi");

		if (phase_component_known(component) && part > line->end) {
			line->end = part;
			line->name = report_get_text(component, "component");
		}
	}
	if (!json_array_size(json_object_get(phase, "cpi_breakdown")))
		line->end = report_get_in(phase, "duration_seconds", "ci95") /
				phase_mean_seconds(phase);
	return line->end > 0 && isfinite(line->end);
}

/* Sums up the time of all ranks in a phase until the end of each bin. Returns false if there is none. */
static bool sum_up(const struct narrowing *narrowing, struct line *line)
{
	const json_t *timeline = json_object_get(narrowing->page->report, "timeline"), *group,
		     *phase;
	double sum = 0;
	size_t i, k;

	memset(line->part, 0, sizeof(line->part));
	json_array_foreach (json_object_get(timeline, "groups"), i, group)
		json_array_foreach (json_object_get(group, "phases"), k, phase) {
			const json_t *list = json_object_get(phase, "microseconds");

			for (unsigned b = 0;
					report_get(phase, "id") == line->id && b < narrowing->bins;
					b++)
				line->part[b] +=
						fmax(json_number_value(json_array_get(list, b)), 0);
		}
	for (unsigned b = 0; b < narrowing->bins; b++)
		sum = line->part[b] += sum;
	for (unsigned b = 0; b < narrowing->bins; b++)
		line->part[b] /= sum;
	return sum > 0;
}

static bool has_unknown(const json_t *phase)
{
	const json_t *component;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		if (!phase_component_known(component))
			return true;
	return false;
}

static void find_lines(struct narrowing *narrowing)
{
	const json_t *phase;
	double widest = ENOUGH;
	size_t i;

	json_array_foreach (json_object_get(narrowing->page->report, "phases"), i, phase) {
		struct line *line = &narrowing->line[narrowing->count];

		if (narrowing->count == LINES_MAX || !(report_get(phase, "time_share") >= LARGE))
			continue;
		narrowing->unknown |= has_unknown(phase);
		line->id = report_get(phase, "id");
		if (!find_widest(phase, line) || !sum_up(narrowing, line))
			continue;
		widest = fmax(widest, line->end);
		narrowing->count++;
	}
	narrowing->most = 3 * widest;
}

/* Returns the half-width that a line had at the end of a bin. */
static double width_at(const struct line *line, unsigned bin)
{
	return line->end / sqrt(line->part[bin]);
}

static double end_of(const struct narrowing *narrowing, unsigned bin)
{
	return fmin((bin + 1) * narrowing->bin, narrowing->seconds);
}

/* Returns the time from which the interval was narrow enough, or the length of the run in which it would be. */
static double enough_at(const struct narrowing *narrowing, const struct line *line)
{
	if (line->end > ENOUGH)
		return narrowing->seconds * pow(line->end / ENOUGH, 2);
	for (unsigned b = 0; b < narrowing->bins; b++)
		if (width_at(line, b) <= ENOUGH)
			return end_of(narrowing, b);
	return narrowing->seconds;
}

/* ---- the figure ---- */

static double y_of(const struct narrowing *narrowing, double width)
{
	return 1 - fmin(fmax(width / narrowing->most, 0), 1);
}

static void write_line(const struct narrowing *narrowing, const struct line *line)
{
	struct page *page = narrowing->page;
	bool first = true;

	page_markup(page,
			"<path data-phase=\"%.0f\" fill=\"none\" stroke=\"%s\" stroke-width=\"3\" "
			"vector-effect=\"non-scaling-stroke\" d=\"",
			line->id, pattern_colour(page->report, line->id));
	for (unsigned b = 0; b < narrowing->bins; b++) {
		if (!(width_at(line, b) <= narrowing->most))
			continue;
		page_markup(page, "%s%.0f %.0f", first ? "M" : "L",
				UNITS * end_of(narrowing, b) / narrowing->seconds,
				UNITS * y_of(narrowing, width_at(line, b)));
		first = false;
	}
	page_markup(page, "\"><title>phase %.0f: %s at the end</title></path>\n", line->id,
			format_percent(line->end).text);
}

/* Writes the number of a phase at its line, each at a place of its own. Small phases, which may start late, come last. */
static void write_number(const struct narrowing *narrowing, unsigned i)
{
	const struct line *line = &narrowing->line[i];
	double x = LAST - LABELS * (narrowing->count - 1 - i);
	unsigned bin = (unsigned)fmin(x * narrowing->seconds / narrowing->bin, narrowing->bins - 1);

	if (!(width_at(line, bin) <= narrowing->most))
		return;
	page_markup(narrowing->page,
			"<text class=\"over\" data-phase=\"%.0f\" x=\"%.2f%%\" y=\"%.1f\" "
			"text-anchor=\"middle\">%.0f</text>\n",
			line->id, LEFT + WIDTH * x,
			TOP + HEIGHT * y_of(narrowing, width_at(line, bin)) + 4, line->id);
}

static void write_axes(const struct narrowing *narrowing)
{
	struct page *page = narrowing->page;
	double step = axis_step(narrowing->most), time = axis_step(narrowing->seconds);

	page_markup(page,
			"<rect class=\"track\" fill=\"none\" stroke=\"#999999\" x=\"%.0f%%\" y=\"%d\" "
			"width=\"%.0f%%\" height=\"%d\"/>\n<text class=\"small\" x=\"0\" y=\"12\">half-width "
			"of the widest interval</text>\n",
			LEFT, TOP, WIDTH, HEIGHT);
	for (unsigned i = 0; i * step <= narrowing->most * 1.0001; i++) {
		double y = TOP + HEIGHT * y_of(narrowing, i * step);

		page_markup(page,
				"<line class=\"grid\" stroke=\"#999999\" x1=\"%.0f%%\" x2=\"%.0f%%\" "
				"y1=\"%.1f\" y2=\"%.1f\"/><text class=\"small\" x=\"%.0f%%\" y=\"%.1f\" "
				"text-anchor=\"end\">%.3g%%</text>\n",
				LEFT, LEFT + WIDTH, y, y, LEFT - 1, y + 4, 100 * i * step);
	}
	for (unsigned i = 0; i * time <= narrowing->seconds * 1.0001; i++) {
		double x = i * time / narrowing->seconds;

		page_markup(page,
				"<text class=\"small\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
				LEFT + WIDTH * x, TOP + HEIGHT + 18, x > EDGE ? "end" : "middle",
				i ? format_seconds(i * time).text : "0");
	}
	page_markup(page,
			"<text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"middle\">time since the "
			"start of the run</text>\n",
			LEFT + WIDTH / 2, TOP + HEIGHT + 36);
}

static void write_figure(const struct narrowing *narrowing)
{
	struct page *page = narrowing->page;
	double y = TOP + HEIGHT * y_of(narrowing, ENOUGH);

	page_markup(page,
			"<figure>\n<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"Intervals over the time of the run\"><title>Intervals over the time of "
			"the run</title>\n",
			TOP + HEIGHT + FOOT);
	write_axes(narrowing);
	page_markup(page,
			"<line class=\"curve\" stroke=\"#0b57a4\" stroke-dasharray=\"6 3\" x1=\"%.0f%%\" "
			"x2=\"%.0f%%\" y1=\"%.1f\" y2=\"%.1f\"><title>%.0f%%</title></line>\n<svg x=\"%.0f%%\" "
			"y=\"%d\" width=\"%.0f%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
			"preserveAspectRatio=\"none\">\n",
			LEFT, LEFT + WIDTH, y, y, 100 * ENOUGH, LEFT, TOP, WIDTH, HEIGHT, UNITS,
			UNITS);
	for (unsigned i = 0; i < narrowing->count; i++)
		write_line(narrowing, &narrowing->line[i]);
	page_markup(page, "</svg>\n");
	for (unsigned i = 0; i < narrowing->count; i++)
		write_number(narrowing, i);
	page_markup(page,
			"</svg>\n<figcaption>Numbers: phases with %.0f%% of the time or more. Dashed line: "
			"%.0f%%, which is narrow enough for most purposes. At the end of the run the half-widths are "
			"those of the report. Before, they are calculated: they are wider by the square root of how "
			"much less time the ranks had spent in the phase until then.</figcaption>\n</figure>\n",
			100 * LARGE, 100 * ENOUGH);
}

/* ---- words ---- */

/* Writes how long a run must be. */
static void write_words(const struct narrowing *narrowing)
{
	const struct line *last = &narrowing->line[0];
	struct page *page = narrowing->page;
	double at;

	for (unsigned i = 1; i < narrowing->count; i++)
		if (enough_at(narrowing, &narrowing->line[i]) > enough_at(narrowing, last))
			last = &narrowing->line[i];
	at = enough_at(narrowing, last);
	page_markup(page, "<p>");
	if (last->end <= ENOUGH)
		page_words(page,
				"A run of %s would have been enough for intervals of %.0f%% in all phases "
				"with %.0f%% of the time or more.",
				format_seconds(at).text, 100 * ENOUGH, 100 * LARGE);
	else
		page_words(page,
				"For intervals of %.0f%% in all phases with %.0f%% of the time or more, the "
				"run would have to last about %s (%s in phase %.0f).",
				100 * ENOUGH, 100 * LARGE, format_seconds(at).text,
				last->name ? last->name : "mean duration", last->id);
	if (narrowing->unknown)
		page_words(page, " Components that are not known are left out.");
	page_markup(page, "</p>\n");
}

static void write_table(const struct narrowing *narrowing)
{
	struct page *page = narrowing->page;

	page_markup(page,
			"<details><summary>The intervals as a table</summary>\n<table class=\"rows\">\n<tr><th "
			"scope=\"col\">phase</th><th scope=\"col\">widest interval</th><th scope=\"col\" "
			"class=\"n\">half-width</th><th scope=\"col\" class=\"n\">%.0f%% in a run of</th></tr>\n",
			100 * ENOUGH);
	for (unsigned i = 0; i < narrowing->count; i++) {
		const struct line *line = &narrowing->line[i];

		page_markup(page, "<tr data-phase=\"%.0f\"><th scope=\"row\">%.0f</th><td>",
				line->id, line->id);
		if (line->name)
			page_component_name(page, line->name);
		else
			page_words(page, "mean duration");
		page_markup(page, "</td>");
		page_cell(page, "n", "%s", format_percent(line->end).text);
		page_cell(page, "n", "%s", format_seconds(enough_at(narrowing, line)).text);
		page_markup(page, "</tr>\n");
	}
	page_markup(page, "</table>\n</details>\n");
}

void page_narrowing(struct page *page)
{
	const json_t *timeline = json_object_get(page->report, "timeline");
	struct narrowing narrowing = { .page = page,
		.seconds = report_get(timeline, "seconds"),
		.bin = report_get(timeline, "bin_seconds"),
		.bins = (unsigned)fmin(fmax(report_get(timeline, "bins"), 0), BINS_MAX) };

	if (!narrowing.bins || !(narrowing.bin > 0) || !(narrowing.seconds > 0))
		return;
	find_lines(&narrowing);
	if (!narrowing.count && !narrowing.unknown)
		return;
	page_markup(page, "<h3>How the intervals narrow</h3>\n");
	if (!narrowing.count) {
		page_markup(page,
				"<p class=\"missing\">No component of the large phases is known. A longer "
				"run is needed.</p>\n");
		return;
	}
	write_words(&narrowing);
	write_figure(&narrowing);
	write_table(&narrowing);
}
