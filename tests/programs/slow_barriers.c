/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to be preloaded: registering for membarrier() takes 1.5 s of processor time, and says so on stderr. liburcu
 * registers when it is loaded, and holds a lock meanwhile.
 */
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOW_SECONDS 1.5
#define SAID         "slow_barriers: registered\n"
#define ARGUMENTS    6

static void spend(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while ((double)used.tv_sec + (double)used.tv_nsec * 1e-9 < SLOW_SECONDS);
}

static long (*real_syscall)(long number, ...);

/* Looks before any other thread holds the loader's lock. */
__attribute__((constructor)) static void look(void)
{
	*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
}

long syscall(long number, ...)
{
	long arguments[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (!real_syscall)
		look();
	if (number == SYS_membarrier && arguments[0] == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
		spend();
		write(STDERR_FILENO, SAID, sizeof(SAID) - 1);
	}
	return real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
			arguments[4], arguments[5]);
}
