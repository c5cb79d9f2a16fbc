/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/run/mpirun.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/setup/settings.h"

#define LIST          "mca_base_env_list"
#define LIST_MAX      2048
#define VARIABLES_MAX 64 /* number of variables that are handed on; there are about 20 */

static char option_x[] = "-x";

/* Lists the variables that the ranks need, with ';' between them. */
static void list_variables(char *list, size_t size)
{
	size_t length = (size_t)snprintf(list, size, "LD_PRELOAD;ASAN_OPTIONS");

	for (unsigned i = 0; i < settings_count; i++) {
		char variable[64];

		settings_variable(&settings_table[i], variable, sizeof(variable));
		if (getenv(variable) && length + strlen(variable) + 2 < size)
			length += (size_t)snprintf(list + length, size - length, ";%s", variable);
	}
}

static bool is_mpirun(const char *word)
{
	static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun",
		"mpirun.openmpi", "mpiexec.openmpi" };
	const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(base, names[i]) == 0)
			return true;
	return false;
}

/* Returns the number of the word that is mpirun, also behind a timeout or a nice; -1: none is. */
static long find_mpirun(char *const *words)
{
	for (long i = 0; words[i]; i++)
		if (is_mpirun(words[i]))
			return i;
	return -1;
}

/* Returns the number of the first word that is `option`, or 0 if there is none. */
static size_t option_find(char *const *words, const char *option)
{
	for (size_t i = 1; words[0] && words[i]; i++)
		if (strcmp(words[i], option) == 0)
			return i;
	return 0;
}

/* Returns the words with `count` others after the word `place`, or NULL if there is no memory. */
static char **with_more(char *const *words, size_t place, char *const *more, size_t count)
{
	size_t all = 0;
	char **list;

	while (words[all])
		all++;
	list = calloc(all + count + 1, sizeof(*list));
	if (!list)
		return NULL;
	memcpy(list, words, (place + 1) * sizeof(*list));
	if (count)
		memcpy(list + place + 1, more, count * sizeof(*list));
	memcpy(list + place + 1 + count, words + place + 1, (all - place - 1) * sizeof(*list));
	return list;
}

/* Returns the word after -x by which the user hands on a variable, NAME or NAME=VALUE, or NULL. */
static const char *users_own(char *const *words, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 1; words[i]; i++)
		if (strcmp(words[i - 1], option_x) == 0 && strncmp(words[i], name, length) == 0 &&
				(!words[i][length] || words[i][length] == '='))
			return words[i];
	return NULL;
}

/*
 * Returns the words with an option -x of mpirun for each variable of the list, except those that the user hands
 * on. mpirun: its place among the words.
 */
static char **by_options(char *const *words, size_t mpirun, char *list)
{
	char *more[2 * VARIABLES_MAX], *rest = NULL, *copy;
	size_t count = 0;

	for (char *name = strtok_r(list, ";", &rest); name && count < 2 * VARIABLES_MAX;
			name = strtok_r(NULL, ";", &rest)) {
		const char *own = users_own(words, name);

		if (own && strchr(own, '=') && strcmp(name, "LD_PRELOAD") == 0)
			fprintf(stderr,
					"phasemux: mpirun is told -x %s, which takes the place of phasemux: "
					"no rank is observed\n",
					own);
		copy = own || !getenv(name) ? NULL : strdup(name);
		if (!copy)
			continue;
		more[count++] = option_x;
		more[count++] = copy;
	}
	return with_more(words, mpirun, more, count);
}

/* Returns the user's list followed by the other list, or NULL without memory. */
static char *joined(const char *own, const char *list)
{
	char *both;

	return asprintf(&both, "%s%s%s", own, *own ? ";" : "", list) < 0 ? NULL : both;
}

char **mpirun_tell(char *const *words)
{
	const char *own = getenv("OMPI_MCA_" LIST);
	size_t at = option_find(words, LIST);
	char list[LIST_MAX], *both, **changed;
	long mpirun = find_mpirun(words);

	list_variables(list, sizeof(list));
	if (option_find(words, option_x))
		return mpirun < 0 ? NULL : by_options(words, (size_t)mpirun, list);
	if (at && words[at + 1]) {
		both = joined(words[at + 1], list);
		changed = both ? with_more(words, 0, NULL, 0) : NULL;
		if (changed)
			changed[at + 1] = both;
		return changed;
	}
	both = joined(own ? own : "", list);
	if (both)
		setenv("OMPI_MCA_" LIST, both, 1);
	free(both);
	return NULL;
}
