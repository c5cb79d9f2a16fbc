/* SPDX-License-Identifier: BSD-3-Clause */
/* The library that guests open. THREADS: number of threads that its constructor starts and waits for. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static __thread long mine = 3;
static long made;

static void *add(void *argument)
{
	mine += 4;
	__atomic_add_fetch(&made, mine, __ATOMIC_RELAXED);
	return argument;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

#ifdef _OPENMP
	/* the threads of GCC's OpenMP, which still look for work, crash if it is unloaded with this library */
	dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NODELETE);
#endif
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, add, NULL) == 0)
			pthread_join(thread, NULL);
}

__attribute__((destructor)) static void end(void)
{
	made = 0;
}

__attribute__((visibility("default"))) long count(int amount)
{
	double sum = (double)made;

#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
	for (int i = 0; i < amount * 1000; i++)
		sum += i % 3;
	return (long)sum + mine;
}
