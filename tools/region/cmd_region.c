/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux region: writes what was recorded of a region as traces of other tools. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/region/region_names.h"
#include "tools/region/region_read.h"
#include "tools/region/region_write.h"

static const char usage[] =
		"usage: phasemux region [options] DIR\n"
		"\n"
		"Writes the region that the ranks of a run have recorded in the folder DIR of its results\n"
		"(PHASEMUX_REGION) as a Paraver trace, NAME.prv, .pcf and .row, and as a trace for Perfetto,\n"
		"NAME.perfetto-trace. Its times are recorded time stamps. This works from the moment at which the\n"
		"region is recorded, while the run goes on, and of a killed run. If ranks had no common folder, copy\n"
		"the files region.RANK.calls of all of them into one.\n"
		"\n"
		"  --output, -o NAME   the name of the traces (DIR/region)\n"
		"\n"
		"Exit code: 0, 1 if there is no region or it cannot be written, 2 if a file or the request is invalid.\n";

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static int set_option(void *data, int option)
{
	const char **output = data;

	(void)option;
	*output = optarg;
	return 0;
}

/* Says what was recorded. */
static void tell(const struct region_run *run, const char *path)
{
	const struct region_facts *facts = &run->rank[0]->facts;
	uint64_t iterations = facts->iterations;
	size_t calls = 0, open = 0, cut = 0, late = 0, inexact = 0;

	for (size_t i = 0; i < run->ranks; i++) {
		const struct region_rank *rank = run->rank[i];

		calls += rank->calls;
		open += !rank->ended;
		cut += rank->ended && rank->end.cut;
		late += rank->ended && rank->end.late;
		inexact += rank->facts.inexact;
		if (!rank->ended || rank->end.iterations < iterations)
			iterations = rank->ended ? rank->end.iterations : 0;
	}
	printf("%llu of %llu iterations of %zu of %d ranks, with %zu calls\n",
			(unsigned long long)iterations, (unsigned long long)facts->iterations,
			run->ranks, facts->size, calls);
	if (open)
		printf("%zu ranks still record, or were killed in the region\n", open);
	if (cut)
		printf("%zu ranks had no room for more calls, or could not write them\n", cut);
	if (late)
		printf("%zu ranks began later than the others, because the order came late\n",
				late);
	if (inexact)
		printf("%zu ranks had not observed all calls before, and may be some iterations off\n",
				inexact);
	printf("Paraver: %s.prv\nPerfetto: %s.perfetto-trace\n", path, path);
}

/* Writes the traces. Returns the exit code, with one line in why if it is not 0. */
static int write_traces(struct region_trace *trace, char *why, size_t why_size)
{
	int code = 1;

	trace->names = calloc(trace->run->ranks, sizeof(*trace->names));
	snprintf(why, why_size, "no memory");
	if (!trace->names)
		return 1;
	for (size_t i = 0; i < trace->run->ranks; i++)
		trace->names[i] = region_names_new(trace->run->rank[i]);
	for (size_t i = 0; i < trace->run->ranks; i++)
		if (!trace->names[i])
			goto free_names;
	if (region_prv(trace, why, why_size) && region_perfetto(trace, why, why_size))
		code = 0;
free_names:
	for (size_t i = 0; i < trace->run->ranks; i++)
		region_names_free(trace->names[i]);
	free(trace->names);
	return code;
}

static int show_region(const char *folder, const char *output)
{
	char why[512], path[PATH_MAX], name[PATH_MAX];
	struct region_run run = { .ranks = 0 };
	struct region_trace trace = { .run = &run, .path = path };
	int code = region_read(&run, folder, why, sizeof(why));
	json_t *report = NULL;

	if (snprintf(path, sizeof(path), "%s%s", output ? output : folder,
			    output ? "" : "/region") >= (int)sizeof(path) ||
			snprintf(name, sizeof(name), "%s/report.json", folder) >=
					(int)sizeof(name)) {
		snprintf(why, sizeof(why), "the name is too long");
		code = 2;
	}
	if (!code) {
		report = json_load_file(name, 0, NULL);
		trace.report = report;
		code = write_traces(&trace, why, sizeof(why));
	}
	if (code)
		fprintf(stderr, "phasemux: %s\n", why);
	else
		tell(&run, path);
	json_decref(report);
	region_run_fini(&run);
	return code;
}

int cmd_region(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.set = set_option,
	};
	const char *output = NULL;
	int code = options_read(argc, argv, &spec, &output);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 != argc)
		return option_usage(usage);
	return show_region(argv[optind], output);
}
