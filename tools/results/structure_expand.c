/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_expand.h"

#include "agent/text/report_line.h"
#include "tools/results/structure_arguments.h"
#include "tools/results/structure_calls.h"
#include "tools/results/structure_tree.h"

/* arguments NULL: they are not kept. */
static void print_call(FILE *out, const json_t *token, struct structure_arguments *arguments)
{
	if (!*report_get_text(token, "call")) {
		fputs("unknown call\n", out);
		return;
	}
	fputs(report_get_text(token, "call"), out);
	if (arguments)
		structure_arguments_next(arguments, token, out);
	structure_tree_place(out, token);
	fputc('\n', out);
}

/* Returns the arguments of the calls of a rank. Sets *missing if they are kept, and there is no memory for them. */
static struct structure_arguments *arguments_of(const json_t *report, long rank, bool *missing)
{
	struct structure_arguments *arguments = NULL;

	*missing = false;
	if (structure_arguments_are_kept(report)) {
		arguments = structure_arguments_new(report, rank);
		*missing = !arguments;
	}
	return arguments;
}

bool structure_expand(const json_t *report, long rank, FILE *out, char *why, size_t why_size)
{
	struct structure_calls *calls = structure_calls_new(report, rank, why, why_size);
	struct structure_arguments *arguments;
	struct structure_call call;
	enum structure_step step;
	bool missing;

	if (!calls)
		return false;
	arguments = arguments_of(report, rank, &missing);
	if (missing) {
		snprintf(why, why_size, "no memory");
		structure_calls_free(calls);
		return false;
	}
	while ((step = structure_calls_next(calls, &call)) <= STRUCTURE_HIDDEN)
		if (step == STRUCTURE_HIDDEN)
			fprintf(out, "# about %.0f calls, whose order is not known\n", call.hidden);
		else
			print_call(out, call.token, arguments);
	if (step == STRUCTURE_LOST)
		fprintf(out, "# about %.0f more calls, whose order is not known exactly\n",
				call.hidden);
	else if (json_is_true(json_object_get(report, "running")))
		fputs("# the run has not ended: its later calls are missing\n", out);
	else if (json_is_object(json_object_get(report, "recovered")))
		fputs("# the run did not end by itself: its last calls are missing\n", out);
	structure_arguments_free(arguments);
	structure_calls_free(calls);
	return true;
}
