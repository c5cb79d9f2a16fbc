/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/models/model.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/models/expression.h"
#include "multiplex/models/models.h"

#define PARTS_MAX     6
#define VARIABLES_MAX (PLAN_EVENTS_MAX + 1) /* the events, then the phase's seconds per burst */

struct part {
	char name[48];
	struct expression share; /* part of the component, 0 to 1 */
};

struct component {
	char name[48];
	char rest[48];            /* name of what no part explains; "" without parts */
	struct expression cycles; /* per burst */
	unsigned parts;
	struct part part[PARTS_MAX];
};

struct formula {
	char name[48];
	char unit[16];
	struct expression value;
};

struct model {
	const char *name;
	unsigned events, common;
	struct model_event event[PLAN_EVENTS_MAX];
	unsigned components,
			written; /* number in the model, and number that model_breakdown writes */
	struct component component[MODEL_COMPONENTS_MAX];
	char rest[48];
	unsigned metrics;
	struct formula metric[MODEL_METRICS_MAX];
};

/* The model that is parsed, and the room for an error message. */
struct reader {
	struct model *model;
	char *why;
	size_t why_size;
};

static int complain(const struct reader *r, const char *what, const char *of)
{
	snprintf(r->why, r->why_size, "model %s: %s%s%s", r->model->name, what, *of ? " of " : "",
			of);
	return -EINVAL;
}

static int read_text(const struct reader *r, const json_t *object, const char *key, char *out,
		size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || strlen(text) >= size)
		return complain(r, "missing or too long text", key);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

static int find_variable(void *data, const char *name, size_t length)
{
	const struct model *model = data;

	for (unsigned e = 0; e < model->events; e++)
		if (strlen(model->event[e].name) == length &&
				memcmp(model->event[e].name, name, length) == 0)
			return e;
	return length == 7 && memcmp(name, "seconds", 7) == 0 ? (int)model->events : -1;
}

static int read_formula(const struct reader *r, const json_t *object, const char *key,
		struct expression *out)
{
	const char *text = json_string_value(json_object_get(object, key));
	char why[192];

	if (!text)
		return complain(r, "missing formula", key);
	if (expression_compile(out, text, find_variable, r->model, why, sizeof(why)))
		return complain(r, why, "");
	return 0;
}

static int read_event(const struct reader *r, const json_t *object, struct model_event *event)
{
	const char *config = json_string_value(json_object_get(object, "config"));
	const json_t *on = json_object_get(object, "on");
	char *end;

	if (read_text(r, object, "name", event->name, sizeof(event->name)) ||
			read_text(r, object, "libpfm", event->libpfm, sizeof(event->libpfm)) ||
			read_text(r, object, "description", event->description,
					sizeof(event->description)))
		return -EINVAL;
	event->raw = config != NULL;
	if (config) {
		event->type = json_integer_value(json_object_get(object, "type"));
		event->config = strtoull(config, &end, 0);
		if (*end || end == config)
			return complain(r, "bad config", event->name);
	} else if (!event->libpfm[0]) {
		return complain(r, "neither config nor libpfm name", event->name);
	}
	event->together = json_integer_value(json_object_get(object, "set"));
	event->busy = json_is_true(json_object_get(object, "busy"));
	for (size_t i = 0; i < json_array_size(on); i++)
		event->counter_set |= 1 << (json_integer_value(json_array_get(on, i)) & 15);
	return 0;
}

static int read_component(const struct reader *r, const json_t *object, struct component *out)
{
	const json_t *parts = json_object_get(object, "parts");

	if (read_text(r, object, "name", out->name, sizeof(out->name)) ||
			read_formula(r, object, "cycles", &out->cycles))
		return -EINVAL;
	out->parts = json_array_size(parts);
	if (out->parts > PARTS_MAX)
		return complain(r, "too many parts", out->name);
	for (unsigned i = 0; i < out->parts; i++) {
		const json_t *part = json_array_get(parts, i);

		if (read_text(r, part, "name", out->part[i].name, sizeof(out->part[i].name)) ||
				read_formula(r, part, "share", &out->part[i].share))
			return -EINVAL;
	}
	return out->parts ? read_text(r, object, "rest", out->rest, sizeof(out->rest)) : 0;
}

static int read_model(const struct reader *r, const json_t *root)
{
	const json_t *events = json_object_get(root, "events");
	const json_t *components = json_object_get(root, "components");
	const json_t *metrics = json_object_get(root, "metrics");
	struct model *model = r->model;

	model->events = json_array_size(events);
	model->common = json_integer_value(json_object_get(root, "common"));
	model->components = json_array_size(components);
	model->metrics = json_array_size(metrics);
	if (!model->events || model->events > PLAN_EVENTS_MAX || model->common > model->events ||
			model->components >= MODEL_COMPONENTS_MAX ||
			model->metrics > MODEL_METRICS_MAX)
		return complain(r, "no or too many events, components or metrics", "");
	for (unsigned i = 0; i < model->events; i++)
		if (read_event(r, json_array_get(events, i), &model->event[i]))
			return -EINVAL;
	for (unsigned i = 0; i < model->components; i++) {
		struct component *component = &model->component[i];

		if (read_component(r, json_array_get(components, i), component))
			return -EINVAL;
		model->written += 1 + (component->parts ? component->parts + 1 : 0);
	}
	if (model->components &&
			(++model->written > MODEL_COMPONENTS_MAX ||
					read_text(r, root, "rest", model->rest,
							sizeof(model->rest))))
		return complain(r, "too many components, or no rest", "");
	for (unsigned i = 0; i < model->metrics; i++) {
		const json_t *metric = json_array_get(metrics, i);
		struct formula *out = &model->metric[i];

		if (read_text(r, metric, "name", out->name, sizeof(out->name)) ||
				read_text(r, metric, "unit", out->unit, sizeof(out->unit)) ||
				read_formula(r, metric, "value", &out->value))
			return -EINVAL;
	}
	return 0;
}

static const struct model_text *find_text(const char *name)
{
	for (unsigned i = 0; i < model_text_count; i++)
		if (strcmp(model_texts[i].name, name) == 0)
			return &model_texts[i];
	return NULL;
}

unsigned model_count(void)
{
	return model_text_count;
}

const char *model_name_of(unsigned index)
{
	return index < model_text_count ? model_texts[index].name : NULL;
}

const char *model_title_of(unsigned index)
{
	return index < model_text_count ? model_texts[index].title : NULL;
}

struct model *model_load(const char *name, char *why, size_t why_size)
{
	const struct model_text *text = find_text(name);
	struct reader reader = { .why = why, .why_size = why ? why_size : 0 };
	json_error_t error;
	json_t *root;

	if (!text) {
		snprintf(why, reader.why_size, "no model \"%s\"", name);
		return NULL;
	}
	reader.model = calloc(1, sizeof(*reader.model));
	if (!reader.model) {
		snprintf(why, reader.why_size, "out of memory");
		return NULL;
	}
	reader.model->name = text->name;
	root = json_loads(text->text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		complain(&reader, *error.text ? error.text : "out of memory", "");
	if (!root || read_model(&reader, root)) {
		json_decref(root);
		free(reader.model);
		return NULL;
	}
	json_decref(root);
	return reader.model;
}

/* Returns whether a row of "processors" (vendor, family, perhaps [first, last] pairs of models) fits. */
static bool fits(const json_t *row, const struct model_processor *processor)
{
	const char *vendor = json_string_value(json_object_get(row, "vendor"));
	const json_t *models = json_object_get(row, "models");

	if (!vendor || strcmp(vendor, processor->vendor) != 0 ||
			json_integer_value(json_object_get(row, "family")) != processor->family)
		return false;
	for (size_t i = 0; i < json_array_size(models); i++) {
		const json_t *range = json_array_get(models, i);

		if (processor->model >= json_integer_value(json_array_get(range, 0)) &&
				processor->model <= json_integer_value(json_array_get(range, 1)))
			return true;
	}
	return !models;
}

const char *model_for(const struct model_processor *processor)
{
	for (unsigned i = 0; i < model_text_count; i++) {
		json_t *rows = json_loads(model_texts[i].processors, 0, NULL);
		bool found = false;

		for (size_t r = 0; r < json_array_size(rows) && !found; r++)
			found = fits(json_array_get(rows, r), processor);
		json_decref(rows);
		if (found)
			return model_texts[i].name;
	}
	return "generic";
}

void model_free(struct model *model)
{
	free(model);
}

const char *model_name(const struct model *model)
{
	return model->name;
}

unsigned model_events(const struct model *model)
{
	return model->events;
}

const struct model_event *model_event(const struct model *model, unsigned event)
{
	return event < model->events ? &model->event[event] : NULL;
}

unsigned model_common(const struct model *model)
{
	return model->common;
}

int model_pack(const struct model *model, unsigned counters, struct plan *plan)
{
	uint8_t together[PLAN_EVENTS_MAX];
	uint16_t on[PLAN_EVENTS_MAX];

	for (unsigned e = 0; e < model->events; e++) {
		together[e] = model->event[e].together;
		on[e] = model->event[e].counter_set;
	}
	return plan_pack_on(plan, model->events, model->common, counters, together, on);
}

/* Writes all results of a model, as a function of its variables. */
typedef void evaluator(const struct model *model, const double *variables, double *out);

/* Writes the components in the order of model_breakdown. Event 0 is cycles, 1 is instructions. */
static void evaluate_breakdown(const struct model *model, const double *variables, double *out)
{
	double cpi = variables[0] / variables[1], total = 0, scale;
	double value[MODEL_COMPONENTS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < model->components; i++) {
		value[i] = expression_value(&model->component[i].cycles, variables) / variables[1];
		if (value[i] < 0)
			value[i] = 0;
		if (!isnan(value[i]))
			total += value[i];
	}
	scale = total > cpi ? cpi / total : 1;
	for (unsigned i = 0; i < model->components; i++) {
		const struct component *component = &model->component[i];
		double whole = value[i] * scale, left = 1;

		out[n++] = whole;
		for (unsigned j = 0; j < component->parts; j++) {
			double share = expression_value(&component->part[j].share, variables);

			if (!isnan(share))
				share = fmin(fmax(share, 0), fmax(left, 0));
			out[n++] = whole * share;
			left -= share;
		}
		if (component->parts)
			out[n++] = whole * left;
	}
	out[n++] = cpi - total * scale;
}

static void evaluate_metrics(const struct model *model, const double *variables, double *out)
{
	for (unsigned i = 0; i < model->metrics; i++)
		out[i] = expression_value(&model->metric[i].value, variables);
}

/* The change of every result when one variable, or several together, move by their error. */
struct moves {
	double change[VARIABLES_MAX][MODEL_METRICS_MAX];
};

/* Returns the value or 0 if it is negative. Keeps NAN, which fmax would hide. */
static double not_negative(double value)
{
	return value < 0 ? 0 : value;
}

/* The results of a model for one phase. */
struct evaluation {
	const struct model *model;
	evaluator *evaluate;
	unsigned count;                  /* number of results */
	double variables[VARIABLES_MAX]; /* NAN: not observed */
	double *value;                   /* the results */
};

/*
 * Moves the variables by step[] up and down. Writes the larger change of each result, with the sign of a move
 * up.
 */
static void move_variables(const struct evaluation *at, const double *step, double *out)
{
	double moved[VARIABLES_MAX], up[MODEL_METRICS_MAX], down[MODEL_METRICS_MAX];

	for (unsigned e = 0; e <= at->model->events; e++)
		moved[e] = not_negative(at->variables[e] + step[e]);
	at->evaluate(at->model, moved, up);
	for (unsigned e = 0; e <= at->model->events; e++)
		moved[e] = not_negative(at->variables[e] - step[e]);
	at->evaluate(at->model, moved, down);
	for (unsigned i = 0; i < at->count; i++) {
		up[i] -= at->value[i];
		down[i] = at->value[i] - down[i];
		out[i] = fabs(up[i]) >= fabs(down[i]) ? up[i] : down[i];
	}
}

/*
 * Error propagation of carry(): each event in turn is moved by its half-width. The squares of the changes of
 * a result are added, with the products of correlated changes. A common event moves the events that follow it.
 * If an event has no interval, the results that depend on it have none.
 */

/* Returns the estimate of a variable: an event, or the duration after the events. */
static const struct estimate *of_variable(const struct model *model,
		const struct phase_estimate *estimate, unsigned variable)
{
	return variable < model->events ? &estimate->event[variable] : &estimate->duration;
}

/*
 * Sets how far the variables move together with the error of the variable `of`. Returns false if that is not
 * known.
 */
static bool find_step(const struct model *model, const struct phase_estimate *estimate, unsigned of,
		const double *variables, double step[VARIABLES_MAX])
{
	const struct estimate *moved = of_variable(model, estimate, of);

	if (!isfinite(moved->ci95)) {
		step[of] = fmax(fabs(variables[of]), 1) / 16;
		return false;
	}
	step[of] = moved->ci95 * sqrt(fmax(1 - moved->shared, 0));
	for (unsigned e = ESTIMATE_FOLLOWS; e <= model->events && of < ESTIMATE_FOLLOWS; e++)
		step[e] = of_variable(model, estimate, e)->follows[of] * step[of];
	return true;
}

/* Returns the correlation of the errors of two variables. */
static double correlation(const struct model *model, const struct phase_estimate *estimate,
		unsigned e, unsigned f)
{
	const struct estimate *one = of_variable(model, estimate, e);
	const struct estimate *other = of_variable(model, estimate, f);

	if (e < ESTIMATE_FOLLOWS && f < ESTIMATE_FOLLOWS)
		return estimate->common_correlation;
	return one->group && one->group == other->group ? one->correlation[other->position] : 0;
}

static void carry(const struct model *model, const struct phase_estimate *estimate,
		evaluator *evaluate, unsigned count, double *value, double *ci95)
{
	struct evaluation at = {
		.model = model,
		.evaluate = evaluate,
		.count = count,
		.value = value,
	};
	struct moves moves;

	for (unsigned e = 0; e <= model->events; e++)
		at.variables[e] = of_variable(model, estimate, e)->observed ?
				of_variable(model, estimate, e)->mean :
				NAN;
	evaluate(model, at.variables, value);
	memset(ci95, 0, count * sizeof(*ci95));
	for (unsigned e = 0; e <= model->events; e++) {
		double step[VARIABLES_MAX] = { 0 };
		bool known = find_step(model, estimate, e, at.variables, step);

		memset(moves.change[e], 0, sizeof(moves.change[e]));
		if (isnan(at.variables[e]))
			continue;
		move_variables(&at, step, moves.change[e]);
		for (unsigned i = 0; i < count; i++) {
			double change = moves.change[e][i];

			if (change != 0)
				ci95[i] += known ? change * change : INFINITY;
			for (unsigned f = 0; f < e; f++)
				ci95[i] += 2 * correlation(model, estimate, e, f) * change *
						moves.change[f][i];
		}
	}
	for (unsigned i = 0; i < count; i++)
		ci95[i] = isnan(value[i]) ? INFINITY : sqrt(fmax(ci95[i], 0));
}

static void label(struct cpi_component *out, const char *name, unsigned level)
{
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->level = level;
}

unsigned model_breakdown(const struct model *model, const struct phase_estimate *estimate,
		struct cpi_component out[MODEL_COMPONENTS_MAX])
{
	double value[MODEL_METRICS_MAX], ci95[MODEL_METRICS_MAX];
	unsigned n = 0;

	if (!model->components || !estimate->event[0].observed || !estimate->event[1].observed ||
			!(estimate->event[1].mean > 0))
		return 0;
	carry(model, estimate, evaluate_breakdown, model->written, value, ci95);
	for (unsigned i = 0; i < model->components; i++) {
		const struct component *component = &model->component[i];

		label(&out[n++], component->name, 0);
		for (unsigned j = 0; j < component->parts; j++)
			label(&out[n++], component->part[j].name, 1);
		if (component->parts)
			label(&out[n++], component->rest, 1);
	}
	label(&out[n++], model->rest, 0);
	for (unsigned i = 0; i < n; i++) {
		out[i].cpi = value[i];
		out[i].ci95 = ci95[i];
	}
	return n;
}

unsigned model_metrics(const struct model *model, const struct phase_estimate *estimate,
		struct model_metric out[MODEL_METRICS_MAX])
{
	double value[MODEL_METRICS_MAX], ci95[MODEL_METRICS_MAX];

	carry(model, estimate, evaluate_metrics, model->metrics, value, ci95);
	for (unsigned i = 0; i < model->metrics; i++) {
		snprintf(out[i].name, sizeof(out[i].name), "%s", model->metric[i].name);
		snprintf(out[i].unit, sizeof(out[i].unit), "%s", model->metric[i].unit);
		out[i].value = value[i];
		out[i].ci95 = ci95[i];
	}
	return model->metrics;
}
