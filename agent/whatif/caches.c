/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/caches.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/text/report_line.h"

#define FACTOR_MAX 1000. /* of the time of a phase; more is no result of a simulation */
#define SAME       1e-6  /* part by which equal numbers may differ after they were written */

static bool is_near(double one, double other)
{
	return fabs(one - other) <= SAME * fabs(other);
}

json_t *caches_load(const char *path, const json_t *report, char *why, size_t why_size)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0;
	char file[PATH_MAX];
	json_error_t error;
	json_t *caches;

	snprintf(file, sizeof(file), "%.*s" CACHES_FOLDER "/" CACHES_FILE, folder, path);
	caches = json_load_file(file, 0, &error);
	if (!caches) {
		snprintf(why, why_size,
				"no other caches were simulated for this result; phasemux simulate %.*s -- COMMAND does that",
				folder ? folder - 1 : 1, folder ? path : ".");
		return NULL;
	}
	if (report_get(caches, "phasemux_caches") == CACHES_VERSION &&
			is_near(report_get(caches, "recorded_seconds"),
					report_get(report, "wall_seconds")))
		return caches;
	snprintf(why, why_size, "%.200s is of another result, or of another version of phasemux",
			file);
	json_decref(caches);
	return NULL;
}

const json_t *caches_size(const json_t *phase, double times)
{
	const json_t *size;
	size_t i;

	json_array_foreach (json_object_get(phase, "sizes"), i, size)
		if (is_near(report_get(size, "times"), times))
			return size;
	return NULL;
}

bool caches_find(const json_t *caches, double phase, double times, struct caches_factor *factor)
{
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(caches, "phases"), i, row) {
		const json_t *size = caches_size(row, times);

		if (report_get(row, "id") != phase || !size)
			continue;
		factor->value = report_get_in(size, "time_factor", "mean");
		factor->error = report_get_in(size, "time_factor", "ci95");
		if (!(factor->error >= 0 && factor->error <= FACTOR_MAX))
			factor->error = 0;
		return factor->value >= 0 && factor->value <= FACTOR_MAX;
	}
	return false;
}

void caches_list_times(const json_t *caches, char *list, size_t size)
{
	const json_t *row = json_array_get(json_object_get(caches, "phases"), 0), *one;
	size_t length = 0, i;

	*list = '\0';
	json_array_foreach (json_object_get(row, "sizes"), i, one) {
		double times = report_get(one, "times");

		if (!is_near(times, 1) && length < size)
			length += (size_t)snprintf(list + length, size - length, "%s%g",
					length ? ", " : "", times);
	}
}
