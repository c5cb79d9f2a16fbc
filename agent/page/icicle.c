/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/icicle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/page/parts/label.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/place.h"
#include "agent/text/report_line.h"

/* Horizontal positions are percentages of the figure, and vertical ones are pixels, as in stack.c. */
#define ROW         22  /* px, height of a frame */
#define ROWS_MAX    28  /* frames of a stack that are drawn */
#define NODES_MAX   768 /* frames of a figure */
#define NARROWEST   0.3 /* %, of a frame that is drawn */
#define FIGURES_MAX 8   /* phases */
#define TABLE_ROWS  12  /* stacks of a phase in its table */
#define TEXT_STACK  64  /* characters of each name in the table */

#define LABEL_PX(chars) (8.0 * (double)(chars) + 8) /* room for a label */

/* A frame with all samples that have the same frames above it. */
struct node {
	const char *name; /* "": callers that are not known */
	bool line;        /* a line of the function above, and not a function */
	unsigned parent, depth;
	double samples;
	double used; /* samples of the frames below it that have their place */
	double at;   /* samples left of it */
};

/* The frames of a phase. Number 0 is the phase itself, and frames come after those above them. */
struct icicle {
	unsigned count, rows;
	double left_out; /* samples of stacks for which there was no room */
	struct node node[NODES_MAX];
};

static const json_t *stacks_of(const json_t *phase)
{
	return json_object_get(json_object_get(json_object_get(phase, "profile"), "stacks"),
			"stacks");
}

/* ---- the frames ---- */

/* Returns the number of a frame below another one, which is added if it is missing; 0 without room. */
static unsigned find_frame(struct icicle *icicle, unsigned parent, const char *name, bool line)
{
	const unsigned depth = icicle->node[parent].depth + 1;

	for (unsigned i = parent + 1; i < icicle->count; i++)
		if (icicle->node[i].parent == parent && icicle->node[i].line == line &&
				strcmp(icicle->node[i].name, name) == 0)
			return i;
	if (icicle->count == NODES_MAX || depth >= ROWS_MAX)
		return 0;
	icicle->node[icicle->count] = (struct node){ .name = name,
		.line = line,
		.parent = parent,
		.depth = depth };
	if (icicle->rows <= depth)
		icicle->rows = depth + 1;
	return icicle->count++;
}

static void add_stack(struct icicle *icicle, const json_t *stack)
{
	const json_t *line = json_object_get(stack, "line"), *frame;
	double samples = report_get(stack, "samples");
	unsigned at = 0, next = 0;
	size_t i;

	if (!(samples >= 1))
		return;
	icicle->node[0].samples += samples;
	json_array_foreach (json_object_get(stack, "frames"), i, frame) {
		next = find_frame(icicle, at, json_is_string(frame) ? json_string_value(frame) : "",
				false);
		if (!next)
			break;
		icicle->node[next].samples += samples;
		at = next;
	}
	if (next && json_is_string(line)) {
		next = find_frame(icicle, at, json_string_value(line), true);
		if (next)
			icicle->node[next].samples += samples;
	}
	icicle->left_out += next ? 0 : samples;
}

/* Fills the frames of a phase. */
static void fill_icicle(struct icicle *icicle, const json_t *stacks)
{
	const json_t *stack;
	size_t i;

	icicle->count = icicle->rows = 1;
	icicle->left_out = 0;
	icicle->node[0] = (struct node){ .depth = 0 };
	json_array_foreach (stacks, i, stack)
		add_stack(icicle, stack);
	for (unsigned k = 1; k < icicle->count; k++) {
		struct node *node = &icicle->node[k], *parent = &icicle->node[node->parent];

		node->at = parent->at + parent->used;
		parent->used += node->samples;
	}
}

/* ---- the figure ---- */

/* Returns the name of a frame with at most this many characters. */
static struct place_text frame_name(const struct node *node, size_t most)
{
	const char *slash = node->line ? strrchr(node->name, '/') : NULL;

	return place_name(!*node->name        ? "callers not known" :
					slash ? slash + 1 :
						node->name,
			most);
}

/* Writes the name into a frame, as long as the frame has room for on screens of some width. */
static void write_name(struct page *page, const struct node *node, double x, double width)
{
	static const size_t most[] = { PLACE_NAME_MAX, 40, 24, 14, 8 };

	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		struct place_text name = frame_name(node, most[i]);
		struct label_room room = label_room(LABEL_PX(strlen(name.text)));

		/* the last one is written if the frame has room for it on any screen */
		if (width < (i + 1 < sizeof(most) / sizeof(*most) ? room.wide : room.wider))
			continue;
		page_markup(page, "<text class=\"small%s\" x=\"%.2f%%\" dx=\"4\" y=\"%u\">",
				label_class(width, &room), x, node->depth * ROW + 15);
		page_text(page, name.text);
		page_markup(page, "</text>\n");
		return;
	}
}

static void write_frame(struct page *page, const struct icicle *icicle, const struct node *node)
{
	double all = icicle->node[0].samples;
	double x = node->at / all * 100, width = node->samples / all * 100;

	if (width < NARROWEST)
		return;
	page_markup(page, "<g><title>");
	page_words(page, "%s: %s of the samples (%.0f)", frame_name(node, PLACE_NAME_MAX).text,
			format_whole_percent(node->samples / all).text, node->samples);
	page_markup(page,
			"</title><rect class=\"track\" x=\"%.2f%%\" y=\"%u\" width=\"%.2f%%\" "
			"height=\"%d\"%s/></g>\n",
			x, node->depth * ROW, width, ROW,
			*node->name ? "" : " stroke-dasharray=\"3 3\"");
	write_name(page, node, x, width);
}

static void write_table(struct page *page, const json_t *stacks, double all)
{
	const json_t *stack, *frame;
	size_t i, k;

	page_markup(page,
			"<details><summary>The stacks with most samples as a table</summary>\n"
			"<table class=\"rows\">\n<tr><th scope=\"col\" class=\"n\">samples</th><th "
			"scope=\"col\">stack, from the outermost function to the sampled one</th></tr>\n");
	json_array_foreach (stacks, i, stack) {
		double samples = report_get(stack, "samples");

		if (i == TABLE_ROWS)
			break;
		page_markup(page, "<tr><td class=\"n\">");
		page_words(page, "%s", format_whole_percent(samples / all).text);
		page_markup(page, "</td><td>");
		json_array_foreach (json_object_get(stack, "frames"), k, frame) {
			page_markup(page, k ? " &rarr; " : "");
			page_text(page,
					json_is_string(frame) ? place_name(json_string_value(frame),
										TEXT_STACK)
										.text :
								"(not known)");
		}
		if (json_is_string(json_object_get(stack, "line"))) {
			page_markup(page, "<br><code>");
			page_text(page,
					place_name(report_get_text(stack, "line"), PLACE_NAME_MAX)
							.text);
			page_markup(page, "</code>");
		}
		page_markup(page, "</td></tr>\n");
	}
	page_markup(page, "</table>\n</details>\n");
}

static void write_icicle(struct page *page, const json_t *phase, struct icicle *icicle)
{
	const json_t *stacks = stacks_of(phase);
	char name[32];

	fill_icicle(icicle, stacks);
	if (!(icicle->node[0].samples > 0))
		return;
	snprintf(name, sizeof(name), "phase %.0f", report_get(phase, "id"));
	icicle->node[0].name = name;
	page_markup(page,
			"<div data-phase=\"%.0f\">\n<figure>\n<svg class=\"figure\" role=\"img\" "
			"width=\"100%%\" height=\"%u\" aria-label=\"Call stacks of %s\"><title>Call "
			"stacks of %s</title>\n",
			report_get(phase, "id"), icicle->rows * ROW + 1, name, name);
	for (unsigned i = 0; i < icicle->count; i++)
		write_frame(page, icicle, &icicle->node[i]);
	page_markup(page, "</svg>\n</figure>\n");
	write_table(page, stacks, icicle->node[0].samples);
	page_markup(page, "</div>\n");
}

/* Returns whether a stack of the phase has a caller that is known. */
static bool has_callers(const json_t *phase)
{
	const json_t *stack, *frames;
	size_t i;

	json_array_foreach (stacks_of(phase), i, stack) {
		frames = json_object_get(stack, "frames");
		if (json_is_string(json_array_get(frames, 0)) ? json_array_size(frames) > 1 :
								json_array_size(frames) > 2)
			return true;
	}
	return false;
}

/* Writes the share of the samples whose stack is whole, and what would raise it. left: phases have no figure. */
static void write_known(struct page *page, bool left)
{
	const json_t *phase;
	double all = 0, whole = 0;
	size_t i;

	json_array_foreach (json_object_get(page->report, "phases"), i, phase) {
		const json_t *stacks = json_object_get(json_object_get(phase, "profile"), "stacks");

		if (json_is_object(stacks)) {
			all += report_get_in(phase, "profile", "samples");
			whole += report_get(stacks, "whole");
		}
	}
	if (!(all > 0) || whole >= all)
		return;
	page_markup(page, "<p class=\"note\">");
	page_words(page,
			"%s of the samples are known up to the program's main function. Callers are "
			"missing where code was compiled without frame pointers "
			"(-fno-omit-frame-pointer keeps them).%s",
			format_whole_percent(whole / all).text,
			left ? " Phases without any known caller have no figure." : "");
	page_markup(page, "</p>\n");
}

void page_icicles(struct page *page)
{
	struct icicle *icicle = malloc(sizeof(*icicle));
	const json_t *phase;
	unsigned figures = 0;
	bool any = false, left = false;
	size_t i;

	json_array_foreach (json_object_get(page->report, "phases"), i, phase)
		any |= json_array_size(stacks_of(phase)) > 0;
	if (any && icicle) {
		page_markup(page,
				"<h3>Call stacks of the samples</h3>\n<p>Each function stands below "
				"the one that called it, as wide as its share of the samples of the "
				"phase. The sampled line is last.</p>\n");
		json_array_foreach (json_object_get(page->report, "phases"), i, phase)
			if (!has_callers(phase)) {
				left |= json_array_size(stacks_of(phase)) > 0;
			} else if (figures < FIGURES_MAX && phase_is_shown(phase)) {
				write_icicle(page, phase, icicle);
				figures++;
			}
		write_known(page, left);
	}
	free(icicle);
}
