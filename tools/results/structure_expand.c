/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_expand.h"

#include "agent/text/report_line.h"
#include "tools/results/structure_calls.h"
#include "tools/results/structure_tree.h"

static void print_call(FILE *out, const json_t *token)
{
	if (*report_get_text(token, "call"))
		structure_tree_call(out, token);
	else
		fputs("unknown call", out);
	fputc('\n', out);
}

bool structure_expand(const json_t *report, long rank, FILE *out, char *why, size_t why_size)
{
	struct structure_calls *calls = structure_calls_new(report, rank, why, why_size);
	struct structure_call call;
	enum structure_step step;

	if (!calls)
		return false;
	while ((step = structure_calls_next(calls, &call)) <= STRUCTURE_HIDDEN)
		if (step == STRUCTURE_HIDDEN)
			fprintf(out, "# about %.0f calls, whose order is not known\n", call.hidden);
		else
			print_call(out, call.token);
	if (step == STRUCTURE_LOST)
		fprintf(out, "# about %.0f more calls, whose order is not known exactly\n",
				call.hidden);
	else if (json_is_object(json_object_get(report, "recovered")))
		fputs("# the run did not end by itself: its last calls are missing\n", out);
	structure_calls_free(calls);
	return true;
}
