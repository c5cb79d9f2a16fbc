/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things that a production program may do around MPI, and that could disturb a preloaded library. Each hazard
 * prints what it expects, and whether that happened. The output and the exit code are the same with and without
 * the preload.
 *
 *	hazard NAME    under mpirun, on two ranks;  hazard: prints the names
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

static int rank;

/* Prints one line at once, from rank 0 only, because later code may not flush. */
static void expect(bool happened, const char *what)
{
	if (rank != 0)
		return;
	printf("%s: %s\n", happened ? "as expected" : "NOT AS EXPECTED", what);
	fflush(stdout);
}

/* Makes some bursts of two kinds, with communication between them. */
static void compute(int iterations)
{
	int ranks, sum;

	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < iterations; i++) {
		work("alu", 400000);
		MPI_Barrier(MPI_COMM_WORLD);
		work("fdiv", 200000);
		MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	expect(iterations == 0 || sum == ranks * (iterations - 1), "the collectives agree");
}

/*
 * Returns the exit code of this rank. mpirun kills the other ranks if one fails, so only rank 0 may, which
 * prints.
 */
static int code_of(int code)
{
	return rank == 0 ? code : 0;
}

static int status_of(pid_t child)
{
	int status = -1;

	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int exited_with(pid_t child)
{
	int status = status_of(child);

	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- children ---- */

static void do_fork(void)
{
	pid_t child;

	compute(50);
	child = fork();
	if (child == 0) {
		work("alu", 50000000);
		exit(7);
	}
	compute(50);
	expect(exited_with(child) == 7, "a forked child computes and exits with 7");
	child = fork();
	if (child == 0)
		_exit(8);
	expect(exited_with(child) == 8, "a forked child that ends by _exit");
	child = fork();
	if (child == 0)
		abort();
	expect(WTERMSIG(status_of(child)) == SIGABRT, "a forked child that aborts");
	compute(50);
}

static void do_vfork(void)
{
	pid_t child;

	compute(50);
	for (int i = 0; i < 20; i++) {
		child = vfork();
		if (child == 0)
			_exit(5);
		if (exited_with(child) != 5)
			expect(false, "a child of vfork exits with 5");
		child = vfork();
		if (child == 0) {
			execl("/bin/sh", "sh", "-c", "exit 6", NULL);
			_exit(127);
		}
		if (exited_with(child) != 6)
			expect(false, "a shell after vfork exits with 6");
	}
	compute(50);
	expect(true, "children of vfork end as they should");
}

static void do_spawn(void)
{
	char *const arguments[] = { "sh", "-c", "exit 9", NULL };
	pid_t child;

	compute(50);
	expect(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0 &&
					exited_with(child) == 9,
			"a spawned shell exits with 9");
	expect(WEXITSTATUS(system("exit 4")) == 4, "system() returns 4");
	compute(50);
}

/* ---- threads ---- */

static void *thread_computes(void *data)
{
	work("alu", 20000000);
	return data;
}

static void *thread_talks(void *data)
{
	int flag;

	for (int i = 0; i < 200; i++) {
		work("alu", 100000);
		MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	return data;
}

static void *thread_for_ever(void *data)
{
	(void)data;
	for (;;)
		work("alu", 1000000);
	return NULL;
}

static void do_threads(void)
{
	pthread_t threads[8];
	pthread_attr_t small;
	void *result;
	int ended = 0, level;

	MPI_Query_thread(&level);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], &small,
					level == MPI_THREAD_MULTIPLE && i % 2 ? thread_talks :
										thread_computes,
					threads);
		compute(20);
		for (int i = 0; i < 8; i++)
			ended += pthread_join(threads[i], &result) == 0 && result == threads;
	}
	expect(ended == 32, "32 threads of small stacks compute, talk and end");
	pthread_create(&threads[0], NULL, thread_for_ever, NULL);
	pthread_detach(threads[0]);
	compute(20);
	expect(true, "one more thread runs on past the end");
}

static void *thread_forks(void *data)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(3);
		if (exited_with(child) != 3)
			return NULL;
	}
	return data;
}

static void do_thread_forks(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, thread_forks, &rank);
	compute(300);
	pthread_join(thread, &result);
	expect(result == &rank, "a thread forks while another is in MPI calls");
}

/* ---- descriptors, limits, signals ---- */

/* Returns how many descriptors the kernel has room for while this process opens no higher one. */
static int descriptor_table(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	int size = 0;

	while (status && !size && fgets(line, sizeof(line), status))
		if (sscanf(line, "FDSize: %d", &size) != 1)
			size = 0;
	if (status)
		fclose(status);
	return size;
}

static int prestart_table; /* size before MPI_Init */

static void do_lowest_descriptor(void)
{
	int before, after;

	before = open("/dev/null", O_RDONLY);
	compute(300);
	after = open("/dev/null", O_RDONLY);
	if (rank == 0)
		printf("descriptors %d and %d\n", before, after);
	expect(before < 64 && after < 64, "descriptors stay low");
	/* once the process has threads, growing the table waits for all processors */
	expect(!getenv("PHASEMUX_OUTPUT") || descriptor_table() == prestart_table,
			"their table has not grown since main began");
}

/* Prints the number of threads. The threads that MPI made exist with and without phasemux. */
static void do_threads_left(void)
{
	DIR *tasks;
	int count = 0;

	compute(300);
	sleep(1);
	tasks = opendir("/proc/self/task");
	while (tasks && readdir(tasks))
		count++;
	if (tasks)
		closedir(tasks);
	if (rank == 0)
		printf("%d threads\n", count - 2);
	expect(count > 2, "this thread is one of them");
}

/* Closes descriptors that it did not open: the counters, if there are any. */
static void do_close_counters(void)
{
	compute(300);
	for (int fd = 3; fd < 4096; fd++) {
		char name[64], target[64] = "";

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		if (readlink(name, target, sizeof(target) - 1) > 0 &&
				(strstr(target, "perf_event") || strstr(target, "scripted-pmu")))
			close(fd);
	}
	compute(300);
	expect(true, "closing other people's descriptors does no harm");
}

static void do_close_stderr(void)
{
	char name[] = "/tmp/phasemux-hazard-XXXXXX";
	struct stat file;
	int fd;

	compute(50);
	fd = mkstemp(name);
	fflush(stderr);
	dup2(fd, 2);
	close(fd);
	compute(300);
	MPI_Finalize();
	expect(fstat(2, &file) == 0 && file.st_size == 0,
			"a file that took the place of stderr stays empty");
	unlink(name);
	exit(0);
}

static void do_few_descriptors(void)
{
	struct rlimit limit = { 64, 64 };

	expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "few descriptors");
	compute(300);
}

static volatile sig_atomic_t ticks;

static void tick(int signal_number)
{
	(void)signal_number;
	ticks++;
}

static void do_signals(void)
{
	struct sigaction now;
	sigset_t mask;
	int changed = 0;

	for (int s = 1; s < 32; s++) {
		if (s != SIGCHLD && sigaction(s, NULL, &now) == 0 && now.sa_handler != SIG_DFL &&
				now.sa_handler != SIG_IGN)
			changed++;
	}
	if (rank == 0)
		printf("%d handlers\n", changed);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	expect(!sigismember(&mask, SIGPROF) && !sigismember(&mask, SIGIO), "no signal is blocked");
	signal(SIGPROF, tick);
	compute(50);
	raise(SIGPROF);
	expect(ticks == 1, "the handler of SIGPROF runs once, for its one signal");
}

/* ---- ends ---- */

static void at_exit(void)
{
	if (rank == 0)
		puts("the program's own exit handler ran");
}

static void do_exit_in_the_middle(void)
{
	atexit(at_exit);
	compute(50);
	MPI_Finalize();
	exit(code_of(11));
}

static void do_quick_exit(void)
{
	compute(50);
	MPI_Finalize();
	quick_exit(code_of(12));
}

static void do__exit(void)
{
	compute(50);
	MPI_Finalize();
	_exit(code_of(13));
}

/* Waits, because a launcher that kills the ranks need not forward what they wrote just before. */
static void let_output_through(void)
{
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	usleep(300000);
}

static void do_abort(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	compute(50);
	let_output_through();
	if (rank == 0)
		abort();
	pause();
}

static void do_mpi_abort(void)
{
	compute(50);
	let_output_through();
	if (rank == 0)
		MPI_Abort(MPI_COMM_WORLD, 14);
	pause();
}

static void do_signal(void)
{
	compute(50);
	let_output_through();
	if (rank == 0)
		raise(SIGTERM);
	pause();
}

static jmp_buf before_the_call;

static void leave_the_call(MPI_Comm *communicator, int *error, ...)
{
	(void)communicator;
	(void)error;
	longjmp(before_the_call, 1);
}

/* Has an error handler that does not return, like those of programs that throw exceptions. */
static void do_leave_calls(void)
{
	MPI_Errhandler handler;
	volatile int left = 0;

	MPI_Comm_create_errhandler(leave_the_call, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Errhandler_free(&handler);
	for (int i = 0; i < 10; i++) {
		if (setjmp(before_the_call) == 0)
			MPI_Send(&rank, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
		else
			left++;
		compute(20);
	}
	expect(left == 10, "each call with an error was left");
	if (setjmp(before_the_call) == 0)
		MPI_Send(&rank, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
}

static void do_exec(void)
{
	compute(50);
	MPI_Finalize();
	execl("/bin/sh", "sh", "-c", rank == 0 ? "exit 15" : "exit 0", NULL);
}

static void do_no_finalize(void)
{
	compute(50);
	let_output_through();
	exit(0);
}

static void do_after_finalize(void)
{
	DIR *folder;
	int done;

	compute(50);
	MPI_Finalize();
	for (int i = 0; i < 100; i++)
		work("alu", 10000000);
	MPI_Finalized(&done);
	folder = opendir("/");
	expect(done && folder, "work goes on after MPI_Finalize");
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	expect(open("/dev/null", O_RDONLY) == 3, "and may close all descriptors");
	exit(code_of(16));
}

static void do_nothing(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} hazards[] = {
	{ "nothing", do_nothing },
	{ "fork", do_fork },
	{ "vfork", do_vfork },
	{ "spawn", do_spawn },
	{ "threads", do_threads },
	{ "thread_forks", do_thread_forks },
	{ "threads_left", do_threads_left },
	{ "lowest_descriptor", do_lowest_descriptor },
	{ "close_counters", do_close_counters },
	{ "close_stderr", do_close_stderr },
	{ "few_descriptors", do_few_descriptors },
	{ "signals", do_signals },
	{ "exit", do_exit_in_the_middle },
	{ "quick_exit", do_quick_exit },
	{ "_exit", do__exit },
	{ "abort", do_abort },
	{ "mpi_abort", do_mpi_abort },
	{ "signal", do_signal },
	{ "leave_calls", do_leave_calls },
	{ "exec", do_exec },
	{ "no_finalize", do_no_finalize },
	{ "after_finalize", do_after_finalize },
};

int main(int argc, char **argv)
{
	int level;

	for (size_t i = 0; i < sizeof(hazards) / sizeof(hazards[0]); i++) {
		if (argc < 2) {
			puts(hazards[i].name);
		} else if (strcmp(argv[1], hazards[i].name) == 0) {
			prestart_table = descriptor_table();
			MPI_Init_thread(&argc, &argv,
					strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE :
									  MPI_THREAD_FUNNELED,
					&level);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			hazards[i].run();
			MPI_Finalize();
			expect(true, "the end of main");
			return 0;
		}
	}
	return argc > 1 ? 2 : 0;
}
