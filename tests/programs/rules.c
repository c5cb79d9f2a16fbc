/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every MPI call of the table, in each form, many times, and checks what the agent does meanwhile on the
 * calling thread:
 *
 *	loader       it calls neither dlsym, dlopen nor dlclose
 *	allocation   it calls neither malloc, calloc, realloc nor free of the program
 *	cancellation it calls points of cancellation only with cancellation disabled; the real call has it
 *	             enabled
 *	stack        how deep below the program's own frame it writes
 *	floating     it leaves the floating-point environment as it was: rounding up, exceptions that trap, no
 *	             flags
 *
 * This program is before all libraries in the search order, so that the agent calls its functions of these
 * names. Prints one line for each rule that was broken, and the depth.
 *
 *	rules [broken]		broken: one call breaks each rule by itself
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/every_form.h"

#define ROUNDS      150
#define STACK_BYTES 65536
#define PAINT       0x5a

extern int every_call_trouble, every_call_breaks;
extern long every_call_count;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void __libc_free(void *memory);

/* The calling thread is in a call of the program. */
static __thread bool armed __attribute__((tls_model("initial-exec")));
static const char *loader, *allocation, *cancellation, *floating;

/* ---- what the agent must not call ---- */

static void *real_of(const char *name)
{
	return dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
}

#define NOTE(rule, name)                                                                           \
	do {                                                                                       \
		if (armed)                                                                         \
			(rule) = (name);                                                           \
	} while (0)

void *malloc(size_t bytes)
{
	NOTE(allocation, "malloc");
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	NOTE(allocation, "calloc");
	return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	NOTE(allocation, "realloc");
	return __libc_realloc(old, bytes);
}

void free(void *memory)
{
	if (memory)
		NOTE(allocation, "free");
	__libc_free(memory);
}

void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);

	NOTE(loader, "dlsym");
	if (!real)
		*(void **)&real = real_of("dlsym");
	return real(handle, name);
}

void *dlopen(const char *path, int flags)
{
	static void *(*real)(const char *, int);

	NOTE(loader, "dlopen");
	if (!real)
		*(void **)&real = real_of("dlopen");
	return real(path, flags);
}

static void point_of_cancellation(const char *name)
{
	int state;

	if (!armed)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (state != PTHREAD_CANCEL_DISABLE)
		cancellation = name;
	pthread_setcancelstate(state, NULL);
}

ssize_t read(int fd, void *data, size_t bytes)
{
	point_of_cancellation("read");
	return syscall(SYS_read, fd, data, bytes);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
	point_of_cancellation("write");
	return syscall(SYS_write, fd, data, bytes);
}

int close(int fd)
{
	point_of_cancellation("close");
	return (int)syscall(SYS_close, fd);
}

int nanosleep(const struct timespec *pause, struct timespec *left)
{
	point_of_cancellation("nanosleep");
	return (int)syscall(SYS_nanosleep, pause, left);
}

/* ---- the calls ---- */

typedef long call(long, long, long, long, long, long, long, long, long, long, long, long, long,
		long);

enum kind {
	INIT,
	FINALIZE,
	ABORTS,
	CONTROL,
	SESSION,
	SESSION_ENDS,
	FROM_GROUP,
	WAITS,
	PASSES,
	POLLS,
	POLLS_2,
	POLLS_3,
	POLLS_4
};

#define DECLARE(name)                                       extern call name;
#define MPI_CALL(name, fortran, count, fortran_count, kind) EVERY_FORM(DECLARE, name, fortran)
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL

#define LIST(name) name,
static const struct {
	enum kind kind;
	call *forms[FORMS];
} calls[] = {
#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	{ kind, { EVERY_FORM(LIST, name, fortran) } },
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
};

static void work(void)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec + 3000);
}

/* Sets an environment in which arithmetic that goes wrong ends the program. */
static void set_floating(void)
{
	fesetround(FE_UPWARD);
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

static void check_floating(void)
{
	if (fetestexcept(FE_ALL_EXCEPT))
		floating = "a flag";
	if (fegetround() != FE_UPWARD)
		floating = "the rounding mode";
	if (fegetexcept() != (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW))
		floating = "what traps";
}

static long answers[64]; /* memory for the calls that return something through a pointer */

/*
 * Returns how many bytes below this frame a call writes to. first: the call's first argument. The other
 * arguments point to memory.
 */
static __attribute__((noinline)) size_t depth_of(call *made, long first)
{
	volatile unsigned char *top = __builtin_frame_address(0);
	const long cells = (long)answers;
	volatile unsigned char *below = top - 512, *end = top - STACK_BYTES;

	for (volatile unsigned char *at = end; at < below; at++)
		*at = PAINT;
	feclearexcept(FE_ALL_EXCEPT);
	armed = true;
	made(first, cells, cells, cells, cells, cells, cells, cells, cells, cells, cells, cells,
			cells, cells);
	armed = false;
	check_floating();
	while (end < below && *end == PAINT)
		end++;
	return (size_t)(top - end);
}

static size_t most_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/*
 * Pauses the observation and resumes it. In C the argument is the level itself, in Fortran the address of the
 * level.
 */
static size_t depth_of_control(call *made, bool in_c)
{
	static int levels[2] = { 0, 1 };
	size_t depth = 0;

	for (int i = 0; i < 2; i++)
		depth = most_of(depth,
				in_c ? depth_of(made, levels[i]) :
				       depth_of(made, (long)&levels[i]));
	return depth;
}

static size_t deepest_of_all(void)
{
	size_t most = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
			int form = round % FORMS;
			call *made = calls[i].forms[form];

			if (calls[i].kind < WAITS && calls[i].kind != CONTROL)
				continue;
			work();
			most = most_of(most,
					calls[i].kind == CONTROL ?
							depth_of_control(made, form < 2) :
							depth_of(made, (long)answers));
		}
	return most;
}

int main(int argc, char **argv)
{
	size_t deepest;

	set_floating();
	MPI_Init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	check_floating();
	every_call_breaks = argc > 1 && strcmp(argv[1], "broken") == 0;
	deepest = deepest_of_all();
	feclearexcept(FE_ALL_EXCEPT);
	MPI_Finalize(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	check_floating();
	if (loader)
		printf("enters the loader: %s\n", loader);
	if (allocation)
		printf("allocates: %s\n", allocation);
	if (cancellation || every_call_trouble)
		printf("cancellation: %s\n", cancellation ? cancellation : "the real call");
	if (floating)
		printf("floating-point environment: %s\n", floating);
	printf("stack %zu calls %ld\n", deepest, every_call_count);
	return 0;
}
