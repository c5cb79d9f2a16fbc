/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux validate: how far off are multiplexed counters (thesis 7.3)? Its options. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sampling/emulated/core_model.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/validate/validate.h"

static const char usage[] =
		"usage: phasemux validate --replay FILE [options]\n"
		"       phasemux validate [-n N] [--scheme LIST] [--share SHARE] [--json] -- COMMAND...\n"
		"       phasemux validate --counters emulated [--core NAME] [--output DIR] [options] -- COMMAND...\n"
		"\n"
		"How far off are multiplexed counters? Takes recorded bursts in which every counter is known (a CSV\n"
		"table or a Paraver trace, as phasemux cluster takes them) and hides all but one group of counters\n"
		"at a time, as a multiplexed run would; or runs COMMAND (perhaps with mpirun in front) once for each\n"
		"group without multiplexing, and once with each scheme. PHASEMUX_* settings hold for these runs.\n"
		"In the emulator all counts of a multiplexed run are recorded beside it, and are the truth.\n"
		"\n"
		"  --replay FILE       the bursts; phases are the file's own clusters, else found by refinement; or a\n"
		"                      folder of --counters emulated --output\n"
		"  -n, --runs N        run all N times (1)\n"
		"  --scheme LIST       schemes to try (all)\n"
		"  --share SHARE       judge the phases that together hold this share of the computing time (0.9,\n"
		"                      as in the thesis; 1: all phases)\n"
		"  --json              print JSON\n"
		"  --quiet             show no progress\n"
		"\n"
		"In the emulator, which is some 20 to 150 times slower:\n"
		"  --counters emulated run COMMAND once with each scheme, compare each with the truth of the same\n"
		"                      run, and replay the bursts of the first\n"
		"  --core NAME         core model: out-of-order, in-order (out-of-order)\n"
		"  --output DIR        keep the runs in a new folder, for --replay DIR\n"
		"\n"
		"With --replay:\n"
		"  --trials N          how often each scheme is tried, with other groups at other times (200)\n"
		"  --read SHARE        share of the bursts that is read, 0 to 1 (1)\n"
		"  --quantum TIME      how long a group stays: 10ms, 500us, ... (10ms)\n"
		"  --counters N        counters that the processor has, cycles and instructions among them (3)\n"
		"  --burst-min TIME    leave shorter bursts out: 50us, ...; or 99%: keep that share of the time (99%)\n"
		"  --cluster-by LIST   metrics that span the space, as in phasemux cluster\n"
		"  --seed N            another seed draws other trials (1)\n";

static bool read_share(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value > 0 && *value <= 1;
}

/* Reads a duration like "10ms" as seconds. */
static bool duration(const char *text, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } };
	char *unit;

	*seconds = strtod(text, &unit);
	for (size_t i = 0; unit != text && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(unit, units[i].unit) == 0) {
			*seconds *= units[i].seconds;
			return *seconds > 0 && isfinite(*seconds);
		}
	return false;
}

enum {
	REPLAY = 1,
	TRIALS,
	READ,
	QUANTUM,
	COUNTERS,
	SCHEME,
	SHARE,
	BURST_MIN,
	CLUSTER_BY,
	CORE,
	OUTPUT,
	SEED,
	JSON,
	QUIET
};

static const struct option long_options[] = {
	{ "replay", required_argument, NULL, REPLAY },
	{ "trials", required_argument, NULL, TRIALS },
	{ "read", required_argument, NULL, READ },
	{ "quantum", required_argument, NULL, QUANTUM },
	{ "counters", required_argument, NULL, COUNTERS },
	{ "core", required_argument, NULL, CORE },
	{ "output", required_argument, NULL, OUTPUT },
	{ "runs", required_argument, NULL, 'n' },
	{ "scheme", required_argument, NULL, SCHEME },
	{ "share", required_argument, NULL, SHARE },
	{ "burst-min", required_argument, NULL, BURST_MIN },
	{ "cluster-by", required_argument, NULL, CLUSTER_BY },
	{ "seed", required_argument, NULL, SEED },
	{ "json", no_argument, NULL, JSON },
	{ "quiet", no_argument, NULL, QUIET },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* Reads "time,space" into wanted[]; NULL: every scheme that multiplexes. Returns 0 or 2. */
static int read_schemes(const char *list, bool wanted[SCHEME_KINDS])
{
	const char *item = list;
	char name[32];

	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		wanted[kind] = !list && kind != SCHEME_NONE;
	while (item) {
		size_t length = strcspn(item, ",");
		int kind;

		snprintf(name, sizeof(name), "%.*s", (int)length, item);
		kind = scheme_by_name(name);
		if (kind < 0 || kind == SCHEME_NONE)
			return option_refuse("scheme", name,
					"time-space, time, space, random, adaptive");
		wanted[kind] = true;
		item = item[length] ? item + length + 1 : NULL;
	}
	return 0;
}

/* Sets an option that may have any value, or has none. */
static int set_any(struct validate_options *options, int option)
{
	switch (option) {
	case REPLAY:
		options->file = optarg;
		return 0;
	case OUTPUT:
		options->output = optarg;
		return 0;
	case BURST_MIN:
		options->burst_min = optarg;
		options->burst_min_given = true;
		return 0;
	case CLUSTER_BY:
		options->cluster_by = optarg;
		return 0;
	case JSON:
		options->json = true;
		return 0;
	case QUIET:
		options->quiet = true;
		return 0;
	default:
		return 2;
	}
}

static int set_option(void *data, int option)
{
	struct validate_options *options = data;

	switch (option) {
	case TRIALS:
		return option_take_whole("trials", 1, 1000000, &options->trials);
	case READ:
		return read_share(optarg, &options->read) ?
				0 :
				option_refuse("read", optarg, "a number above 0, at most 1");
	case SHARE:
		return read_share(optarg, &options->share) ?
				0 :
				option_refuse("share", optarg, "a number above 0, at most 1");
	case QUANTUM:
		return duration(optarg, &options->quantum) ?
				0 :
				option_refuse("quantum", optarg,
						"a time above 0, as in 10ms or 500us");
	case COUNTERS:
		options->emulated = strcmp(optarg, "emulated") == 0;
		return options->emulated ||
						option_whole(optarg, 3, PLAN_GROUP_EVENTS_MAX,
								&options->counters) ?
				0 :
				option_refuse("counters", optarg,
						"a whole number from 3 to 8, emulated");
	case CORE:
		options->core = optarg;
		return core_spec_find(optarg) >= 0 ?
				0 :
				option_refuse("core", optarg, "out-of-order, in-order");
	case SCHEME:
		return read_schemes(optarg, options->scheme);
	case 'n':
		return option_take_whole("n", 1, 1000, &options->runs);
	case SEED:
		return option_take_whole("seed", 0, SIZE_MAX, &options->seed);
	default:
		return set_any(options, option);
	}
}

static int read_options(struct validate_options *options, int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.letters = "n:",
		.has_command = true,
		.set = set_option,
	};
	int code;

	*options = (struct validate_options){ .runs = 1,
		.burst_min = "auto",
		.trials = 200,
		.counters = 3,
		.seed = 1,
		.read = 1,
		.quantum = 10e-3,
		.share = .9 };
	read_schemes(NULL, options->scheme);
	code = options_read(argc, argv, &spec, options);
	if (code)
		return code;
	options->command = optind < argc ? argv + optind : NULL;
	if (!options->file == !options->command)
		return option_usage(usage);
	if ((options->core || options->output) && !(options->emulated && options->command))
		return option_usage(usage);
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int cmd_validate(int argc, char **argv)
{
	struct validate_options options;
	int code = read_options(&options, argc, argv);

	if (code)
		return code < 0 ? 0 : code;
	progress_allow(!options.quiet);
	if (options.file)
		return is_folder(options.file) ? validate_recorded(&options) :
						 validate_replay(&options);
	return options.emulated ? validate_emulated(&options) : validate_runs(&options);
}
