/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/region_json.h"

#include "agent/report/parts/document.h"

static double all_seconds(const struct region_totals *totals)
{
	double all = 0;

	for (unsigned i = 0; i <= PROTOTYPES_MAX; i++)
		all += totals->seconds[i];
	return all;
}

/* Returns the seconds of a phase of the report in the region. */
static double phase_seconds(const json_t *phase, const struct region_totals *totals)
{
	const json_t *number;
	double seconds = 0;
	size_t i;

	json_array_foreach (json_object_get(phase, "prototypes"), i, number) {
		json_int_t prototype = json_integer_value(number);

		if (prototype >= 0 && prototype < PROTOTYPES_MAX)
			seconds += totals->seconds[1 + prototype];
	}
	return seconds;
}

/* Returns the shares of the phases in the region, and sets the largest difference to those in the run. */
static json_t *shares(const struct region_totals *totals, const json_t *phases, double *distance)
{
	json_t *list = json_array();
	double all = all_seconds(totals);
	const json_t *phase;
	size_t i;

	*distance = 0;
	json_array_foreach (phases, i, phase) {
		double run = json_number_value(json_object_get(phase, "time_share"));
		double share = document_share(phase_seconds(phase, totals), all);

		*distance = fmax(*distance, fabs(share - run));
		list = document_append(list,
				json_pack("{s:O,s:o,s:o}", "id", json_object_get(phase, "id"),
						"time_share", document_number(share), "difference",
						document_number(share - run)));
	}
	return list;
}

/* Returns the requirements that were met, or null. */
static json_t *requirement(const struct region_choice *choice)
{
	const struct steady_level *level = &steady_levels[choice->steady.level];

	if (!choice->order.iterations)
		return json_null();
	return json_pack("{s:i,s:i,s:o,s:i,s:o}", "step", (int)choice->steady.level + 1, "steps",
			STEADY_LEVELS, "time_share", document_number(level->share), "rounds",
			(int)level->rounds, "matched", document_number(choice->steady.matched));
}

json_t *region_json(const struct region_choice *choice, const struct region_totals *totals,
		const json_t *phases)
{
	double distance = NAN;
	json_t *region, *list = NULL;

	if (!choice)
		return json_null();
	if (totals->ranks > 0)
		list = shares(totals, phases, &distance);
	region = json_pack("{s:o,s:o}", "wanted_iterations",
			choice->wish.iterations > 0 ? document_whole(choice->wish.iterations) :
						      json_null(),
			"wanted_bytes",
			choice->wish.bytes > 0 ? document_whole(choice->wish.bytes) : json_null());
	region = document_set(region, "requirement", requirement(choice));
	region = document_set(region, "compared_rounds", json_integer(choice->steady.rounds));
	region = document_set(region, "ordered_seconds",
			document_number(choice->order.iterations ? choice->seconds : NAN));
	region = document_set(region, "iterations",
			choice->order.iterations ?
					json_integer((json_int_t)choice->order.iterations) :
					json_null());
	region = document_set(region, "ranks", document_whole(totals->ranks));
	region = document_set(region, "whole_ranks", document_whole(totals->whole));
	region = document_set(region, "late_ranks", document_whole(totals->late));
	region = document_set(region, "cut_ranks", document_whole(totals->cut));
	region = document_set(region, "inexact_ranks", document_whole(totals->inexact));
	region = document_set(region, "lost_ranks", document_whole(totals->lost));
	region = document_set(region, "calls", document_whole(totals->calls));
	region = document_set(region, "phases", list ? list : json_array());
	return document_set(region, "distance", document_number(distance));
}
