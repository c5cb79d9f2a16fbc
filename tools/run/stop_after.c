/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/run/stop_after.h"

#include <errno.h>
#include <ftw.h>
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

#define GRACE_S          10 /* time that the program has to end after SIGTERM, in seconds */
#define NOT_FOUND        127
#define NOT_EXECUTABLE   126
#define SIGNAL_EXIT_CODE 128 /* plus the number of the signal, as shells do */
#define DESCRIPTORS      16  /* that a walk through a folder keeps open */

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

int stop_after(double seconds, const char *spool, char **words)
{
	struct timespec end = in_seconds(seconds);
	char folder[PATH_MAX];
	int error = make_folder(spool, folder, sizeof(folder)), status = 0;
	sigset_t signals, before;
	pid_t child;

	if (error || setenv(PRELOAD_LIMITED, "1", 1)) {
		fprintf(stderr, "phasemux: no folder for the sums of the run: %s\n",
				strerror(error ? -error : ENOMEM));
		return 1;
	}
	sigemptyset(&signals);
	for (size_t i = 0; i < 4; i++)
		sigaddset(&signals, (int[]){ SIGCHLD, SIGTERM, SIGHUP, SIGINT }[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0) {
		fprintf(stderr, "phasemux: fork: %s\n", strerror(errno));
		rmdir(folder);
		return 1;
	}
	if (child == 0)
		become_command(words, &before);
	if (wait_for(child, &end, &signals, &status)) {
		report_rest(folder);
		return WIFSIGNALED(status) ? SIGNAL_EXIT_CODE + WTERMSIG(status) :
					     WEXITSTATUS(status);
	}
	end_program(child, end, &signals);
	report_rest(folder);
	if (results_seen.reports)
		fprintf(stderr,
				"phasemux: the program was ended after %g s. The report above is in the folder of the "
				"results, and phasemux report shows it again\n",
				seconds);
	else
		fprintf(stderr, "phasemux: the program was ended after %g s, and nothing was observed until then\n",
				seconds);
	return results_seen.reports && results_seen.reports == results_seen.runs ? 0 : 1;
}
