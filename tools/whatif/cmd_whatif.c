/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux whatif: says what a faster or better balanced phase, or another processor, would bring. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/results/results.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"
#include "tools/whatif/whatif_json.h"
#include "tools/whatif/whatif_text.h"

static const char usage[] =
		"usage: phasemux whatif [options] [DIR|FILE]\n"
		"\n"
		"Says how long the run would take if a phase was faster, if its work was shared better between the\n"
		"ranks, or on another processor. It estimates this from the report alone. Several changes may be asked\n"
		"for at once. Without any, it tries single changes, and shows those that bring most. Without DIR, it takes\n"
		"the newest result in a folder here.\n"
		"\n"
		"  --phase N=F         phase N takes F times as long: --phase 1=0.5 is half its time\n"
		"  --balance           all ranks share the computing of each phase alike\n"
		"  --balance=N         the ranks that execute phase N share its work alike\n"
		"  --component NAME=F  a component of the cycles per instruction, or COMPONENT/PART, takes F times as many\n"
		"                      cycles in all phases: --component 'back end/memory=0.5'\n"
		"  --cpu F             all computing is F times as fast\n"
		"  --json              everything, with full precision\n"
		"  --step STEP         of a job with several steps, this one\n"
		"\n"
		"Exit code: 0; 1: it failed; 2: invalid arguments, or a result that has no answer to them.\n";

enum {
	BALANCE = 1,
	COMPONENT,
	CPU,
	JSON,
	PHASE,
	STEP,
};

static const struct option long_options[] = {
	{ "phase", required_argument, NULL, PHASE },
	{ "balance", optional_argument, NULL, BALANCE },
	{ "component", required_argument, NULL, COMPONENT },
	{ "cpu", required_argument, NULL, CPU },
	{ "json", no_argument, NULL, JSON },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool json;
	const char *step;
	size_t count;
	struct request request[ANSWERS_MAX - 1];
};

/* Takes a change. name: of its option. */
static int add_request(struct options *options, const char *name, enum request_kind kind)
{
	if (options->count == ANSWERS_MAX - 1)
		return option_refuse(name, optarg ? optarg : "", "at most 15 changes at once");
	return request_read(&options->request[options->count++], kind, optarg) ?
			0 :
			option_refuse(name, optarg, request_allowed(kind));
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case PHASE:
		return add_request(options, "phase", REQUEST_PHASE);
	case BALANCE:
		return add_request(options, "balance",
				optarg ? REQUEST_BALANCE_PHASE : REQUEST_BALANCE);
	case COMPONENT:
		return add_request(options, "component", REQUEST_COMPONENT);
	case CPU:
		return add_request(options, "cpu", REQUEST_SPEED);
	case STEP:
		return option_take_step(&options->step);
	default:
		options->json = true;
		return 0;
	}
}

/* Returns the answers as a text, or NULL without memory. */
static char *write_answers(const struct answers *answers, bool json)
{
	json_t *object;
	char *text;

	if (!json)
		return whatif_text(answers);
	object = whatif_json(answers);
	text = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(object);
	return text;
}

/* Answers what is asked about one run. Returns the exit code. */
static int answer(const struct run_times *run, const struct options *options)
{
	static struct answers answers;
	char why[1024] = "";
	char *text;

	if (!options->count) {
		answers_of_run(&answers, run);
	} else if (!answers_of_requests(&answers, run, options->request, options->count, why,
				   sizeof(why))) {
		fprintf(stderr, "phasemux: %s\n", why);
		return 2;
	}
	text = write_answers(&answers, options->json);
	if (!text) {
		fprintf(stderr, "phasemux: no memory\n");
		return 1;
	}
	printf("%s%s", text, options->json ? "\n" : "");
	free(text);
	return fflush(stdout) ? 1 : 0;
}

/* Answers about the result that was found. Returns the exit code. */
static int show_answers(const struct results *results, const struct options *options)
{
	static struct run_times run;
	char why[256] = "";
	int code;

	if (results->count != 1) {
		results_refuse(results);
		return 1;
	}
	if (!run_times_read(&run, results->report[0], why, sizeof(why))) {
		fprintf(stderr, "phasemux: %s: %s\n", results->path[0], why);
		code = 2;
	} else {
		code = answer(&run, options);
	}
	run_times_fini(&run);
	return code;
}

/* Finds the result that the command line names. Returns false after one line on stderr. */
static bool find_result(struct results *results, const char *name, const char *step)
{
	char newest[NAME_MAX + 1];

	if (name)
		return results_find(results, name, step);
	return results_newest(newest, sizeof(newest)) && results_find(results, newest, step);
}

int cmd_whatif(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.set = set_option,
	};
	struct options options = { .json = false };
	struct results results = { .count = 0 };
	int code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (argc > optind + 1)
		return option_usage(usage);
	code = 1;
	if (find_result(&results, argv[optind], options.step) && results_load(&results))
		code = show_answers(&results, &options);
	results_fini(&results);
	return code;
}
