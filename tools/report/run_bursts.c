/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank writes a file of its own, and only that of rank 0 has a header. The files, one after the other, are one
 * table.
 */
#include "tools/report/run_bursts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOTYPES_MAX 100000 /* of a report of unknown origin */

/* The files of a folder, which are read as one stream. */
struct files {
	const char *folder;
	struct dirent **entry;
	int count, next;
	FILE *file;
};

static int is_table(const struct dirent *entry)
{
	int length = 0;

	return sscanf(entry->d_name, "bursts.%*[0-9].csv%n", &length) == 0 && length &&
			!entry->d_name[length];
}

static FILE *open_next(struct files *files)
{
	char path[PATH_MAX];

	if (files->next == files->count)
		return NULL;
	if (snprintf(path, sizeof(path), "%s/%s", files->folder,
			    files->entry[files->next]->d_name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	files->next++;
	return fopen(path, "re");
}

static ssize_t read_files(void *cookie, char *buffer, size_t size)
{
	struct files *files = cookie;

	for (;;) {
		size_t length;

		if (!files->file) {
			if (files->next == files->count)
				return 0;
			files->file = open_next(files);
			if (!files->file)
				return -1;
		}
		length = fread(buffer, 1, size, files->file);
		if (length)
			return (ssize_t)length;
		if (ferror(files->file))
			return -1;
		fclose(files->file);
		files->file = NULL;
	}
}

static int read_table(struct burst_table *table, struct files *files, char *why, size_t why_size)
{
	struct parse_error error = { 0 };
	FILE *stream = fopencookie(files, "r", (cookie_io_functions_t){ .read = read_files });
	int failed;

	if (!stream)
		return -ENOMEM;
	failed = table_read_csv(table, stream, &error);
	fclose(stream);
	if (files->file)
		fclose(files->file);
	if (failed == -EINVAL)
		snprintf(why, why_size, "%.80s/bursts.*.csv: line %zu: %.150s", files->folder,
				error.line, error.text);
	return failed ? failed : table_sort(table);
}

static int read_folder(struct burst_table *table, const char *folder, char *why, size_t why_size)
{
	struct files files = { .folder = folder };
	int failed;

	files.count = scandir(folder, &files.entry, is_table, alphasort);
	snprintf(why, why_size, "%.150s: %s", folder, strerror(errno));
	if (files.count < 0)
		return -errno;
	snprintf(why, why_size,
			"%.150s: no table of bursts in it (set PHASEMUX_REPORT=json,bursts)",
			folder);
	failed = files.count ? 0 : -ENOENT;
	if (!failed) {
		snprintf(why, why_size, "%.150s: no memory", folder);
		failed = read_table(table, &files, why, why_size);
	}
	for (int i = 0; i < files.count; i++)
		free(files.entry[i]);
	free(files.entry);
	return failed;
}

/* Notes the phase of a prototype. Returns 0 or -ENOMEM. */
static int set_phase(struct run_bursts *bursts, json_int_t prototype, json_int_t id)
{
	size_t number = (size_t)prototype;

	if (prototype < 0 || prototype >= PROTOTYPES_MAX || id < 1 || id > INT_MAX)
		return 0;
	if (number >= bursts->prototypes) {
		unsigned *more = realloc(bursts->phase, (number + 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + bursts->prototypes, 0,
				(number + 1 - bursts->prototypes) * sizeof(*more));
		bursts->phase = more;
		bursts->prototypes = number + 1;
	}
	bursts->phase[number] = (unsigned)id;
	return 0;
}

static int set_phases(struct run_bursts *bursts, const json_t *report)
{
	const json_t *phase, *prototype;
	size_t i, k;
	int failed = 0;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		json_array_foreach (json_object_get(phase, "prototypes"), k, prototype)
			if (!failed)
				failed = set_phase(bursts, json_integer_value(prototype),
						json_integer_value(json_object_get(phase, "id")));
	return failed;
}

int run_bursts_open(struct run_bursts *bursts, const json_t *report, const char *path, char *why,
		size_t why_size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	int failed = set_phases(bursts, report);

	if (failed) {
		snprintf(why, why_size, "no memory");
		return failed;
	}
	/* of several reports in a folder, it is not known whose bursts these are, except for the first one's */
	if (strncmp(name, "report-", 7) == 0) {
		snprintf(why, why_size, "%.150s: the table of bursts beside it is of report.json",
				path);
		return -ENOENT;
	}
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
			slash ? path : ".");
	return read_folder(&bursts->table, *folder ? folder : "/", why, why_size);
}

unsigned run_bursts_phase(const struct run_bursts *bursts, const struct burst *burst)
{
	return burst->prototype && burst->prototype <= bursts->prototypes ?
			bursts->phase[burst->prototype - 1] :
			0;
}

void run_bursts_fini(struct run_bursts *bursts)
{
	table_fini(&bursts->table);
	free(bursts->phase);
}
