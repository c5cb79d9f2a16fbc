/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads are cancelled at any moment, with a mutex that their cleanup releases, or between two points of
 * cancellation. pthread_mutex_lock is no such point, so a thread that has returned from it has the mutex.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#define THREADS 3
#define ROUNDS  150

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long inside;

static void work(int steps)
{
	for (volatile int i = 0; i < steps; i++)
		;
}

static void let_go(void *unused)
{
	(void)unused;
	inside--;
	pthread_mutex_unlock(&lock);
}

static void *body(void *data)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		inside++;
		pthread_cleanup_push(let_go, NULL);
		work(2000);
		pthread_testcancel();
		pthread_cleanup_pop(1);
		work(500);
	}
	return data;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	pthread_t threads[THREADS];
	int cancelled = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, body, NULL))
				return 2;
		nanosleep(&pause, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_cancel(threads[i]);
		for (int i = 0; i < THREADS; i++) {
			void *result;

			pthread_join(threads[i], &result);
			cancelled += result == PTHREAD_CANCELED;
		}
	}
	printf("%d cancelled, %ld inside\n", cancelled, inside);
	return cancelled == THREADS * ROUNDS && inside == 0 ? 0 : 1;
}
