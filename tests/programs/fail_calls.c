/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded beside phasemux: it makes calls of phasemux fail, and those of other code succeed.
 *
 *	FAIL=CALL:N:ERRNO     its Nth CALL fails with that errno (a number); N+: and all later ones
 *	FAIL=count            none fails; FAIL_COUNTS=FILE gets "CALL COUNT" lines, once per process
 *	FAIL_RANK=R           only on that rank
 *
 * It does so in ranks of MPI, and in the process that `phasemux run` makes a target.
 *
 * A call belongs to phasemux if it returns into one of its shared objects, or into a library that works for it
 * (jansson, libpfm, elfutils).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls in the order of the table `names`. */
enum call {
	MALLOC,
	CALLOC,
	REALLOC,
	STRDUP,
	OPEN,
	OPENAT,
	FOPEN,
	MKDIR,
	FSTAT,
	FSTATAT,
	FALLOCATE,
	MMAP,
	WRITE,
	READ,
	CLOSE,
	UNLINKAT,
	RMDIR,
	GETCWD,
	READLINK,
	SYSCALL,
	IOCTL,
	DLOPEN,
	KEY_CREATE,
	MKDIRAT,
	READLINKAT,
	OPENDIR,
	PREAD,
	EVENTFD,
	FCNTL,
	MADVISE,
	GETRLIMIT,
	PRLIMIT,
	ACCESS,
	GETHOSTNAME,
	DLADDR,
	SETSPECIFIC,
	GETATTR,
	ATFORK,
	NEWLOCALE,
	MEMSTREAM,
	VASPRINTF,
	GETDELIM,
	FGETS,
	FFLUSH,
	FCLOSE,
	CALLS
};

static const char *const names[CALLS] = { "malloc", "calloc", "realloc", "strdup", "open", "openat",
	"fopen", "mkdir", "fstat", "fstatat", "posix_fallocate", "mmap", "write", "read", "close",
	"unlinkat", "rmdir", "getcwd", "readlink", "syscall", "ioctl", "dlopen",
	"pthread_key_create", "mkdirat", "readlinkat", "opendir", "pread", "eventfd", "fcntl",
	"madvise", "getrlimit", "prlimit", "access", "gethostname", "dladdr", "pthread_setspecific",
	"pthread_getattr_np", "pthread_atfork", "newlocale", "open_memstream", "vasprintf",
	"getdelim", "fgets", "fflush", "fclose" };

static _Atomic unsigned counts[CALLS];
static int failing = -1; /* the call that fails; -1: none */
static bool counting;
static unsigned from, to, error_number;

static __attribute__((destructor)) void write_counts(void)
{
	const char *path = counting ? getenv("FAIL_COUNTS") : NULL;
	FILE *file = path ? fopen(path, "a") : NULL;

	for (int call = 0; file && call < CALLS; call++)
		if (counts[call])
			fprintf(file, "%s %u\n", names[call], counts[call]);
	if (file)
		fclose(file);
}

/* Returns the rank in MPI, "0" in the target of `phasemux run`, or NULL elsewhere. */
static const char *own_rank(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *target = getenv("PHASEMUX_TARGET");

	if (!rank)
		rank = getenv("PMI_RANK");
	return !rank && target && atol(target) == (long)getpid() ? "0" : rank;
}

/*
 * Decides which call fails. This is not done at the first call, because that may come from a sanitizer that
 * starts.
 */
static __attribute__((constructor)) void decide(void)
{
	const char *fail = getenv("FAIL"), *only = getenv("FAIL_RANK"), *rank = own_rank();
	char name[32] = "";
	int length = 0;

	if (!fail || !rank)
		return;
	counting = strcmp(fail, "count") == 0;
	if (only && strcmp(only, rank) != 0)
		return;
	if (sscanf(fail, "%31[^:]:%u%n", name, &from, &length) < 2)
		return;
	to = fail[length] == '+' ? UINT32_MAX : from;
	error_number = (unsigned)atoi(strrchr(fail, ':') + 1);
	for (int call = 0; call < CALLS; call++)
		if (strcmp(names[call], name) == 0)
			failing = call;
}

/* Returns whether the call is one of phasemux, and the one that fails. */
static bool fails(enum call call, void *caller)
{
	struct dl_find_object object;
	const char *file;
	unsigned number;

	if (_dl_find_object(caller, &object) || !object.dlfo_link_map->l_name)
		return false;
	file = strrchr(object.dlfo_link_map->l_name, '/');
	file = file ? file + 1 : object.dlfo_link_map->l_name;
	if (strncmp(file, "libphasemux", 11) != 0 && strncmp(file, "libjansson", 10) != 0 &&
			strncmp(file, "libpfm", 6) != 0 && strncmp(file, "libdw", 5) != 0 &&
			strncmp(file, "libelf", 6) != 0)
		return false;
	number = atomic_fetch_add(&counts[call], 1) + 1;
	if ((int)call != failing || number < from || number > to)
		return false;
	errno = (int)error_number;
	return true;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define REAL(name)                                                                                 \
	static __typeof__(name) *real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

/* Defines a wrapper: the function's type, its name, parameters, arguments, and what a failure returns. */
#define WRAP(result, name, call, parameters, arguments, failure)                                   \
	result name parameters                                                                     \
	{                                                                                          \
		REAL(name);                                                                        \
		return fails(call, CALLER) ? failure : real arguments;                             \
	}

WRAP(void *, malloc, MALLOC, (size_t size), (size), NULL)
WRAP(void *, calloc, CALLOC, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, REALLOC, (void *old, size_t size), (old, size), NULL)
WRAP(char *, strdup, STRDUP, (const char *text), (text), NULL)
WRAP(FILE *, fopen, FOPEN, (const char *path, const char *mode), (path, mode), NULL)
WRAP(int, mkdir, MKDIR, (const char *path, mode_t mode), (path, mode), -1)
WRAP(int, fstat, FSTAT, (int fd, struct stat *status), (fd, status), -1)
WRAP(int, fstatat, FSTATAT, (int fd, const char *path, struct stat *status, int flags),
		(fd, path, status, flags), -1)
WRAP(int, posix_fallocate, FALLOCATE, (int fd, off_t at, off_t bytes), (fd, at, bytes),
		(int)error_number)
WRAP(void *, mmap, MMAP, (void *at, size_t size, int access, int flags, int fd, off_t offset),
		(at, size, access, flags, fd, offset), MAP_FAILED)
WRAP(ssize_t, write, WRITE, (int fd, const void *bytes, size_t size), (fd, bytes, size), -1)
WRAP(ssize_t, read, READ, (int fd, void *bytes, size_t size), (fd, bytes, size), -1)
WRAP(int, close, CLOSE, (int fd), (fd), -1)
WRAP(int, unlinkat, UNLINKAT, (int fd, const char *path, int flags), (fd, path, flags), -1)
WRAP(int, rmdir, RMDIR, (const char *path), (path), -1)
WRAP(char *, getcwd, GETCWD, (char *path, size_t size), (path, size), NULL)
WRAP(ssize_t, readlink, READLINK, (const char *path, char *text, size_t size), (path, text, size),
		-1)
WRAP(void *, dlopen, DLOPEN, (const char *path, int flags), (path, flags), NULL)
WRAP(int, pthread_key_create, KEY_CREATE, (unsigned *key, void (*end)(void *)), (key, end),
		(int)error_number)

WRAP(int, mkdirat, MKDIRAT, (int fd, const char *path, mode_t mode), (fd, path, mode), -1)
WRAP(ssize_t, readlinkat, READLINKAT, (int fd, const char *path, char *text, size_t size),
		(fd, path, text, size), -1)
WRAP(DIR *, opendir, OPENDIR, (const char *path), (path), NULL)
WRAP(ssize_t, pread, PREAD, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at), -1)
WRAP(int, eventfd, EVENTFD, (unsigned count, int flags), (count, flags), -1)
WRAP(int, madvise, MADVISE, (void *at, size_t size, int advice), (at, size, advice), -1)
WRAP(int, getrlimit, GETRLIMIT, (__rlimit_resource_t which, struct rlimit *limit), (which, limit),
		-1)
WRAP(int, prlimit, PRLIMIT,
		(pid_t process, __rlimit_resource_t which, const struct rlimit *new,
				struct rlimit *old),
		(process, which, new, old), -1)
WRAP(int, access, ACCESS, (const char *path, int mode), (path, mode), -1)
WRAP(int, gethostname, GETHOSTNAME, (char *name, size_t size), (name, size), -1)
WRAP(int, dladdr, DLADDR, (const void *address, Dl_info *info), (address, info), 0)
WRAP(int, pthread_setspecific, SETSPECIFIC, (pthread_key_t key, const void *data), (key, data),
		(int)error_number)
WRAP(int, pthread_getattr_np, GETATTR, (pthread_t thread, pthread_attr_t *attributes),
		(thread, attributes), (int)error_number)
WRAP(int, __register_atfork, ATFORK, (void (*a)(void), void (*b)(void), void (*c)(void), void *dso),
		(a, b, c, dso), (int)error_number)
WRAP(locale_t, newlocale, NEWLOCALE, (int mask, const char *name, locale_t base),
		(mask, name, base), NULL)
WRAP(FILE *, open_memstream, MEMSTREAM, (char **text, size_t *size), (text, size), NULL)
WRAP(int, vasprintf, VASPRINTF, (char **text, const char *format, va_list rest),
		(text, format, rest), -1)
WRAP(int, __vasprintf_chk, VASPRINTF, (char **text, int flag, const char *format, va_list rest),
		(text, flag, format, rest), -1)
WRAP(ssize_t, __getdelim, GETDELIM, (char **line, size_t *size, int end, FILE *file),
		(line, size, end, file), -1)
WRAP(char *, fgets, FGETS, (char *line, int size, FILE *file), (line, size, file), NULL)
WRAP(int, fflush, FFLUSH, (FILE * file), (file), EOF)

/* Fails as on a full disk: the file is closed nevertheless. */
int fclose(FILE *file)
{
	REAL(fclose);
	int failed = fails(FCLOSE, CALLER), error = errno;
	int result = real(file);

	if (!failed)
		return result;
	errno = error;
	return EOF;
}

int fcntl(int fd, int command, ...)
{
	va_list rest;
	long argument;

	REAL(fcntl);
	va_start(rest, command);
	argument = va_arg(rest, long);
	va_end(rest);
	return fails(FCNTL, CALLER) ? -1 : real(fd, command, argument);
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	REAL(open);
	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	return fails(OPEN, CALLER) ? -1 : real(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	REAL(openat);
	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	return fails(OPENAT, CALLER) ? -1 : real(fd, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	void *argument;

	REAL(ioctl);
	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	return fails(IOCTL, CALLER) ? -1 : real(fd, request, argument);
}

long syscall(long number, ...)
{
	long a[6];
	va_list rest;

	REAL(syscall);
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	return fails(SYSCALL, CALLER) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
