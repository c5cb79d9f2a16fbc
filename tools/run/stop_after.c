/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/run/stop_after.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/boundary/preload.h"
#include "tools/options.h"
#include "tools/results/spools.h"
#include "tools/run/iterations.h"

#define LIMIT_MAX_S          1e8        /* most seconds of --stop-after */
#define LIMIT_MAX_ITERATIONS 1000000000 /* most iterations of --stop-after */

#define GRACE_S          10 /* time that the program has to end after SIGTERM, in seconds */
#define NOT_FOUND        127
#define NOT_EXECUTABLE   126
#define SIGNAL_EXIT_CODE 128 /* plus the number of the signal, as shells do */
#define DESCRIPTORS      16  /* that a walk through a folder keeps open */

#define LOOK_S                                                                                     \
	0.1 /* time between two looks at the iterations, in seconds; processes write them as often */
#define LOOK_PART  20 /* a look may take this part of the time between two */
#define PROGRESS_S 10 /* time between two lines that say how far the program is, in seconds */

/* What a walk through the folder of the sums finds. nftw passes no data. */
static struct {
	unsigned runs, reports;
} results_seen;

/* ---- the folder of the sums ---- */

/* Makes a folder of this run alone, so that what is left there is what this run has left. Returns 0 or -errno. */
static int make_folder(const char *wanted, char *folder, size_t size)
{
	const char *base = *wanted ? wanted : access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	if (snprintf(folder, size, "%s/phasemux-limited.XXXXXX", base) >= (int)size)
		return -ENAMETOOLONG;
	if (!mkdtemp(folder) || setenv("PHASEMUX_SPOOL", folder, 1))
		return -errno;
	return 0;
}

/* Runs this command again with these words. Its stdout is stderr. Returns whether it succeeded. */
static bool run_itself(const char *word, const char *option, const char *path)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		unsetenv("LD_PRELOAD");
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "phasemux", word, option ? option : path,
				option ? path : NULL, (char *)NULL);
		_exit(NOT_EXECUTABLE);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Makes the report of a run: SPOOL/phasemux.USER/RUN. */
static int visit_run(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	if (kind != FTW_D || place->level != 2)
		return 0;
	results_seen.runs++;
	/* the text, then the files in the folder of the results */
	if (run_itself("recover", NULL, path) && run_itself("recover", "--merge", path))
		results_seen.reports++;
	return 0;
}

static int visit_rest(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

/* Makes the reports of what is left, and removes the folder. What has no report stays. */
static void report_rest(const char *folder)
{
	nftw(folder, visit_run, DESCRIPTORS, FTW_PHYS);
	if (results_seen.reports == results_seen.runs)
		nftw(folder, visit_rest, DESCRIPTORS, FTW_PHYS | FTW_DEPTH);
	else
		fprintf(stderr, "phasemux: there is no report of what is left in %s\n", folder);
}

/* ---- the program ---- */

static void become_command(char **words, const sigset_t *mask)
{
	char target[32];

	sigprocmask(SIG_SETMASK, mask, NULL);
	snprintf(target, sizeof(target), "%ld", (long)getpid());
	if (setenv(PRELOAD_TARGET, target, 1) == 0)
		execvp(words[0], words);
	fprintf(stderr, "phasemux: %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/*
 * Waits for the program, or until the time is over. Passes signals that ask this process to end to it, except that
 * of the terminal, which the program gets itself. Returns whether the program has ended.
 */
static bool wait_for(pid_t child, const struct timespec *end, const sigset_t *signals, int *status)
{
	for (;;) {
		struct timespec now, left;
		int signal;

		if (waitpid(child, status, WNOHANG) == child)
			return true;
		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_sec = end->tv_sec - now.tv_sec - (end->tv_nsec < now.tv_nsec);
		left.tv_nsec = end->tv_nsec - now.tv_nsec +
				(end->tv_nsec < now.tv_nsec ? 1000000000 : 0);
		if (left.tv_sec < 0)
			return false;
		signal = sigtimedwait(signals, NULL, &left);
		if (signal == SIGTERM || signal == SIGHUP)
			kill(child, signal);
	}
}

/* Ends the processes that the program has left behind. They are children of this process, the subreaper. */
static void end_rest(void)
{
	char path[64];
	long child;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	do {
		file = fopen(path, "re");
		while (file && fscanf(file, "%ld", &child) == 1)
			kill((pid_t)child, SIGKILL);
		if (file)
			fclose(file);
	} while (waitpid(-1, NULL, 0) > 0);
}

/* Ends the program at once, if it does not end by itself when it is asked to. */
static void end_program(pid_t child, struct timespec end, const sigset_t *signals)
{
	int status;

	kill(child, SIGTERM);
	end.tv_sec += GRACE_S;
	if (!wait_for(child, &end, signals, &status)) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	end_rest();
}

static struct timespec in_seconds(double seconds)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	return end;
}

/* ---- the limit ---- */

/* A program that runs up to a limit. */
struct limited {
	const struct stop_limit *limit;
	pid_t child;
	int status; /* of the child that has ended */
	sigset_t signals;
	double began, said; /* when it was started, and when a line last said how far it is; in seconds */
	char folder[PATH_MAX]; /* of the sums */
	struct iterations done;
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void say_progress(struct limited *limited)
{
	double now = seconds_now();

	if (now - limited->said < PROGRESS_S)
		return;
	limited->said = now;
	if (limited->done.known)
		fprintf(stderr, "phasemux: %" PRIu64 " of %" PRIu64 " iterations after %.0f s\n",
				limited->done.least, limited->limit->iterations,
				now - limited->began);
	else
		fprintf(stderr,
				"phasemux: after %.0f s no loop of calls has half of the time and three rounds. "
				"Without one the program goes on to its end\n",
				now - limited->began);
}

/* Waits until the program has ended or made its iterations. Returns whether it has ended. */
static bool wait_for_iterations(struct limited *limited)
{
	double pause = LOOK_S, began;

	for (;;) {
		struct timespec end = in_seconds(pause);
		struct iterations done;

		if (wait_for(limited->child, &end, &limited->signals, &limited->status))
			return true;
		began = seconds_now();
		iterations_look(limited->folder, &done);
		/* processes that are ending are not known any more */
		if (done.known)
			limited->done = done;
		if (done.known && done.least >= limited->limit->iterations)
			return false;
		say_progress(limited);
		pause = LOOK_PART * (seconds_now() - began);
		pause = pause > LOOK_S ? pause : LOOK_S;
	}
}

/* Waits until the program has ended or come to its limit. Returns whether it has ended. */
static bool wait_for_limit(struct limited *limited)
{
	struct timespec end;

	if (limited->limit->iterations)
		return wait_for_iterations(limited);
	end = in_seconds(limited->limit->seconds);
	return wait_for(limited->child, &end, &limited->signals, &limited->status);
}

/* Makes the reports of what a program that has ended by itself has left. Returns its exit code. */
static int finish(const struct limited *limited)
{
	report_rest(limited->folder);
	if (limited->limit->iterations)
		fprintf(stderr,
				"phasemux: the program ran to its end, because %s. The iterations of the last "
				"moment are not counted\n",
				limited->done.known ?
						"it did not make as many iterations" :
						"no loop of calls had half of its time and three rounds");
	return WIFSIGNALED(limited->status) ? SIGNAL_EXIT_CODE + WTERMSIG(limited->status) :
					      WEXITSTATUS(limited->status);
}

/* Writes where the program was stopped: "after 21 iterations (4.5 s)". */
static void write_place(char *text, size_t size, const struct limited *limited, double seconds)
{
	if (limited->limit->iterations)
		snprintf(text, size, "%" PRIu64 " iterations (%.1f s)", limited->done.least,
				seconds);
	else
		snprintf(text, size, "%g s", limited->limit->seconds);
}

/* Ends the program, and makes its report. Returns 0 or 1. */
static int stop(const struct limited *limited)
{
	double seconds = limited->limit->iterations ? seconds_now() - limited->began :
						      limited->limit->seconds;
	char place[64], stopped[64];

	snprintf(stopped, sizeof(stopped), "%.3f %" PRIu64, seconds,
			limited->limit->iterations ? limited->done.least : 0);
	setenv(SPOOLS_STOPPED, stopped, 1);
	end_program(limited->child, in_seconds(0), &limited->signals);
	report_rest(limited->folder);
	write_place(place, sizeof(place), limited, seconds);
	if (results_seen.reports)
		fprintf(stderr,
				"phasemux: the program was ended after %s. The report above is in the folder of the "
				"results, and phasemux report shows it again\n",
				place);
	else
		fprintf(stderr, "phasemux: the program was ended after %s, and nothing was observed until then\n",
				place);
	return results_seen.reports && results_seen.reports == results_seen.runs ? 0 : 1;
}

int stop_limit_take(struct stop_limit *limit)
{
	char number[32], *end;
	size_t digits = strspn(optarg, "0123456789"), whole;

	snprintf(number, sizeof(number), "%.*s", (int)digits, optarg);
	*limit = (struct stop_limit){ .seconds = strtod(optarg, &end) };
	if (end != optarg && !*end && limit->seconds > 0 && limit->seconds <= LIMIT_MAX_S)
		return 0;
	if ((!strcmp(optarg + digits, "i") || !strcmp(optarg + digits, "iterations")) &&
			option_whole(number, 1, LIMIT_MAX_ITERATIONS, &whole)) {
		*limit = (struct stop_limit){ .iterations = whole };
		return 0;
	}
	return option_refuse("stop-after", optarg,
			"a number of seconds above 0, or of iterations, as 20iterations or 20i");
}

int stop_after(const struct stop_limit *limit, const char *spool, char **words)
{
	struct limited limited = { .limit = limit };
	int error = make_folder(spool, limited.folder, sizeof(limited.folder));
	sigset_t before;

	if (error || setenv(PRELOAD_LIMITED, "1", 1)) {
		fprintf(stderr, "phasemux: no folder for the sums of the run: %s\n",
				strerror(error ? -error : ENOMEM));
		return 1;
	}
	sigemptyset(&limited.signals);
	for (size_t i = 0; i < 4; i++)
		sigaddset(&limited.signals, (int[]){ SIGCHLD, SIGTERM, SIGHUP, SIGINT }[i]);
	sigprocmask(SIG_BLOCK, &limited.signals, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	limited.began = limited.said = seconds_now();
	limited.child = fork();
	if (limited.child < 0) {
		fprintf(stderr, "phasemux: fork: %s\n", strerror(errno));
		rmdir(limited.folder);
		return 1;
	}
	if (limited.child == 0)
		become_command(words, &before);
	return wait_for_limit(&limited) ? finish(&limited) : stop(&limited);
}
