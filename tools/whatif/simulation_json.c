/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/document.h"
#include "tools/whatif/simulation.h"

#define SIMULATION_VERSION 1 /* of the JSON */

static json_t *trials_json(const struct trials *trials)
{
	return json_pack("{s:o,s:o}", "mean", document_number(trials->mean), "ci95",
			document_number(trials->ci95));
}

/* Returns where the gain of a change stops, or null. */
static json_t *stop_json(const struct simulation *s, const struct stop *stop)
{
	const json_t *call = simulation_call(s, stop->path);

	if (!stop->known || !call)
		return json_null();
	return json_pack("{s:i,s:O?,s:O?,s:o,s:o,s:o}", "rank", (int)stop->rank, "call",
			json_object_get(call, "call"), "function",
			json_object_get(call, "function"), "computes_less_seconds",
			document_number(stop->less), "lost_seconds", document_number(stop->lost),
			"waits_more_seconds", document_number(stop->waits));
}

static json_t *scenario_json(const struct simulation *s, const struct scenario *scenario)
{
	json_t *object = json_pack("{s:o,s:o}", "change", document_text(scenario->words), "option",
			*scenario->option ? document_text(scenario->option) : json_null());

	object = document_set(object, "simulated_seconds", trials_json(&scenario->seconds));
	object = document_set(object, "saved_share", trials_json(&scenario->saved));
	object = document_set(object, "speedup",
			document_number(s->nominal.mean / scenario->seconds.mean));
	return document_set(object, "stop", stop_json(s, &scenario->stop));
}

/* Returns the times of the surface, with what processors and networks are multiplied by; or null. */
static json_t *surface_json(const struct surface *surface)
{
	json_t *times = json_array(), *rows = json_array();

	for (size_t b = 0; b < SURFACE_STEPS; b++) {
		json_t *row = json_array();

		times = document_append(times, document_number(surface_times(b)));
		for (size_t c = 0; c < SURFACE_STEPS; c++)
			row = document_append(row, document_number(surface->seconds[b][c]));
		rows = document_append(rows, row);
	}
	if (surface->known)
		return json_pack("{s:O,s:o,s:o}", "cpu", times, "bandwidth", times, "seconds",
				rows);
	json_decref(times);
	json_decref(rows);
	return json_null();
}

json_t *simulation_json(const struct simulation *s)
{
	const struct scenarios *scenarios = &s->scenarios;
	/* what was asked for, all together */
	const struct scenario *asked = !scenarios->chosen && scenarios->count ?
			&scenarios->all[scenarios->count - 1] :
			NULL;
	json_t *list = json_array();
	json_t *object = json_pack("{s:i,s:O?,s:o,s:o,s:o,s:o,s:o,s:o}", "phasemux_simulation",
			SIMULATION_VERSION, "command", json_object_get(s->run->report, "command"),
			"ranks", json_integer(s->platform.ranks), "ranks_per_node",
			json_integer(s->platform.ranks_per_node), "latency_seconds",
			document_number(s->platform.latency), "bytes_per_second",
			document_number(s->platform.bandwidth), "recorded_seconds",
			document_number(s->outcome.recorded), "simulated_seconds",
			trials_json(&s->nominal));

	object = document_set(object, "memory_latency_seconds",
			document_number(s->platform.memory_latency));
	object = document_set(object, "memory_bytes_per_second",
			document_number(s->platform.memory_bandwidth));
	object = document_set(object, "calls", document_number(s->outcome.matching.calls));
	object = document_set(object, "simulated_calls", document_number(s->simulated));
	object = document_set(object, "change", asked ? document_text(asked->words) : json_null());
	object = document_set(object, "changed_seconds",
			asked ? trials_json(&asked->seconds) : json_null());
	object = document_set(object, "saved_share",
			asked ? trials_json(&asked->saved) : json_null());
	for (size_t i = 0; i < scenarios->count; i++)
		list = document_append(list, scenario_json(s, &scenarios->all[i]));
	object = document_set(object, "changes", list);
	object = document_set(object, "left_out", json_integer((json_int_t)scenarios->left_out));
	return document_set(object, "surface", surface_json(&s->surface));
}
