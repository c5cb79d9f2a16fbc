/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded behind phasemux: another tool that stands in front of the C library's condition variables, by their
 * name without a version, as such tools do. Prints at the end how often it was called.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int waits;

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	int (*real)(pthread_cond_t *, pthread_mutex_t *);

	*(void **)&real = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	if (!real) /* a C library with one version of it */
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_wait");
	atomic_fetch_add(&waits, 1);
	return real(condition, lock);
}

static __attribute__((destructor)) void end(void)
{
	if (waits)
		fprintf(stderr, "between: was called\n");
}
