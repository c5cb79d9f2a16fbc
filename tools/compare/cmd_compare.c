/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux compare: says what the difference between runs comes from. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/compare/compare_page.h"
#include "tools/compare/compare_text.h"
#include "tools/compare/comparison.h"
#include "tools/compare/tables.h"
#include "tools/options.h"
#include "tools/results/results.h"

static const char usage[] =
		"usage: phasemux compare [options] A B...\n"
		"\n"
		"Compares runs: what became of the wall time, of each phase and of each part of its cycles per\n"
		"instruction, with 95% intervals. Each of A, B, ... is the folder of a run, or its report.json. Each run is\n"
		"compared with the one before. Phases are matched by their place in the program and by their behaviour.\n"
		"\n"
		"  --base DIR|FILE     a run before the change; may be given several times. Then A, B, ... are all runs\n"
		"                      after it, and the intervals hold what varies from run to run\n"
		"  --threshold PART    worse is a wall time that has grown by more than this part (5%), beyond its\n"
		"                      interval; a number or a percentage\n"
		"  --text              as text (the default)\n"
		"  --html              as one page for a browser, which needs no network and no scripts\n"
		"  --json              everything, with full precision\n"
		"  -o FILE             write to FILE instead of to the standard output\n"
		"\n"
		"Exit code: 0; 1: it failed; 2: invalid arguments; 3: a run is worse than the one before.\n"
		"\n"
		"A folder or a table of bursts (bursts.csv) of phasemux cluster may take the place of a run. Then only\n"
		"the phases are matched, without intervals.\n";

#define THRESHOLD  0.05
#define EXIT_WORSE 3

enum form {
	FORM_TEXT,
	FORM_HTML,
	FORM_JSON,
	FORMS,
};

enum {
	BASE = FORMS,
	THRESHOLD_OPTION,
	OUTPUT = 'o',
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, FORM_TEXT },
	{ "html", no_argument, NULL, FORM_HTML },
	{ "json", no_argument, NULL, FORM_JSON },
	{ "base", required_argument, NULL, BASE },
	{ "threshold", required_argument, NULL, THRESHOLD_OPTION },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	enum form form;
	bool form_chosen, threshold_chosen;
	const char *output; /* NULL: the standard output */
	double threshold;
	size_t bases;
	char *base[COMPARISON_RUNS_MAX];
};

/* Reads "5%" or "0.05". Returns false if the text is none of a part from 0 on. */
static bool read_part(const char *text, double *part)
{
	char *end;

	*part = strtod(text, &end);
	if (end == text || !isfinite(*part) || *part < 0)
		return false;
	if (*end == '%') {
		*part /= 100;
		end++;
	}
	return !*end;
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case BASE:
		if (options->bases == COMPARISON_RUNS_MAX - 1)
			return option_refuse("base", optarg, "at most 63 runs");
		options->base[options->bases++] = optarg;
		return 0;
	case THRESHOLD_OPTION:
		options->threshold_chosen = true;
		return read_part(optarg, &options->threshold) ?
				0 :
				option_refuse("threshold", optarg,
						"a number from 0, or a percentage: 0.05, 5%");
	case OUTPUT:
		options->output = optarg;
		return 0;
	default:
		options->form_chosen = option != FORM_TEXT;
		options->form = (enum form)option;
		return 0;
	}
}

/* Loads the one report that a path names. Returns false after a line on stderr. */
static bool load(struct run *run, const char *path, struct results *results)
{
	unsigned first = results->count;

	if (!results_find(results, path, NULL))
		return false;
	if (results->count > first + 1) {
		fprintf(stderr, "phasemux: %s has several results; name the file of one of them\n",
				path);
		return false;
	}
	if (results->count == first) {
		fprintf(stderr, "phasemux: too many runs, or no memory\n");
		return false;
	}
	run->path = results->path[first];
	return true;
}

/* Writes a comparison. Returns NULL without memory. */
static char *write_one(const json_t *comparison, enum form form)
{
	if (form == FORM_JSON)
		return json_dumps(comparison, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	return form == FORM_HTML ? compare_page(comparison) : compare_text(comparison);
}

/* Compares two sides and writes that. Returns the exit code. */
static int compare_sides(FILE *out, struct run *runs, size_t count, size_t befores,
		const struct options *options)
{
	json_t *comparison = comparison_make(runs, count, befores, options->threshold);
	char *text = comparison ? write_one(comparison, options->form) : NULL;
	bool worse = json_is_true(json_object_get(comparison, "worse"));

	json_decref(comparison);
	if (!text) {
		fprintf(stderr, "phasemux: no memory\n");
		return 1;
	}
	fprintf(out, "%s%s", text, options->form == FORM_JSON ? "\n" : "");
	free(text);
	return worse ? EXIT_WORSE : 0;
}

/* Compares each run with the one before, or all runs with those of --base. */
static int compare_all(FILE *out, struct run *runs, size_t count, const struct options *options)
{
	int code = 0;

	if (options->bases)
		return compare_sides(out, runs, count, options->bases, options);
	for (size_t step = 0; step + 1 < count && (code == 0 || code == EXIT_WORSE); step++) {
		int own;

		if (step)
			fputc('\n', out);
		own = compare_sides(out, runs + step, 2, 1, options);
		code = own ? own : code;
	}
	return code;
}

static int write_all(struct run *runs, size_t count, const struct options *options)
{
	FILE *out = options->output ? fopen(options->output, "we") : stdout;
	bool written;
	int code;

	if (!out) {
		fprintf(stderr, "phasemux: %s: %s\n", options->output, strerror(errno));
		return 1;
	}
	code = compare_all(out, runs, count, options);
	written = fflush(out) == 0 && !ferror(out);
	if (options->output) {
		if (!written)
			fprintf(stderr, "phasemux: %s: %s\n", options->output, strerror(errno));
		fclose(out);
	}
	return written ? code : 1;
}

static int compare_reports(char *const *paths, size_t count, const struct options *options)
{
	struct run *runs = calloc(count, sizeof(*runs));
	struct results results = { .count = 0 };
	bool loaded = runs != NULL;
	int code = 1;

	for (size_t i = 0; loaded && i < count; i++)
		loaded = load(&runs[i], paths[i], &results);
	if (loaded && results_load(&results)) {
		for (size_t i = 0; i < count; i++)
			run_read(&runs[i], results.path[i], results.report[i]);
		code = write_all(runs, count, options);
	}
	results_fini(&results);
	free(runs);
	return code;
}

int cmd_compare(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.set = set_option,
	};
	struct options options = { .form = FORM_TEXT, .threshold = THRESHOLD };
	int code = options_read(argc, argv, &spec, &options);
	char *paths[COMPARISON_RUNS_MAX];
	bool tables = false;
	size_t count = 0;

	if (code)
		return code < 0 ? 0 : code;
	if (options.bases + (size_t)(argc - optind) > COMPARISON_RUNS_MAX || optind == argc ||
			(!options.bases && argc - optind < 2) ||
			(!options.bases && argc - optind > 2 && options.form_chosen))
		return option_usage(usage);
	for (size_t i = 0; i < options.bases; i++)
		paths[count++] = options.base[i];
	for (int i = optind; i < argc; i++)
		paths[count++] = argv[i];
	for (size_t i = 0; i < count; i++)
		tables |= tables_has(paths[i]);
	if (!tables)
		return compare_reports(paths, count, &options);
	if (options.form_chosen || options.bases || options.threshold_chosen || options.output) {
		fprintf(stderr, "phasemux: a table of bursts has no intervals: it is compared without options\n");
		return 2;
	}
	return tables_compare(paths, count);
}
