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
#include "tools/mpirun.h"
#include "tools/reach.h"

static void usage(FILE *out)
{
	fputs("usage: phasemux run [options] -- COMMAND...\n\n", out);
	for (unsigned i = 0; i < settings_count; i++) {
		const struct setting *setting = &settings_table[i];
		char flag[32];

		snprintf(flag, sizeof(flag), "--%s", setting->name);
		for (char *at = flag; (at = strchr(at, '_'));)
			*at = '-';
		fprintf(out, "  %-13s %s\n  %-13s   %s", flag, setting->help, "", setting->values);
		fprintf(out, *setting->fallback ? " (default: %s)\n" : "\n", setting->fallback);
	}
	fputs("\nEach is also an environment variable: PHASEMUX_SCHEME for --scheme.\n", out);
}

/* Returns the setting that --NAME or --NAME=... means, or NULL. */
static const struct setting *find_setting(const char *flag, size_t length)
{
	for (unsigned i = 0; i < settings_count; i++) {
		const char *name = settings_table[i].name;
		bool same = strlen(name) == length;

		for (size_t k = 0; same && k < length; k++)
			same = name[k] == (flag[k] == '-' ? '_' : flag[k]);
		if (same)
			return &settings_table[i];
	}
	return NULL;
}

static int refuse(const char *why)
{
	fprintf(stderr, "phasemux: %s\n", why);
	return 2;
}

/* Puts the flags into the environment. Returns the index of COMMAND, or -2 for exit code 2. */
static int take_flags(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0 && argv[i][2]; i++) {
		const char *flag = argv[i] + 2;
		size_t length = strcspn(flag, "=");
		const struct setting *setting = find_setting(flag, length);
		char variable[64];
		const char *value;

		if (!setting) {
			fprintf(stderr, "phasemux: there is no option --%.*s\n\n", (int)length,
					flag);
			usage(stderr);
			return -2;
		}
		value = flag[length] ? flag + length + 1 : argv[++i];
		if (!value) {
			fprintf(stderr, "phasemux: --%.*s wants a value: %s\n", (int)length, flag,
					setting->values);
			return -2;
		}
		settings_variable(setting, variable, sizeof(variable));
		if (setenv(variable, value, 1))
			return -2;
	}
	return i < argc && strcmp(argv[i], "--") == 0 ? i + 1 : i;
}

/* Refuses invalid settings before anything starts. Returns 0 or 2. */
static int check(struct settings *settings)
{
	struct counting counting;
	char why[512];

	if (settings_read(settings, getenv, why, sizeof(why)))
		return refuse(why);
	if (counting_look(&counting, settings->events, getenv("PHASEMUX_PMU"), why, sizeof(why)))
		return refuse(why);
	counting_fini(&counting);
	return 0;
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
	int command;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		usage(stdout);
		return 0;
	}
	command = take_flags(argc, argv);
	if (command < 0)
		return 2;
	if (command >= argc) {
		usage(stderr);
		return 2;
	}
	if (check(&settings))
		return 2;
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
	execvp(argv[command], words ? words : argv + command);
	fprintf(stderr, "phasemux: %s: %s\n", argv[command], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
