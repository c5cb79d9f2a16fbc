/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/page/bars.h"
#include "agent/page/figures/scatter.h"
#include "agent/page/figures/trainings.h"
#include "agent/page/parts/formulas.h"
#include "agent/page/parts/glossary.h"
#include "agent/page/parts/markup.h"
#include "agent/page/outlook.h"
#include "agent/page/phases.h"
#include "agent/page/places.h"
#include "agent/page/stack.h"
#include "agent/page/timeline.h"
#include "agent/page/verdict.h"
#include "agent/text/report_structure.h"
#include "agent/text/report_text.h"
#include "agent/text/statements.h"

/* Writes the structure of the calls as the text has it. */
static void write_structure(struct page *page)
{
	report_structure(page->words, page->report);
	page_markup(page, "<pre>");
	page_flush_lines(page, "", "");
	page_markup(page, "</pre>\n");
}

static bool has_structure(const json_t *report)
{
	return json_is_object(json_object_get(report, "structure"));
}

static void write_glossary(struct page *page)
{
	page_terms(page, page_formulas);
}

/* The page's views, in the order in which people ask for them. */
static const struct view {
	const char *name, *title;
	void (*write)(struct page *page);
	bool (*has)(const json_t *report); /* whether the report has it; NULL: each has */
} views[] = {
	{ "verdict", "Verdict", page_verdict, NULL },
	{ "time", "Where the computing time goes", page_stacks, NULL },
	{ "phases", "Phases", page_phases, NULL },
	{ "timeline", "Phases over the time of the run", page_timeline, page_has_timeline },
	{ "bursts", "Bursts", page_scatter, page_has_scatter },
	{ "efficiency", "Efficiency", page_efficiency, NULL },
	{ "outlook", "What a change would bring", page_outlook, page_has_outlook },
	{ "structure", "Structure of the calls", write_structure, has_structure },
	{ "source", "Source and call paths", page_places, NULL },
	{ "trainings", "When the phases were known", page_trainings, page_has_trainings },
	{ "glossary", "Glossary", write_glossary, NULL },
};

#define VIEWS (sizeof(views) / sizeof(*views))

static void write_command(struct page *page)
{
	statements_head[0].write(page->words, page->report);
	page_flush(page);
}

static void write_top(struct page *page)
{
	page_markup(page, "<header>\n<h1>phasemux: ");
	write_command(page);
	page_markup(page, "</h1>\n<nav aria-label=\"Views\">\n<ul>\n");
	for (size_t i = 0; i < VIEWS; i++)
		if (!views[i].has || views[i].has(page->report))
			page_markup(page, "<li><a href=\"#%s\">%s</a></li>\n", views[i].name,
					views[i].title);
	page_markup(page, "</ul>\n</nav>\n</header>\n<main>\n");
}

static void write_views(struct page *page)
{
	for (size_t i = 0; i < VIEWS; i++) {
		if (views[i].has && !views[i].has(page->report))
			continue;
		page_markup(page,
				"<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
				views[i].name, views[i].name, views[i].name, views[i].title);
		views[i].write(page);
		page_markup(page, "</section>\n");
	}
}

char *page_html(const json_t *report, char *why, size_t why_size)
{
	struct page page;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!report_is_valid(report, why, why_size))
		return NULL;
	snprintf(why, why_size, "no memory");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (page_init(&page, report, out) == 0) {
		page.model = formulas_load(report);
		page_head(&page, write_command);
		write_top(&page);
		write_views(&page);
		page_foot(&page, "report.json");
	} else {
		fputc('\0', out);
	}
	json_decref(page.model);
	page_fini(&page);
	if (fclose(out) == 0 && text && *text)
		return text;
	free(text);
	return NULL;
}
