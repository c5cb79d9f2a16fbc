/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux recover: makes the report of a run that did not end by itself, from the files of its ranks. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/text/report_text.h"
#include "agent/trace/trace_pack.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/recover/merge.h"
#include "tools/results/spools.h"

static const char usage[] =
		"usage: phasemux recover [options] [DIR...]\n"
		"       phasemux recover --merge RUN\n"
		"\n"
		"Makes the report of a run that did not end by itself, of what its processes left in DIR on each node:\n"
		"a folder of PHASEMUX_SPOOL, /dev/shm or /tmp (those of this machine where none is named).\n"
		"\n"
		"  --text, --json, --csv   as in phasemux report\n"
		"  --trace                 only the calls, as the trace that phasemux trace shows\n"
		"  --remove                what was left is gone afterwards\n"
		"  --merge RUN             what the run of the folder RUN has left goes to the folder of its results,\n"
		"                          and the report is made there; each node of a job can add its part\n";

enum {
	TEXT = 1,
	JSON,
	CSV,
	TRACE,
	REMOVE,
	MERGE,
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, TEXT },
	{ "json", no_argument, NULL, JSON },
	{ "csv", no_argument, NULL, CSV },
	{ "trace", no_argument, NULL, TRACE },
	{ "remove", no_argument, NULL, REMOVE },
	{ "merge", no_argument, NULL, MERGE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	char *(*form)(const json_t *report, char *why, size_t size);
	bool json, remove, merge;
};

static void remove_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	if (unlinkat(folder_fd, name, 0)) {
		fprintf(stderr, "phasemux: %s/%s: %s\n", folder, name, strerror(errno));
		spools->failed = true;
	}
}

/* Removes the run's folder, and the user's if it has no other run. */
static void remove_folders(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (rmdir(folder) == 0 && slash && slash > folder) {
		*slash = '\0';
		if (spools_is_ours(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder))
			rmdir(folder);
	}
}

static int show_report(struct spools *spools, char *(*form)(const json_t *, char *, size_t),
		bool json)
{
	char why[256] = "no memory";
	json_t *report = spools_report(spools);
	char *text = report ? form(report, why, sizeof(why)) : NULL;

	if (text && json) {
		free(text);
		text = json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	}
	json_decref(report);
	if (!text) {
		fprintf(stderr, "phasemux: %s\n", why);
		return 1;
	}
	fputs(text, stdout);
	if (json || form == trace_pack_text)
		putchar('\n');
	free(text);
	return fflush(stdout) ? 1 : 0;
}

static int recover(struct spools *spools, char **folders, int count, const struct options *options)
{
	int code;

	spools->visit = spools_add_rank;
	spools_visit(spools, folders, count);
	if (spools->runs > 1) {
		spools_list(spools);
		return 2;
	}
	if (!recovery_count(spools->recovery)) {
		fprintf(stderr, "phasemux: no run has left anything %s\n",
				count ? "there" : "on this machine");
		return 1;
	}
	if (spools->failed)
		return 1;
	code = show_report(spools, options->form, options->json);
	if (code == 0 && options->remove) {
		spools->visit = remove_rank;
		spools_visit(spools, folders, count);
		remove_folders(spools->run[0].folder);
	}
	return spools->failed ? 1 : code;
}

/* Moves the files that a run has left here to the folder of its results, and makes the report there. */
static int merge_files(struct spools *spools, char *folder)
{
	char why[SPOOL_OUTPUT_MAX + 256] = "no memory";
	struct merge *merge = merge_begin(folder, why, sizeof(why));
	json_t *report = NULL;
	int error = -ENOENT;

	if (merge) {
		spools->visit = spools_add_rank;
		spools_visit_folder(spools, merge_folder(merge), 0, O_NOFOLLOW);
		report = spools_report(spools);
	}
	if (report)
		error = merge_write(merge, report, recovery_count(spools->recovery), why,
				sizeof(why));
	if (error)
		fprintf(stderr, "phasemux: %s\n", why);
	else
		remove_folders(folder);
	json_decref(report);
	merge_end(merge);
	return error ? 1 : 0;
}

static int set_option(void *data, int option)
{
	struct options *options = data;

	switch (option) {
	case JSON:
		options->json = true;
		break;
	case CSV:
		options->form = report_csv;
		break;
	case TRACE:
		options->form = trace_pack_text;
		break;
	case REMOVE:
		options->remove = true;
		break;
	case MERGE:
		options->merge = true;
		break;
	}
	return 0;
}

int cmd_recover(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.set = set_option,
	};
	struct options options = { .form = report_text };
	struct spools *spools;
	int code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (options.merge && optind + 1 != argc) {
		fprintf(stderr, "phasemux: --merge wants one folder\n");
		return 2;
	}
	spools = calloc(1, sizeof(*spools));
	if (spools)
		spools->recovery = recovery_new();
	if (!spools || !spools->recovery)
		code = 1;
	else if (options.merge)
		code = merge_files(spools, argv[optind]);
	else
		code = recover(spools, argv + optind, argc - optind, &options);
	if (spools)
		recovery_free(spools->recovery);
	free(spools);
	return code;
}
