/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux watch: shows the report of a run that still runs, from the files that its ranks keep on this node. It only
 * reads them: the run does not notice.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "agent/text/report_text.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/results/spools.h"

#define PERIOD_SECONDS   2
#define END_ATTEMPTS     20
#define END_PAUSE_US     50000
#define CLEAR_THE_SCREEN "\033[H\033[2J"

static const char usage[] =
		"usage: phasemux watch [options] [PID|DIR]\n"
		"\n"
		"Shows the report of a run that still runs, as far as it has come, and again every two seconds until the\n"
		"run ends. It has the ranks on this node. The run is that of the process PID, which may be its launcher,\n"
		"or that which keeps its sums in the folder DIR (PHASEMUX_SPOOL). Without these it is the one that runs\n"
		"here. The run is not changed.\n"
		"\n"
		"  --once              only once\n";

enum {
	ONCE = 1,
};

static const struct option long_options[] = {
	{ "once", no_argument, NULL, ONCE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* ---- what is shown ---- */

/* Returns the report of a run, which does not say that it did not end; NULL after one line on stderr. */
static char *text_of(struct spools *spools, const struct spools_run *run)
{
	json_t *report = spools_report_run(spools, run);
	char why[256] = "no memory", *text;

	if (!report)
		return NULL;
	json_object_del(report, "recovered");
	text = report_text(report, why, sizeof(why));
	json_decref(report);
	if (!text)
		fprintf(stderr, "phasemux: %s\n", why);
	return text;
}

static void print_head(const struct spools_run *run, unsigned ranks)
{
	time_t now = time(NULL);
	char when[32] = "?";
	struct tm parts;

	if (localtime_r(&now, &parts))
		strftime(when, sizeof(when), "%H:%M:%S", &parts);
	printf("%s: the run has not ended", when);
	if (run->size)
		printf("; %u of its %u ranks are on this node", ranks, run->size);
	fputs("\n\n", stdout);
}

/* Shows the run of a folder. Returns the exit code. */
static int show_run(const struct spools_run *run)
{
	struct spools *spools = calloc(1, sizeof(*spools));
	char *text = NULL;

	if (spools)
		text = text_of(spools, run);
	if (text) {
		if (isatty(STDOUT_FILENO))
			fputs(CLEAR_THE_SCREEN, stdout);
		print_head(run, recovery_count(spools->recovery));
		fputs(text, stdout);
	}
	free(text);
	if (spools)
		recovery_free(spools->recovery);
	free(spools);
	return text && fflush(stdout) == 0 ? 0 : 1;
}

/* Says that the run has ended, and where its report is. Processes remove their files while they end. */
static void print_end(const struct spools_run *run, const struct spools_sought *watched)
{
	for (unsigned i = 0; i < END_ATTEMPTS && access(run->folder, F_OK) == 0; i++)
		usleep(END_PAUSE_US);
	if (access(run->folder, F_OK) == 0)
		fprintf(stderr, "phasemux: the run did not end by itself; phasemux recover %s makes its report\n",
				run->folder);
	else
		fprintf(stderr, "phasemux: the run has ended; its report is in %s\n",
				watched->found);
}

/* Shows the run again and again. Returns the exit code. */
static int watch(struct spools *spools, const struct spools_sought *watched, bool once)
{
	struct spools_run run = spools->run[0];
	int code;

	do {
		code = show_run(&run);
		if (once || code)
			return code;
		putchar('\n');
		fflush(stdout);
		sleep(PERIOD_SECONDS);
		spools->runs = 0;
		spools_visit_folder(spools, run.folder, 0, O_NOFOLLOW);
	} while (spools->runs);
	print_end(&run, watched);
	return 0;
}

static int set_option(void *data, int option)
{
	*(bool *)data = option == ONCE;
	return 0;
}

/* Reads a process number. Returns 0 if the text is none. */
static pid_t pid_of(const char *text)
{
	size_t value;

	return option_whole(text, 1, INT_MAX, &value) ? (pid_t)value : 0;
}

/* name: of a folder; NULL: the folders of the runs of watched->pid, or of all. Returns the exit code. */
static int find_and_watch(struct spools *spools, struct spools_sought *watched, char *name,
		bool once)
{
	if (name)
		spools_visit(spools, &name, 1);
	else
		spools_visit_running(spools, watched->pid);
	if (spools->runs == 1)
		return watch(spools, watched, once);
	if (spools->runs > 1) {
		spools_list(spools);
		return 2;
	}
	if (!spools->failed)
		fprintf(stderr, "phasemux: no run with phasemux runs %s\n",
				watched->pid         ? "in this process or below it" :
						name ? "there" :
						       "on this machine");
	return 1;
}

int cmd_watch(int argc, char **argv)
{
	static const struct option_spec spec = {
		.usage = usage,
		.table = long_options,
		.set = set_option,
	};
	struct spools_sought watched = { .pid = 0 };
	struct spools *spools;
	bool once = false;
	int code = options_read(argc, argv, &spec, &once);

	if (code)
		return code < 0 ? 0 : code;
	if (argc - optind > 1)
		return option_usage(usage);
	if (optind < argc)
		watched.pid = pid_of(argv[optind]);
	spools = calloc(1, sizeof(*spools));
	if (!spools) {
		fprintf(stderr, "phasemux: no memory\n");
		return 1;
	}
	spools->visit = spools_find_rank;
	spools->data = &watched;
	code = find_and_watch(spools, &watched, optind < argc && !watched.pid ? argv[optind] : NULL,
			once);
	free(spools);
	return code;
}
