/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/figures/trainings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/page/figures/narrowing.h"
#include "agent/page/parts/label.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"

/* Horizontal positions are percentages of the figure, and vertical ones are pixels. */
#define LEFT       10.0
#define WIDTH      89.0
#define TOP        42
#define HEIGHT     120
#define FOOT       44
#define BAR        0.8 /* part of a column's width */
#define FILL       "#6b7f99"
#define ROUNDS_MAX 64
#define STEADY     0.9 /* share that keeps its phase if a training has found the known phases again */
#define PX(chars)  (8.0 * (double)(chars) + 4) /* room for a label */

bool page_has_trainings(const json_t *report)
{
	return json_array_size(json_object_get(report, "rounds")) > 0;
}

static unsigned count_rounds(const json_t *rounds)
{
	size_t count = json_array_size(rounds);

	return (unsigned)(count < ROUNDS_MAX ? count : ROUNDS_MAX);
}

/* Returns the first training since which each has found the known phases again, or their number. */
static unsigned first_steady(const json_t *rounds)
{
	unsigned first = count_rounds(rounds);

	while (first > 0 && report_get(json_array_get(rounds, first - 1), "kept") >= STEADY)
		first--;
	return first;
}

/* Writes a label in the middle of a column, if it has room for it on some screen. */
static void write_label(struct page *page, double x, double width, int y, const char *text,
		const char *class)
{
	struct label_room room = label_room(PX(strlen(text)));

	page_markup(page, "<text class=\"%s%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">",
			class, label_class(width, &room), x, y);
	page_text(page, text);
	page_markup(page, "</text>\n");
}

/* Writes the time of the first or last column, from its outer edge on. On narrow screens the figure has no other times. */
static void write_end(struct page *page, double x, bool first, const char *text)
{
	page_markup(page, "<text class=\"small\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">", x,
			TOP + HEIGHT + 16, first ? "start" : "end");
	page_text(page, text);
	page_markup(page, "</text>\n");
}

static void write_column(struct page *page, const json_t *round, unsigned i, unsigned count)
{
	double width = WIDTH / count, x = LEFT + width * i, kept = report_get(round, "kept");
	double height = HEIGHT * fmin(fmax(isfinite(kept) ? kept : 0, 0), 1);
	struct format_text seconds = format_seconds(report_get(round, "seconds"));
	struct format_text phases = format_count(report_get(round, "phases"));

	page_markup(page,
			"<g><title>%s: %.0f phases in %.0f bursts; %s of their time kept its "
			"phase</title><rect class=\"part\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" "
			"height=\"%.1f\" fill=\"%s\"/></g>\n",
			seconds.text, report_get(round, "phases"),
			report_get(round, "sampled_bursts"),
			isfinite(kept) ? format_whole_percent(kept).text : "not known how much",
			x + width * (1 - BAR) / 2, TOP + HEIGHT - height, width * BAR, height,
			FILL);
	write_label(page, x + width / 2, width, TOP - 6, phases.text, "id");
	if (count > 1 && (i == 0 || i == count - 1))
		write_end(page, i ? x + width : x, i == 0, seconds.text);
	else
		write_label(page, x + width / 2, width, TOP + HEIGHT + 16, seconds.text, "small");
}

static void write_figure(struct page *page, const json_t *rounds)
{
	unsigned count = count_rounds(rounds);

	page_markup(page,
			"<figure>\n<svg class=\"figure\" role=\"img\" width=\"100%%\" height=\"%d\" "
			"aria-label=\"Trainings\"><title>Trainings</title>\n<rect class=\"track\" "
			"fill=\"none\" stroke=\"#999999\" x=\"%.0f%%\" y=\"%d\" width=\"%.0f%%\" "
			"height=\"%d\"/>\n<text class=\"small\" x=\"0\" y=\"14\">phases known (numbers), and "
			"share unchanged (bars)</text>\n",
			TOP + HEIGHT + FOOT, LEFT, TOP, WIDTH, HEIGHT);
	for (unsigned i = 0; i <= 2; i++)
		page_markup(page,
				"<text class=\"small\" x=\"%.0f%%\" y=\"%d\" "
				"text-anchor=\"end\">%u%%</text>\n",
				LEFT - 1, TOP + 4 + (int)(HEIGHT * (2 - i) / 2), 50 * i);
	for (unsigned i = 0; i < count; i++)
		write_column(page, json_array_get(rounds, i), i, count);
	page_markup(page,
			"<text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"middle\">time of the "
			"training, since the start of the run</text>\n</svg>\n<figcaption>Each column is a "
			"training of rank 0 with a sample of all ranks' bursts. A bar is the share of their "
			"time whose phase the training has not changed.</figcaption>\n</figure>\n",
			LEFT + WIDTH / 2, TOP + HEIGHT + 36);
}

struct changes {
	char text[64];
};

/* Returns how many phases came and went with a training: " (2 came, 1 went)", or "" if none did, or it is not known. */
static struct changes changes(const json_t *round)
{
	double came = report_get(round, "came"), went = report_get(round, "went");
	struct changes changes = { "" };

	if (came + went > 0)
		snprintf(changes.text, sizeof(changes.text), " (%.0f came, %.0f went)", came, went);
	return changes;
}

/* Writes since when the phases were known. */
static void write_words(struct page *page, const json_t *rounds)
{
	unsigned count = count_rounds(rounds), first = first_steady(rounds);

	page_markup(page, "<p>");
	if (first < count)
		page_words(page,
				"From %s on, each training found the known phases again: at least %.0f%% of "
				"the time kept its phase. A longer run makes the intervals narrower.",
				format_seconds(report_get(json_array_get(rounds, first), "seconds"))
						.text,
				100 * STEADY);
	else
		page_words(page,
				"The last training still changed phases%s: a longer run may find "
				"others.",
				changes(json_array_get(rounds, count - 1)).text);
	page_markup(page, "</p>\n");
}

static void write_table(struct page *page, const json_t *rounds)
{
	page_markup(page,
			"<details><summary>The trainings as a table</summary>\n<table class=\"rows\">\n"
			"<tr><th scope=\"col\" class=\"n\">time</th><th scope=\"col\" "
			"class=\"n\">bursts</th><th scope=\"col\" class=\"n\">phases</th><th "
			"scope=\"col\" class=\"n\">prototypes</th><th scope=\"col\" class=\"n\">kept "
			"phase</th></tr>\n");
	for (unsigned i = 0; i < count_rounds(rounds); i++) {
		const json_t *round = json_array_get(rounds, i);
		double kept = report_get(round, "kept");

		page_markup(page, "<tr>");
		page_cell(page, "n", "%s", format_seconds(report_get(round, "seconds")).text);
		page_cell(page, "n", "%.0f", report_get(round, "sampled_bursts"));
		page_cell(page, "n", "%.0f", report_get(round, "phases"));
		page_cell(page, "n", "%.0f", report_get(round, "prototypes"));
		page_cell(page, "n", "%s",
				isfinite(kept) ? format_percent(kept).text : "not known");
		page_markup(page, "</tr>\n");
	}
	page_markup(page, "</table>\n</details>\n");
}

void page_trainings(struct page *page)
{
	const json_t *rounds = json_object_get(page->report, "rounds");

	write_words(page, rounds);
	write_figure(page, rounds);
	write_table(page, rounds);
	page_narrowing(page);
}
