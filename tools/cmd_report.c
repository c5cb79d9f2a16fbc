/* phasemux report: shows a stored result as text, JSON or CSV. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/report_text.h"
#include "tools/commands.h"

/* A folder holds its result as report.json. */
static json_t *load(const char *path)
{
	char in_folder[PATH_MAX];
	struct stat status;
	json_error_t error;
	json_t *report;

	if (stat(path, &status)) {
		fprintf(stderr, "phasemux: %s: %s\n", path, strerror(errno));
		return NULL;
	}
	if (S_ISDIR(status.st_mode)) {
		snprintf(in_folder, sizeof(in_folder), "%s/report.json", path);
		path = in_folder;
	}
	report = json_load_file(path, 0, &error);
	if (!report)
		fprintf(stderr, "phasemux: %s: line %d: %s\n", path, error.line, error.text);
	return report;
}

int cmd_report(int argc, char **argv)
{
	char *(*form)(const json_t *, char *, size_t) = report_text;
	bool json = false;
	char why[256] = "no memory";
	json_t *report;
	char *text;
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		json = strcmp(argv[i], "--json") == 0;
		if (strcmp(argv[i], "--csv") == 0) {
			form = report_csv;
		} else if (strcmp(argv[i], "--text") == 0) {
			form = report_text;
		} else if (!json) {
			i = argc;
			break;
		}
	}
	if (i + 1 != argc) {
		fprintf(stderr, "usage: phasemux report [--text|--json|--csv] DIR|FILE\n");
		return 2;
	}
	report = load(argv[i]);
	if (!report)
		return 1;
	/* what is no report is refused in every form */
	text = form(report, why, sizeof(why));
	if (text && json) {
		free(text);
		text = json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	}
	json_decref(report);
	if (!text) {
		fprintf(stderr, "phasemux: %s: %s\n", argv[i], why);
		return 1;
	}
	fputs(text, stdout);
	if (json)
		putchar('\n');
	free(text);
	return fflush(stdout) ? 1 : 0;
}
