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
#include "agent/whatif/communication.h"
#include "agent/whatif/caches.h"
#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"
#include "tools/whatif/calibrate.h"
#include "tools/whatif/simulate.h"
#include "tools/whatif/whatif_json.h"
#include "tools/whatif/whatif_text.h"

static const char usage[] =
		"usage: phasemux whatif [options] [DIR|FILE]\n"
		"       phasemux whatif --calibrate [--output DIR] [DIR|FILE] -- mpirun -n 2\n"
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
		"  --communication F   the time of ranks in calls, without waiting for others, is F times as long\n"
		"  --cache F           the last cache is F times as large, as phasemux simulate has tried it for this result\n"
		"  --simulate          make the run again, as it was and with the changes, on a machine that SimGrid simulates\n"
		"                      (Debian: libsimgrid-dev); the run needs PHASEMUX_TRACE=calls\n"
		"  --latency F         with --simulate: messages between nodes start F times as late\n"
		"  --bandwidth F       with --simulate: the network between nodes is F times as fast\n"
		"  --network L,B       with --simulate: the network as it was, with L microseconds of latency and B gigabytes\n"
		"                      per second of each node (default: 2,10)\n"
		"  --surface           with --simulate: processors and networks that are 1, 2, 4 ... 64 times as fast\n"
		"  --ranks-per-node N  with --simulate: ranks of a node (default: as in the run)\n"
		"  --whole             with --simulate: all rounds of the loops. Without it, runs of many calls have some rounds\n"
		"                      of each long loop simulated, which stand for the others\n"
		"  --calibrate         measure messages between the first and the last rank of the launcher behind --; simulations\n"
		"                      of the result then take what was found in place of --network's default\n"
		"  --output, -o DIR    with --simulate: folder for its files (default: replay in the folder of the result)\n"
		"  --json              everything, with full precision\n"
		"  --step STEP         of a job with several steps, this one\n"
		"\n"
		"Exit code: 0; 1: it failed; 2: invalid arguments, or a result that has no answer to them.\n";

/* Allowed values. */
#define LATENCY_MAX   1e6 /* microseconds */
#define BANDWIDTH_MAX 1e5 /* gigabytes per second */
#define RANKS_MAX     1000000

enum {
	BALANCE = 1,
	BANDWIDTH,
	CACHE,
	CALIBRATE,
	COMMUNICATION,
	COMPONENT,
	CPU,
	JSON,
	LATENCY,
	NETWORK,
	PHASE,
	RANKS_PER_NODE,
	SIMULATE,
	STEP,
	SURFACE,
	WHOLE,
};

static const struct option long_options[] = {
	{ "phase", required_argument, NULL, PHASE },
	{ "balance", optional_argument, NULL, BALANCE },
	{ "component", required_argument, NULL, COMPONENT },
	{ "cpu", required_argument, NULL, CPU },
	{ "communication", required_argument, NULL, COMMUNICATION },
	{ "cache", required_argument, NULL, CACHE },
	{ "simulate", no_argument, NULL, SIMULATE },
	{ "latency", required_argument, NULL, LATENCY },
	{ "bandwidth", required_argument, NULL, BANDWIDTH },
	{ "network", required_argument, NULL, NETWORK },
	{ "calibrate", no_argument, NULL, CALIBRATE },
	{ "surface", no_argument, NULL, SURFACE },
	{ "whole", no_argument, NULL, WHOLE },
	{ "ranks-per-node", required_argument, NULL, RANKS_PER_NODE },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, JSON },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool json, simulate, surface, calibrate, whole;
	char **launcher; /* of --calibrate */
	const char *step, *output;
	const char *of_simulation; /* an option that needs --simulate */
	struct simulate_network network;
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

/* Takes the factor of an option of the network. Returns 0, or 2 after the refusal. */
static int take_factor(struct options *options, const char *name, double *factor)
{
	struct request request;

	options->of_simulation = name;
	if (!request_read(&request, REQUEST_SPEED, optarg))
		return option_refuse(name, optarg, request_allowed(REQUEST_SPEED));
	*factor = request.factor;
	return 0;
}

/* Takes the latency and the bandwidth of the network. Returns 0, or 2 after the refusal. */
static int take_network(struct options *options)
{
	double latency, bandwidth;
	int end = 0;

	options->of_simulation = "network";
	if (sscanf(optarg, "%lf,%lf%n", &latency, &bandwidth, &end) != 2 || optarg[end] ||
			!(latency > 0 && latency <= LATENCY_MAX) ||
			!(bandwidth > 0 && bandwidth <= BANDWIDTH_MAX))
		return option_refuse("network", optarg,
				"microseconds up to 1000000, a comma, and gigabytes per second up to 100000, as in 2,10");
	options->network.latency = latency * 1e-6;
	options->network.bandwidth = bandwidth * 1e9;
	return 0;
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case SIMULATE:
		options->simulate = true;
		return 0;
	case LATENCY:
		return take_factor(options, "latency", &options->network.latency_times);
	case BANDWIDTH:
		return take_factor(options, "bandwidth", &options->network.bandwidth_times);
	case NETWORK:
		return take_network(options);
	case 'o':
		options->output = optarg;
		options->of_simulation = "output";
		return 0;
	case CALIBRATE:
		options->calibrate = true;
		return 0;
	case SURFACE:
		options->of_simulation = "surface";
		options->surface = true;
		return 0;
	case WHOLE:
		options->of_simulation = "whole";
		options->whole = true;
		return 0;
	case RANKS_PER_NODE:
		options->of_simulation = "ranks-per-node";
		return option_take_whole("ranks-per-node", 1, RANKS_MAX,
				&options->network.ranks_per_node);
	case PHASE:
		return add_request(options, "phase", REQUEST_PHASE);
	case BALANCE:
		return add_request(options, "balance",
				optarg ? REQUEST_BALANCE_PHASE : REQUEST_BALANCE);
	case COMPONENT:
		return add_request(options, "component", REQUEST_COMPONENT);
	case CPU:
		return add_request(options, "cpu", REQUEST_SPEED);
	case COMMUNICATION:
		return add_request(options, "communication", REQUEST_COMMUNICATION);
	case CACHE:
		return add_request(options, "cache", REQUEST_CACHE);
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

/* Loads what was simulated of caches. Returns false after one line on stderr if a request needs it and it is not there. */
static bool load_caches(struct run_times *run, const char *path, const struct options *options)
{
	char why[2 * PATH_MAX];

	run->caches = caches_load(path, run->report, why, sizeof(why));
	for (size_t i = 0; i < options->count && !run->caches; i++)
		if (options->request[i].kind == REQUEST_CACHE) {
			fprintf(stderr, "phasemux: cache: %s\n", why);
			return false;
		}
	return true;
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
	if (options->calibrate)
		return calibrate_run(results->path[0], options->output, options->launcher);
	if (!run_times_read(&run, results->report[0], why, sizeof(why))) {
		fprintf(stderr, "phasemux: %s: %s\n", results->path[0], why);
		return 2;
	}
	communication_read(&run);
	if (!load_caches(&run, results->path[0], options)) {
		code = 2;
	} else if (options->simulate) {
		code = simulate_run(results->path[0], &run,
				&(struct simulate_request){ options->request, options->count,
						options->network, options->surface, options->json,
						options->whole, options->output });
	} else {
		code = answer(&run, options);
	}
	json_decref((json_t *)run.caches);
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

/* Returns how many words are behind the first "--", or -1 if there is none. */
static int words_behind(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - i - 1;
	return -1;
}

/* Takes the launcher off the arguments. Returns false if there must not be one, or must be one. */
static bool take_launcher(struct options *options, int words, int *argc, char **argv)
{
	if (options->calibrate && words > 0) {
		*argc -= words;
		options->launcher = argv + *argc;
	}
	return options->calibrate ? words > 0 : words <= 0;
}

int cmd_whatif(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.set = set_option,
	};
	struct options options = { .network = { .latency_times = 1, .bandwidth_times = 1 } };
	struct results results = { .count = 0 };
	int words = words_behind(argc, argv), code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (!take_launcher(&options, words, &argc, argv) || argc > optind + 1)
		return option_usage(usage);
	if (options.calibrate && (options.simulate || options.count || options.json))
		return option_refuse("calibrate", "with other options", "alone, or with --output");
	if (options.of_simulation && !options.simulate && !options.calibrate)
		return option_refuse(options.of_simulation, "alone", "together with --simulate");
	code = 1;
	if (find_result(&results, optind < argc ? argv[optind] : NULL, options.step) &&
			results_load(&results))
		code = show_answers(&results, &options);
	results_fini(&results);
	return code;
}
