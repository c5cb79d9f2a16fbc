/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests writes that fail without an effect on the program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/quiet.h"
#include "tests/tap.h"

#define LIMIT (1 << 20) /* limit on file sizes, large because stdout may be a file, too */

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

static bool is_pending(int signal)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, signal) == 1;
}

/* Returns whether the calling thread blocks the signal. */
static bool is_blocked(int signal)
{
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	return sigismember(&blocked, signal) == 1;
}

static int unread_pipe(void)
{
	int ends[2];

	if (pipe(ends))
		return -1;
	close(ends[0]);
	return ends[1];
}

static void test_raised(int fd, int signal, int error, const char *name)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signal);
	is_int(quiet_write(fd, "text", 4), error, name);
	ok(!handled && !is_pending(signal) && !is_blocked(signal),
			"no signal is left of it, and none is blocked");
	sigprocmask(SIG_BLOCK, &one, NULL);
	is_int(quiet_write(fd, "text", 4), error, "the same if the program blocks the signal");
	ok(!is_pending(signal) && is_blocked(signal),
			"which is then not pending, and still blocked");
	raise(signal);
	is_int(quiet_write(fd, "text", 4), error, "and if a signal of the program is pending");
	ok(is_pending(signal), "which is so afterwards");
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	is_int(handled, 1, "and the program gets that one");
	handled = 0;
}

static void test_size(int file)
{
	struct rlimit before, limit;
	struct stat status;
	int kept = dup(STDERR_FILENO);

	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = LIMIT;
	setrlimit(RLIMIT_FSIZE, &limit);
	is_int(ftruncate(file, LIMIT / 2 - 40), 0, "half of what may be written is nearly used");
	lseek(file, 0, SEEK_END);
	dup2(file, STDERR_FILENO);
	quiet_say("%030d\n", 1);
	quiet_say("%030d\n", 2);
	dup2(kept, STDERR_FILENO);
	close(kept);
	fstat(file, &status);
	is_int(status.st_size, LIMIT / 2 - 40 + 31,
			"half of a file of limited size is the program's");
	is_int(pwrite(file, "x", 1, LIMIT - 1), 1, "which it can fill");
	lseek(file, LIMIT, SEEK_SET);
	test_raised(file, SIGXFSZ, -EFBIG, "past the limit on file sizes");
	setrlimit(RLIMIT_FSIZE, &before);
}

int main(void)
{
	char path[] = "/tmp/phasemux-quiet-XXXXXX", text[8] = "";
	int file = mkstemp(path), pipe = unread_pipe();

	if (file < 0 || pipe < 0)
		return 1;
	unlink(path);
	signal(SIGPIPE, handle);
	signal(SIGXFSZ, handle);
	errno = EAGAIN;
	is_int(quiet_write(file, "text", 4), 0, "what fits is written");
	ok(pread(file, text, sizeof(text), 0) == 4 && strcmp(text, "text") == 0, "as it is");
	is_int(errno, EAGAIN, "and errno is as before");
	is_int(quiet_write(-1, "text", 4), -EBADF, "no descriptor is an error");
	test_raised(pipe, SIGPIPE, -EPIPE, "a pipe without a reader");
	test_size(file);
	return tap_done();
}
