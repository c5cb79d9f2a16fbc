/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose constructor starts a thread and waits for it, on a flag, while the loader's lock is held. The
 * thread makes each POSIX call that waits for others. The library has made none of these calls before, except
 * pthread_create.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

long run(void);

static atomic_long calls;
static atomic_bool is_done;

static void *nothing(void *data)
{
	return data;
}

static void wait_on_conditions(struct timespec *past)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	calls += pthread_cond_timedwait(&condition, &lock, past) == ETIMEDOUT;
	calls += pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, past) == ETIMEDOUT;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *data)
{
	struct timespec past = { .tv_sec = 1 };
	struct rusage usage;
	pthread_barrier_t barrier;
	pthread_t other;
	siginfo_t info;
	sem_t semaphore;

	wait_on_conditions(&past);
	sem_init(&semaphore, 0, 1);
	calls += sem_wait(&semaphore) == 0;
	calls += sem_timedwait(&semaphore, &past) != 0;
	calls += sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past) != 0;
	pthread_barrier_init(&barrier, NULL, 1);
	calls += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
	calls += pthread_create(&other, NULL, nothing, NULL) == 0;
	calls += pthread_join(other, NULL) == 0;
	calls += wait(NULL) < 0;
	calls += waitpid(-1, NULL, 0) < 0;
	calls += waitid(P_ALL, 0, &info, WEXITED) < 0;
	calls += wait3(NULL, 0, &usage) < 0;
	calls += wait4(-1, NULL, 0, &usage) < 0;
	is_done = true;
	return data;
}

static __attribute__((constructor)) void begin(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, NULL))
		abort();
	while (!is_done)
		;
	pthread_detach(thread);
}

long run(void)
{
	return calls;
}
