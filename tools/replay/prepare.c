/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/prepare.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/replay/plan_write.h"

/* Prints one line on stderr. Returns the exit code. */
static int refuse(const char *path, const char *why, int code)
{
	fprintf(stderr, "phasemux: %s: %s\n", path, why);
	return code;
}

/* Writes the plan to a file, and reads it as the program that replays does. Returns the exit code. */
static int make_plan(const char *path, const json_t *report, const char *file, struct plan **plan)
{
	char why[400];
	FILE *out = fopen(file, "w");
	bool written;

	if (!out)
		return refuse(file, strerror(errno), 1);
	written = plan_write(report, out, why, sizeof(why));
	if (fclose(out) && written)
		return refuse(file, strerror(errno), 1);
	if (!written)
		return refuse(path, why, 2);
	*plan = plan_read(file, why, sizeof(why));
	if (!*plan)
		return refuse(path, "its structure of calls is not valid", 2);
	return 0;
}

/* Returns what may be the reason why calls do not fit together. */
static const char *reason_of(const struct outcome *outcome)
{
	if (json_is_object(json_object_get(outcome->report, "recovered")))
		return "; the run did not end by itself, and the last calls of its ranks are missing";
	if (outcome->matching.hidden > 0 || outcome->matching.lost > 0)
		return "; some calls are not recorded, and PHASEMUX_BUDGET=none records all";
	return "";
}

/* Checks that the calls fit together. Returns the exit code. */
static int check_plan(const char *path, const struct plan *plan, struct outcome *outcome)
{
	char why[MATCHING_WHY_MAX], line[MATCHING_WHY_MAX + 200];
	int code;

	outcome->copies = CALLS_ALL_COPIES;
	code = matching_check(&outcome->matching, plan, NULL, &outcome->copies, why, sizeof(why));
	if (!code)
		return 0;
	snprintf(line, sizeof(line), "it cannot be replayed: %s%s", why,
			code == 2 ? reason_of(outcome) : "");
	return refuse(path, line, code);
}

int prepare_plan(const char *path, const json_t *report, const char *file, struct plan **plan,
		struct outcome *outcome)
{
	int code = make_plan(path, report, file, plan);

	if (code)
		return code;
	outcome->report = report;
	outcome->ranks = (*plan)->ranks;
	outcome->recorded = (*plan)->seconds;
	outcome->replayed = NAN;
	outcome->deprived = NAN;
	return check_plan(path, *plan, outcome);
}

int prepare_folder(const char *output, const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');
	char real[PATH_MAX];

	if (output)
		snprintf(folder, size, "%s", output);
	else
		snprintf(folder, size, "%.*sreplay", slash ? (int)(slash + 1 - path) : 0, path);
	if (mkdir(folder, 0777) && errno != EEXIST) {
		fprintf(stderr, "phasemux: %s: %s; name another folder with --output\n", folder,
				strerror(errno));
		return 1;
	}
	/* a launcher may start ranks elsewhere */
	if (!realpath(folder, real))
		return refuse(folder, strerror(errno), 1);
	snprintf(folder, size, "%s", real);
	return 0;
}
