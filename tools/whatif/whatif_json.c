/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/whatif_json.h"

#include "agent/report/parts/document.h"
#include "agent/whatif/foresee.h"

#define WHATIF_VERSION 1 /* of the JSON */

static json_t *from_to(double least, double most)
{
	return json_pack("{s:o,s:o}", "least", document_number(least), "most",
			document_number(most));
}

static json_t *answer_json(const struct run_times *run, const struct answer *answer)
{
	const struct foreseen *foreseen = &answer->foreseen;
	json_t *object = json_pack("{s:o,s:o}", "change", document_text(answer->words), "option",
			*answer->option ? document_text(answer->option) : json_null());

	object = document_set(object, "wall_seconds", from_to(foreseen->least, foreseen->most));
	object = document_set(object, "ci95", document_number(foreseen->error));
	object = document_set(object, "saved_share",
			from_to(1 - foreseen->most / run->wall, 1 - foreseen->least / run->wall));
	object = document_set(object, "speedup",
			from_to(run->wall / foreseen->most, run->wall / foreseen->least));
	object = document_set(object, "bound_seconds", document_number(foreseen->bound));
	return document_set(object, "longest_rank",
			run->deciles || foreseen->equal ?
					json_null() :
					json_integer((json_int_t)run->rank[foreseen->row]));
}

json_t *whatif_json(const struct answers *answers)
{
	const struct run_times *run = answers->run;
	json_t *list = json_array(), *object;

	for (size_t i = 0; i < answers->count; i++)
		list = document_append(list, answer_json(run, &answers->answer[i]));
	object = json_pack("{s:i,s:O?,s:o,s:o}", "phasemux_whatif", WHATIF_VERSION, "command",
			json_object_get(run->report, "command"), "ranks",
			json_integer((json_int_t)run->ranks), "wall_seconds",
			document_number(run->wall));
	object = document_set(object, "unchanged_seconds", document_number(foresee_unchanged(run)));
	object = document_set(object, "communication_seconds",
			run->communication.most > 0 ?
					from_to(run->communication.least, run->communication.most) :
					json_null());
	object = document_set(object, "left_out", json_integer((json_int_t)answers->left_out));
	return document_set(object, "answers", list);
}
