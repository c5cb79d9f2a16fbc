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
#include "tools/recover/archive.h"
#include "tools/recover/gather.h"
#include "tools/recover/merge.h"
#include "tools/results/spools.h"

static const char usage[] =
		"usage: phasemux recover [options] [DIR...]\n"
		"       phasemux recover --merge [options] [RUN...]\n"
		"\n"
		"Makes the report of a run that did not end by itself, of what its processes left in DIR on each node:\n"
		"a folder of PHASEMUX_SPOOL, /dev/shm or /tmp (those of this machine where none is named).\n"
		"\n"
		"  --text, --json, --csv   as in phasemux report\n"
		"  --trace                 only the calls, as the trace that phasemux trace shows\n"
		"  --hosts HOST,...        what lies in DIR on each of these hosts, which is brought here\n"
		"  --via COMMAND           the command that starts phasemux on a host, before the host's name (ssh;\n"
		"                          in a job of Slurm: 'srun --overlap -N1 -n1 -w')\n"
		"  --remove                what was left is gone afterwards\n"
		"  --merge                 what the run of the folder RUN has left goes to the folder of its results,\n"
		"                          and the report is made there; each node of a job can add its part, or one\n"
		"                          adds all with --hosts\n"
		"  --send                  writes what lies in DIR to stdout, as an archive of tar; with --hosts,\n"
		"                          phasemux calls this on each host\n"
		"\n"
		"Exit code: 0, 1 if there is no report or a host is left out, 2 if the request is invalid or names several runs.\n";

enum {
	TEXT = 1,
	JSON,
	CSV,
	TRACE,
	REMOVE,
	MERGE,
	HOSTS,
	VIA,
	SEND,
};

static const struct option long_options[] = {
	{ "text", no_argument, NULL, TEXT },
	{ "json", no_argument, NULL, JSON },
	{ "csv", no_argument, NULL, CSV },
	{ "trace", no_argument, NULL, TRACE },
	{ "remove", no_argument, NULL, REMOVE },
	{ "merge", no_argument, NULL, MERGE },
	{ "hosts", required_argument, NULL, HOSTS },
	{ "via", required_argument, NULL, VIA },
	{ "send", no_argument, NULL, SEND },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

struct options {
	char *(*form)(const json_t *report, char *why, size_t size);
	bool json, remove, merge, send;
	const char *hosts, *via; /* hosts NULL: this machine */
};

static void remove_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	if (unlinkat(folder_fd, name, 0)) {
		fprintf(stderr, "phasemux: %s/%s: %s\n", folder, name, strerror(errno));
		spools->failed = true;
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

/*
 * Collects what was left in the folders. Returns 0; 1: the exit code after a line on stderr; 2: there are several runs, which
 * the caller lists.
 */
static int collect(struct spools *spools, char **folders, int count)
{
	spools->visit = spools_add_rank;
	spools_visit(spools, folders, count);
	if (spools->runs > 1)
		return 2;
	if (!recovery_count(spools->recovery)) {
		fprintf(stderr, "phasemux: no run has left anything %s\n",
				count ? "there" : "on this machine");
		return 1;
	}
	return spools->failed ? 1 : 0;
}

static int recover(struct spools *spools, char **folders, int count, const struct options *options)
{
	int code = collect(spools, folders, count);

	if (code == 2)
		spools_list(spools);
	if (code == 0)
		code = show_report(spools, options->form, options->json);
	if (code == 0 && options->remove) {
		spools->visit = remove_rank;
		spools_visit(spools, folders, count);
		spools_remove_folders(spools->run[0].folder);
	}
	return spools->failed ? 1 : code;
}

/* Moves the files that a run has left in these folders to that of its results, and makes the report there. */
static int merge_folders(struct spools *spools, char **folders, int count)
{
	char why[SPOOL_OUTPUT_MAX + 256] = "no memory";
	struct merge *merge = merge_new();
	json_t *report = NULL;
	int error = merge ? 0 : -ENOMEM;

	for (int i = 0; i < count && !error; i++)
		error = merge_add(merge, folders[i], why, sizeof(why));
	if (!error) {
		spools->visit = spools_add_rank;
		spools_visit_folder(spools, merge_folder(merge), 0, O_NOFOLLOW);
		report = spools_report(spools);
		error = report ? merge_write(merge, report, recovery_count(spools->recovery), why,
						 sizeof(why)) :
				 -ENOMEM;
	}
	if (error)
		fprintf(stderr, "phasemux: %s\n", why);
	for (int i = 0; i < count && !error; i++)
		spools_remove_folders(folders[i]);
	json_decref(report);
	merge_free(merge);
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
	case HOSTS:
		options->hosts = optarg;
		if (!gather_hosts_are_valid(optarg))
			return option_refuse("--hosts", optarg,
					"names of different hosts, with commas between them");
		break;
	case VIA:
		options->via = optarg;
		if (strspn(optarg, " ") == strlen(optarg))
			return option_refuse("--via", optarg, "a command");
		break;
	case SEND:
		options->send = true;
		break;
	}
	return 0;
}

/* Returns spools without a rank, or NULL after a line on stderr. */
static struct spools *begin(void)
{
	struct spools *spools = calloc(1, sizeof(*spools));

	if (spools)
		spools->recovery = recovery_new();
	if (spools && spools->recovery)
		return spools;
	free(spools);
	fputs("phasemux: no memory\n", stderr);
	return NULL;
}

static void finish(struct spools *spools)
{
	if (!spools)
		return;
	recovery_free(spools->recovery);
	free(spools);
}

static int merge_alone(char **folders, int count)
{
	struct spools *spools = begin();
	int code = spools ? merge_folders(spools, folders, count) : 1;

	finish(spools);
	return code;
}

/* Shows or merges what was gathered. */
static int use_gathered(const struct gather *gather, const struct options *options)
{
	struct spools *spools = begin();
	int code = spools ? collect(spools, gather->found, gather->found_count) : 1;

	if (code == 2) {
		for (unsigned i = 0; i < spools->runs; i++)
			gather_name(gather, spools->run[i].folder);
		spools_list(spools);
	} else if (code == 0 && options->merge) {
		code = merge_alone(gather->found, gather->found_count);
	} else if (code == 0) {
		code = show_report(spools, options->form, options->json);
	}
	finish(spools);
	return code;
}

static int recover_hosts(char **folders, int count, const struct options *options)
{
	struct gather gather = {
		.hosts = options->hosts,
		.via = options->via ? options->via : "ssh",
		.folders = folders,
		.count = count,
	};
	int code = gather_fetch(&gather) ? use_gathered(&gather, options) : 1;

	if (code == 0 && options->remove && !options->merge && !gather.complete)
		fputs("phasemux: nothing is removed, because a host is left out\n", stderr);
	else if (code == 0 && (options->remove || options->merge))
		code = gather_remove_there(&gather) ? 0 : 1;
	if (code == 0 && !gather.complete)
		code = 1;
	gather_end(&gather);
	return code;
}

static int recover_here(char **folders, int count, const struct options *options)
{
	struct spools *spools = begin();
	int code = spools ? recover(spools, folders, count, options) : 1;

	finish(spools);
	return code;
}

/* Refuses options that do not go together. Returns 0 or 2. */
static int check_options(const struct options *options, int folders)
{
	const char *why = NULL;

	if (options->send &&
			(options->merge || options->hosts || options->form != report_text ||
					options->json))
		why = "--send goes with --remove alone";
	else if (options->merge && !options->hosts && folders != 1)
		why = "--merge wants one folder, or --hosts";
	else if (options->via && !options->hosts)
		why = "--via wants --hosts";
	if (why)
		fprintf(stderr, "phasemux: %s\n", why);
	return why ? 2 : 0;
}

int cmd_recover(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.set = set_option,
	};
	struct options options = { .form = report_text };
	int code = options_read(argc, argv, &spec, &options), count = argc - optind;
	char **folders = argv + optind;

	if (code)
		return code < 0 ? 0 : code;
	if (check_options(&options, count))
		return 2;
	if (options.send)
		return archive_send(folders, count, options.remove);
	if (options.hosts)
		return recover_hosts(folders, count, &options);
	return options.merge ? merge_alone(folders, count) : recover_here(folders, count, &options);
}
