/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file of bursts of any form, and tells the user what was wrong. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tools/cluster/burst_table.h"
#include "tools/cluster/input.h"
#include "tools/progress.h"

static int complain(const char *path, const struct parse_error *error, int failed)
{
	if (failed != -EINVAL)
		fprintf(stderr, "phasemux: %s: %s\n", path, strerror(-failed));
	else if (error->line)
		fprintf(stderr, "phasemux: %s: line %zu: %s\n", path, error->line, error->text);
	else
		fprintf(stderr, "phasemux: %s: %s\n", path, error->text);
	return failed == -EINVAL ? 2 : 1;
}

static int name_metrics(struct burst_table *table, const char *trace)
{
	struct parse_error error = { 0 };
	char path[PATH_MAX];
	struct input input;
	int failed;

	if (!input_beside(trace, ".pcf", true, path, sizeof(path)))
		return 0;
	failed = input_open(&input, path);
	if (failed)
		return complain(path, &error, failed);
	failed = table_name_metrics(table, input.file, &error);
	if (input_close(&input) && !failed)
		failed = -EIO;
	return failed ? complain(path, &error, failed) : 0;
}

int table_open(struct burst_table *table, const char *path)
{
	struct parse_error error = { 0 };
	bool trace = input_is_trace(path);
	struct input input;
	int failed = input_open(&input, path);

	if (failed)
		return complain(path, &error, failed);
	progress("reading", 0);
	failed = trace ? table_read_prv(table, input.file, &error) :
			 table_read_csv(table, input.file, &error);
	if (input_close(&input) && !failed)
		failed = -EIO;
	progress("reading", 1);
	if (failed)
		return complain(path, &error, failed);
	failed = trace ? name_metrics(table, path) : 0;
	if (!failed && table_sort(table))
		failed = complain(path, &error, -ENOMEM);
	return failed;
}
