/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/progress.h"

#include <stdio.h>
#include <unistd.h>

static bool show;

void progress_allow(bool wanted)
{
	show = wanted && isatty(STDERR_FILENO);
}

void progress(const char *what, double share)
{
	static const char bar[] = "########################################";
	int done = (int)(share * 40);

	if (show)
		fprintf(stderr, "\r%-12s [%-40.*s] %3.0f%%%s", what, done, bar, 100 * share,
				share >= 1 ? "\r\033[K" : "");
}
