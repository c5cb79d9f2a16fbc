/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/prestart.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/descriptor.h"

/* Makes the kernel's table of descriptors grow to the numbers that those of counters will have. */
static void grow_descriptors(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd >= 0)
		close(descriptor_lift(fd));
}

/* Registers for membarrier(), so that the registration in liburcu's constructor finds it done. */
static void register_barriers(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void prestart_prepare(void)
{
	grow_descriptors();
	register_barriers();
}

/* ---- while MPI_Init works ---- */

/* Attribute of functions that run without thread storage of their own, which sanitizers would use. */
#define NO_SANITIZER __attribute__((no_sanitize("address", "undefined")))

#if defined(__SANITIZE_THREAD__)

/* There is none here, because ThreadSanitizer takes every clone() for a fork. */

#elif defined(__x86_64__)

#define HAVE_BARE_SYSCALL

/* Makes a system call. The function of libc would write to errno, which belongs to another thread here. */
static NO_SANITIZER long bare_syscall(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

#define HAVE_BARE_SYSCALL

static NO_SANITIZER long bare_syscall(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
}

#endif

#ifdef HAVE_BARE_SYSCALL

/* Descriptor of the event, or one of these states. */
enum { OPENING = -1, RELEASED = -2 };
static atomic_int held = OPENING;

/*
 * Opens an event and keeps it open, under the lowest free descriptor from `lowest` on. The kernel puts its
 * counters to sleep a second after the last event is closed, which may belong to an earlier run.
 */
static NO_SANITIZER int open_and_hold(void *lowest)
{
	static struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = bare_syscall(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int lifted, state = OPENING;

	if (fd < 0)
		return 0;
	lifted = (int)bare_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, (long)lowest, 0, 0);
	bare_syscall(SYS_close, fd, 0, 0, 0, 0);
	if (lifted >= 0 && !atomic_compare_exchange_strong(&held, &state, lifted))
		bare_syscall(SYS_close, lifted, 0, 0, 0, 0);
	return 0;
}

/*
 * Starts a thread without libc, which makes three system calls and ends after some milliseconds. After a
 * pthread_create, malloc would take locks for the rest of the run, even in a program without other threads.
 */
void prestart_wake_counters(void)
{
	static unsigned char stack[16384] __attribute__((aligned(64)));
	static atomic_flag tried = ATOMIC_FLAG_INIT;
	sigset_t all, before;

	if (atomic_flag_test_and_set(&tried))
		return;
	/* the program's signals must be handled by its own threads */
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before))
		return;
	clone(open_and_hold, stack + sizeof(stack),
			CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
					CLONE_SYSVSEM,
			(void *)(long)descriptor_lowest());
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void prestart_release_counters(void)
{
	int fd = atomic_exchange(&held, RELEASED);

	if (fd >= 0)
		close(fd);
}

#else

void prestart_wake_counters(void)
{
}

void prestart_release_counters(void)
{
}

#endif
