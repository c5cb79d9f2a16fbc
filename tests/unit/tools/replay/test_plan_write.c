/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan has of a report: communicators are numbered one after the other, so that each has a copy as long as there are some. */
#include <jansson.h>
#include <stdlib.h>

#include "tests/tap.h"
#include "tools/replay/plan/plan.h"
#include "tools/replay/plan_write.h"

#define ALL "\"rank_ranges\":[[0,1,2]],\"ranks\":2"

/* The communicators of a call that alternates, and of one in a loop. 2001 has the copy of 17, and 18002 that of 2. */
static const char report_text[] =
		"{\"phasemux\":1,\"ranks\":2,\"wall_seconds\":1,\"phases\":[],\"structure\":{\"structures\":[{" ALL
		",\"calls\":4,\"variants\":null,\"text\":[{\"call\":\"MPI_Init\",\"repeats\":[1,1],\"count\":2}]}],"
		"\"arguments\":{\"version\":1,\"paths\":[{\"call\":\"MPI_Barrier\",\"communicator\":[{" ALL
		",\"values\":10,\"exact_values\":null,\"stream\":[[1,18002],[1,0],[1,null],[2,1]]}]},"
		"{\"call\":\"MPI_Bcast\",\"communicator\":[{" ALL
		",\"values\":12,\"exact_values\":null,\"stream\":[[2,[[2,2001],[1,2]]]]}]}]}}}";

/* Returns the plan of a report. The caller frees it with plan_free. */
static struct plan *plan_of(const char *text)
{
	json_t *report = json_loads(text, 0, NULL);
	char why[200] = "", *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);
	struct plan *plan = NULL;

	if (!report || !out)
		abort();
	ok(plan_write(report, out, why, sizeof(why)), "a plan is written: %s", why);
	fclose(out);
	if (written)
		plan = plan_parse(written, size);
	free(written);
	json_decref(report);
	return plan;
}

int main(void)
{
	struct plan *plan = plan_of(report_text);
	const struct plan_item *item, *loop;

	if (!ok(plan && plan->paths == 2, "and read"))
		return tap_done();
	item = plan->path[0].argument[ARGUMENT_COMMUNICATOR].values[0].stream.item;
	loop = plan->path[1].argument[ARGUMENT_COMMUNICATOR].values[0].stream.item[0].loop->item;
	is_int(loop[1].value, 2, "the communicator with the lowest number is the first one");
	is_int(loop[0].value, 3, "the next one in a loop is the second one");
	is_int(item[0].value, 4, "whatever their numbers are");
	is_int(item[1].value, 0, "MPI_COMM_WORLD keeps its number");
	ok(item[2].value == PLAN_UNKNOWN, "and so does one that is not known");
	is_int(item[3].value, 1, "and MPI_COMM_SELF");
	plan_free(plan);
	return tap_done();
}
