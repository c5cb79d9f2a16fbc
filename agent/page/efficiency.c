/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/efficiency.h"

#include <math.h>

#include "agent/page/glossary.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define BAR_HEIGHT 34

/* A part of the time of all ranks. */
struct part {
	const char *name, *fill;
	double share;
};

static void write_bar(struct page *page, const struct part parts[], unsigned count)
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
	write_bar(page, parts, sizeof(parts) / sizeof(*parts));
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
