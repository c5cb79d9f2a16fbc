/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux replay: makes the calls of a recorded run again, and says how near the time of the replay is. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/replay/launch.h"
#include "tools/replay/outcome.h"
#include "tools/replay/prepare.h"
#include "tools/results/results.h"

static const char usage[] =
		"usage: phasemux replay [options] DIR|FILE -- mpirun -n RANKS ...\n"
		"       phasemux replay --check [options] DIR|FILE\n"
		"\n"
		"Makes the calls of a recorded run again, in their order, with their sizes, tags, peers and\n"
		"communicators, and computes between them as long as the program did. Then it says how near the\n"
		"time of the replay is to that of the run. The run needs PHASEMUX_TRACE=calls, and\n"
		"PHASEMUX_BUDGET=none if it makes many calls. What is behind -- is the launcher with the options that\n"
		"the run had, without a program. The program that replays is built by the compiler of the\n"
		"launcher's MPI (mpicc), once for each result.\n"
		"\n"
		"Before it starts anything, it checks that all messages and collectives of the ranks fit together.\n"
		"\n"
		"  --check             only this check\n"
		"  --json              everything, with full precision\n"
		"  --mpicc COMPILER    the compiler of the launcher's MPI (default: mpicc beside the launcher)\n"
		"  --output, -o DIR    folder for the program and the plan (default: replay in the folder of the result)\n"
		"  --seed N            of the lengths of bursts, which are drawn at random (default: 1)\n"
		"  --step STEP         of a job with several steps, this one\n"
		"\n"
		"Exit code: 0; 1: it failed; 2: invalid arguments, or a result that cannot be replayed.\n";

#define STALL_SECONDS 60. /* without progress, beside the longest wait in the recorded run ... */
#define STALL_TIMES   5.  /* ... times this */
#define SEED_MAX      1000000000

enum {
	CHECK = 1,
	JSON,
	MPICC,
	SEED,
	STEP,
};

static const struct option long_options[] = {
	{ "check", no_argument, NULL, CHECK },
	{ "json", no_argument, NULL, JSON },
	{ "mpicc", required_argument, NULL, MPICC },
	{ "output", required_argument, NULL, 'o' },
	{ "seed", required_argument, NULL, SEED },
	{ "step", required_argument, NULL, STEP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool check, json;
	const char *compiler, *output, *step;
	size_t seed;
	char **launcher; /* NULL: none is given */
};

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case CHECK:
		options->check = true;
		return 0;
	case MPICC:
		options->compiler = optarg;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case SEED:
		return option_take_whole("seed", 0, SEED_MAX, &options->seed);
	case STEP:
		return option_take_step(&options->step);
	default:
		options->json = true;
		return 0;
	}
}

/* ---- the replay ---- */

/* Returns the exit code of a replay that has come to its end, or has not. */
static int judge(const struct launch_result *result, struct outcome *outcome)
{
	if (result->has_ended && result->ranks != outcome->ranks) {
		fprintf(stderr,
				"phasemux: the launcher started the replay with %ld ranks, and the recorded run had %ld; "
				"start as many, and if you did, name the compiler of the launcher's MPI with --mpicc\n",
				result->ranks, outcome->ranks);
		return 2;
	}
	if (result->code || !result->has_ended) {
		fprintf(stderr, "phasemux: the replay did not end by itself (exit code %d)\n",
				result->code);
		return 1;
	}
	outcome->replayed = result->seconds;
	outcome->deprived = result->deprived;
	return 0;
}

static int replay_run(const struct options *options, const char *folder, const char *file,
		const struct plan *plan, struct outcome *outcome)
{
	const struct launch launch = {
		.folder = folder,
		.compiler = options->compiler,
		.launcher = options->launcher,
		.plan = file,
		.seed = options->seed,
		/* copies cost calls, and are made only if they are needed */
		.copies = outcome->matching.copies > 0 ? outcome->copies : 0,
		.stall = STALL_SECONDS + STALL_TIMES * plan->call_most,
	};
	struct launch_result result;
	char why[PATH_MAX + 800];

	if (!launch_run(&launch, &result, why, sizeof(why))) {
		fprintf(stderr, "phasemux: %s\n", why);
		return 1;
	}
	return judge(&result, outcome);
}

static int show(const struct options *options, const struct outcome *outcome)
{
	json_t *object;
	bool dumped;

	if (!options->json) {
		outcome_text(outcome, stdout);
		return fflush(stdout) ? 1 : 0;
	}
	object = outcome_json(outcome);
	dumped = object &&
			json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
	json_decref(object);
	if (!dumped) {
		fprintf(stderr, "phasemux: no memory\n");
		return 1;
	}
	putchar('\n');
	return fflush(stdout) ? 1 : 0;
}

/* Replays a result, or only checks it. Returns the exit code. */
static int replay(const struct options *options, const char *path, const json_t *report)
{
	static struct outcome outcome;
	char folder[PATH_MAX], file[PATH_MAX + 64];
	struct plan *plan = NULL;
	int code = 0;

	if (options->check)
		snprintf(folder, sizeof(folder), "%s",
				getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	else
		code = prepare_folder(options->output, path, folder, sizeof(folder));
	if (code)
		return code;
	snprintf(file, sizeof(file), "%s/%s", folder, "plan");
	if (options->check)
		snprintf(file, sizeof(file), "%s/phasemux-plan.%ld", folder, (long)getpid());
	outcome.seed = options->seed;
	code = prepare_plan(path, report, file, &plan, &outcome);
	if (!code && !options->check)
		code = replay_run(options, folder, file, plan, &outcome);
	plan_free(plan);
	if (options->check)
		unlink(file);
	return code ? code : show(options, &outcome);
}

int cmd_replay(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "o:",
		.has_command = true,
		.set = set_option,
	};
	struct options options = { .seed = 1 };
	struct results results = { .count = 0 };
	int code = options_read(argc, argv, &spec, &options);
	int behind = optind + 1;

	if (code)
		return code < 0 ? 0 : code;
	if (optind >= argc ||
			(options.check ? behind != argc :
					 behind + 1 >= argc || strcmp(argv[behind], "--") != 0))
		return option_usage(usage);
	options.launcher = options.check ? NULL : argv + behind + 1;
	code = 1;
	if (results_find(&results, argv[optind], options.step) && results_load(&results)) {
		if (results.count == 1)
			code = replay(&options, results.path[0], results.report[0]);
		else
			results_refuse(&results);
	}
	results_fini(&results);
	return code;
}
