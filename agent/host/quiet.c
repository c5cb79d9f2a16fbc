/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/file_status.h"
#include "sampling/cancellation.h"

#define KERNEL_SIGNALS_BYTES 8 /* bytes of a sigset_t that the kernel reads, except on MIPS */

static bool (*taker)(const char *text, size_t length);

void quiet_set_taker(bool (*take)(const char *text, size_t length))
{
	taker = take;
}

bool quiet_hand_over(const char *text, size_t length)
{
	return taker && taker(text, length);
}

/* Writes all bytes. Returns 0 or -errno. */
static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written > 0) {
			bytes += written;
			length -= (size_t)written;
		} else if (written == 0 || errno != EINTR) {
			return written ? -errno : -EIO;
		}
	}
	return 0;
}

/*
 * Takes back the signal, which is blocked and pending. Makes the system call itself, as the program may wrap
 * libc's.
 */
static void take_back(int signal)
{
	static const struct timespec at_once = { 0, 0 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signal);
	while (syscall(SYS_rt_sigtimedwait, &one, NULL, &at_once, KERNEL_SIGNALS_BYTES) < 0 &&
			errno == EINTR)
		;
}

int quiet_write(int fd, const char *bytes, size_t length)
{
	int kept = errno, state = cancellation_hold(), error, signal;
	sigset_t raised, before, pending;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	/* of this thread; pthread_sigmask() is in libpthread before glibc 2.32 */
	sigprocmask(SIG_BLOCK, &raised, &before);
	sigpending(&pending);
	error = write_all(fd, bytes, length);
	signal = error == -EPIPE ? SIGPIPE : SIGXFSZ;
	/* a signal that was pending before belongs to the program */
	if ((error == -EPIPE || error == -EFBIG) && !sigismember(&pending, signal))
		take_back(signal);
	sigprocmask(SIG_SETMASK, &before, NULL);
	cancellation_release(state);
	errno = kept;
	return error;
}

bool quiet_has_room(int fd, size_t length)
{
	struct rlimit limit;
	struct stat file;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
			file_status(fd, &file) || !S_ISREG(file.st_mode))
		return true;
	return (rlim_t)file.st_size + length <= limit.rlim_cur / 2;
}

void quiet_tell(int fd, const char *text, size_t length)
{
	int kept = errno;

	if (quiet_has_room(fd, length))
		quiet_write(fd, text, length);
	errno = kept;
}

void quiet_say(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(line))
		length = sizeof(line) - 1;
	if (length > 0 && !quiet_hand_over(line, (size_t)length))
		quiet_tell(STDERR_FILENO, line, (size_t)length);
}
