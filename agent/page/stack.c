/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/stack.h"

#include <math.h>
#include <string.h>

#include "agent/page/bars.h"
#include "agent/page/parts/formulas.h"
#include "agent/page/parts/glossary.h"
#include "agent/page/parts/label.h"
#include "agent/page/parts/losses.h"
#include "agent/page/parts/patterns.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

/*
 * Horizontal positions and lengths of the figures are percentages of their width, and vertical ones are pixels. So
 * a figure fills a screen of any width, and its text keeps its size.
 */
#define LEFT     9.0   /* %, where the columns start */
#define WIDTH    90.0  /* %, of all columns together */
#define TOP      30.0  /* px, of the tallest column */
#define BOTTOM   300.0 /* px, of the line on which columns stand */
#define HEIGHT   376   /* px, of the figure */
#define SERIES   16    /* components of the outer level with a colour of their own */
#define DRAWN    100   /* phases with at least a hundredth of the time */
#define HEADROOM 1.12  /* of the tallest column, for the intervals at its end */
#define CUT_FROM 4.0   /* columns are cut off from this multiple of the mean CPI */

/* Narrowest columns, in % of the figure, that have room for a text. */
static const struct label_room room_id = { 7, 4, 2.6 };      /* 3 digits */
static const struct label_room room_text = { 17, 10, 6.5 };  /* 10 characters */
static const struct label_room room_arrow = { 3.5, 2, 1.5 }; /* 1 character */

#define UNSEEN       0.05 /* px; what is lower has a height of 0.0 */
#define ROOM_WHISKER 2.6
#define INNER        0.25 /* part of a column's width that shows the parts of its components */
#define WHISKER_MIN  1.5  /* px; a shorter half-width is inside the line between two components */

/* The components that have a colour. */
struct series {
	const char *name[SERIES];
	unsigned count;
};

/* The phases and components that the figures draw. */
struct chart {
	struct page *page;
	const json_t *drawn[DRAWN];
	unsigned count;
	struct series series;
	bool parts_of_cpi; /* columns are as high as their CPI; false: each is 100% */
	double seconds;    /* computing time of a thread, in the mean; NAN: not known */
	double most;       /* CPI at the top of the figure */
};

static double share_of(const json_t *phase)
{
	return fmax(report_get(phase, "time_share"), 0);
}

static bool is_outer(const json_t *component)
{
	return !json_integer_value(json_object_get(component, "level"));
}

/* Adds a component to those of the figure. */
static void add_series(struct series *series, const char *name)
{
	for (unsigned i = 0; i < series->count; i++)
		if (strcmp(series->name[i], name) == 0)
			return;
	if (series->count < SERIES)
		series->name[series->count++] = name;
}

/* Returns the components of the outer level of the shown phases, in the order in which they are named. */
static struct series find_series(const json_t *report)
{
	struct series series = { .count = 0 };
	const json_t *phase, *component;
	size_t i, k;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (phase_is_shown(phase))
			json_array_foreach (json_object_get(phase, "cpi_breakdown"), k, component)
				if (is_outer(component))
					add_series(&series,
							report_get_text(component, "component"));
	return series;
}

static struct pattern fill_of(const struct series *series, const char *name)
{
	unsigned losses = 0;

	for (unsigned i = 0; i < series->count && strcmp(series->name[i], name) != 0; i++)
		losses += component_kind(series->name[i]) == COMPONENT_LOSS;
	return pattern_of_component(name, losses);
}

struct pattern stack_pattern(const json_t *report, const char *component)
{
	struct series series = find_series(report);

	return fill_of(&series, component);
}

static void choose(struct chart *chart)
{
	double cpi = 0, share = 0, most = 0;
	const json_t *phase;
	size_t i;

	chart->series = find_series(chart->page->report);
	chart->seconds = report_get_in(chart->page->report, "efficiency", "parallel") *
			report_get(chart->page->report, "wall_seconds");
	json_array_foreach (json_object_get(chart->page->report, "phases"), i, phase) {
		double own = report_get(phase, "cpi");

		if (!phase_is_shown(phase) || chart->count == DRAWN)
			continue;
		chart->drawn[chart->count++] = phase;
		if (!isfinite(own))
			continue;
		cpi += share_of(phase) * own;
		share += share_of(phase);
		most = fmax(most, own);
	}
	chart->most = share > 0 ? fmin(most * HEADROOM, CUT_FROM * cpi / share) : 0;
}

/* ---- columns ---- */

static double height_of(const struct chart *chart, double value)
{
	return fmin(fmax(value / chart->most, 0), 1) * (BOTTOM - TOP);
}

/* Where the column of a phase is, in % of the figure, and what its CPI is multiplied with. */
struct column {
	double x, width, scale;
};

/* Writes a part of a column, from `from` to `to` in the unit of the figure. Its title is in page->words. */
static void write_part(struct chart *chart, const char *class, const struct column *column,
		double from, double to, const char *fill)
{
	double low = height_of(chart, from), high = height_of(chart, to);

	page_markup(chart->page,
			"<rect class=\"%s\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"%.1f\" "
			"fill=\"%s\"><title>",
			class, column->x, BOTTOM - high, column->width, fmax(high - low, 0), fill);
	page_flush(chart->page);
	page_markup(chart->page, "</title></rect>\n");
}

static void write_line(struct chart *chart, double x, double from, double to, double thickness)
{
	page_markup(chart->page,
			"<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.1f\" y2=\"%.1f\" "
			"stroke-width=\"%.1f\"/>",
			x, x, from, to, thickness);
}

/* Writes the 95% interval of a value whose end is at `at`. An end outside of the figure has no bar across it. */
static void write_whisker(struct chart *chart, double x, double at, double error)
{
	double low = BOTTOM - height_of(chart, at - error);
	double high = BOTTOM - height_of(chart, at + error);

	if (!(low - high >= 2 * WHISKER_MIN))
		return;
	page_markup(chart->page, "<g class=\"whisker\" stroke=\"#000000\">");
	write_line(chart, x, high, low, 1.5);
	if (at + error <= chart->most)
		write_line(chart, x, high, high + 1.5, 7);
	if (at - error >= 0)
		write_line(chart, x, low - 1.5, low, 7);
	page_markup(chart->page, "</g>\n");
}

/* Writes the parts of one component, which follow it in the breakdown. The component starts at `from`. */
static void write_inner(struct chart *chart, const json_t *breakdown, size_t outer,
		const struct column *column, double from)
{
	const char *name = report_get_text(json_array_get(breakdown, outer), "component");
	const struct column right = { .x = column->x + (1 - INNER) * column->width,
		.width = INNER * column->width };

	for (size_t i = outer + 1; i < json_array_size(breakdown); i++) {
		const json_t *part = json_array_get(breakdown, i);
		double value = report_get(part, "cpi") * column->scale;

		if (is_outer(part))
			break;
		if (!phase_component_known(part) || height_of(chart, value) < 1)
			continue;
		fprintf(chart->page->words, "%.60s, %.60s: CPI %s", name,
				report_get_text(part, "component"),
				phase_component(part, 1).value.text);
		write_part(chart, "inner", &right, from, from + value,
				(i - outer) % 2 ? "#ffffff" : "#000000");
		from += value;
	}
}

/* Writes which components of the phase are not known. Returns whether there are any. */
static bool write_unknown(struct chart *chart, const json_t *phase)
{
	double cpi = report_get(phase, "cpi");
	const json_t *component;
	bool any = false;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		if (is_outer(component) && !phase_component_known(component)) {
			fprintf(chart->page->words, "; %.60s: %s",
					report_get_text(component, "component"),
					phase_component(component, cpi).value.text);
			any = true;
		}
	return any;
}

/* Returns whether a component is too small to be seen on the others, which end at `at`. */
static bool is_unseen(const struct chart *chart, double at, double value)
{
	return height_of(chart, at + value) - height_of(chart, at) < UNSEEN;
}

/* Writes the components of a phase that can be seen, one on the other, and returns where they end. */
static double write_components(struct chart *chart, const json_t *phase,
		const struct column *column)
{
	const json_t *breakdown = json_object_get(phase, "cpi_breakdown"), *component;
	double cpi = report_get(phase, "cpi"), at = 0;
	size_t i;

	json_array_foreach (breakdown, i, component) {
		const char *name = report_get_text(component, "component");
		struct phase_component text = phase_component(component, cpi);
		double value = report_get(component, "cpi") * column->scale;
		bool unknown;

		if (!is_outer(component) || !phase_component_known(component))
			continue;
		if (is_unseen(chart, at, value) && component_kind(name) != COMPONENT_UNEXPLAINED) {
			at += fmax(value, 0);
			continue;
		}
		fprintf(chart->page->words, "phase %.0f, %.60s: CPI %s %s, %s",
				report_get(phase, "id"), name, text.value.text, text.interval.text,
				text.share.text);
		if (isfinite(chart->seconds))
			fprintf(chart->page->words, ", %s",
					format_seconds(chart->seconds * share_of(phase) *
							report_get(component, "cpi") / cpi)
							.text);
		/* the cycles of components that are not known are in what is not explained */
		unknown = component_kind(name) == COMPONENT_UNEXPLAINED &&
				write_unknown(chart, phase);
		write_part(chart, "part", column, at, at + value,
				unknown ? "url(#unknown)" : fill_of(&chart->series, name).text);
		write_inner(chart, breakdown, i, column, at);
		at += fmax(value, 0);
	}
	return at;
}

static void write_whiskers(struct chart *chart, const json_t *phase, const struct column *column)
{
	const json_t *breakdown = json_object_get(phase, "cpi_breakdown"), *component;
	unsigned known = 0, place = 0;
	double at = 0;
	size_t i;

	json_array_foreach (breakdown, i, component)
		known += is_outer(component) && phase_component_known(component);
	json_array_foreach (breakdown, i, component) {
		if (!is_outer(component) || !phase_component_known(component))
			continue;
		at += fmax(report_get(component, "cpi"), 0) * column->scale;
		write_whisker(chart,
				column->x + (1 - INNER) * column->width * ++place / (known + 1), at,
				report_get(component, "ci95") * column->scale);
	}
}

/*
 * Writes the label that is in page->words in the middle of a column. The stylesheet hides it on screens on which the
 * column has no room for it, and the script shows it in a part of the figure in which it has.
 */
static void write_label(struct chart *chart, double x, double y, double width,
		const struct label_room *room, const char *class)
{
	page_markup(chart->page, "<text class=\"%s%s\" ", class, label_class(width, room));
	if (width < room->narrow)
		page_markup(chart->page, "data-room=\"%.2f\" ", width);
	page_markup(chart->page, "x=\"%.2f%%\" y=\"%.0f\" text-anchor=\"middle\">", x, y);
	page_flush(chart->page);
	page_markup(chart->page, "</text>\n");
}

static void write_labels(struct chart *chart, const json_t *phase, double x, double width)
{
	double cpi = report_get(phase, "cpi");

	x += width / 2;
	fprintf(chart->page->words, "%.0f", report_get(phase, "id"));
	write_label(chart, x, BOTTOM + 17, width, &room_id, "id");
	fprintf(chart->page->words, "%s", format_percent(share_of(phase)).text);
	write_label(chart, x, BOTTOM + 33, width, &room_text, "small");
	if (!chart->parts_of_cpi && isfinite(chart->seconds)) {
		fprintf(chart->page->words, "%s",
				format_seconds(chart->seconds * share_of(phase)).text);
		write_label(chart, x, BOTTOM + 49, width, &room_text, "small");
	}
	if (!chart->parts_of_cpi || !isfinite(cpi))
		return;
	fprintf(chart->page->words, "CPI %.2f", cpi);
	write_label(chart, x, BOTTOM + 49, width, &room_text, "small");
	if (cpi > chart->most) {
		fputs("\xe2\x86\x91", chart->page->words);
		write_label(chart, x, TOP - 6, width, &room_arrow, "cut");
	}
}

static void write_column(struct chart *chart, const json_t *phase, double x, double width)
{
	double cpi = report_get(phase, "cpi");
	double whole = chart->parts_of_cpi ? cpi : 1, scale = chart->parts_of_cpi ? 1 : 1 / cpi;
	const struct column column = { x, width, scale };
	double known = 0;

	page_markup(chart->page, "<g data-phase=\"%.0f\">\n", report_get(phase, "id"));
	if (!isfinite(cpi) || !(cpi > 0)) {
		whole = chart->most;
	} else if (!json_array_size(json_object_get(phase, "cpi_breakdown"))) {
		fprintf(chart->page->words, "phase %.0f: CPI %.3f; this model has no components",
				report_get(phase, "id"), cpi);
		write_part(chart, "part", &column, 0, whole, "#999999");
		known = whole;
	} else if (phase_has_breakdown(phase)) {
		known = write_components(chart, phase, &column);
	}
	if (known < 0.995 * whole) {
		fprintf(chart->page->words, "phase %.0f, not known", report_get(phase, "id"));
		write_unknown(chart, phase);
		write_part(chart, "part", &column, known, whole, "url(#unknown)");
	}
	if (width >= ROOM_WHISKER && known > 0)
		write_whiskers(chart, phase, &column);
	page_markup(chart->page, "</g>\n");
	write_labels(chart, phase, x, width);
}

static void write_axis(struct chart *chart)
{
	double step = chart->parts_of_cpi ? axis_step(chart->most) : 0.25;
	int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

	double most = chart->parts_of_cpi ? chart->most : 1;

	for (unsigned i = 0; i * step <= most * 1.0001; i++) {
		double at = i * step;
		double y = BOTTOM - height_of(chart, at);

		page_markup(chart->page,
				"<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
				"<text class=\"small\" x=\"%.2f%%\" y=\"%.1f\" text-anchor=\"end\">",
				LEFT, LEFT + WIDTH, y, y, LEFT - 1, y + 4);
		if (chart->parts_of_cpi)
			page_markup(chart->page, "%.*f</text>\n", decimals, at);
		else
			page_markup(chart->page, "%.0f%%</text>\n", 100 * at);
	}
	page_markup(chart->page,
			"<text class=\"small\" x=\"0\" y=\"12\">%s</text>\n<text class=\"small\" "
			"x=\"%.1f%%\" y=\"%d\" text-anchor=\"middle\">phase, and its share of the "
			"computing time</text>\n",
			chart->parts_of_cpi ? "cycles per instruction (CPI)" :
					      "share of the phase's cycles",
			LEFT + WIDTH / 2, HEIGHT - 6);
}

/* Writes what is left of the figure's width: smaller phases, and what is in no phase. */
static void write_rest(struct chart *chart, double x)
{
	double rest = (LEFT + WIDTH - x) / WIDTH;

	if (rest < 0.001)
		return;
	fprintf(chart->page->words,
			"%s of the computing time: smaller phases, and what is in no phase",
			format_percent(rest).text);
	page_markup(chart->page,
			"<rect class=\"rest\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"6\" "
			"fill=\"url(#unknown)\"><title>",
			x, BOTTOM - 6, WIDTH * rest);
	page_flush(chart->page);
	page_markup(chart->page, "</title></rect>\n");
	fputs("others", chart->page->words);
	write_label(chart, x + WIDTH * rest / 2, BOTTOM + 17, WIDTH * rest, &room_text, "small");
	fprintf(chart->page->words, "%s", format_percent(rest).text);
	write_label(chart, x + WIDTH * rest / 2, BOTTOM + 33, WIDTH * rest, &room_text, "small");
}

static void write_columns(struct chart *chart, const char *title)
{
	double x = LEFT;

	page_markup(chart->page,
			"<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"%s\"><title>%s</title>\n",
			HEIGHT, title, title);
	write_axis(chart);
	page_plot(chart->page, "time", LEFT, WIDTH);
	for (unsigned i = 0; i < chart->count; i++) {
		double width = WIDTH * share_of(chart->drawn[i]);

		if (x + width > LEFT + WIDTH * 1.001)
			break; /* shares of an invalid report may add up to anything */
		write_column(chart, chart->drawn[i], x, width);
		x += width;
	}
	write_rest(chart, x);
	page_markup(chart->page, "</g>\n</svg>\n");
}

/* ---- the figures' key ---- */

static void write_key(struct chart *chart)
{
	page_markup(chart->page, "<ul class=\"key\">\n");
	for (unsigned i = chart->series.count; i-- > 0;) {
		pattern_swatch(chart->page, fill_of(&chart->series, chart->series.name[i]).text);
		page_component_name(chart->page, chart->series.name[i]);
		page_markup(chart->page, "</li>\n");
	}
	pattern_swatch(chart->page, "url(#unknown)");
	page_markup(chart->page, "not known (");
	page_term(chart->page, "too few");
	page_markup(chart->page, ", ");
	page_term(chart->page, "not available");
	page_markup(chart->page, "), or in no shown phase</li>\n</ul>\n");
}

/* ---- all figures ---- */

/* Writes what is missing for the figure of cycles. */
static void write_missing(struct page *page)
{
	page_markup(page, "<p class=\"missing\"><strong>No cycles per instruction.</strong> ");
	if (json_is_string(json_object_get(page->report, "without_counters")))
		page_words(page, "no hardware counters: %s. ",
				report_get_text(page->report, "without_counters"));
	else
		page_words(page, "The model %s counts no cycles and instructions. ",
				report_get_text(page->report, "model"));
	page_markup(page,
			"<code>phasemux doctor</code> says what to change. Below is what is known without "
			"them: the time.</p>\n");
}

static void write_caption(struct page *page, const char *text)
{
	page_markup(page,
			"<figcaption>%s Numbers: <a href=\"#phases\">tables of the phases</a>.</figcaption>\n"
			"</figure>\n",
			text);
}

void page_stacks(struct page *page)
{
	struct chart chart = { .page = page, .parts_of_cpi = true };

	choose(&chart);
	patterns_write(page);
	if (!chart.count) {
		page_markup(page,
				"<p class=\"missing\">There is no phase to draw: the run was too short, no "
				"burst was long enough, or each phase has less than 1%% of the time.</p>\n");
		return;
	}
	if (!(chart.most > 0)) {
		write_missing(page);
		page_times(page);
		return;
	}
	page_markup(page, "<figure>\n");
	write_key(&chart);
	write_columns(&chart, "Cycles per instruction of each phase, by component");
	write_caption(page,
			"Width: share of the computing time. Height: cycles per instruction, by component; "
			"an arrow marks a column that is cut off. At the right of a column, components are "
			"divided into their own parts, lighter and darker. Vertical lines: 95% intervals of "
			"the component that ends within them, if wide enough to be seen.");
	chart.parts_of_cpi = false;
	chart.most = HEADROOM;
	page_markup(page, "<figure>\n");
	write_columns(&chart, "Share of each component in each phase's cycles");
	write_caption(page,
			"Colours as above. Width: share of the computing time. Height: share of the phase's cycles. So the "
			"area of a component is its share of the computing time. Times are those of a thread, in the "
			"mean.");
}
