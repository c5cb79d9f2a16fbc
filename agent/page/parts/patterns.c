/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/patterns.h"

#include <math.h>

#include "agent/page/parts/losses.h"
#include "agent/text/report_line.h"
#include "cluster/colours.h"

/*
 * Marks of the patterns of components and phases, by which they are told apart without colour. Slanted lines are left to
 * what is not known. Losses have the colours of phases, in the order in which the report names them.
 */
static const char *const marks[] = {
	"",                                                  /* work */
	"<circle cx=\"5\" cy=\"5\" r=\"1\" fill=\"#333\"/>", /* not explained */
	"",
	"<circle cx=\"5\" cy=\"5\" r=\"1.2\" fill=\"#000\"/>",
	"<path d=\"M0 5h10\" stroke=\"#fff\" stroke-width=\"1.2\"/>",
	"<path d=\"M5 0v10\" stroke=\"#5a3d00\" stroke-width=\"1\"/>",
	"<circle cx=\"5\" cy=\"5\" r=\"2.2\" fill=\"none\" stroke=\"#fff\"/>",
	"<path d=\"M5 3v4M3 5h4\" stroke=\"#000\"/>",
	"<path d=\"M0 5h10M5 0v10\" stroke=\"#6b6500\" stroke-width=\".8\"/>",
	"<path d=\"M3 3h4v4h-4z\" fill=\"none\" stroke=\"#fff\"/>",
};

#define PATTERNS    ((unsigned)(sizeof(marks) / sizeof(*marks)))
#define LOSSES      2 /* number of the first pattern of a loss */
#define WORK_COLOUR "#c4c8cc"

static const char *colour_number(unsigned number)
{
	return number < LOSSES ? WORK_COLOUR : colour_of_phase(number - LOSSES);
}

static struct pattern pattern_number(unsigned number)
{
	struct pattern pattern;

	snprintf(pattern.text, sizeof(pattern.text), "url(#c%u)", number);
	return pattern;
}

struct pattern pattern_of_component(const char *component, unsigned losses)
{
	enum component_kind kind = component_kind(component);
	unsigned number = kind == COMPONENT_WORK      ? 0 :
			kind == COMPONENT_UNEXPLAINED ? 1 :
							LOSSES + losses % (PATTERNS - LOSSES);

	return pattern_number(number);
}

/* Returns the place of a phase in the report, from 0. */
static unsigned phase_place(const json_t *report, double id)
{
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (report_get(phase, "id") == id)
			break;
	return (unsigned)i;
}

struct pattern pattern_of_phase(const json_t *report, double id)
{
	return pattern_number(LOSSES + phase_place(report, id) % (PATTERNS - LOSSES));
}

const char *pattern_colour(const json_t *report, double id)
{
	return colour_of_phase(phase_place(report, id));
}

double axis_step(double most)
{
	double power = pow(10, floor(log10(most / 6)));

	return most / power <= 6 * 2 ? 2 * power : most / power <= 6 * 5 ? 5 * power : 10 * power;
}

void patterns_write(struct page *page)
{
	page_markup(page,
			"<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n");
	for (unsigned i = 0; i < PATTERNS; i++)
		page_markup(page,
				"<pattern id=\"c%u\" width=\"10\" height=\"10\" "
				"patternUnits=\"userSpaceOnUse\"><rect width=\"10\" height=\"10\" "
				"fill=\"%s\"/><g opacity=\".6\">%s</g></pattern>\n",
				i, colour_number(i), marks[i]);
	page_markup(page,
			"<pattern id=\"unknown\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
			"patternTransform=\"rotate(45)\"><rect class=\"hatch\" width=\"8\" height=\"8\" "
			"fill=\"#ffffff\"/><path class=\"hatch-line\" d=\"M0 4h8\" stroke=\"#777777\" "
			"stroke-width=\"1.5\"/></pattern>\n<pattern id=\"waiting\" width=\"10\" "
			"height=\"10\" patternUnits=\"userSpaceOnUse\"><rect width=\"10\" height=\"10\" "
			"fill=\"#c4c8cc\" fill-opacity=\".6\"/></pattern>\n</defs></svg>\n");
}

void pattern_swatch(struct page *page, const char *fill)
{
	page_markup(page,
			"<li><svg width=\"18\" height=\"18\" aria-hidden=\"true\"><rect class=\"part\" x=\"1\" "
			"y=\"1\" width=\"16\" height=\"16\" fill=\"%s\"/></svg> ",
			fill);
}
