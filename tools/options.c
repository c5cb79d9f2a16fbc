#include "tools/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int options_read(int argc, char **argv, const char *letters, const struct option *table,
		const char *usage, int (*set)(void *data, int option), void *data)
{
	int option;

	optind = 0; /* GNU: start anew */
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
