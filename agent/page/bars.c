/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/bars.h"

#include <math.h>
#include <stdbool.h>

#include "agent/page/parts/glossary.h"
#include "agent/page/parts/patterns.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define BAR_HEIGHT 34        /* px, of the bar of all ranks */
#define ROW        40        /* px, of a row of the figure of times */
#define COMPUTING  "#6b7f99" /* no phase has this colour */
#define CALLS      "#c4c8cc"
#define FRAME      99.0 /* %, width of a row that has all of the time */

#define COLUMNS_LEFT   14 /* %, room for the words at the axis */
#define COLUMNS_TOP    4  /* px */
#define COLUMNS_HEIGHT 160
#define COLUMNS_BOTTOM 22
#define COLUMNS_MAX    512

/* The figure of the ranks' times, and one column of it in % of the width. */
struct columns {
	const json_t *times;
	size_t count;
	double wall;
	bool are_ranks; /* otherwise they are deciles of the ranks */
};

struct column {
	double x, width;
};

/* ---- the time of all ranks ---- */

/* A part of the time of all ranks. */
struct part {
	const char *name, *fill;
	double share;
};

static void write_parts(struct page *page, const struct part parts[], unsigned count)
{
	double at = 0;

	page_markup(page,
			"<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" aria-label=\"Time "
			"of all ranks\"><title>Time of all ranks</title>\n",
			BAR_HEIGHT);
	for (unsigned i = 0; i < count; i++) {
		double share = fmin(fmax(parts[i].share, 0), 1 - at);

		page_markup(page,
				"<rect class=\"part\" x=\"%.2f%%\" y=\"2\" width=\"%.2f%%\" height=\"%d\" "
				"fill=\"%s\"><title>%s: %s</title></rect>\n",
				100 * at, 100 * share, BAR_HEIGHT - 4, parts[i].fill, parts[i].name,
				format_percent(parts[i].share).text);
		at += share;
	}
	page_markup(page, "</svg>\n<ul class=\"key\">\n");
	for (unsigned i = 0; i < count; i++)
		page_markup(page,
				"<li><svg width=\"18\" height=\"18\" aria-hidden=\"true\"><rect class=\"part\" "
				"x=\"1\" y=\"1\" width=\"16\" height=\"16\" fill=\"%s\"/></svg> %s: %s</li>\n",
				parts[i].fill, parts[i].name, format_percent(parts[i].share).text);
	page_markup(page, "</ul>\n");
}

/* ---- the times of the ranks ---- */

/* Writes a part of a column that ends at `top`, as a share of the height. Returns its other end. */
static double write_segment(struct page *page, const struct column *column, const char *fill,
		double top, double share)
{
	double height = COLUMNS_HEIGHT * fmin(fmax(share, 0), 1 - top);

	if (isfinite(share))
		page_markup(page,
				"<rect x=\"%.3f%%\" y=\"%.1f\" width=\"%.3f%%\" height=\"%.1f\" "
				"fill=\"%s\"/>",
				column->x, COLUMNS_HEIGHT * (1 - top) - height + COLUMNS_TOP,
				column->width, height, fill);
	return top + height / COLUMNS_HEIGHT;
}

/* Writes the name of a column's ranks: "rank 3", or a quantile. */
static void write_ranks_of(struct page *page, const struct columns *columns, size_t i)
{
	if (columns->are_ranks)
		page_words(page, "rank %zu", i);
	else
		page_words(page, i ? "up to %zu%% of the ranks" : "the shortest", 10 * i);
}

static void write_column(struct page *page, const struct columns *columns, size_t i)
{
	const json_t *time = json_array_get(columns->times, i);
	double useful = report_get(time, "useful_seconds"), mpi = report_get(time, "mpi_seconds");
	double step = (100 - COLUMNS_LEFT) / (double)columns->count, top;
	const struct column column = { COLUMNS_LEFT + step * (double)i, 0.9 * step };

	page_markup(page, "<g><title>");
	write_ranks_of(page, columns, i);
	page_words(page, ": computing %s, in MPI %s", format_seconds(useful).text,
			format_seconds(mpi).text);
	page_markup(page, "</title>");
	/* plain colours, because browsers take minutes to print a thousand patterns */
	top = write_segment(page, &column, COMPUTING, 0, useful / columns->wall);
	if (columns->are_ranks)
		write_segment(page, &column, CALLS, top, mpi / columns->wall);
	page_markup(page, "</g>\n");
}

static void write_columns(struct page *page, const struct columns *columns)
{
	page_markup(page,
			"<figure>\n<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"Times of the ranks\"><title>Times of the ranks</title>\n"
			"<rect class=\"track\" x=\"%d%%\" y=\"%d\" width=\"%d%%\" height=\"%d\"/>\n",
			COLUMNS_HEIGHT + COLUMNS_TOP + COLUMNS_BOTTOM, COLUMNS_LEFT, COLUMNS_TOP,
			100 - COLUMNS_LEFT, COLUMNS_HEIGHT);
	page_markup(page, "<text x=\"0\" y=\"%d\">%s</text><text x=\"0\" y=\"%d\">0</text>\n",
			COLUMNS_TOP + 10, format_seconds(columns->wall).text,
			COLUMNS_TOP + COLUMNS_HEIGHT);
	page_plot(page, "ranks", COLUMNS_LEFT, 100 - COLUMNS_LEFT);
	for (size_t i = 0; i < columns->count; i++)
		write_column(page, columns, i);
	page_markup(page,
			"<text x=\"%d%%\" y=\"%d\">%s</text><text x=\"100%%\" y=\"%d\" "
			"text-anchor=\"end\">",
			COLUMNS_LEFT, COLUMNS_TOP + COLUMNS_HEIGHT + 16,
			columns->are_ranks ? "rank 0" : "shortest",
			COLUMNS_TOP + COLUMNS_HEIGHT + 16);
	if (columns->are_ranks)
		page_words(page, "rank %zu", columns->count - 1);
	else
		page_words(page, "longest");
	page_markup(page, "</text>\n</g>\n</svg>\n<figcaption>");
	page_words(page,
			columns->are_ranks ?
					"A column for each rank, from rank 0 on: below, its computing time "
					"(dark), and above it, its time in MPI (light). " :
					"Deciles of the ranks' computing time, from the shortest to the longest. ");
	page_words(page, "The height is the time of the run, %s.",
			format_seconds(columns->wall).text);
	page_markup(page, "</figcaption>\n</figure>\n");
}

/* Writes which ranks compute longest and shortest. */
static void write_extremes(struct page *page, const struct columns *columns)
{
	size_t most = 0, least = 0, known = 0;
	double sum = 0, high = 0, low = 0;

	for (size_t i = 0; i < columns->count; i++) {
		double useful = report_get(json_array_get(columns->times, i), "useful_seconds");

		if (!isfinite(useful))
			continue;
		if (!known || useful > high) {
			most = i;
			high = useful;
		}
		if (!known || useful < low) {
			least = i;
			low = useful;
		}
		sum += useful;
		known++;
	}
	page_markup(page, "<p>");
	if (columns->are_ranks && known)
		page_words(page,
				"Rank %zu computes longest, %s, and rank %zu shortest, %s; the mean is %s.",
				most, format_seconds(high).text, least, format_seconds(low).text,
				format_seconds(sum / (double)known).text);
	else if (known)
		page_words(page, "The ranks compute for %s to %s.", format_seconds(low).text,
				format_seconds(high).text);
	if (known < columns->count)
		page_words(page, " The times of %zu of the ranks are not known.",
				columns->count - known);
	page_markup(page, "</p>\n");
}

static void write_table(struct page *page, const struct columns *columns)
{
	page_markup(page,
			"<details><summary>Times of %s</summary>\n<table class=\"rows\">\n<tr><th "
			"scope=\"col\">ranks</th><th scope=\"col\" class=\"n\">computing</th><th "
			"scope=\"col\" class=\"n\">of the run</th><th scope=\"col\" class=\"n\">in "
			"MPI</th></tr>\n",
			columns->are_ranks ? "each rank" : "the ranks");
	for (size_t i = 0; i < columns->count; i++) {
		const json_t *time = json_array_get(columns->times, i);
		double useful = report_get(time, "useful_seconds");
		double mpi = report_get(time, "mpi_seconds");
		bool known = isfinite(useful) && columns->wall > 0;

		page_markup(page, "<tr><th scope=\"row\">");
		write_ranks_of(page, columns, i);
		page_markup(page, "</th>");
		page_cell(page, "n", "%s", known ? format_seconds(useful).text : "not known");
		page_cell(page, "n", "%s",
				known ? format_percent(useful / columns->wall).text : "");
		page_cell(page, "n", "%s", isfinite(mpi) ? format_seconds(mpi).text : "not known");
		page_markup(page, "</tr>\n");
	}
	page_markup(page, "</table>\n</details>\n");
}

static void write_ranks(struct page *page)
{
	const json_t *times = json_object_get(page->report, "rank_times");
	const json_t *each = json_object_get(times, "each");
	const json_t *deciles = json_object_get(times, "deciles");
	struct columns columns = { json_is_array(each) ? each : deciles, 0,
		report_get(page->report, "wall_seconds"), json_is_array(each) };

	columns.count = json_array_size(columns.times);
	if (columns.count > COLUMNS_MAX)
		columns.count = COLUMNS_MAX;
	page_markup(page, "<h3 id=\"ranks\">Ranks</h3>\n");
	if (!columns.count || !(columns.wall > 0)) {
		page_markup(page,
				"<p class=\"missing\">The times of single ranks are not in this report.</p>\n");
		return;
	}
	write_extremes(page, &columns);
	write_columns(page, &columns);
	write_table(page, &columns);
}

/* ---- the efficiencies ---- */

static void write_row(struct page *page, const char *term, const char *of, double share)
{
	page_markup(page, "<tr><th scope=\"row\">");
	page_term(page, term);
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", format_percent(share).text);
	page_cell(page, "", "%s", of);
	page_markup(page, "</tr>\n");
}

void page_efficiency(struct page *page)
{
	const json_t *efficiency = json_object_get(page->report, "efficiency");
	double parallel = report_get(efficiency, "parallel");
	double balance = report_get(efficiency, "load_balance");
	const struct part parts[] = {
		{ "computation", COMPUTING, parallel },
		{ "waiting, because the work is unequal", "url(#c2)", 1 - balance },
		{ "communication, and other waiting", "url(#waiting)", balance - parallel },
	};

	if (!isfinite(parallel) || !isfinite(balance)) {
		page_markup(page,
				"<p class=\"missing\">The efficiencies are not in this report.</p>\n");
		return;
	}
	page_markup(page, "<figure>\n");
	write_parts(page, parts, sizeof(parts) / sizeof(*parts));
	page_markup(page,
			"<figcaption>The whole bar is the observed time of all ranks and threads.</figcaption>\n</figure>\n<table>\n<tr><th "
			"scope=\"col\">efficiency</th><th scope=\"col\" class=\"n\">value</th><th "
			"scope=\"col\">is</th></tr>\n");
	write_row(page, "parallel efficiency", "load balance x communication efficiency", parallel);
	write_row(page, "load balance", "mean computing time / that of the slowest", balance);
	write_row(page, "communication efficiency",
			"computing time of the slowest / time of the run",
			report_get(efficiency, "communication"));
	if (isfinite(report_get(efficiency, "threads"))) {
		write_row(page, "MPI efficiency", "by level: that of the ranks",
				report_get(efficiency, "mpi"));
		write_row(page, "thread efficiency", "by level: that of the threads in a rank",
				report_get(efficiency, "threads"));
	}
	page_markup(page, "</table>\n");
	if (report_get(page->report, "ranks") > 1)
		write_ranks(page);
}

/* ---- the computing time ---- */

/* Writes a row of the figure of times. Its words are in page->words. */
static void write_bar(struct page *page, unsigned row, double share, double error, const char *fill)
{
	double y = ROW * row, width = FRAME * fmin(fmax(share, 0), 1);

	page_markup(page, "<text x=\"0\" y=\"%.0f\">", y + 13);
	page_flush(page);
	page_markup(page,
			"</text><rect class=\"track\" x=\"0\" y=\"%.0f\" width=\"%.0f%%\" height=\"14\"/>"
			"<rect class=\"part\" x=\"0\" y=\"%.0f\" width=\"%.2f%%\" height=\"14\" "
			"fill=\"%s\"/>\n",
			y + 18, FRAME, y + 18, width, fill);
	if (error > 0.002)
		page_markup(page,
				"<g class=\"whisker\"><line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.0f\" "
				"y2=\"%.0f\" stroke-width=\"1.5\"/></g>\n",
				fmax(width - FRAME * error, 0), fmin(width + FRAME * error, FRAME),
				y + 25, y + 25);
}

static void write_others(struct page *page, unsigned row, const struct phase_smaller *smaller)
{
	const json_t *report = page->report;

	if (smaller->count) {
		fprintf(page->words, "%u smaller phase%s: %s", smaller->count,
				smaller->count == 1 ? "" : "s",
				format_percent(smaller->share).text);
		write_bar(page, row++, smaller->share, 0, "url(#c1)");
	}
	fprintf(page->words, "in no phase: unclassified: %s",
			format_percent(report_get_in(report, "unclassified", "time_share")).text);
	write_bar(page, row++, report_get_in(report, "unclassified", "time_share"), 0,
			"url(#unknown)");
	fprintf(page->words, "in no phase: short: %s",
			format_percent(report_get_in(report, "short", "time_share")).text);
	write_bar(page, row, report_get_in(report, "short", "time_share"), 0, "url(#unknown)");
}

void page_times(struct page *page)
{
	const json_t *phases = json_object_get(page->report, "phases"), *phase;
	struct phase_smaller smaller = phase_smaller(phases);
	unsigned row = 0;
	size_t i;

	page_markup(page,
			"<figure>\n<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%zu\" "
			"aria-label=\"Share of the computing time\"><title>Share of the computing "
			"time</title>\n",
			ROW * (json_array_size(phases) - smaller.count + 2 + (smaller.count > 0)));
	json_array_foreach (phases, i, phase) {
		struct phase_intervals intervals = phase_intervals(phase);
		double share = report_get(phase, "time_share");

		if (!phase_is_shown(phase))
			continue;
		fprintf(page->words, "phase %.0f: %s %s", report_get(phase, "id"),
				format_percent(share).text,
				intervals.visible ? intervals.share.text : "");
		page_markup(page, "<g data-phase=\"%.0f\">\n", report_get(phase, "id"));
		write_bar(page, row++, share, report_get(phase, "time_share_ci95"),
				pattern_of_phase(page->report, report_get(phase, "id")).text);
		page_markup(page, "</g>\n");
	}
	write_others(page, row, &smaller);
	page_markup(page,
			"</svg>\n<figcaption>Share of the computing time; the frame of each bar is 100%%. "
			"Lines at the ends are 95%% intervals. The numbers are in the <a "
			"href=\"#phases\">table of phases</a>.</figcaption>\n</figure>\n");
}
