/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/figures/scatter.h"

#include <math.h>
#include <stdlib.h>

#include "agent/page/parts/patterns.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

/* Horizontal positions are percentages of the figure, and vertical ones are pixels. */
#define LEFT       10.0  /* %, where the plot starts */
#define WIDTH      89.0  /* %, of the plot */
#define TOP        40    /* px */
#define HEIGHT     300   /* px, of the plot */
#define FOOT       44    /* px, of the axis */
#define UNITS      1000  /* of the plot's sides in paths */
#define SCREEN     376.0 /* px, width of the narrowest figure, on which labels must not overlap */
#define DOTS_MAX   2000
#define SHOWN_MAX  32  /* phases that are told apart */
#define ROWS_MAX   12  /* phases with a row of their own, without counters */
#define SMALLER    -1. /* stands for the ids of all other phases */
#define LABELS_MAX 64
#define CHARACTER  9   /* px, width of a character of a label */
#define LINE       20  /* px, height of a label */
#define LINE_STEPS 40  /* straight pieces of a line of equal duration */
#define RANGE_MIN  0.5 /* decades of the horizontal axis */
#define JITTER     0.6 /* part of a row's height over which its bursts are spread */

/* A burst of the sample. */
struct dot {
	double phase; /* id; 0: none; SMALLER */
	double seconds, instructions, ipc;
	unsigned x, y; /* in the plot, from its left and upper end, in units */
};

/* What the axes of a figure are, the vertical one first. */
enum axes { ROWS_BY_DURATION, IPC_BY_INSTRUCTIONS, IPC_BY_DURATION, INSTRUCTIONS_BY_DURATION };

/* A label that has its place. */
struct label {
	double left, right; /* px, on the narrowest screen */
	int y;
};

struct scatter {
	struct page *page;
	const json_t *sample;
	bool counted; /* instructions and IPC are known; else rows of phases are over the duration */
	enum axes axes;     /* of the figure that is written */
	double low, high;   /* decades of the horizontal axis */
	double floor, most; /* IPC at the lower and the upper end, or decades of instructions */
	double clock;       /* Hz; cycles of a burst by its duration, in the middle of the sample */
	double shown[SHOWN_MAX]; /* ids of the phases that are told apart, which are rows from the top */
	unsigned phases, labels, count;
	struct label label[LABELS_MAX];
	struct dot dot[DOTS_MAX];
	double value[DOTS_MAX]; /* scratch */
};

bool page_has_scatter(const json_t *report)
{
	return json_array_size(json_object_get(json_object_get(report, "sample"), "phase")) > 0;
}

/* ---- the bursts ---- */

static double column(const struct scatter *scatter, const char *key, size_t i)
{
	const json_t *value = json_array_get(json_object_get(scatter->sample, key), i);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Reads a burst. Returns false if it has no length. */
static bool read_dot(const struct scatter *scatter, size_t i, struct dot *dot)
{
	double ipc = column(scatter, "ipc_millionths", i) * 1e-6;
	double cycles = column(scatter, "cycles", i);

	dot->phase = column(scatter, "phase", i);
	dot->seconds = column(scatter, "nanoseconds", i) * 1e-9;
	dot->instructions = column(scatter, "instructions", i);
	dot->ipc = isfinite(ipc) ? ipc : dot->instructions / cycles;
	if (!isfinite(dot->instructions))
		dot->instructions = ipc * cycles;
	return isfinite(dot->phase) && dot->seconds > 0;
}

static bool is_counted(const struct dot *dot)
{
	return dot->instructions > 0 && dot->ipc > 0 && isfinite(dot->instructions) &&
			isfinite(dot->ipc);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns a quantile of the first `count` values, which are sorted. */
static double quantile(const double *value, unsigned count, double at)
{
	return count ? value[(unsigned)lround(at * (count - 1))] : NAN;
}

/* Reads the bursts. If most of them have instructions and cycles, only these are drawn. */
static void read_dots(struct scatter *scatter)
{
	size_t size = json_array_size(json_object_get(scatter->sample, "phase"));
	unsigned counted = 0, kept = 0;

	for (size_t i = 0; i < size && scatter->count < DOTS_MAX; i++) {
		struct dot *dot = &scatter->dot[scatter->count];

		if (!read_dot(scatter, i, dot))
			continue;
		scatter->count++;
		counted += is_counted(dot);
	}
	scatter->counted = 2 * counted > scatter->count;
	for (unsigned i = 0; i < scatter->count; i++)
		if (!scatter->counted || is_counted(&scatter->dot[i]))
			scatter->dot[kept++] = scatter->dot[i];
	scatter->count = kept;
}

static double across(const struct scatter *scatter, const struct dot *dot)
{
	return log10(scatter->axes == IPC_BY_INSTRUCTIONS ? dot->instructions : dot->seconds);
}

static double upward(const struct scatter *scatter, const struct dot *dot)
{
	return scatter->axes == INSTRUCTIONS_BY_DURATION ? log10(dot->instructions) : dot->ipc;
}

/* Gives a range of decades room at its ends. */
static void widen(double *low, double *high)
{
	double margin = fmax(0.05 * (*high - *low), (RANGE_MIN - (*high - *low)) / 2);

	*low -= margin;
	*high += margin;
}

/* Finds what the axes show. */
static void find_range(struct scatter *scatter)
{
	scatter->low = scatter->floor = INFINITY;
	scatter->high = scatter->most = -INFINITY;
	for (unsigned i = 0; i < scatter->count; i++) {
		const struct dot *dot = &scatter->dot[i];

		scatter->low = fmin(scatter->low, across(scatter, dot));
		scatter->high = fmax(scatter->high, across(scatter, dot));
		scatter->floor = fmin(scatter->floor, upward(scatter, dot));
		scatter->most = fmax(scatter->most, upward(scatter, dot));
	}
	widen(&scatter->low, &scatter->high);
	if (scatter->axes == INSTRUCTIONS_BY_DURATION) {
		widen(&scatter->floor, &scatter->most);
	} else {
		scatter->floor = 0;
		scatter->most *= 1.1;
	}
}

static void find_clock(struct scatter *scatter)
{
	for (unsigned i = 0; i < scatter->count; i++) {
		const struct dot *dot = &scatter->dot[i];

		scatter->value[i] = dot->instructions / dot->ipc / dot->seconds;
	}
	qsort(scatter->value, scatter->count, sizeof(*scatter->value), by_value);
	scatter->clock = quantile(scatter->value, scatter->count, 0.5);
}

/* Returns the place of a phase among those that are told apart, or their number. */
static unsigned find_phase(const struct scatter *scatter, double phase)
{
	unsigned place = 0;

	while (place < scatter->phases && scatter->shown[place] != phase)
		place++;
	return place;
}

/* Chooses the phases that are told apart. */
static void choose_phases(struct scatter *scatter)
{
	unsigned most = scatter->counted ? SHOWN_MAX : ROWS_MAX;
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(scatter->page->report, "phases"), i, phase)
		if (phase_is_shown(phase) && scatter->phases < most)
			scatter->shown[scatter->phases++] = report_get(phase, "id");
	for (unsigned d = 0; d < scatter->count; d++) {
		struct dot *dot = &scatter->dot[d];

		if (dot->phase > 0 && find_phase(scatter, dot->phase) == scatter->phases)
			dot->phase = SMALLER;
	}
}

/* Returns a horizontal position of the plot, from 0 to 1. */
static double x_of(const struct scatter *scatter, double decades)
{
	return (decades - scatter->low) / (scatter->high - scatter->low);
}

/* Returns the vertical position of a burst. number: of the burst, by which those of a row are spread. */
static double y_of(const struct scatter *scatter, const struct dot *dot, unsigned number)
{
	double spread = (number * 0.6180339887 - floor(number * 0.6180339887) - 0.5) * JITTER;

	if (scatter->counted)
		return 1 -
				(upward(scatter, dot) - scatter->floor) /
				(scatter->most - scatter->floor);
	return (find_phase(scatter, dot->phase) + 0.5 + spread) / (scatter->phases + 1);
}

static int by_phase(const void *a, const void *b)
{
	const struct dot *one = a, *other = b;

	if (one->phase != other->phase)
		return (one->phase > other->phase) - (one->phase < other->phase);
	if (one->x != other->x)
		return (one->x > other->x) - (one->x < other->x);
	return (one->y > other->y) - (one->y < other->y);
}

static void place_dots(struct scatter *scatter)
{
	for (unsigned i = 0; i < scatter->count; i++) {
		struct dot *dot = &scatter->dot[i];

		dot->x = (unsigned)lround(x_of(scatter, across(scatter, dot)) * UNITS);
		dot->y = (unsigned)lround(fmax(y_of(scatter, dot, i), 0) * UNITS);
	}
	qsort(scatter->dot, scatter->count, sizeof(*scatter->dot), by_phase);
}

/* Returns the number of bursts of the phase of the first one, which follow each other. */
static unsigned count_phase(const struct scatter *scatter, unsigned first)
{
	unsigned end = first;

	while (end < scatter->count && scatter->dot[end].phase == scatter->dot[first].phase)
		end++;
	return end - first;
}

/* Sorts a quantity of bursts into `value`. */
static void sort_values(struct scatter *scatter, unsigned first, unsigned count,
		double (*of)(const struct dot *dot))
{
	for (unsigned i = 0; i < count; i++)
		scatter->value[i] = of(&scatter->dot[first + i]);
	qsort(scatter->value, count, sizeof(*scatter->value), by_value);
}

/* ---- labels ---- */

/* Takes the place of a label of this length around a position. Returns false if another one is there. */
static bool take_place(struct scatter *scatter, double x, int y, unsigned characters)
{
	double half = CHARACTER * characters / 2.0, middle = x / 100 * SCREEN;
	struct label label = { middle - half, middle + half, y };

	if (scatter->labels == LABELS_MAX || label.left < 0 || label.right > SCREEN)
		return false;
	for (unsigned i = 0; i < scatter->labels; i++) {
		const struct label *other = &scatter->label[i];

		if (label.left < other->right && other->left < label.right &&
				abs(label.y - other->y) < LINE)
			return false;
	}
	scatter->label[scatter->labels++] = label;
	return true;
}

/* Writes a label in the middle of a position if no other one is there. */
static void write_label(struct scatter *scatter, const char *class, double x, int y,
		const char *text)
{
	unsigned characters = 0;

	while (text[characters])
		characters++;
	if (!take_place(scatter, x, y, characters))
		return;
	page_markup(scatter->page,
			"<text class=\"%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">", class,
			x, y);
	page_text(scatter->page, text);
	page_markup(scatter->page, "</text>\n");
}

/* ---- axes ---- */

static struct format_text amount_text(const struct scatter *scatter, double value)
{
	return scatter->axes == IPC_BY_INSTRUCTIONS ? format_count(value) : format_seconds(value);
}

/* Writes 1, 2 and 5 times powers of ten on the horizontal axis, or powers alone if they are many. */
static void write_across(struct scatter *scatter)
{
	static const double parts[] = { 1, 2, 5 };
	unsigned count = scatter->high - scatter->low < 2 ? 3 : 1;
	int y = TOP + HEIGHT;

	for (int power = (int)floor(scatter->low); power <= (int)scatter->high; power++)
		for (unsigned i = 0; i < count; i++) {
			double value = parts[i] * pow(10, power);
			double at = x_of(scatter, log10(value)), x = LEFT + WIDTH * at;

			if (!(at >= 0 && at <= 1))
				continue;
			page_markup(scatter->page,
					"<line class=\"grid\" stroke=\"#999999\" x1=\"%.2f%%\" x2=\"%.2f%%\" "
					"y1=\"%d\" y2=\"%d\"/>",
					x, x, y, y + 5);
			write_label(scatter, "small", x, y + 19, amount_text(scatter, value).text);
		}
	page_markup(scatter->page,
			"<text class=\"small\" x=\"%.1f%%\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			LEFT + WIDTH / 2, y + 37,
			scatter->axes == IPC_BY_INSTRUCTIONS ? "instructions of a burst" :
							       "duration of a burst");
}

static void write_tick(struct scatter *scatter, double at, const char *text)
{
	double y = TOP + HEIGHT * at;

	page_markup(scatter->page,
			"<line class=\"grid\" stroke=\"#999999\" x1=\"%.0f%%\" x2=\"%.0f%%\" y1=\"%.1f\" "
			"y2=\"%.1f\"/><text class=\"small\" x=\"%.1f%%\" y=\"%.1f\" "
			"text-anchor=\"end\">%s</text>\n",
			LEFT, LEFT + (scatter->counted ? WIDTH : 0), y, y, LEFT - 1, y + 4, text);
}

static void write_ipc_ticks(struct scatter *scatter)
{
	double step = axis_step(scatter->most);
	char text[32];

	for (unsigned i = 0; i * step <= scatter->most; i++) {
		snprintf(text, sizeof(text), "%.4g", i * step);
		write_tick(scatter, 1 - i * step / scatter->most, text);
	}
}

static void write_power_ticks(struct scatter *scatter)
{
	double range = scatter->most - scatter->floor;

	for (int power = (int)ceil(scatter->floor); power <= (int)floor(scatter->most); power++)
		write_tick(scatter, (scatter->most - power) / range,
				format_count(pow(10, power)).text);
}

static void write_row_ticks(struct scatter *scatter)
{
	char text[32];

	for (unsigned row = 0; row <= scatter->phases; row++) {
		snprintf(text, sizeof(text), row < scatter->phases ? "%.0f" : "other",
				row < scatter->phases ? scatter->shown[row] : 0);
		write_tick(scatter, (row + 0.5) / (scatter->phases + 1), text);
	}
}

static void write_upward(struct scatter *scatter)
{
	static const struct {
		const char *name;
		void (*write)(struct scatter *scatter);
	} upwards[] = {
		[ROWS_BY_DURATION] = { "phase", write_row_ticks },
		[IPC_BY_INSTRUCTIONS] = { "instructions per cycle (IPC)", write_ipc_ticks },
		[IPC_BY_DURATION] = { "instructions per cycle (IPC)", write_ipc_ticks },
		[INSTRUCTIONS_BY_DURATION] = { "instructions of a burst", write_power_ticks },
	};

	upwards[scatter->axes].write(scatter);
	page_markup(scatter->page, "<text class=\"small\" x=\"0\" y=\"12\">%s</text>\n",
			upwards[scatter->axes].name);
}

/* ---- lines of equal duration ---- */

/* Returns the IPC of bursts of this duration. x: position of their instructions, from 0 to 1. */
static double ipc_at(const struct scatter *scatter, double seconds, double x)
{
	double decades = scatter->low + x * (scatter->high - scatter->low);

	return pow(10, decades) / seconds / scatter->clock;
}

static void write_line(struct scatter *scatter, double seconds)
{
	double top = x_of(scatter, log10(scatter->most * seconds * scatter->clock));
	double end = fmin(top, 1), right = ipc_at(scatter, seconds, 1) / scatter->most;
	const char *text = format_seconds(seconds).text;

	if (!(end > 0) || (top > 1 && right < 0.02))
		return;
	page_markup(scatter->page,
			"<path class=\"grid\" fill=\"none\" stroke=\"#999999\" stroke-dasharray=\"4 3\" "
			"vector-effect=\"non-scaling-stroke\" d=\"M");
	for (unsigned i = 0; i <= LINE_STEPS; i++) {
		double x = end * i / LINE_STEPS, ipc = ipc_at(scatter, seconds, x);

		page_markup(scatter->page, "%s%.0f %.0f", i ? "L" : "", x * UNITS,
				(1 - fmin(ipc / scatter->most, 1)) * UNITS);
	}
	page_markup(scatter->page, "\"><title>bursts of ");
	page_text(scatter->page, text);
	page_markup(scatter->page, "</title></path>\n");
}

static void label_line(struct scatter *scatter, double seconds)
{
	double top = x_of(scatter, log10(scatter->most * seconds * scatter->clock));
	double right = ipc_at(scatter, seconds, 1) / scatter->most;
	struct format_text text = format_seconds(seconds);

	if (top > 0.02 && top <= 0.98)
		write_label(scatter, "small", LEFT + WIDTH * top, TOP - 6, text.text);
	else if (top > 0.98 && right > 0.06)
		write_label(scatter, "small", LEFT + WIDTH - 8,
				TOP + (int)(HEIGHT * (1 - right)) + 12, text.text);
}

/* Calls a function with each power of ten of the duration that is in the figure. */
static void each_line(struct scatter *scatter,
		void (*write)(struct scatter *scatter, double seconds))
{
	for (int power = -9; scatter->axes == IPC_BY_INSTRUCTIONS && power <= 4; power++)
		write(scatter, pow(10, power));
}

/* ---- marks ---- */

static void name_phase(const struct scatter *scatter, double phase)
{
	if (phase > 0)
		page_words(scatter->page, "phase %.0f", phase);
	else
		page_words(scatter->page, phase < 0 ? "smaller phases" : "in no phase");
}

/* Writes to which phase an element belongs, for the script, which shows the chosen phases alone. */
static void write_phase_of(struct page *page, double phase)
{
	if (phase > 0)
		page_markup(page, "data-phase=\"%.0f\" ", phase);
}

/* Writes the bursts of a phase as one path of points, of which those at the same place are one. */
static void write_points(struct scatter *scatter, unsigned first, unsigned count)
{
	const struct dot *dot = &scatter->dot[first];
	struct page *page = scatter->page;
	unsigned x = 0, y = 0;

	page_markup(page,
			"<path class=\"dots\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" "
			"stroke-linecap=\"%s\" vector-effect=\"non-scaling-stroke\" ",
			dot->phase > 0 ? pattern_colour(page->report, dot->phase) : "#777777",
			dot->phase > 0 ? 6 : 4, dot->phase != 0 ? "round" : "square");
	write_phase_of(page, dot->phase);
	page_markup(page, "d=\"");
	for (unsigned i = 0; i < count; i++) {
		if (i && dot[i].x == x && dot[i].y == y)
			continue;
		if (i)
			page_markup(page, dot[i].y < y ? "m%d%dh0" : "m%d %dh0",
					(int)dot[i].x - (int)x, (int)dot[i].y - (int)y);
		else
			page_markup(page, "M%u %uh0", dot[i].x, dot[i].y);
		x = dot[i].x;
		y = dot[i].y;
	}
	page_markup(page, "\"><title>");
	name_phase(scatter, dot->phase);
	page_words(page, ": %u bursts of the sample", count);
	page_markup(page, "</title></path>\n");
}

/* Returns one of the three values that a prototype has of a metric: the lowest, the middle and the highest one. */
static double reach(const json_t *prototype, const char *metric, unsigned which)
{
	const json_t *value = json_array_get(json_object_get(prototype, metric), which);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Writes the prototypes as rings around the bursts that they reach. */
static void write_rings(struct scatter *scatter)
{
	const json_t *prototype;
	size_t i;

	if (scatter->axes != IPC_BY_INSTRUCTIONS)
		return;
	json_array_foreach (json_object_get(scatter->sample, "prototypes"), i, prototype) {
		double x = x_of(scatter, log10(reach(prototype, "instructions", 1)));
		double right = x_of(scatter, log10(reach(prototype, "instructions", 2)));
		double y = reach(prototype, "ipc", 1) / scatter->most;
		double high = reach(prototype, "ipc", 2) / scatter->most;

		if (!(right > x) || !(high > y) || !isfinite(right) || !isfinite(high) ||
				find_phase(scatter, report_get(prototype, "phase")) ==
						scatter->phases)
			continue;
		page_markup(scatter->page,
				"<ellipse cx=\"%.2f%%\" cy=\"%.2f%%\" rx=\"%.2f%%\" ry=\"%.2f%%\" "
				"fill=\"none\" data-phase=\"%.0f\" stroke=\"%s\"/>\n",
				100 * x, 100 * (1 - y), 100 * (right - x), 100 * (high - y),
				report_get(prototype, "phase"),
				pattern_colour(scatter->page->report,
						report_get(prototype, "phase")));
	}
}

static double x_of_dot(const struct dot *dot)
{
	return dot->x;
}

static double y_of_dot(const struct dot *dot)
{
	return dot->y;
}

/* Writes the number of a phase above the middle of its bursts. */
static void write_number(struct scatter *scatter, unsigned first, unsigned count)
{
	char text[32];
	double x, y;

	if (!scatter->counted || !(scatter->dot[first].phase > 0))
		return;
	sort_values(scatter, first, count, x_of_dot);
	x = quantile(scatter->value, count, 0.5) / UNITS;
	sort_values(scatter, first, count, y_of_dot);
	y = quantile(scatter->value, count, 0.5) / UNITS;
	snprintf(text, sizeof(text), "%.0f", scatter->dot[first].phase);
	page_markup(scatter->page, "<g data-phase=\"%s\">", text);
	write_label(scatter, "over", LEFT + WIDTH * x, TOP + (int)(HEIGHT * y) - 7, text);
	page_markup(scatter->page, "</g>\n");
}

/* Calls a function with the bursts of each phase. */
static void each_phase(struct scatter *scatter,
		void (*write)(struct scatter *scatter, unsigned first, unsigned count))
{
	for (unsigned first = 0, count; first < scatter->count; first += count) {
		count = count_phase(scatter, first);
		write(scatter, first, count);
	}
}

static void write_plot(struct scatter *scatter)
{
	struct page *page = scatter->page;

	page_markup(page,
			"<rect class=\"track\" fill=\"none\" stroke=\"#999999\" x=\"%.0f%%\" y=\"%d\" "
			"width=\"%.0f%%\" height=\"%d\"/>\n",
			LEFT, TOP, WIDTH, HEIGHT);
	write_upward(scatter);
	write_across(scatter);
	page_markup(page, "<svg x=\"%.0f%%\" y=\"%d\" width=\"%.0f%%\" height=\"%d\">\n", LEFT, TOP,
			WIDTH, HEIGHT);
	page_markup(page, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n", UNITS,
			UNITS);
	each_line(scatter, write_line);
	page_markup(page, "</svg>\n");
	write_rings(scatter);
	page_markup(page, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n", UNITS,
			UNITS);
	each_phase(scatter, write_points);
	page_markup(page, "</svg>\n</svg>\n");
	each_line(scatter, label_line);
	each_phase(scatter, write_number);
}

/* ---- words ---- */

static double seconds_of(const struct dot *dot)
{
	return dot->seconds;
}

static double instructions_of(const struct dot *dot)
{
	return dot->instructions;
}

static double ipc_of(const struct dot *dot)
{
	return dot->ipc;
}

static void write_row(struct scatter *scatter, unsigned first, unsigned count)
{
	struct page *page = scatter->page;

	page_markup(page, "<tr ");
	write_phase_of(page, scatter->dot[first].phase);
	page_markup(page, "><th scope=\"row\">");
	name_phase(scatter, scatter->dot[first].phase);
	page_markup(page, "</th>");
	page_cell(page, "n", "%u", count);
	sort_values(scatter, first, count, seconds_of);
	for (unsigned i = 1; i <= 9; i += 4)
		page_cell(page, "n", "%s",
				format_seconds(quantile(scatter->value, count, i / 10.)).text);
	if (scatter->counted) {
		sort_values(scatter, first, count, instructions_of);
		page_cell(page, "n", "%s", format_count(quantile(scatter->value, count, 0.5)).text);
		sort_values(scatter, first, count, ipc_of);
		page_cell(page, "n", "%.2f", quantile(scatter->value, count, 0.5));
	}
	page_markup(page, "</tr>\n");
}

static void write_table(struct scatter *scatter)
{
	page_markup(scatter->page,
			"<details><summary>The bursts of the sample as a table</summary>\n"
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the "
			"sample\">\n<table class=\"rows\">\n<tr><th scope=\"col\">phase</th><th "
			"scope=\"col\" class=\"n\">bursts</th><th scope=\"col\" class=\"n\">duration: 10%% "
			"are below</th><th scope=\"col\" class=\"n\">50%%</th><th scope=\"col\" "
			"class=\"n\">90%%</th>%s</tr>\n",
			scatter->counted ? "<th scope=\"col\" class=\"n\">median instr.</th><th "
					   "scope=\"col\" class=\"n\">median IPC</th>" :
					   "");
	each_phase(scatter, write_row);
	page_markup(scatter->page, "</table>\n</div>\n</details>\n");
}

static void write_caption(struct scatter *scatter)
{
	page_markup(scatter->page, "<figcaption>");
	page_words(scatter->page,
			"%u bursts, drawn at random. Longer ones are more likely, in proportion to their "
			"length. ",
			scatter->count);
	if (scatter->counted)
		page_words(scatter->page,
				"Numbers and colours: phases; grey dots: smaller phases; grey squares: in no phase. Rings: what the "
				"prototypes of a phase reach. Dashed lines: bursts of equal duration at "
				"%.3g GHz, which is the median of the sample.",
				scatter->clock * 1e-9);
	else
		page_words(scatter->page,
				"A row for each phase; the last one has those in smaller phases, and in none. "
				"The height within a row has no meaning.");
	page_markup(scatter->page, "</figcaption>\n");
}

/* Writes the figure with these axes, without its caption. */
static void write_figure(struct scatter *scatter, enum axes axes)
{
	scatter->axes = axes;
	scatter->labels = 0;
	find_range(scatter);
	place_dots(scatter);
	page_markup(scatter->page,
			"<figure>\n<svg class=\"figure bursts\" role=\"img\" width=\"100%%\" "
			"height=\"%d\" aria-label=\"Bursts of the sample\"><title>Bursts of the "
			"sample</title>\n",
			TOP + HEIGHT + FOOT);
	write_plot(scatter);
	page_markup(scatter->page, "</svg>\n");
}

/* Writes the figures with other axes, folded. */
static void write_other_axes(struct scatter *scatter)
{
	static const char *const names[] = {
		[IPC_BY_DURATION] = "duration and IPC",
		[INSTRUCTIONS_BY_DURATION] = "duration and instructions",
	};

	for (enum axes axes = IPC_BY_DURATION; axes <= INSTRUCTIONS_BY_DURATION; axes++) {
		page_markup(scatter->page, "<details><summary>The same bursts by %s</summary>\n",
				names[axes]);
		write_figure(scatter, axes);
		page_markup(scatter->page, "</figure>\n</details>\n");
	}
}

void page_scatter(struct page *page)
{
	struct scatter *scatter = calloc(1, sizeof(*scatter));

	if (!scatter)
		return;
	scatter->page = page;
	scatter->sample = json_object_get(page->report, "sample");
	read_dots(scatter);
	if (!scatter->count) {
		page_markup(page, "<p class=\"missing\">No burst of the sample is known.</p>\n");
	} else {
		choose_phases(scatter);
		if (scatter->counted)
			find_clock(scatter);
		write_figure(scatter, scatter->counted ? IPC_BY_INSTRUCTIONS : ROWS_BY_DURATION);
		write_caption(scatter);
		page_markup(page, "</figure>\n");
		if (scatter->counted)
			write_other_axes(scatter);
		write_table(scatter);
	}
	free(scatter);
}
