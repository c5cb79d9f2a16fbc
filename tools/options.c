/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS_MAX 64

const struct option options_help_alone[] = {
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static void (*visitor)(void *data, const struct option_spec *spec);
static void *visitor_data;

void options_visit(void (*visit)(void *data, const struct option_spec *spec), void *data)
{
	visitor = visit;
	visitor_data = data;
}

/* Says what is wrong with the word that getopt_long has just read. Returns 2. */
static int refuse_word(char **argv, int answer)
{
	const char *word = argv[optind - 1];
	const char letter[] = { '-', (char)optopt, '\0' };

	if (answer == '?' && strncmp(word, "--", 2) != 0)
		word = letter;
	fprintf(stderr, "phasemux: %s %s (phasemux %s --help tells more)\n",
			answer == '?' ? "invalid option" : "no value after", word, argv[0]);
	return 2;
}

int options_read(int argc, char **argv, const struct option_spec *spec, void *data)
{
	const struct option *table = spec->table ? spec->table : options_help_alone;
	char letters[LETTERS_MAX];
	int option;

	if (visitor) {
		visitor(visitor_data, spec);
		return -1;
	}
	snprintf(letters, sizeof(letters), "%s:h%s", spec->has_command ? "+" : "",
			spec->letters ? spec->letters : "");
	optind = 0; /* makes GNU getopt start again */
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		int code;

		if (option == OPTION_HELP || option == 'h') {
			fputs(spec->usage, stdout);
			return -1;
		}
		code = option == '?' || option == ':' ? refuse_word(argv, option) :
							spec->set(data, option);
		if (code)
			return code;
	}
	return 0;
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

bool option_whole(const char *text, size_t min, size_t max, size_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value >= min && *value <= max;
}

int option_take_whole(const char *option, size_t min, size_t max, size_t *value)
{
	char allowed[80];

	if (option_whole(optarg, min, max, value))
		return 0;
	if (max < INT_MAX)
		snprintf(allowed, sizeof(allowed), "a whole number from %zu to %zu", min, max);
	else
		snprintf(allowed, sizeof(allowed), "a whole number from %zu on", min);
	return option_refuse(option, optarg, allowed);
}

int option_take_step(const char **step)
{
	if (strchr(optarg, '/'))
		return option_refuse("step", optarg, "a step of the job");
	*step = optarg;
	return 0;
}
