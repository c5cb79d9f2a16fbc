/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux report: shows stored results as text, a page, JSON, CSV or OpenMetrics. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/page/page.h"
#include "agent/setup/job.h"
#include "agent/setup/output.h"
#include "agent/text/report_text.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/report/fold_text.h"
#include "tools/report/metrics.h"
#include "tools/results/results.h"

static const char usage[] =
		"usage: phasemux report [options] DIR|FILE|--job JOB\n"
		"\n"
		"Shows the results of a run again: of the folder DIR, of a report.json, or of a batch job.\n"
		"\n"
		"  --text              as it was printed at the program's exit (the default)\n"
		"  --html              as one page for a browser, which needs no network and no scripts\n"
		"  --json              everything, with full precision\n"
		"  --csv               a row for each phase and counter\n"
		"  --metrics           for a monitoring system: OpenMetrics text, of all steps of a job\n"
		"  --fold PHASE        how the counters of a phase evolve from the begin to the end of its bursts\n"
		"  --step STEP         of a job with several steps, this one\n"
		"  -o FILE             write to FILE instead of to the standard output\n";

enum form {
	FORM_TEXT,
	FORM_HTML,
	FORM_JSON,
	FORM_CSV,
	FORM_METRICS,
	FORMS,
};

enum {
	JOB = FORMS,
	FOLD,
	STEP,
	OUTPUT = 'o',
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, FORM_TEXT },
	{ "html", no_argument, NULL, FORM_HTML },
	{ "json", no_argument, NULL, FORM_JSON },
	{ "csv", no_argument, NULL, FORM_CSV },
	{ "metrics", no_argument, NULL, FORM_METRICS },
	{ "job", required_argument, NULL, JOB },
	{ "fold", required_argument, NULL, FOLD },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	enum form form;
	const char *job, *step;
	const char *output; /* NULL: the standard output */
	size_t fold;        /* the phase whose fold is shown; 0: the whole report */
};

static char *write_one(const json_t *report, enum form form)
{
	char why[256];

	switch (form) {
	case FORM_HTML:
		return page_html(report, why, sizeof(why));
	case FORM_JSON:
		return json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	case FORM_CSV:
		return report_csv(report, why, sizeof(why));
	default:
		return report_text(report, why, sizeof(why));
	}
}

/* Returns the text of how the phase's counters evolve, or NULL after one line on stderr. */
static char *write_fold(const json_t *report, enum form form, int phase)
{
	char why[256] = "no memory", *text = NULL;
	const json_t *fold = fold_find(report, phase, why, sizeof(why));

	if (fold && form == FORM_JSON)
		text = json_dumps(fold, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	else if (fold)
		text = form == FORM_CSV ? fold_csv(fold) : fold_text(fold, phase);
	if (!text)
		fprintf(stderr, "phasemux: %s\n", why);
	return text;
}

/* Writes the results to `out`. Returns whether their texts could be made. */
static bool write_all(FILE *out, struct results *results, const struct options *options)
{
	enum form form = options->form;
	bool together = form == FORM_METRICS;
	int fold = (int)options->fold;

	for (unsigned i = 0; i < (together ? 1 : results->count); i++) {
		char *text = fold        ? write_fold(results->report[i], form, fold) :
				together ? metrics_text(results->report, results->count) :
					   write_one(results->report[i], form);

		if (!text) {
			if (!fold)
				fprintf(stderr, "phasemux: no memory\n");
			return false;
		}
		fprintf(out, "%s%s%s", i ? "\n" : "", text, form == FORM_JSON ? "\n" : "");
		free(text);
	}
	return true;
}

/* Shows the results. Returns the exit code. */
static int show(struct results *results, const struct options *options)
{
	enum form form = options->form;
	FILE *out = stdout;
	bool whole, written;

	if (results->count > 1 &&
			(form == FORM_HTML || form == FORM_JSON || form == FORM_CSV ||
					options->fold)) {
		results_refuse(results);
		return 1;
	}
	if (options->output)
		out = fopen(options->output, "we");
	if (!out) {
		fprintf(stderr, "phasemux: %s: %s\n", options->output, strerror(errno));
		return 1;
	}
	whole = write_all(out, results, options);
	written = fflush(out) == 0 && !ferror(out);
	if (options->output) {
		if (!written)
			fprintf(stderr, "phasemux: %s: %s\n", options->output, strerror(errno));
		fclose(out);
	}
	return whole && written ? 0 : 1;
}

/* Finds the folder of a job's results, relative to the folder in which the job was started. */
static bool job_folder(const char *id, char *folder, size_t size)
{
	const char *pattern = getenv("PHASEMUX_OUTPUT");
	struct job job = { .nodes = 0 };

	snprintf(job.id, sizeof(job.id), "%s", id);
	return *id && !strchr(id, '/') &&
			output_folder(pattern && *pattern ? pattern : "phasemux.%j", &job, folder,
					size) == 0;
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case JOB:
		options->job = optarg;
		return 0;
	case FOLD:
		return option_whole(optarg, 1, INT_MAX, &options->fold) ?
				0 :
				option_refuse("fold", optarg, "the number of a phase, from 1");
	case OUTPUT:
		options->output = optarg;
		return 0;
	case STEP:
		options->step = optarg;
		return strchr(optarg, '/') ? option_refuse("step", optarg, "a step of the job") : 0;
	default:
		options->form = (enum form)option;
		return 0;
	}
}

int cmd_report(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.set = set_option,
	};
	struct options options = { .form = FORM_TEXT };
	struct results results = { .count = 0 };
	char folder[PATH_MAX];
	int code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + !options.job != argc ||
			(options.fold &&
					(options.form == FORM_METRICS ||
							options.form == FORM_HTML)))
		return option_usage(usage);
	if (options.job && !job_folder(options.job, folder, sizeof(folder)))
		return option_usage(usage);
	code = 1;
	if (results_find(&results, options.job ? folder : argv[optind], options.step) &&
			results_load(&results))
		code = show(&results, &options);
	results_fini(&results);
	return code;
}
