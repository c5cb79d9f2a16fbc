/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/candidate/kept_environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES_MAX 1023

static char *kept[ENTRIES_MAX + 1];
static bool is_kept;

bool kept_environment_start(void)
{
	size_t count = 0;

	while (environ && environ[count])
		if (++count > ENTRIES_MAX)
			return false;
	if (count)
		memcpy(kept, environ, count * sizeof(*kept));
	kept[count] = NULL;
	is_kept = true;
	return true;
}

char *kept_environment_look(const char *name)
{
	size_t length = strlen(name);

	if (!is_kept)
		return getenv(name);
	for (char **entry = kept; *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}
