/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux watch: shows the report of a run that still runs, from the files that its ranks keep on this node. It only
 * reads them: the run does not notice.
 */
#include <dirent.h>
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
#define ANCESTORS_MAX    64 /* between a launcher and a rank */
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

/* The run that is looked for, and what is known of it. */
struct watched {
	pid_t pid; /* one of its processes descends from this one, or is it; 0: any */
	char output[SPOOL_OUTPUT_MAX];
};

/* ---- which run ---- */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* Returns whether a process has the file of a rank mapped. A process that got the number later has not. */
static bool has_mapped(pid_t pid, const char *folder, const char *name)
{
	const char *slash = strrchr(folder, '/');
	char ending[NAME_MAX + 32], *line = NULL;
	FILE *maps = open_proc(pid, "maps");
	bool found = false;
	size_t room = 0;
	ssize_t length;

	if (!maps)
		return false;
	snprintf(ending, sizeof(ending), "/%s/%s\n", slash ? slash + 1 : folder, name);
	while (!found && (length = getline(&line, &room, maps)) >= 0)
		found = (size_t)length >= strlen(ending) &&
				strcmp(line + length - strlen(ending), ending) == 0;
	free(line);
	fclose(maps);
	return found;
}

static pid_t parent_of(pid_t pid)
{
	FILE *stat = open_proc(pid, "stat");
	char line[512] = "", *end;
	int parent = 0;

	if (!stat)
		return 0;
	if (!fgets(line, sizeof(line), stat))
		line[0] = 0;
	fclose(stat);
	/* the name of the program, in parentheses, may contain parentheses */
	end = strrchr(line, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool descends(pid_t pid, pid_t from)
{
	for (unsigned i = 0; pid > 0 && i < ANCESTORS_MAX; i++) {
		if (pid == from)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

/* Is a `visit`: adds the run of a rank that still runs. */
static void find_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	struct watched *watched = spools->data;
	struct spool_image *image = malloc(sizeof(*image));
	struct spools_run *run;
	char why[256];
	pid_t pid;

	if (!image || spool_image_read(image, folder_fd, name, why, sizeof(why))) {
		free(image);
		return;
	}
	pid = (pid_t)image->facts.pid;
	if (has_mapped(pid, folder, name) && (!watched->pid || descends(pid, watched->pid))) {
		run = spools_find_run(spools, &image->facts, folder);
		if (run)
			run->ranks++;
		snprintf(watched->output, sizeof(watched->output), "%s", image->facts.output);
	}
	spool_image_fini(image);
	free(image);
}

/* Folders with files of ranks that are mapped. */
struct folders {
	char *path[SPOOLS_RUNS_MAX +
			1]; /* one more than runs can be listed, so that all are too many */
	int count;
};

/* Adds the folder of a mapped file if that is the file of a rank: "... /dev/shm/phasemux.0/6b3933b6c566e/rank-0\n". */
static void add_mapped(struct folders *folders, char *line)
{
	char *path = strchr(line, '/'), *slash = path ? strrchr(path, '/') : NULL, *run;

	if (!slash || slash == path || strncmp(slash, "/rank-", 6) != 0 ||
			strspn(slash + 6, "0123456789") + 1 != strlen(slash + 6))
		return;
	*slash = 0;
	run = strrchr(path, '/') + 1;
	if (!spools_is_ours(run))
		return;
	for (int i = 0; i < folders->count; i++)
		if (strcmp(folders->path[i], path) == 0)
			return;
	if (folders->count <= SPOOLS_RUNS_MAX && (folders->path[folders->count] = strdup(path)))
		folders->count++;
}

static void add_process(struct folders *folders, pid_t pid)
{
	FILE *maps = open_proc(pid, "maps");
	char *line = NULL;
	size_t room = 0;

	if (!maps)
		return;
	while (getline(&line, &room, maps) >= 0)
		add_mapped(folders, line);
	free(line);
	fclose(maps);
}

/* Finds the folders of the runs of a process and of those that it has started; 0: of all processes of this user. */
static void find_folders(struct folders *folders, pid_t from)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes))) {
		size_t pid;

		if (option_whole(entry->d_name, 1, INT_MAX, &pid) &&
				(!from || descends((pid_t)pid, from)))
			add_process(folders, (pid_t)pid);
	}
	if (processes)
		closedir(processes);
}

/* ---- what is shown ---- */

/* Returns the report, which does not say that the run did not end; NULL after one line on stderr. */
static char *text_of(const struct spools *spools)
{
	char why[256] = "no memory", *text = NULL;
	json_t *report = spools_report(spools);

	if (report) {
		json_object_del(report, "recovered");
		text = report_text(report, why, sizeof(why));
	}
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
		spools->recovery = recovery_new();
	if (spools && spools->recovery) {
		spools->visit = spools_add_rank;
		spools_visit_folder(spools, run->folder, 0, O_NOFOLLOW);
		text = text_of(spools);
	}
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
static void print_end(const struct spools_run *run, const struct watched *watched)
{
	for (unsigned i = 0; i < END_ATTEMPTS && access(run->folder, F_OK) == 0; i++)
		usleep(END_PAUSE_US);
	if (access(run->folder, F_OK) == 0)
		fprintf(stderr, "phasemux: the run did not end by itself; phasemux recover %s makes its report\n",
				run->folder);
	else
		fprintf(stderr, "phasemux: the run has ended; its report is in %s\n",
				watched->output);
}

/* Shows the run again and again. Returns the exit code. */
static int watch(struct spools *spools, const struct watched *watched, bool once)
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
static int find_and_watch(struct spools *spools, struct watched *watched, char *name, bool once)
{
	struct folders folders = { .count = 0 };

	if (name)
		spools_visit(spools, &name, 1);
	else
		find_folders(&folders, watched->pid);
	if (folders.count)
		spools_visit(spools, folders.path, folders.count);
	for (int i = 0; i < folders.count; i++)
		free(folders.path[i]);
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
	struct watched watched = { .pid = 0 };
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
	spools->visit = find_rank;
	spools->data = &watched;
	code = find_and_watch(spools, &watched, optind < argc && !watched.pid ? argv[optind] : NULL,
			once);
	free(spools);
	return code;
}
