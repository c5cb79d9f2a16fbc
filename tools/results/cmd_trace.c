/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux trace: shows the structure of a program's calls. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/setup/output.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/results/results.h"
#include "tools/results/spools.h"
#include "tools/results/structure_expand.h"
#include "tools/results/structure_prv.h"
#include "tools/results/structure_tree.h"

static const char usage[] =
		"usage: phasemux trace [options] DIR|FILE\n"
		"\n"
		"Shows the loops of a program's calls, with a line for each call: the phase and the mean time of the\n"
		"bursts before it, its own mean time, and how often it is repeated. The run needs\n"
		"PHASEMUX_TRACE=structure (the default), or calls, which also keeps the peers, sizes and tags of\n"
		"messages. Of a folder without report.json, its trace.json is shown, which has a few KB, and whose\n"
		"times have three digits. If the run has not ended, its calls up to now are shown, of the ranks on\n"
		"this machine.\n"
		"\n"
		"  --expand            the calls of a rank one by one, in the order in which they were made;\n"
		"                      a line that begins with # stands for calls whose order is not known\n"
		"  --json              everything, with full precision\n"
		"  --output, -o FILE   with --prv: the name of the trace (trace.prv)\n"
		"  --prv               writes the calls of all ranks, or of --rank, as a Paraver trace: FILE.prv, .pcf\n"
		"                      and .row. Its times are means, not recorded time stamps\n"
		"  --rank RANK         only the structure of this rank\n"
		"  --step STEP         of a job with several steps, this one\n";

enum {
	EXPAND,
	JSON,
	PRV,
	RANK,
	STEP,
};

static const struct option long_options[] = {
	{ "expand", no_argument, NULL, EXPAND },
	{ "json", no_argument, NULL, JSON },
	{ "output", required_argument, NULL, 'o' },
	{ "prv", no_argument, NULL, PRV },
	{ "rank", required_argument, NULL, RANK },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool json, expand, prv, has_rank;
	size_t rank;
	const char *step, *output;
};

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case RANK:
		options->has_rank = true;
		return option_take_whole("rank", 0, INT_MAX, &options->rank);
	case STEP:
		return option_take_step(&options->step);
	case EXPAND:
		options->expand = true;
		return 0;
	case PRV:
		options->prv = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	default:
		options->json = true;
		return 0;
	}
}

/* Returns the text to be shown, or NULL after one line on stderr. */
static char *write_trace(const json_t *report, const struct options *options)
{
	char why[256] = "no memory", *text;

	text = structure_tree(report, options->has_rank ? (long)options->rank : -1, why,
			sizeof(why));
	if (text && options->json) {
		free(text);
		text = json_dumps(json_object_get(report, "structure"),
				JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	}
	if (!text)
		fprintf(stderr, "phasemux: %s\n", why);
	return text;
}

static bool expand(const json_t *report, const struct options *options)
{
	char why[256];

	if (structure_expand(report, (long)options->rank, stdout, why, sizeof(why)))
		return true;
	fprintf(stderr, "phasemux: %s\n", why);
	return false;
}

static bool write_prv(const json_t *report, const struct options *options)
{
	char why[256];

	if (structure_prv(report, options->has_rank ? (long)options->rank : -1,
			    options->output ? options->output : "trace.prv", why, sizeof(why)))
		return true;
	fprintf(stderr, "phasemux: %s\n", why);
	return false;
}

static int show_trace(const struct results *results, const struct options *options)
{
	char *text;

	if (results->count > 1) {
		results_refuse(results);
		return 1;
	}
	if (options->prv)
		return write_prv(results->report[0], options) ? 0 : 1;
	if (options->expand)
		return expand(results->report[0], options) && fflush(stdout) == 0 ? 0 : 1;
	text = write_trace(results->report[0], options);
	if (!text)
		return 1;
	printf("%s%s", text, options->json ? "\n" : "");
	free(text);
	return fflush(stdout) ? 1 : 0;
}

/* ---- a run that has not ended ---- */

/* Writes the absolute path of a folder, which need not exist. */
static bool absolute(const char *path, char absolute[PATH_MAX])
{
	char parent[PATH_MAX], whole[PATH_MAX];
	const char *slash, *name;
	int length;

	if (realpath(path, absolute))
		return true;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	length = slash ? (int)(slash - path) + 1 : 1;
	snprintf(parent, sizeof(parent), "%.*s", length, slash ? path : ".");
	return *name && realpath(parent, whole) &&
			snprintf(absolute, PATH_MAX, "%s/%s", strcmp(whole, "/") ? whole : "",
					name) < PATH_MAX;
}

/* Takes the report of the run as a result. Returns false after one line on stderr. */
static bool take_run(struct results *results, struct spools *spools, const char *path)
{
	const struct spools_run run = spools->run[0];
	json_t *report = spools_report_run(spools, &run);
	char *name = report ? strdup(path) : NULL;

	if (!name) {
		json_decref(report);
		return false;
	}
	fprintf(stderr, "phasemux: the run has not ended; %u of its %u ranks are on this machine\n",
			recovery_count(spools->recovery), run.size);
	json_object_del(report, "recovered");
	json_object_set_new(report, "running", json_true());
	results->report[results->count] = report;
	results->path[results->count++] = name;
	return true;
}

/*
 * Looks for a run whose results will be in a folder, unless the folder has some. Returns false after one line on stderr if
 * there is one, and it cannot be shown.
 */
static bool find_run(struct results *results, const char *path)
{
	struct spools *spools = calloc(1, sizeof(*spools));
	char output[PATH_MAX];
	struct spools_sought sought = { .output = output };
	bool fine = true;

	if (spools && !results_exist(path) && absolute(path, output)) {
		spools->visit = spools_find_rank;
		spools->data = &sought;
		spools_visit_running(spools, 0);
		if (spools->runs > 1)
			spools_list(spools);
		if (spools->runs)
			fine = spools->runs == 1 && take_run(results, spools, path);
		recovery_free(spools->recovery);
	}
	free(spools);
	return fine;
}

/* Finds a run that has not ended, or else results. Returns false after one line on stderr. */
static bool find_results(struct results *results, const char *path, const char *step)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s%s%s", path, step ? "/" OUTPUT_STEP : "",
			step ? step : "");
	return find_run(results, folder) && (results->count || results_find(results, path, step));
}

int cmd_trace(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.set = set_option,
	};
	struct options options = { .step = NULL };
	struct results results = { .takes_traces = true };
	int code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 != argc || (options.json && options.has_rank) ||
			(options.expand && !options.has_rank) ||
			options.prv + options.json + options.expand > 1 ||
			(options.output && !options.prv))
		return option_usage(usage);
	code = 1;
	if (find_results(&results, argv[optind], options.step) && results_load(&results))
		code = show_trace(&results, &options);
	results_fini(&results);
	return code;
}
