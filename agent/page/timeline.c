/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/timeline.h"

#include <math.h>
#include <string.h>

#include "agent/page/parts/patterns.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

/* Horizontal positions are percentages of the figure, and vertical ones are pixels, as in stack.c. */
#define LEFT     10.0 /* %, where the bands start */
#define WIDTH    89.0 /* %, of the bands */
#define HEAD     20   /* px, of the line with the name of a band */
#define GAP      8    /* px, below a band */
#define FOOT     40   /* px, of the axis */
#define TALL     120  /* px, of a band, if there are few */
#define LOW      60   /* px, if there are many */
#define FEW      4    /* bands */
#define UNITS    200  /* steps of the height of a band in paths */
#define SEGMENTS 16   /* parts of a band that say what is in them */
#define ROWS     8    /* parts of the run in a table */
#define LABEL    18   /* px, height of an area that has room for the number of its phase */
#define AT_EDGE  0.95 /* part of the width from which a tick has its text at its left */
#define NEAR     0.02 /* part of the run around a number with room for it */

#define BINS_MAX      256
#define BINS_DRAWN    128 /* more of them are too narrow to be seen on small screens */
#define GROUPS_MAX    16
#define TRAININGS_MAX 64
#define PHASES_MAX    8

/* Columns behind those of the phases. */
enum { OTHER, CALLS, OFF, OTHERS }; /* OFF is shown only if there is any */

#define COLUMNS_MAX (PHASES_MAX + OTHERS)

static const struct {
	const char *name, *fill;
} others[] = {
	[OTHER] = { "other computing", "url(#c1)" },
	[CALLS] = { "communication and waiting", "url(#waiting)" },
	[OFF] = { "not observed", "url(#unknown)" },
};

/* Shares of one group of ranks, which are of the time that its threads have in a bin. */
struct band {
	const json_t *group;
	double share[COLUMNS_MAX][BINS_MAX];
};

struct timeline {
	struct page *page;
	double seconds, bin; /* of the run, and of a bin of the figure */
	unsigned bins, phases, bands,
			others; /* others: number of columns behind those of the phases */
	double id[PHASES_MAX];  /* of the phases that are shown, in their order */
	unsigned folded;        /* bins of the report in a bin of the figure */
	int height;             /* px, of a band */
};

bool page_has_timeline(const json_t *report)
{
	return json_array_size(json_object_get(json_object_get(report, "timeline"), "groups")) > 0;
}

static unsigned columns_of(const struct timeline *timeline)
{
	return timeline->phases + timeline->others;
}

/* Returns the seconds of a bin that are in the run. */
static double bin_length(const struct timeline *timeline, unsigned bin)
{
	return fmax(fmin((bin + 1) * timeline->bin, timeline->seconds) - bin * timeline->bin, 0);
}

/* Adds the time of a list of the report to a column. */
static void add_list(const struct timeline *timeline, const json_t *list, double *column)
{
	for (unsigned b = 0; b < timeline->bins * timeline->folded; b++) {
		double seconds = json_number_value(json_array_get(list, b)) * 1e-6;

		column[b / timeline->folded] += seconds > 0 ? seconds : 0;
	}
}

/* Returns the place of a phase among those that are shown, or their number. */
static unsigned find_phase(const struct timeline *timeline, double id)
{
	unsigned i = 0;

	while (i < timeline->phases && timeline->id[i] != id)
		i++;
	return i;
}

/* Makes shares of the seconds in a bin. */
static void scale_bin(const struct timeline *timeline, struct band *band, unsigned bin)
{
	double all = bin_length(timeline, bin) * report_get(band->group, "threads"), sum = 0;

	for (unsigned c = 0; c < columns_of(timeline); c++)
		sum += band->share[c][bin];
	/* the number of threads is a mean, and more of them may have existed in this bin */
	all = fmax(all, sum);
	for (unsigned c = 0; c < columns_of(timeline); c++)
		band->share[c][bin] = all > 0 ? band->share[c][bin] / all : 0;
}

static void fill_band(const struct timeline *timeline, struct band *band, const json_t *group)
{
	double(*share)[BINS_MAX] = band->share;
	const json_t *phase;
	size_t i;

	memset(band, 0, sizeof(*band));
	band->group = group;
	json_array_foreach (json_object_get(group, "phases"), i, phase)
		add_list(timeline, json_object_get(phase, "microseconds"),
				share[find_phase(timeline, report_get(phase, "id"))]);
	share += timeline->phases;
	add_list(timeline, json_object_get(group, "other_computing_microseconds"), share[OTHER]);
	add_list(timeline, json_object_get(group, "calls_microseconds"), share[CALLS]);
	add_list(timeline, json_object_get(group, "off_microseconds"), share[OFF]);
	for (unsigned b = 0; b < timeline->bins; b++)
		scale_bin(timeline, band, b);
}

/* Notes the phases that are shown, of those in the timeline. */
static void find_phases(struct timeline *timeline)
{
	const json_t *report = timeline->page->report, *phase, *group;
	const json_t *groups = json_object_get(json_object_get(report, "timeline"), "groups");
	size_t i, k, g;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		json_array_foreach (groups, g, group) {
			const json_t *of = json_object_get(group, "phases"), *column;
			double id = report_get(phase, "id");

			json_array_foreach (of, k, column)
				if (report_get(column, "id") == id && phase_is_shown(phase) &&
						timeline->phases < PHASES_MAX &&
						find_phase(timeline, id) == timeline->phases)
					timeline->id[timeline->phases++] = id;
		}
}

/* Returns whether the agent was off for some time. */
static bool was_off(const struct timeline *timeline, const json_t *groups)
{
	double off[BINS_MAX] = { 0 }, sum = 0;
	const json_t *group;
	size_t i;

	json_array_foreach (groups, i, group)
		add_list(timeline, json_object_get(group, "off_microseconds"), off);
	for (unsigned b = 0; b < timeline->bins; b++)
		sum += off[b];
	return sum > 0;
}

/* ---- words ---- */

/* Writes the name of a column as text. */
static void name_column(FILE *out, const struct timeline *timeline, unsigned column)
{
	if (column < timeline->phases)
		fprintf(out, "phase %.0f", timeline->id[column]);
	else
		fprintf(out, "%s", others[column - timeline->phases].name);
}

static struct pattern fill_of(const struct timeline *timeline, unsigned column)
{
	struct pattern fill;

	if (column < timeline->phases)
		return pattern_of_phase(timeline->page->report, timeline->id[column]);
	snprintf(fill.text, sizeof(fill.text), "%s", others[column - timeline->phases].fill);
	return fill;
}

static void name_group(FILE *out, const struct timeline *timeline, const json_t *group)
{
	double ranks = report_get(group, "ranks"), lowest = report_get(group, "lowest_rank");
	double highest = report_get(group, "highest_rank");

	if (ranks == report_get(timeline->page->report, "ranks"))
		fprintf(out, ranks > 1 ? "all %.0f ranks" : "the process", ranks);
	else if (ranks == 1)
		fprintf(out, "rank %.0f", lowest);
	else if (ranks == highest - lowest + 1)
		fprintf(out, "ranks %.0f to %.0f", lowest, highest);
	else
		fprintf(out, "%.0f of the ranks %.0f to %.0f", ranks, lowest, highest);
}

/* Returns the mean share of a column in the bins between two times of the run. */
static double mean_share(const struct timeline *timeline, const double *share, double from,
		double until)
{
	double sum = 0, all = 0;

	for (unsigned b = 0; b < timeline->bins; b++) {
		double begin = b * timeline->bin, end = begin + bin_length(timeline, b);
		double length = fmin(end, until) - fmax(begin, from);

		if (length > 0) {
			sum += length * share[b];
			all += length;
		}
	}
	return all > 0 ? sum / all : 0;
}

/* Writes what is between two times of the run: the columns with at least a hundredth of it. */
static void write_shares(const struct timeline *timeline, const struct band *band, double from,
		double until)
{
	FILE *out = timeline->page->words;

	fprintf(out, from > 0 ? "%s to " : "0 to ", format_seconds(from).text);
	fprintf(out, "%s: ", format_seconds(until).text);
	name_group(out, timeline, band->group);
	for (unsigned c = 0; c < columns_of(timeline); c++) {
		double share = mean_share(timeline, band->share[c], from, until);

		if (share < 0.01)
			continue;
		fputs(", ", out);
		name_column(out, timeline, c);
		fprintf(out, " %s", format_whole_percent(share).text);
	}
}

/* ---- the figure ---- */

/* Writes the outline of what is below the upper ends of a column, which are in units from the top of the band. */
static void write_outline(struct page *page, const int *high, unsigned bins)
{
	page_markup(page, "M0 %dV%d", UNITS, high[0]);
	for (unsigned b = 0; b < bins; b++) {
		unsigned first = b;

		while (b + 1 < bins && high[b + 1] == high[first])
			b++;
		page_markup(page, "h%u", b + 1 - first);
		if (b + 1 < bins)
			page_markup(page, "v%d", high[b + 1] - high[b]);
	}
	page_markup(page, "V%dz", UNITS);
}

/*
 * Writes a column, and all below it, as a rectangle over the whole band, which its outline clips. So the pattern keeps its
 * size, whatever the width of the screen is. The columns below it are written over it.
 */
static void write_area(const struct timeline *timeline, unsigned band, unsigned column,
		const int *high)
{
	struct page *page = timeline->page;

	page_markup(page,
			"<clipPath id=\"b%uc%u\" clipPathUnits=\"objectBoundingBox\"><path "
			"transform=\"scale(%.7g %g)\" d=\"",
			band, column, timeline->bin / timeline->seconds, 1.0 / UNITS);
	write_outline(page, high, timeline->bins);
	page_markup(page,
			"\"/></clipPath><rect width=\"100%%\" height=\"100%%\" fill=\"%s\" "
			"clip-path=\"url(#b%uc%u)\"",
			fill_of(timeline, column).text, band, column);
	if (column < timeline->phases)
		page_markup(page, " data-phase=\"%.0f\"", timeline->id[column]);
	page_markup(page, "/>\n");
}

/* Where a column may have its number: the bin in the middle of its highest stretch. */
struct spot {
	unsigned bin;
	int height;
};

static struct spot find_spot(const struct timeline *timeline, const int *low, const int *high)
{
	unsigned near = (unsigned)ceil(NEAR * timeline->seconds / timeline->bin);
	struct spot spot = { 0, 0 };

	for (unsigned b = near; b + near < timeline->bins; b++) {
		int top = high[b], bottom = low[b];

		for (unsigned k = b - near; k <= b + near; k++) {
			top = high[k] > top ? high[k] : top;
			bottom = low[k] < bottom ? low[k] : bottom;
		}
		if (bottom - top > spot.height)
			spot = (struct spot){ b, bottom - top };
	}
	return spot;
}

/* Writes the number of a phase in its area, if that has room for it. y: of the band. */
static void write_number(const struct timeline *timeline, unsigned column, int y, const int *low,
		const int *high)
{
	struct spot spot = find_spot(timeline, low, high);
	double x = (spot.bin + 0.5) * timeline->bin / timeline->seconds;
	int top = high[spot.bin], bottom = low[spot.bin];

	if (spot.height * timeline->height < LABEL * UNITS)
		return;
	page_markup(timeline->page,
			"<text class=\"over\" data-phase=\"%.0f\" x=\"%.2f%%\" y=\"%.1f\" "
			"text-anchor=\"middle\">%.0f</text>\n",
			timeline->id[column], LEFT + WIDTH * x,
			y + (top + bottom) / 2.0 / UNITS * timeline->height + 5,
			timeline->id[column]);
}

/* Upper ends of the columns of a band in each bin, in units from its top. [0] is its lower end, and [1] column 0. */
struct ends {
	int high[COLUMNS_MAX + 1][BINS_MAX];
	bool any[COLUMNS_MAX]; /* the column can be seen in some bin */
};

static void find_ends(const struct timeline *timeline, const struct band *band, struct ends *ends)
{
	double at[BINS_MAX] = { 0 };

	for (unsigned b = 0; b < timeline->bins; b++)
		ends->high[0][b] = UNITS;
	for (unsigned c = 0; c < columns_of(timeline); c++) {
		ends->any[c] = false;
		for (unsigned b = 0; b < timeline->bins; b++) {
			at[b] += band->share[c][b];
			ends->high[c + 1][b] = UNITS - (int)lround(fmin(at[b], 1) * UNITS);
			ends->any[c] |= ends->high[c + 1][b] < ends->high[c][b];
		}
	}
}

/* Writes rectangles without a colour, whose titles say what is in a part of the band. */
static void write_segments(const struct timeline *timeline, const struct band *band, int y)
{
	for (unsigned i = 0; i < SEGMENTS; i++) {
		double length = timeline->seconds / SEGMENTS;

		page_markup(timeline->page,
				"<rect x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\" fill=\"none\" "
				"pointer-events=\"all\"><title>",
				LEFT + WIDTH * i / SEGMENTS, y, WIDTH / SEGMENTS, timeline->height);
		write_shares(timeline, band, i * length, (i + 1) * length);
		page_flush(timeline->page);
		page_markup(timeline->page, "</title></rect>\n");
	}
}

static int band_top(const struct timeline *timeline, unsigned number)
{
	return HEAD + (int)number * (HEAD + timeline->height + GAP);
}

/* Writes the name of a band and its vertical axis. */
static void write_frame(const struct timeline *timeline, const struct band *band, unsigned number)
{
	struct page *page = timeline->page;
	int y = band_top(timeline, number);

	page_markup(page, "<text x=\"%.0f%%\" y=\"%d\">", LEFT, y - 6);
	name_group(page->words, timeline, band->group);
	page_flush(page);
	page_markup(page,
			"</text><text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"end\">100%%</text>"
			"<text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"end\">0</text>"
			"<rect class=\"track\" x=\"%.0f%%\" y=\"%d\" width=\"%.0f%%\" height=\"%d\"/>\n",
			LEFT - 1, y + 10, LEFT - 1, y + timeline->height, LEFT, y, WIDTH,
			timeline->height);
}

static void write_band(const struct timeline *timeline, const json_t *group, unsigned number)
{
	struct page *page = timeline->page;
	int y = band_top(timeline, number);
	struct band band;
	struct ends ends;

	fill_band(timeline, &band, group);
	find_ends(timeline, &band, &ends);
	page_markup(page, "<svg x=\"%.0f%%\" y=\"%d\" width=\"%.0f%%\" height=\"%d\">\n", LEFT, y,
			WIDTH, timeline->height);
	for (unsigned c = columns_of(timeline); c-- > 0;)
		if (ends.any[c])
			write_area(timeline, number, c, ends.high[c + 1]);
	page_markup(page, "</svg>\n");
	for (unsigned c = 0; c < timeline->phases; c++)
		write_number(timeline, c, y, ends.high[c], ends.high[c + 1]);
	write_segments(timeline, &band, y);
}

/* Writes the times of the run below the bands. */
static void write_ticks(const struct timeline *timeline)
{
	double step = axis_step(timeline->seconds);
	int y = band_top(timeline, timeline->bands) - HEAD;

	for (unsigned i = 0; i * step <= timeline->seconds * 1.0001; i++) {
		double at = i * step, x = LEFT + WIDTH * at / timeline->seconds;

		page_markup(timeline->page,
				"<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/><text "
				"class=\"small\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">",
				x, x, y - GAP, y - GAP + 5, x, y + 10,
				x > LEFT + WIDTH * AT_EDGE ? "end" : "middle");
		page_words(timeline->page, at > 0 ? "%s" : "0", format_seconds(at).text);
		page_markup(timeline->page, "</text>\n");
	}
	page_markup(timeline->page,
			"<text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"middle\">time since the "
			"start of the run</text>\n",
			LEFT + WIDTH / 2, y + 28);
}

/* Marks when the ranks learned the phases, at the lower end of the bands. */
static void write_trainings(const struct timeline *timeline)
{
	int y = band_top(timeline, timeline->bands) - HEAD - GAP;
	const json_t *round;
	size_t i;

	json_array_foreach (json_object_get(timeline->page->report, "rounds"), i, round) {
		double at = report_get(round, "seconds") / timeline->seconds;

		if (i == TRAININGS_MAX || !(at >= 0 && at <= 1))
			break;
		page_markup(timeline->page,
				"<g class=\"whisker\" stroke=\"#000000\" stroke-width=\"2\"><title>training "
				"at %s</title><line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/></g>\n",
				format_seconds(at * timeline->seconds).text, LEFT + WIDTH * at,
				LEFT + WIDTH * at, y - 7, y);
	}
}

static void write_figure(const struct timeline *timeline, const json_t *groups)
{
	struct page *page = timeline->page;
	struct band band;

	page_markup(page,
			"<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"Phases over the time of the run\"><title>Phases over the time of the "
			"run</title>\n",
			band_top(timeline, timeline->bands) - HEAD + FOOT);
	for (unsigned g = 0; g < timeline->bands; g++) {
		band.group = json_array_get(groups, g);
		write_frame(timeline, &band, g);
	}
	page_plot(page, "when", LEFT, WIDTH);
	for (unsigned g = 0; g < timeline->bands; g++)
		write_band(timeline, json_array_get(groups, g), g);
	write_ticks(timeline);
	write_trainings(timeline);
	page_markup(page, "</g>\n</svg>\n");
}

static void write_key(const struct timeline *timeline)
{
	struct page *page = timeline->page;

	page_markup(page, "<ul class=\"key\">\n");
	for (unsigned c = 0; c < columns_of(timeline); c++) {
		pattern_swatch(page, fill_of(timeline, c).text);
		name_column(page->words, timeline, c);
		page_flush(page);
		page_markup(page, "</li>\n");
	}
	page_markup(page, "</ul>\n");
}

/* ---- the tables ---- */

static void write_row(const struct timeline *timeline, const struct band *band, unsigned row)
{
	double length = timeline->seconds / ROWS;

	page_markup(timeline->page, "<tr><th scope=\"row\" class=\"n\">");
	page_words(timeline->page, row ? "%s" : "0", format_seconds(row * length).text);
	page_markup(timeline->page, "</th>");
	for (unsigned c = 0; c < columns_of(timeline); c++)
		page_cell(timeline->page, "n", "%s",
				format_percent(mean_share(timeline, band->share[c], row * length,
							       (row + 1) * length))
						.text);
	page_markup(timeline->page, "</tr>\n");
}

static void write_table(const struct timeline *timeline, const json_t *group)
{
	struct page *page = timeline->page;
	struct band band;

	fill_band(timeline, &band, group);
	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the time "
			"of the run\">\n<table class=\"shares\">\n<caption>");
	name_group(page->words, timeline, group);
	page_flush(page);
	page_markup(page, "</caption>\n<tr><th scope=\"col\" class=\"n\">from</th>");
	for (unsigned c = 0; c < columns_of(timeline); c++) {
		page_markup(page, "<th scope=\"col\" class=\"n\">");
		name_column(page->words, timeline, c);
		page_flush(page);
		page_markup(page, "</th>");
	}
	page_markup(page, "</tr>\n");
	for (unsigned row = 0; row < ROWS; row++)
		write_row(timeline, &band, row);
	page_markup(page, "</table>\n</div>\n");
}

static void write_caption(const struct timeline *timeline)
{
	page_markup(timeline->page, "<figcaption>");
	page_words(timeline->page,
			"%s The height is the share of the time of the threads, in bins of %s, from the "
			"bottom up in the order of the key. What is empty is time in which threads did not "
			"exist, or in which phasemux worked. Other computing is in phases that are not in "
			"the key, or in none.%s",
			timeline->bands > 1 ? "Ranks that spend their time alike are one band." :
					      "",
			format_seconds(timeline->bin).text,
			json_array_size(json_object_get(timeline->page->report, "rounds")) ?
					" Ticks at the lower end: trainings, in which the ranks learned the "
					"phases." :
					"");
	page_markup(timeline->page, "</figcaption>\n</figure>\n");
}

void page_timeline(struct page *page)
{
	const json_t *json = json_object_get(page->report, "timeline");
	const json_t *groups = json_object_get(json, "groups");
	struct timeline timeline = { .page = page,
		.seconds = report_get(json, "seconds"),
		.bin = report_get(json, "bin_seconds"),
		.bins = (unsigned)fmin(fmax(report_get(json, "bins"), 0), BINS_MAX),
		.bands = (unsigned)json_array_size(groups),
		.folded = 1 };

	if (timeline.bands > GROUPS_MAX)
		timeline.bands = GROUPS_MAX;
	timeline.height = timeline.bands > FEW ? LOW : TALL;
	if (!timeline.bins || !(timeline.bin > 0) || !(timeline.seconds > 0) ||
			!(timeline.seconds <= 2 * BINS_MAX * timeline.bin)) {
		page_markup(page, "<p class=\"missing\">The run was too short.</p>\n");
		return;
	}
	if (timeline.bins > BINS_DRAWN) {
		timeline.folded = 2;
		timeline.bins = (timeline.bins + 1) / 2;
		timeline.bin *= 2;
	}
	timeline.others = was_off(&timeline, groups) ? OTHERS : OFF;
	find_phases(&timeline);
	page_markup(page, "<figure>\n");
	write_key(&timeline);
	write_figure(&timeline, groups);
	write_caption(&timeline);
	page_markup(page, "<details><summary>The shares as a table</summary>\n");
	for (unsigned g = 0; g < timeline.bands; g++)
		write_table(&timeline, json_array_get(groups, g));
	page_markup(page, "</details>\n");
}
