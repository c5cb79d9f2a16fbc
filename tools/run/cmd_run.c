/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux run: checks the settings, sets the environment, and becomes the command. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/boundary/preload.h"
#include "agent/setup/counting.h"
#include "agent/setup/settings.h"
#include "tools/commands.h"
#include "tools/machine.h"
#include "tools/run/mpirun.h"
#include "tools/options.h"
#include "tools/run/reach.h"
#include "tools/run/stop_after.h"

#define STOP_AFTER 512 /* value of --stop-after; those of settings are smaller, as is OPTION_HELP */

/* Returns the text of help, which the caller frees, or NULL if there is no memory. */
static char *make_usage(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("usage: phasemux run [options] [--stop-after LIMIT] -- COMMAND...\n\n"
	      "Counts in the program that COMMAND starts, and reports its phases. COMMAND may be a launcher\n"
	      "(mpirun, srun), and phasemux run may also stand after the launcher. If COMMAND is a shell, a script\n"
	      "or make, each program of yours that it starts has a report if it uses MPI or OpenMP, or computes\n"
	      "for 50 ms.\n\n",
			out);
	for (unsigned i = 0; i < settings_count; i++) {
		const struct setting *setting = &settings_table[i];
		char flag[32];

		snprintf(flag, sizeof(flag), "--%s", setting->name);
		for (char *at = flag; (at = strchr(at, '_'));)
			*at = '-';
		fprintf(out, "  %-13s %s\n  %-13s   %s", flag, setting->help, "", setting->values);
		fprintf(out, *setting->fallback ? " (default: %s)\n" : "\n", setting->fallback);
	}
	fputs("  --stop-after LIMIT\n"
	      "                end the program after this time in seconds (20, 0.5), or when its ranks have made\n"
	      "                as many iterations of their loop of calls (20iterations, 20i), and report what was\n"
	      "                observed until then on this host: a look at a long program, in the emulator above\n"
	      "                all. A program without iterations goes on to its end\n"
	      "\nEach is also an environment variable: PHASEMUX_SCHEME for --scheme.\n"
	      "The manual of phasemux says more of it.\n"
	      "\nExit code: that of COMMAND, or 0 if --stop-after has made a report; 127 or 126: COMMAND could not\n"
	      "be started; 1 or 2: nothing was started.\n",
			out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int run_refuse(const char *why)
{
	fprintf(stderr, "phasemux: %s\n", why);
	return 2;
}

/* The flags of the settings, as options. The value of an option is 1 + the setting's place in its table. */
struct flags {
	char name[SETTINGS_MAX][SETTINGS_NAME_MAX]; /* --burst-min; --burst_min is taken as well */
	struct option option[2 * SETTINGS_MAX + 3];
};

static void make_flags(struct flags *flags)
{
	struct option *next = flags->option;

	for (unsigned i = 0; i < settings_count; i++) {
		snprintf(flags->name[i], sizeof(flags->name[i]), "%s", settings_table[i].name);
		for (char *at = flags->name[i]; (at = strchr(at, '_'));)
			*at = '-';
		*next++ = (struct option){ flags->name[i], required_argument, NULL, (int)i + 1 };
		*next++ = (struct option){ settings_table[i].name, required_argument, NULL,
			(int)i + 1 };
	}
	*next++ = (struct option){ "stop-after", required_argument, NULL, STOP_AFTER };
	*next++ = (struct option){ "help", no_argument, NULL, OPTION_HELP };
	*next = (struct option){ NULL, 0, NULL, 0 };
}

/* Puts a flag into the environment. data: the limit of --stop-after. */
static int set_variable(void *data, int option)
{
	char variable[64];

	if (option == STOP_AFTER)
		return stop_limit_take(data);
	settings_variable(&settings_table[option - 1], variable, sizeof(variable));
	return setenv(variable, optarg, 1) ? 2 : 0;
}

/*
 * Reads the options. limit: of --stop-after; unchanged without it. Returns as options_read, and 2 if there is no
 * COMMAND.
 */
static int read_options(int argc, char **argv, struct stop_limit *limit)
{
	struct flags flags;
	char *usage = make_usage();
	const struct option_spec spec = {
		.usage = usage,
		.table = flags.option,
		.has_command = true,
		.set = set_variable,
	};
	int code;

	if (!usage)
		return run_refuse("no memory");
	make_flags(&flags);
	code = options_read(argc, argv, &spec, limit);
	if (!code && optind == argc)
		code = option_usage(usage);
	free(usage);
	return code;
}

/*
 * Refuses to start if the emulator is asked for and not available. Without a budget by the user, all bursts
 * are read: what reads take is nothing beside the emulator. Returns 0 or 2.
 */
static int check_emulator(void)
{
	int code = machine_find_emulator();

	return code ? code : setenv("PHASEMUX_BUDGET", "none", 0) ? run_refuse("no memory") : 0;
}

/* Refuses invalid settings before anything starts. Returns 0 or 2. */
static int check(struct settings *settings)
{
	struct counting counting;
	char why[512];
	bool measured;

	if (settings_read(settings, getenv, why, sizeof(why)))
		return run_refuse(why);
	if (counting_look(&counting, settings->events, getenv("PHASEMUX_PMU"), why, sizeof(why)))
		return run_refuse(why);
	measured = counting.probe.hardware;
	probe_explain(&counting.probe, counting.processor.hypervisor, why, sizeof(why));
	counting_fini(&counting);
	if (settings->counters == COUNTERS_HARDWARE && !measured) {
		fprintf(stderr, "phasemux: no hardware counters: %s\n", why);
		return 2;
	}
	return settings->counters == COUNTERS_EMULATED ? check_emulator() : 0;
}

/* Adds the library before those that are preloaded already, unless it is one of them. */
static int preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *both;
	int error;

	if (others && strstr(others, MACHINE_LIBRARY))
		return 0;
	if (asprintf(&both, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") <
			0)
		return -ENOMEM;
	error = setenv("LD_PRELOAD", both, 1) ? -errno : 0;
	free(both);
	return error;
}

/*
 * Tells AddressSanitizer to allow the preload. A program with it refuses to start if another library comes
 * before the sanitizer's, because that library may define the functions which the sanitizer replaces. The
 * preload defines none of them without calling the next definition.
 */
static void tell_address_sanitizer(void)
{
	static const char option[] = "verify_asan_link_order";
	const char *options = getenv("ASAN_OPTIONS");
	char *more;

	if (options && strstr(options, option))
		return;
	if (asprintf(&more, "%s%s%s=0", options ? options : "", options && *options ? ":" : "",
			    option) < 0)
		return;
	setenv("ASAN_OPTIONS", more, 1);
	free(more);
}

int cmd_run(int argc, char **argv)
{
	struct settings settings;
	char library[PATH_MAX], target[32], **words;
	struct stop_limit limit = { 0 };
	int command, code = read_options(argc, argv, &limit);

	if (code)
		return code < 0 ? 0 : code;
	command = optind;
	if (check(&settings))
		return 2;
	if (limit.iterations && !settings.structure)
		return run_refuse("--stop-after with iterations needs --trace structure or calls");
	if (machine_find_library(library, sizeof(library))) {
		fprintf(stderr,
				"phasemux: " MACHINE_LIBRARY
				" is not where it should be, beside this "
				"command or in its lib folder\n");
		return 1;
	}
	if (!reach_can_preload(library)) {
		fprintf(stderr,
				"phasemux: its folder cannot be preloaded from, because LD_PRELOAD holds no "
				"path with a blank, a colon or a $: %s; install it elsewhere\n",
				library);
		return 1;
	}
	if (preload(library))
		return 1;
	reach_say(argv + command);
	tell_address_sanitizer();
	/* a program without MPI looks like a launcher, and is recognised by the number of this process */
	snprintf(target, sizeof(target), "%ld", (long)getpid());
	if (setenv(PRELOAD_TARGET, target, 1))
		return 1;
	words = mpirun_tell(argv + command);
	if (limit.seconds > 0 || limit.iterations)
		return stop_after(&limit, settings.spool, words ? words : argv + command);
	execvp(argv[command], words ? words : argv + command);
	fprintf(stderr, "phasemux: %s: %s\n", argv[command], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
