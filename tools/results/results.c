/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/results.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/setup/output.h"
#include "agent/text/report_text.h"
#include "agent/trace/trace_unpack.h"

static void add_file(struct results *results, const char *path)
{
	if (results->count < RESULTS_MAX && (results->path[results->count] = strdup(path)))
		results->count++;
}

/* Names a file of results with a number. Returns whether it exists. */
static bool is_there(char path[PATH_MAX], const char *folder, const char *base, unsigned number)
{
	struct stat status;
	char suffix[16] = "";

	if (number > 1)
		snprintf(suffix, sizeof(suffix), "-%u", number);
	return snprintf(path, PATH_MAX, "%s/%s%s.json", folder, base, suffix) < PATH_MAX &&
			stat(path, &status) == 0;
}

/* Adds report.json, report-2.json, ... of one folder, or if the command takes it, the trace in place of a missing one. */
static void add_folder(struct results *results, const char *folder)
{
	char path[PATH_MAX];

	for (unsigned number = 1; number < RESULTS_MAX; number++) {
		bool found = is_there(path, folder, "report", number) ||
				(results->takes_traces && is_there(path, folder, "trace", number));

		if (found)
			add_file(results, path);
		else if (number > 1)
			break;
	}
}

static int is_step(const struct dirent *entry)
{
	return strncmp(entry->d_name, OUTPUT_STEP, strlen(OUTPUT_STEP)) == 0;
}

/* Adds the results of a job's steps, each of which has its own folder. */
static void add_steps(struct results *results, const char *folder)
{
	struct dirent **steps;
	int count = scandir(folder, &steps, is_step, versionsort);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", folder, steps[i]->d_name) < PATH_MAX)
			add_folder(results, path);
		free(steps[i]);
	}
	if (count >= 0)
		free(steps);
}

bool results_exist(const char *folder)
{
	struct results found = { .takes_traces = true };
	bool has;

	add_folder(&found, folder);
	add_steps(&found, folder);
	has = found.count > 0;
	results_fini(&found);
	return has;
}

bool results_find(struct results *results, const char *path, const char *step)
{
	char folder[PATH_MAX];
	struct stat status;
	int length = snprintf(folder, sizeof(folder), "%s%s%s", path, step ? "/" OUTPUT_STEP : "",
			step ? step : "");

	if (length >= (int)sizeof(folder)) {
		fprintf(stderr, "phasemux: %s: %s\n", path, strerror(ENAMETOOLONG));
		return false;
	}
	if (stat(folder, &status)) {
		fprintf(stderr, "phasemux: %s: %s\n", folder, strerror(errno));
		return false;
	}
	if (!S_ISDIR(status.st_mode)) {
		add_file(results, folder);
		return true;
	}
	add_folder(results, folder);
	if (!step)
		add_steps(results, folder);
	if (!results->count)
		fprintf(stderr, "phasemux: %s: no report.json%s in it, nor in a step of it\n",
				folder, results->takes_traces ? " or trace.json" : "");
	return results->count > 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Returns whether a file begins as a report. The key `phasemux` is the first one. */
static bool is_report(const char *path)
{
	char head[64] = "";
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(head, 1, sizeof(head) - 1, file) : 0;

	if (file)
		fclose(file);
	return length && head[strspn(head, "{ \t\r\n")] == '"' && strstr(head, "\"phasemux\"");
}

/* Returns whether a folder has a report that is newer than *newest, which becomes its time. */
static bool is_newer(const char *folder, struct timespec *newest)
{
	struct results found = { .count = 0 };
	struct stat status;
	bool newer = false;

	add_folder(&found, folder);
	add_steps(&found, folder);
	for (unsigned i = 0; i < found.count; i++) {
		if (stat(found.path[i], &status) || !is_report(found.path[i]))
			continue;
		if (status.st_mtim.tv_sec < newest->tv_sec ||
				(status.st_mtim.tv_sec == newest->tv_sec &&
						status.st_mtim.tv_nsec <= newest->tv_nsec))
			continue;
		*newest = status.st_mtim;
		newer = true;
	}
	results_fini(&found);
	return newer;
}

bool results_newest(char *folder, size_t size)
{
	struct timespec newest = { 0 };
	struct dirent **entries;
	int count = scandir(".", &entries, is_visible, versionsort);

	*folder = 0;
	for (int i = 0; i < count; i++) {
		if (is_newer(entries[i]->d_name, &newest))
			snprintf(folder, size, "%s", entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (!*folder)
		fprintf(stderr, "phasemux: no result in a folder here; name the folder of one\n");
	else
		fprintf(stderr, "phasemux: the newest result here: %s\n", folder);
	return *folder;
}

/* Puts the report that a trace was made of in its place. Returns false with the reason in why. */
static bool unpack(json_t **document, bool takes_traces, char *why, size_t why_size)
{
	json_t *report = NULL;

	if (takes_traces)
		report = trace_unpack(*document, why, why_size);
	else
		snprintf(why, why_size, "it is a trace, which `phasemux trace` shows");
	json_decref(*document);
	*document = report;
	return report;
}

/* Returns whether a document is a report, or can be made one. */
static bool make_report(json_t **document, bool takes_traces, char *why, size_t why_size)
{
	char *text;

	if (trace_unpack_is_trace(*document))
		return unpack(document, takes_traces, why, why_size);
	text = report_text(*document, why, why_size);
	free(text);
	return text;
}

bool results_load(struct results *results)
{
	char why[256] = "no memory";

	for (unsigned i = 0; i < results->count; i++) {
		const char *path = results->path[i];
		json_error_t error;

		if (results->report[i])
			continue;
		results->report[i] = json_load_file(path, 0, &error);
		if (!results->report[i]) {
			fprintf(stderr, "phasemux: %s: line %d: %s\n", path, error.line,
					error.text);
			return false;
		}
		if (!make_report(&results->report[i], results->takes_traces, why, sizeof(why))) {
			fprintf(stderr, "phasemux: %s: %s\n", path, why);
			return false;
		}
	}
	return true;
}

void results_refuse(const struct results *results)
{
	fprintf(stderr, "phasemux: there are %u results; choose one with --step or by its file:\n",
			results->count);
	for (unsigned i = 0; i < results->count; i++)
		fprintf(stderr, "    %s\n", results->path[i]);
}

void results_fini(struct results *results)
{
	for (unsigned i = 0; i < results->count; i++) {
		free(results->path[i]);
		json_decref(results->report[i]);
	}
}
