/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_read(int argc, char **argv, const char *letters, const struct option *table,
		const char *usage, int (*set)(void *data, int option), void *data)
{
	int option;

	optind = 0; /* makes GNU getopt start again */
	while ((option = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		int code;

		if (option == OPTION_HELP) {
			fputs(usage, stdout);
			return -1;
		}
		code = set(data, option);
		if (code)
			return code;
	}
	return 0;
}

bool option_help(int argc, char **argv, const char *usage)
{
	bool asked = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);

	if (asked)
		fputs(usage, stdout);
	return asked;
}

int option_usage(const char *usage)
{
	fputs(usage, stderr);
	return 2;
}

int option_refuse(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "phasemux: --%s %s: %s\n", option, value, allowed);
	return 2;
}

bool option_whole(const char *text, size_t least, size_t most, size_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value >= least && *value <= most;
}
