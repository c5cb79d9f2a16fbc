/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/formulas.h"

#include <string.h>

#include "agent/page/parts/glossary.h"
#include "agent/text/report_line.h"
#include "multiplex/models/models.h"

json_t *formulas_load(const json_t *report)
{
	const char *name = report_get_text(report, "model");

	for (unsigned i = 0; i < model_text_count; i++)
		if (strcmp(model_texts[i].name, name) == 0)
			return json_loads(model_texts[i].text, 0, NULL);
	return NULL;
}

/* ---- links ---- */

/* Returns the place in a list of the model of the object with this name; the length of the list if there is none. */
static size_t place_of(const json_t *list, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(report_get_text(one, "name"), name) == 0)
			break;
	return i;
}

static bool has_named(const json_t *list, const char *name)
{
	return place_of(list, name) < json_array_size(list);
}

/* Returns whether the model has a component with this name, or a part of one. */
static bool has_component(const json_t *model, const char *name)
{
	const json_t *components = json_object_get(model, "components"), *component;
	size_t i;

	if (has_named(components, name) || !strcmp(report_get_text(model, "rest"), name))
		return true;
	json_array_foreach (components, i, component)
		if (has_named(json_object_get(component, "parts"), name) ||
				!strcmp(report_get_text(component, "rest"), name))
			return true;
	return false;
}

/* Writes a name as a link to the row of its kind. */
static void write_link(struct page *page, const char *kind, const char *name)
{
	page_markup(page, "<a class=\"term\" href=\"#%s-", kind);
	glossary_write_id(page, name, strlen(name));
	page_markup(page, "\">");
	page_text(page, name);
	page_markup(page, "</a>");
}

void page_component_name(struct page *page, const char *name)
{
	if (!glossary_has(name) && has_component(page->model, name))
		write_link(page, "component", name);
	else
		page_term(page, name);
}

void page_metric_name(struct page *page, const char *name)
{
	if (has_named(json_object_get(page->model, "metrics"), name))
		write_link(page, "metric", name);
	else
		page_text(page, name);
}

void page_event_name(struct page *page, const char *name)
{
	const json_t *events = json_object_get(page->model, "events");
	bool is_known = has_named(events, name);

	/* without more, because a page of many phases has thousands of them */
	page_markup(page, "<code>");
	if (is_known)
		page_markup(page, "<a href=\"#event-%zu\">", place_of(events, name));
	page_text(page, name);
	page_markup(page, is_known ? "</a></code>" : "</code>");
}

/* ---- rows ---- */

/* Starts a row with a name, to which links of its kind lead. Parts of different components may have one name. */
static void start_row(struct page *page, json_t *seen, const char *kind, const char *name)
{
	page_markup(page, "<dt");
	if (!json_object_get(seen, name)) {
		page_markup(page, " id=\"%s-", kind);
		glossary_write_id(page, name, strlen(name));
		page_markup(page, "\"");
		json_object_set_new(seen, name, json_true());
	}
	page_markup(page, ">");
	page_text(page, name);
	page_markup(page, "</dt>\n<dd>");
}

static void end_row(struct page *page, const char *formula)
{
	page_markup(page, " <code>");
	page_text(page, formula);
	page_markup(page, "</code></dd>\n");
}

/* Writes a component and its parts. */
static void write_component(struct page *page, json_t *seen, const json_t *component)
{
	const char *name = report_get_text(component, "name"), *rest;
	const json_t *part;
	size_t i;

	start_row(page, seen, "component", name);
	page_words(page, "cycles:");
	end_row(page, report_get_text(component, "cycles"));
	json_array_foreach (json_object_get(component, "parts"), i, part) {
		start_row(page, seen, "component", report_get_text(part, "name"));
		page_words(page, "share of %s:", name);
		end_row(page, report_get_text(part, "share"));
	}
	rest = report_get_text(component, "rest");
	if (!*rest || !json_array_size(json_object_get(component, "parts")))
		return;
	start_row(page, seen, "component", rest);
	page_words(page, "what is left of %s", name);
	page_markup(page, "</dd>\n");
}

static void write_components(struct page *page)
{
	const json_t *components = json_object_get(page->model, "components"), *component;
	const char *rest = report_get_text(page->model, "rest");
	json_t *seen = json_object();
	size_t i;

	json_array_foreach (components, i, component)
		write_component(page, seen, component);
	if (*rest) {
		start_row(page, seen, "component", rest);
		page_words(page, "what is left of the cycles");
		page_markup(page, "</dd>\n");
	}
	json_decref(seen);
}

static void write_metrics(struct page *page)
{
	const json_t *metric;
	json_t *seen = json_object();
	size_t i;

	json_array_foreach (json_object_get(page->model, "metrics"), i, metric) {
		const char *name = report_get_text(metric, "name");
		const char *unit = report_get_text(metric, "unit");

		start_row(page, seen, "metric", name);
		glossary_write_meaning(page, GLOSSARY_METRICS, name);
		page_words(page, *unit ? "In %s:" : "%sFormula:", unit);
		end_row(page, report_get_text(metric, "value"));
	}
	json_decref(seen);
}

static void write_events(struct page *page)
{
	const json_t *event;
	size_t i;

	json_array_foreach (json_object_get(page->model, "events"), i, event) {
		page_markup(page, "<dt id=\"event-%zu\">", i);
		page_text(page, report_get_text(event, "name"));
		page_markup(page, "</dt>\n<dd>");
		page_text(page, report_get_text(event, "description"));
		page_markup(page, "</dd>\n");
	}
}

void page_formulas(struct page *page)
{
	static const struct {
		const char *key, *title;
		void (*write)(struct page *page);
	} lists[] = {
		{ "components", "Formulas of the CPI components", write_components },
		{ "metrics", "Metrics, and their formulas", write_metrics },
		{ "events", "Events", write_events },
	};

	if (!page->model)
		return;
	page_markup(page, "<h3>Model ");
	page_text(page, report_get_text(page->report, "model"));
	page_markup(page, "</h3>\n<p>");
	page_text(page, report_get_text(page->model, "title"));
	page_markup(page,
			". <code>seconds</code> in a formula is the mean duration of a burst.</p>\n");
	for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!json_array_size(json_object_get(page->model, lists[i].key)))
			continue;
		page_markup(page, "<h3>%s</h3>\n<dl>\n", lists[i].title);
		lists[i].write(page);
		page_markup(page, "</dl>\n");
	}
}
