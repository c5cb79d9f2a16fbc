/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/figures/inside.h"

#include <math.h>
#include <stdbool.h>

#include "agent/text/report_line.h"

#define ROWS_MAX 12  /* counters with a curve */
#define EVEN     0.1 /* a rate that is this near to its mean everywhere has no curve */
#define BINS_MAX 64
#define HEIGHT   40  /* units of a curve, of which twice the mean has all */
#define TOP_RATE 2.0 /* rate at the upper end of a curve; higher ones are cut off */

/* The rates of a counter, as multiples of its mean. */
struct curve {
	double rate[BINS_MAX]; /* NAN: not known */
	unsigned bins, known;
	double least, most;
};

static void read_curve(struct curve *curve, const json_t *rates)
{
	const json_t *rate;
	size_t i;

	*curve = (struct curve){ .least = INFINITY, .most = -INFINITY };
	json_array_foreach (rates, i, rate) {
		double value = json_is_number(rate) ? json_number_value(rate) : NAN;

		if (curve->bins == BINS_MAX)
			break;
		curve->rate[curve->bins++] = value;
		if (!isfinite(value))
			continue;
		curve->known++;
		curve->least = fmin(curve->least, value);
		curve->most = fmax(curve->most, value);
	}
}

static bool is_even(const struct curve *curve)
{
	return curve->known && curve->least > 1 - EVEN && curve->most < 1 + EVEN;
}

/* Returns the vertical position of a rate in a curve. */
static double height_of(double rate)
{
	return HEIGHT * (1 - fmin(fmax(rate, 0), TOP_RATE) / TOP_RATE);
}

/* Writes the rates as a line of steps, which is interrupted where they are not known. */
static void write_line(struct page *page, const struct curve *curve)
{
	bool inside = false;

	page_markup(page,
			"<td class=\"bar\"><svg viewBox=\"0 0 %u %d\" preserveAspectRatio=\"none\" "
			"width=\"100%%\" height=\"%d\" aria-hidden=\"true\"><path class=\"grid\" "
			"stroke=\"#999999\" stroke-dasharray=\"3 3\" vector-effect=\"non-scaling-stroke\" "
			"d=\"M0 %dh%u\"/><path class=\"curve\" fill=\"none\" stroke=\"#0072b2\" "
			"stroke-width=\"2\" vector-effect=\"non-scaling-stroke\" d=\"",
			curve->bins, HEIGHT, HEIGHT, HEIGHT / 2, curve->bins);
	for (unsigned i = 0; i < curve->bins; i++) {
		bool known = isfinite(curve->rate[i]);

		if (known && inside)
			page_markup(page, "V%.1fh1", height_of(curve->rate[i]));
		else if (known)
			page_markup(page, "M%u %.1fh1", i, height_of(curve->rate[i]));
		inside = known;
	}
	page_markup(page, "\"/></svg></td>");
}

/* Writes the mean of the rates that are known in a part of the bursts. */
static void write_mean(struct page *page, const struct curve *curve, unsigned from, unsigned until)
{
	double sum = 0;
	unsigned known = 0;

	for (unsigned i = from; i < until; i++)
		if (isfinite(curve->rate[i])) {
			sum += curve->rate[i];
			known++;
		}
	if (known)
		page_cell(page, "n", "%.2f", sum / known);
	else
		page_cell(page, "n", "not known");
}

static void write_row(struct page *page, const char *name, const struct curve *curve)
{
	page_markup(page, "<tr><th scope=\"row\"><code>");
	page_text(page, name);
	page_markup(page, "</code></th>");
	for (unsigned third = 0; third < 3; third++)
		write_mean(page, curve, curve->bins * third / 3, curve->bins * (third + 1) / 3);
	write_line(page, curve);
	page_markup(page, "</tr>\n");
}

/* Returns whether a counter has a curve, as row number `row`. */
static bool is_drawn(const struct curve *curve, unsigned row)
{
	return !is_even(curve) && curve->known >= 3 && row < ROWS_MAX;
}

/* Writes the table of the counters whose rates change. Returns their number. even: gets that of those that stay near their mean. */
static unsigned write_rows(struct page *page, json_t *rates, unsigned *even)
{
	unsigned rows = 0;
	const char *name;
	json_t *value;

	*even = 0;
	json_object_foreach (rates, name, value) {
		struct curve curve;

		read_curve(&curve, value);
		*even += is_even(&curve);
		if (!is_drawn(&curve, rows))
			continue;
		if (!rows++)
			page_markup(page,
					"<table class=\"breakdown\">\n<tr><th scope=\"col\">rate of</th><th "
					"scope=\"col\" class=\"n\">start</th><th scope=\"col\" "
					"class=\"n\">middle</th><th scope=\"col\" class=\"n\">end</th><th scope=\"col\">from 0 to twice the "
					"mean</th></tr>\n");
		write_row(page, name, &curve);
	}
	if (rows)
		page_markup(page, "</table>\n");
	return rows;
}

void page_inside(struct page *page, const json_t *phase)
{
	const json_t *fold = json_object_get(phase, "fold");
	json_t *rates = json_object_get(fold, "rates");
	unsigned rows, even, all = (unsigned)json_object_size(rates);

	if (!all)
		return;
	page_markup(page, "<details><summary>inside its bursts</summary>\n");
	rows = write_rows(page, rates, &even);
	page_markup(page, "<p class=\"note\">");
	if (rows)
		page_words(page,
				"Rates in each third of the bursts, as multiples of the mean. A "
				"gap: too few samples. ");
	page_words(page,
			"%u of %u counters stay within %.0f%% of their mean in %.0f samples of %.60s.",
			even, all, 100 * EVEN, report_get(fold, "samples"),
			report_get_text(fold, "of"));
	if (rows + even < all)
		page_words(page, " %u others are in report.json only.", all - rows - even);
	page_markup(page, "</p>\n</details>\n");
}
