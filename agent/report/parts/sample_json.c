/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/sample_json.h"

#include <math.h>
#include <stdbool.h>

#include "agent/report/parts/document.h"
#include "agent/setup/settings.h"

/* Keys of the bursts' metrics, which are whole numbers in these units, and the number of units in the metric's own. */
static const struct {
	const char *key; /* NULL: it is left out, because "nanoseconds" has it, or because it is no quantity */
	double units;
} columns[METRICS] = {
	[METRIC_INSTRUCTIONS] = { "instructions", 1 },
	[METRIC_IPC] = { "ipc_millionths", 1e6 },
	[METRIC_CYCLES] = { "cycles", 1 },
};

/* Returns the phase of a burst in the report; 0: none. */
static unsigned phase_of(const struct sample_facts *facts, const struct sampled_burst *burst)
{
	double metrics[SETTINGS_METRICS_MAX];
	float point[SPACE_DIMS_MAX];
	int nearest = -1;

	for (unsigned d = 0; d < facts->metrics; d++)
		metrics[d] = (double)burst->metric[d];
	if (facts->table->count && space_map(&facts->table->space, metrics, point))
		nearest = prototypes_nearest(facts->table, point, burst->place);
	return nearest < 0 ? 0 : facts->number[facts->table->all[nearest].phase];
}

/*
 * Adds a column of the bursts: the metric of this number, or their lengths if there is no such metric. A burst of which the
 * counts were 0 has no IPC.
 */
static json_t *add_column(json_t *object, const struct sample_facts *facts, unsigned metric)
{
	bool is_length = metric == facts->metrics;
	enum metric kind = is_length ? METRIC_DURATION : facts->metric[metric];
	json_t *list = json_array();

	for (uint32_t i = 0; i < facts->sample->count; i++) {
		const struct sampled_burst *burst = &facts->sample->burst[i];
		double value = is_length ? (double)burst->seconds * 1e9 :
					   (double)burst->metric[metric] * columns[kind].units;

		if ((double)burst->seconds >= facts->burst_min_seconds)
			list = document_append(list,
					isfinite(value) ? document_whole(value) : json_null());
	}
	return document_set(object, is_length ? "nanoseconds" : columns[kind].key, list);
}

/* Returns a value of a metric, given by its place in the space. */
static double metric_at(const struct space *space, unsigned d, double at)
{
	double raw = space->lowest[d] + at / space->weight[d] * space->range[d];

	return space->logarithmic[d] ? pow(10, raw) : raw;
}

/* Returns a prototype: its number, its phase, and for each metric its lowest, middle and highest value. */
static json_t *prototype(const struct sample_facts *facts, unsigned number)
{
	const struct prototype *prototype = &facts->table->all[number];
	json_t *object = json_pack("{s:i,s:i}", "number", (int)number, "phase",
			(int)facts->number[prototype->phase]);

	for (unsigned d = 0; d < facts->metrics; d++) {
		double at = (double)prototype->point[d], radius = (double)prototype->radius;
		const struct space *space = &facts->table->space;

		if (facts->metric[d] == METRIC_CALLPATH)
			continue;
		object = document_set(object, settings_metric_name(facts->metric[d]),
				json_pack("[o,o,o]",
						document_number(metric_at(space, d, at - radius)),
						document_number(metric_at(space, d, at)),
						document_number(metric_at(space, d, at + radius))));
	}
	return object;
}

static json_t *prototypes(const struct sample_facts *facts)
{
	json_t *list = json_array();

	for (unsigned p = 0; p < facts->table->count; p++)
		if (facts->number[facts->table->all[p].phase])
			list = document_append(list, prototype(facts, p));
	return list;
}

json_t *sample_json(const struct sample_facts *facts)
{
	json_t *object, *phases;

	if (!facts->sample || !facts->metric)
		return json_null();
	object = json_object();
	phases = json_array();
	for (uint32_t i = 0; i < facts->sample->count; i++) {
		const struct sampled_burst *burst = &facts->sample->burst[i];

		if ((double)burst->seconds >= facts->burst_min_seconds)
			phases = document_append(phases, json_integer(phase_of(facts, burst)));
	}
	object = document_set(object, "phase", phases);
	object = add_column(object, facts, facts->metrics);
	for (unsigned d = 0; d < facts->metrics; d++)
		if (columns[facts->metric[d]].key)
			object = add_column(object, facts, d);
	return document_set(object, "prototypes", prototypes(facts));
}
