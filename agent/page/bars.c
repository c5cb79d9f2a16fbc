/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/bars.h"

#include <math.h>

#include "agent/page/glossary.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define BAR_HEIGHT 34 /* px, of the bar of all ranks */
#define ROW        40 /* px, of a row of the figure of times */
#define BAR_FILL   "#56b4e9"
#define FRAME      99.0 /* %, width of a row that has all of the time */

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
		{ "computation", "url(#c0)", parallel },
		{ "waiting, because the work is unequal", "url(#c2)", 1 - balance },
		{ "communication, and other waiting", "url(#c3)", balance - parallel },
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
		page_markup(page,
				"<p class=\"missing\">The times of single ranks are not in this report.</p>\n");
}

/* ---- the computing time ---- */

/* Writes a row of the figure of times. Its words are in page->words. */
static void write_bar(struct page *page, unsigned row, double share, double error, bool is_phase)
{
	double y = ROW * row, width = FRAME * fmin(fmax(share, 0), 1);

	page_markup(page, "<text x=\"0\" y=\"%.0f\">", y + 13);
	page_flush(page);
	page_markup(page,
			"</text><rect class=\"track\" x=\"0\" y=\"%.0f\" width=\"%.0f%%\" height=\"14\"/>"
			"<rect class=\"part\" x=\"0\" y=\"%.0f\" width=\"%.2f%%\" height=\"14\" "
			"fill=\"%s\"/>\n",
			y + 18, FRAME, y + 18, width, is_phase ? BAR_FILL : "url(#unknown)");
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
		write_bar(page, row++, smaller->share, 0, true);
	}
	fprintf(page->words, "in no phase: unclassified: %s",
			format_percent(report_get_in(report, "unclassified", "time_share")).text);
	write_bar(page, row++, report_get_in(report, "unclassified", "time_share"), 0, false);
	fprintf(page->words, "in no phase: short: %s",
			format_percent(report_get_in(report, "short", "time_share")).text);
	write_bar(page, row, report_get_in(report, "short", "time_share"), 0, false);
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
		write_bar(page, row++, share, report_get(phase, "time_share_ci95"), true);
	}
	write_others(page, row, &smaller);
	page_markup(page,
			"</svg>\n<figcaption>Share of the computing time; the frame of each bar is 100%%. "
			"Lines at the ends are 95%% intervals. The numbers are in the <a "
			"href=\"#phases\">table of phases</a>.</figcaption>\n</figure>\n");
}
