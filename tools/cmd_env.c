/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux env: prints commands for a shell that set what a module file of this installation would set. LD_PRELOAD and
 * LD_LIBRARY_PATH are not among them, because they would change every program that the user starts.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/machine.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux env [sh|csh|fish]\n"
		"\n"
		"Prints commands that set PATH, MANPATH and PHASEMUX_PRELOAD, the path of the preload, for this\n"
		"installation: eval \"$(phasemux env)\" in sh, bash and zsh; eval `phasemux env csh` in csh and tcsh;\n"
		"phasemux env fish | source in fish. Then LD_PRELOAD=$PHASEMUX_PRELOAD in front of a command\n"
		"preloads phasemux into it.\n";

/* How a shell sets a variable. */
struct shell {
	const char *name;
	const char *special;       /* characters that need a backslash, also in single quotes */
	const char *set, *equals;  /* around the name of the variable */
	const char *join, *joined; /* around its name again, whose value follows */
	const char *system;        /* for an empty place in a list: that of the system */
	const char *end;
};

static const struct shell shells[] = {
	{ "sh", "", "export ", "=", ":\"$", "\"", ":", "\n" },
	{ "csh", "!", "setenv ", " ", ":\"$", "\"", ":", ";\n" },
	{ "fish", "\\'", "set -gx ", " ", " $", "", " ''", "\n" },
};

static void print_quoted(const struct shell *shell, const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr(shell->special, *text))
			printf("\\%c", *text);
		else if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static void set(const struct shell *shell, const char *name, const char *path)
{
	printf("%s%s%s", shell->set, name, shell->equals);
	print_quoted(shell, path);
	fputs(shell->end, stdout);
}

static bool has_folder(const char *list, const char *folder)
{
	size_t length = strlen(folder);

	for (const char *at = list; at; at = strchr(at, ':')) {
		at += at != list;
		if (strncmp(at, folder, length) == 0 && (at[length] == ':' || !at[length]))
			return true;
	}
	return false;
}

/* Puts the folder before those of a list, unless it is one of them. */
static void prepend(const struct shell *shell, const char *name, const char *folder)
{
	const char *list = getenv(name);

	if (has_folder(list, folder))
		return;
	printf("%s%s%s", shell->set, name, shell->equals);
	print_quoted(shell, folder);
	if (list && *list)
		printf("%s%s%s", shell->join, name, shell->joined);
	else
		fputs(shell->system, stdout);
	fputs(shell->end, stdout);
}

/* A build tree has no folder of manuals. */
static void prepend_manuals(const struct shell *shell, const char *bin)
{
	char path[PATH_MAX + sizeof("/../" INSTALL_MANDIR)], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/../" INSTALL_MANDIR, bin);
	if (realpath(path, real))
		prepend(shell, "MANPATH", real);
}

static int print(const struct shell *shell)
{
	char bin[PATH_MAX], library[PATH_MAX];

	if (machine_find_library(library, sizeof(library)) || machine_find_bin(bin, sizeof(bin))) {
		fprintf(stderr,
				"phasemux: " MACHINE_LIBRARY
				" is neither beside this command nor where it "
				"would be installed\n");
		return 1;
	}
	prepend(shell, "PATH", bin);
	prepend_manuals(shell, bin);
	set(shell, "PHASEMUX_PRELOAD", library);
	return 0;
}

int cmd_env(int argc, char **argv)
{
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);
	const char *name = "sh";

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 < argc)
		return option_usage(usage);
	if (optind < argc)
		name = argv[optind];
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (strcmp(name, shells[i].name) == 0)
			return print(&shells[i]);
	return option_refuse("env", name, "sh, csh, fish");
}
