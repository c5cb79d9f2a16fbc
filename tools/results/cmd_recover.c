/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux recover: makes the report of a run that did not end by itself, from the files of its ranks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/report/recovery.h"
#include "agent/text/report_text.h"
#include "tools/commands.h"
#include "tools/machine.h"
#include "tools/options.h"
#include "tools/results/merge.h"

static const char usage[] =
		"usage: phasemux recover [options] [DIR...]\n"
		"       phasemux recover --merge RUN\n"
		"\n"
		"Makes the report of a run that did not end by itself, of what its processes left in DIR on each node:\n"
		"a folder of PHASEMUX_SPOOL, /dev/shm or /tmp (those of this machine where none is named).\n"
		"\n"
		"  --text, --json, --csv   as in phasemux report\n"
		"  --remove                what was left is gone afterwards\n"
		"  --merge RUN             what the run of the folder RUN has left goes to the folder of its results,\n"
		"                          and the report is made there; each node of a job can add its part\n";

#define RUNS_MAX 64

enum {
	TEXT = 1,
	JSON,
	CSV,
	REMOVE,
	MERGE,
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, TEXT },
	{ "json", no_argument, NULL, JSON },
	{ "csv", no_argument, NULL, CSV },
	{ "remove", no_argument, NULL, REMOVE },
	{ "merge", no_argument, NULL, MERGE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	char *(*form)(const json_t *report, char *why, size_t size);
	bool json, remove, merge;
};

/* A folder of a run's ranks. A run has a folder for each node. */
struct run {
	uint64_t number;
	char folder[PATH_MAX];
	double started;
	char command[80];
	unsigned ranks, size;
};

struct search {
	struct recovery *recovery;
	struct run run[RUNS_MAX];
	unsigned runs;
	bool failed; /* a folder that was named does not exist, or there is no memory */
	void (*visit)(struct search *search, int folder_fd, const char *folder, const char *name);
};

/* ---- what is there ---- */

static struct run *find_run(struct search *search, const struct spool_facts *facts,
		const char *folder)
{
	struct run *run;
	size_t length = 0;

	for (unsigned i = 0; i < search->runs; i++)
		if (search->run[i].number == facts->run)
			return &search->run[i];
	if (search->runs == RUNS_MAX)
		return NULL;
	run = &search->run[search->runs++];
	run->number = facts->run;
	run->started = facts->started;
	run->size = facts->family ? 0 : (unsigned)facts->size;
	snprintf(run->folder, sizeof(run->folder), "%s", folder);
	for (; length < facts->command_bytes && length < sizeof(run->command) - 1; length++) {
		char letter = facts->command[length];

		run->command[length] = (unsigned char)letter >= ' ' ? letter : ' ';
	}
	return run;
}

static void add_rank(struct search *search, int folder_fd, const char *folder, const char *name)
{
	struct spool_image *image = malloc(sizeof(*image));
	char why[256] = "no memory";
	struct run *run;
	int error = image ? spool_image_read(image, folder_fd, name, why, sizeof(why)) : -ENOMEM;

	if (error) {
		fprintf(stderr, "phasemux: %s/%s is left out: %s\n", folder, name, why);
		free(image);
		return;
	}
	run = find_run(search, &image->facts, folder);
	if (run)
		run->ranks++;
	error = recovery_add(search->recovery, image, why, sizeof(why));
	/* a file of another run is listed later */
	if (error && error != -EXDEV)
		fprintf(stderr, "phasemux: %s/%s is left out: %s\n", folder, name, why);
	search->failed |= error == -ENOMEM;
	spool_image_fini(image);
	free(image);
}

static void remove_rank(struct search *search, int folder_fd, const char *folder, const char *name)
{
	if (unlinkat(folder_fd, name, 0)) {
		fprintf(stderr, "phasemux: %s/%s: %s\n", folder, name, strerror(errno));
		search->failed = true;
	}
}

/* Returns whether the name is like "rank-17". */
static bool is_rank(const char *name)
{
	return strncmp(name, "rank-", 5) == 0 && name[5] &&
			strspn(name + 5, "0123456789") == strlen(name + 5);
}

/* Returns whether the name is "phasemux.1000" or that of a run, which may contain ranks' files. */
static bool is_ours(const char *name)
{
	return strncmp(name, "phasemux.", 9) == 0 ||
			(strlen(name) == 13 && strspn(name, "0123456789abcdef") == 13);
}

/*
 * Visits the ranks' files in the folder, and in folders of phasemux within it, except through links. Returns 0
 * or the -errno of the folder.
 */
static int look_in(struct search *search, const char *folder, int deeper, int flags)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!entries)
		return -errno;
	while ((entry = readdir(entries))) {
		char inner[PATH_MAX];

		if (is_rank(entry->d_name))
			search->visit(search, fd, folder, entry->d_name);
		else if (deeper && is_ours(entry->d_name) &&
				snprintf(inner, sizeof(inner), "%s/%s", folder, entry->d_name) <
						(int)sizeof(inner))
			look_in(search, inner, deeper - 1, O_NOFOLLOW);
	}
	closedir(entries);
	return 0;
}

static void look_at(struct search *search, char **folders, int count)
{
	static const char *const usual[] = { "/dev/shm", "/tmp" };
	char own[64];

	for (int i = 0; i < count; i++) {
		int error = look_in(search, folders[i], 2, 0);

		if (error)
			fprintf(stderr, "phasemux: %s: %s\n", folders[i], strerror(-error));
		search->failed |= error != 0;
	}
	for (size_t i = 0; !count && i < sizeof(usual) / sizeof(*usual); i++) {
		snprintf(own, sizeof(own), "%s/phasemux.%u", usual[i], (unsigned)geteuid());
		look_in(search, own, 1, O_NOFOLLOW);
	}
}

/* Removes the run's folder, and the user's if it has no other run. */
static void remove_folders(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (rmdir(folder) == 0 && slash && slash > folder) {
		*slash = '\0';
		if (is_ours(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder))
			rmdir(folder);
	}
}

/* ---- what is said ---- */

static void list_runs(const struct search *search)
{
	fprintf(stderr, "phasemux: there are %u runs; name the one:\n", search->runs);
	for (unsigned i = 0; i < search->runs; i++) {
		const struct run *run = &search->run[i];
		time_t started = (time_t)run->started;
		char when[32] = "?";
		struct tm parts;

		if (localtime_r(&started, &parts))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
		if (run->size)
			fprintf(stderr, "  %s  %s  %u of %u ranks  %s\n", run->folder, when,
					run->ranks, run->size, run->command);
		else
			fprintf(stderr, "  %s  %s  %u processes  %s\n", run->folder, when,
					run->ranks, run->command);
	}
}

/* Returns the report, or NULL. */
static json_t *build(const struct search *search)
{
	char library[PATH_MAX] = "";

	if (machine_find_library(library, sizeof(library)) == 0)
		*strrchr(library, '/') = '\0';
	return recovery_report(search->recovery, library);
}

static int show(struct search *search, char *(*form)(const json_t *, char *, size_t), bool json)
{
	char why[256] = "no memory";
	json_t *report = build(search);
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
	if (json)
		putchar('\n');
	free(text);
	return fflush(stdout) ? 1 : 0;
}

static int recover(struct search *search, char **folders, int count, const struct options *options)
{
	int code;

	search->visit = add_rank;
	look_at(search, folders, count);
	if (search->runs > 1) {
		list_runs(search);
		return 2;
	}
	if (!recovery_count(search->recovery)) {
		fprintf(stderr, "phasemux: no run has left anything %s\n",
				count ? "there" : "on this machine");
		return 1;
	}
	if (search->failed)
		return 1;
	code = show(search, options->form, options->json);
	if (code == 0 && options->remove) {
		search->visit = remove_rank;
		look_at(search, folders, count);
		remove_folders(search->run[0].folder);
	}
	return search->failed ? 1 : code;
}

/* Moves the files that a run has left here to the folder of its results, and makes the report there. */
static int merge_files(struct search *search, char *folder)
{
	char why[SPOOL_OUTPUT_MAX + 256] = "no memory";
	struct merge *merge = merge_begin(folder, why, sizeof(why));
	json_t *report = NULL;
	int error = -ENOENT;

	if (merge) {
		search->visit = add_rank;
		look_in(search, merge_folder(merge), 0, O_NOFOLLOW);
		report = build(search);
	}
	if (report)
		error = merge_write(merge, report, recovery_count(search->recovery), why,
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
	struct search *search;
	int code = options_read(argc, argv, &spec, &options);

	if (code)
		return code < 0 ? 0 : code;
	if (options.merge && optind + 1 != argc) {
		fprintf(stderr, "phasemux: --merge wants one folder\n");
		return 2;
	}
	search = calloc(1, sizeof(*search));
	if (search)
		search->recovery = recovery_new();
	if (!search || !search->recovery)
		code = 1;
	else if (options.merge)
		code = merge_files(search, argv[optind]);
	else
		code = recover(search, argv + optind, argc - optind, &options);
	if (search)
		recovery_free(search->recovery);
	free(search);
	return code;
}
