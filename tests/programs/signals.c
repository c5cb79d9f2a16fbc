/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with signals of its own: handlers for the signals that profilers use, timers of both kinds, an
 * alternate stack, and a stretch with all signals blocked. It prints which signals came.
 *
 *	signals
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t seen[65], on_stack[65];
static char stack[1 << 16];

static void note(int number)
{
	char here;

	seen[number]++;
	on_stack[number] = &here >= stack && &here < stack + sizeof(stack);
}

static const int signals[] = { SIGPROF, SIGALRM, SIGIO, SIGVTALRM, SIGTRAP, SIGUSR1 };

#define SIGNALS (sizeof(signals) / sizeof(*signals))

/* Computes for a while in the thread's own time, so that timers of processor time run. */
static __attribute__((noinline)) void compute(void)
{
	struct timespec now;
	volatile double x = 2;
	double end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 0.4;
	do {
		for (int i = 0; i < 100000; i++)
			x = x * 0.999 + 0.001;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < end);
}

static void timer(int which, long first_us)
{
	struct itimerval value = { .it_value.tv_usec = first_us };

	if (setitimer(which, &value, NULL))
		abort();
}

int main(void)
{
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = note, .sa_flags = SA_ONSTACK | SA_RESTART };
	sigset_t all, before, pending;
	int tries = 50;

	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, NULL);
	timer(ITIMER_REAL, 100000);
	timer(ITIMER_PROF, 150000);
	/* until the timers have expired, even on a busy machine and with coarse clocks of the kernel */
	do
		compute();
	while (!(seen[SIGALRM] && seen[SIGPROF]) && --tries);
	for (size_t i = 0; i < SIGNALS; i++)
		printf("%s: %d, on its stack: %d\n", strsignal(signals[i]), (int)seen[signals[i]],
				(int)on_stack[signals[i]]);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	timer(ITIMER_PROF, 100000);
	do {
		compute();
		sigpending(&pending);
	} while (!sigismember(&pending, SIGPROF) && --tries);
	for (size_t i = 0; i < SIGNALS; i++)
		printf("%s while all are blocked: %d, pending: %d\n", strsignal(signals[i]),
				(int)seen[signals[i]], sigismember(&pending, signals[i]));
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction now;

		sigaction(signals[i], NULL, &now);
		printf("%s in the end: %d, its handler: %d\n", strsignal(signals[i]),
				(int)seen[signals[i]], now.sa_handler == note);
	}
	return 0;
}
