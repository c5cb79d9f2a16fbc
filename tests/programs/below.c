/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses neither MPI nor OpenMP: uses MS ms of processor time, does one thing, and says what came of it.
 *
 *     below THING [MS]
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e3 + (double)used.tv_nsec * 1e-6;
}

static void compute(double ms)
{
	volatile double sum = 0;

	for (double end = used_ms() + ms; used_ms() < end;)
		for (int i = 0; i < 1000; i++)
			sum += i;
}

static int ends(void)
{
	return 4;
}

static int ends_at_once(void)
{
	_exit(5);
}

static int ends_quickly(void)
{
	quick_exit(6);
}

static int ends_by_signal(void)
{
	abort();
}

static int becomes_another(void)
{
	return execl("/bin/echo", "echo", "another", (char *)NULL);
}

/* Returns the exit code of a child, which takes the locks of malloc and of the loader. */
static int code_of_child(double ms)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		compute(ms);
		free(malloc(1 << 20));
		exit(7);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Opens and closes a file again and again, for 200 ms of processor time. Says whether its number was often another one than
 * at first. Opens of the agent that follow each other at once are counted once.
 */
static int opens_files(void)
{
	int first = open("/dev/null", O_RDONLY), before = first, others = 0;

	close(first);
	for (double end = used_ms() + 200; used_ms() < end;) {
		int fd = open("/dev/null", O_RDONLY);

		others += fd != first && before == first;
		before = fd;
		close(fd);
	}
	printf("%s\n", others > 10 ? "often" : "hardly ever");
	return 0;
}

static void close_stderr(void)
{
	fclose(stderr);
}

/* Closes stderr before its exit, as xz does. */
static int closes_stderr_early(void)
{
	compute(300);
	close_stderr();
	return 0;
}

/* Closes stderr at its exit, as GNU programs do to learn whether all was written. */
static int closes_stderr(void)
{
	atexit(close_stderr);
	compute(300);
	return 0;
}

/* Starts its own file as a worker, which computes. */
static int starts_itself(void)
{
	int status = 0;
	pid_t child = vfork();

	if (child == 0) {
		execl("/proc/self/exe", "worker", "ends", "200", (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

static int forks(void)
{
	printf("child: %d\n", code_of_child(1));
	compute(60);
	return 8;
}

static int forks_often(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		sum += code_of_child(0.2);
		compute(1);
	}
	printf("children: %d\n", sum);
	return 9;
}

static int forks_and_ends(void)
{
	printf("child: %d\n", code_of_child(80));
	return 8;
}

static int forks_a_moment(void)
{
	pid_t child = vfork();
	int status;

	if (child == 0)
		_exit(3);
	waitpid(child, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	return 10;
}

static int enters_namespace(void)
{
	int error = unshare(CLONE_NEWUSER) ? errno : 0;

	printf("unshare: %s\n", strerror(error));
	compute(150);
	return 11;
}

static void *outlive(void *unused)
{
	(void)unused;
	compute(20);
	puts("outlived");
	return NULL;
}

static int first_thread_ends(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static int only_thread_ends(void)
{
	pthread_exit(NULL);
}

static int first_thread_is_cancelled(void)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return 1;
}

static int changes_user(void)
{
	printf("setuid: %d\n", setuid(getuid()));
	return 12;
}

/* The environment grows, so that the C library frees the list that it had. */
static int changes_environment(void)
{
	char name[32];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "NAME_%d", i);
		setenv(name, "value", 1);
		compute(0.05);
	}
	return 13;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(void);
	} things[] = { { "ends", ends }, { "ends_at_once", ends_at_once },
		{ "ends_quickly", ends_quickly }, { "ends_by_signal", ends_by_signal },
		{ "becomes_another", becomes_another }, { "forks", forks },
		{ "starts_itself", starts_itself }, { "opens_files", opens_files },
		{ "closes_stderr", closes_stderr }, { "closes_stderr_early", closes_stderr_early },
		{ "forks_often", forks_often }, { "forks_and_ends", forks_and_ends },
		{ "forks_a_moment", forks_a_moment }, { "enters_namespace", enters_namespace },
		{ "first_thread_ends", first_thread_ends },
		{ "only_thread_ends", only_thread_ends },
		{ "first_thread_is_cancelled", first_thread_is_cancelled },
		{ "changes_user", changes_user }, { "changes_environment", changes_environment } };
	const struct rlimit no_core = { 0, 0 };

	if (argc < 2)
		return 2;
	setrlimit(RLIMIT_CORE, &no_core);
	setvbuf(stdout, NULL, _IOLBF, 0);
	compute(argc > 2 ? atof(argv[2]) : 0);
	for (size_t i = 0; i < sizeof(things) / sizeof(*things); i++)
		if (strcmp(argv[1], things[i].name) == 0)
			return things[i].act();
	return 2;
}
