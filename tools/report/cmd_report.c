/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux report: shows stored results in the forms that people and other tools read. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/page/page.h"
#include "agent/setup/job.h"
#include "agent/setup/output.h"
#include "agent/text/report_line.h"
#include "agent/text/report_text.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/report/csv_tables.h"
#include "tools/report/fold_text.h"
#include "tools/report/metrics.h"
#include "tools/report/perfetto.h"
#include "tools/report/stacks_text.h"
#include "tools/report/talp.h"
#include "tools/results/results.h"

static const char usage[] =
		"usage: phasemux report [options] [DIR|FILE...|--job JOB]\n"
		"\n"
		"Shows the results of a run again: of the folder DIR, of a report.json, or of a batch job. Without any of\n"
		"these, it takes the newest result in a folder here.\n"
		"\n"
		"  --text              as it was printed at the program's exit (the default)\n"
		"  --html              as one page for a browser, which needs no network and no scripts\n"
		"  --json              everything, with full precision\n"
		"  --csv               a row for each phase and counter\n"
		"  --csv=TABLE,...     long tables, one value a row, of any number of results: " CSV_TABLES_NAMES
		"\n"
		"  --metrics           for a monitoring system: OpenMetrics text, of all steps of a job\n"
		"  --talp              the efficiencies in the JSON of TALP (DLB 3.5), which TALP-Pages reads\n"
		"  --perfetto          the bursts, or the calls, of all ranks as a trace for Perfetto; with -o\n"
		"  --stacks            the call stacks of the samples, as folded stacks for flame graphs\n"
		"  --fold PHASE        how the counters of a phase evolve from the begin to the end of its bursts\n"
		"  --job JOB           the results of this batch job, in the folder phasemux.JOB or that of PHASEMUX_OUTPUT\n"
		"  --step STEP         of a job with several steps, this one\n"
		"  -o FILE             write to FILE instead of to the standard output\n";

enum form {
	FORM_TEXT,
	FORM_HTML,
	FORM_JSON,
	FORM_CSV,
	FORM_TABLES,
	FORM_TALP,
	FORM_PERFETTO,
	FORM_STACKS,
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
	{ "csv", optional_argument, NULL, FORM_CSV },
	{ "metrics", no_argument, NULL, FORM_METRICS },
	{ "talp", no_argument, NULL, FORM_TALP },
	{ "perfetto", no_argument, NULL, FORM_PERFETTO },
	{ "stacks", no_argument, NULL, FORM_STACKS },
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
	unsigned tables;    /* those of FORM_TABLES */
};

/*
 * Adds what `phasemux whatif --simulate` has left beside the result at `path`, if it is about this run. It may be missing, or
 * be anything.
 */
static void add_simulation(json_t *report, const char *path)
{
	const char *slash = strrchr(path, '/');
	char file[PATH_MAX + 32];
	json_t *simulation;

	snprintf(file, sizeof(file), "%.*sreplay/simulation.json",
			slash ? (int)(slash + 1 - path) : 0, path);
	simulation = json_load_file(file, 0, NULL);
	if (json_is_object(simulation) &&
			report_get(simulation, "recorded_seconds") ==
					report_get(report, "wall_seconds"))
		json_object_set(report, "simulation", simulation);
	json_decref(simulation);
}

/* Returns the text of a result, or NULL with one line in `why`. */
static char *write_one(const json_t *report, enum form form, char *why, size_t why_size)
{
	snprintf(why, why_size, "no memory");
	switch (form) {
	case FORM_HTML:
		return page_html(report, why, why_size);
	case FORM_JSON:
		return json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	case FORM_CSV:
		return report_csv(report, why, why_size);
	case FORM_TALP:
		return talp_text(report);
	case FORM_STACKS:
		return stacks_text(report, why, why_size);
	default:
		return report_text(report, why, why_size);
	}
}

/* Returns whether the fold of a phase can be shown in this form. */
static bool fold_has(enum form form)
{
	return form == FORM_TEXT || form == FORM_JSON || form == FORM_CSV;
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

/* Returns the name of a run in tables: the folder of its results, or the file if it is not the folder's first one. */
static void run_name(const char *path, char *name, size_t size)
{
	static const char ending[] = "/report.json";
	size_t length = strlen(path);

	if (length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0)
		length -= strlen(ending);
	while (length > 1 && path[length - 1] == '/')
		length--;
	snprintf(name, size, "%.*s", (int)length, path);
}

static bool write_tables(FILE *out, const struct results *results, unsigned tables)
{
	char name[PATH_MAX], why[400] = "";

	csv_tables_header(out);
	for (unsigned i = 0; i < results->count; i++) {
		const char *path = results->path[i];

		run_name(path, name, sizeof(name));
		if (csv_tables_write(out, tables,
				    &(struct csv_result){ name, results->report[i], path }, why,
				    sizeof(why)))
			continue;
		fprintf(stderr, "phasemux: %s\n", why);
		return false;
	}
	return true;
}

/* Writes the results to `out`. Returns whether their texts could be made. */
static bool write_texts(FILE *out, struct results *results, const struct options *options)
{
	enum form form = options->form;
	bool together = form == FORM_METRICS;
	int fold = (int)options->fold;
	char why[256] = "no memory";

	for (unsigned i = 0; i < (together ? 1 : results->count); i++) {
		char *text;

		if (form == FORM_HTML)
			add_simulation(results->report[i], results->path[i]);
		text = fold              ? write_fold(results->report[i], form, fold) :
				together ? metrics_text(results->report, results->count) :
					   write_one(results->report[i], form, why, sizeof(why));

		if (!text) {
			if (!fold)
				fprintf(stderr, "phasemux: %s\n", why);
			return false;
		}
		fprintf(out, "%s%s%s", i ? "\n" : "", text,
				form == FORM_JSON || form == FORM_TALP ? "\n" : "");
		free(text);
	}
	return true;
}

static bool write_trace(FILE *out, const struct results *results)
{
	char why[400] = "";

	if (perfetto_write(out, results->report[0], results->path[0], why, sizeof(why)))
		return true;
	fprintf(stderr, "phasemux: %s\n", why);
	return false;
}

static bool write_all(FILE *out, struct results *results, const struct options *options)
{
	if (options->form == FORM_TABLES)
		return write_tables(out, results, options->tables);
	if (options->form == FORM_PERFETTO)
		return write_trace(out, results);
	return write_texts(out, results, options);
}

/* Shows the results. Returns the exit code. */
static int show_report(struct results *results, const struct options *options)
{
	enum form form = options->form;
	FILE *out = stdout;
	bool whole, written;

	if (results->count > 1 &&
			(options->fold ||
					(form != FORM_TEXT && form != FORM_TABLES &&
							form != FORM_METRICS))) {
		results_refuse(results);
		return 1;
	}
	if (form == FORM_PERFETTO && !options->output && isatty(STDOUT_FILENO)) {
		fprintf(stderr, "phasemux: --perfetto writes a binary file: name it with -o FILE\n");
		return 2;
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

/* Takes the tables that --csv names, if it names any. */
static int set_csv(struct options *options)
{
	options->form = optarg ? FORM_TABLES : FORM_CSV;
	options->tables = optarg ? csv_tables_of(optarg) : 0;
	return optarg && !options->tables ?
			option_refuse("csv", optarg, "some of " CSV_TABLES_NAMES) :
			0;
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case JOB:
		options->job = optarg;
		return 0;
	case FORM_CSV:
		return set_csv(options);
	case FOLD:
		return option_take_whole("fold", 1, INT_MAX, &options->fold);
	case OUTPUT:
		options->output = optarg;
		return 0;
	case STEP:
		return option_take_step(&options->step);
	default:
		options->form = (enum form)option;
		return 0;
	}
}

/* Finds the results that the command line names. Returns false after one line on stderr. */
static bool find_all(struct results *results, const struct options *options, const char *folder,
		char **names)
{
	char newest[NAME_MAX + 1];

	if (options->job)
		return results_find(results, folder, options->step);
	if (!*names)
		return results_newest(newest, sizeof(newest)) &&
				results_find(results, newest, options->step);
	for (; *names; names++)
		if (!results_find(results, *names, options->step))
			return false;
	return true;
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
	if ((options.job && optind != argc) || (options.fold && !fold_has(options.form)))
		return option_usage(usage);
	if (options.job && !job_folder(options.job, folder, sizeof(folder)))
		return option_usage(usage);
	code = 1;
	if (find_all(&results, &options, folder, argv + optind) && results_load(&results))
		code = show_report(&results, &options);
	results_fini(&results);
	return code;
}
