/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/helper.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/own_thread.h"
#include "sampling/clock.h"

/* A fork waits at most HOLD_TRIES x HOLD_PAUSE_US for the work that is under way. */
#define HOLD_TRIES    1000
#define HOLD_PAUSE_US 100

enum stop {
	GO_ON,
	STOP,
	FINISH, /* call tasks.keep, then stop */
};

static struct {
	struct watcher_tasks tasks; /* written before the thread starts */
	pthread_t thread;
	bool started; /* written by the thread that starts and stops it */
	_Atomic int tid;
	_Atomic uint32_t stop; /* a futex: enum stop */
	_Atomic uint32_t kept; /* a futex: 1 when tasks.keep has returned */
	double seconds;        /* written before the thread ends */
} watcher;

/* Held while the watcher works, or the program forks. */
static pthread_mutex_t work = PTHREAD_MUTEX_INITIALIZER;
static bool held; /* `work` is held for a fork */

bool watcher_rest(uint64_t ns)
{
	struct timespec pause = { 0, (long)ns };

	pthread_mutex_unlock(&work);
	syscall(SYS_futex, &watcher.stop, FUTEX_WAIT_PRIVATE, GO_ON, &pause, NULL, 0);
	pthread_mutex_lock(&work);
	return atomic_load_explicit(&watcher.stop, memory_order_acquire) == GO_ON;
}

static void work_until_stopped(void)
{
	if (!watcher.tasks.begin())
		return;
	while (watcher_rest(watcher.tasks.rest_ns))
		watcher.tasks.look();
	if (atomic_load(&watcher.stop) == FINISH) {
		watcher.tasks.keep();
		atomic_store_explicit(&watcher.kept, 1, memory_order_release);
		syscall(SYS_futex, &watcher.kept, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *watch(void *unused)
{
	struct timespec used;

	(void)unused;
	pthread_mutex_lock(&work);
	atomic_store(&watcher.tid, (int)syscall(SYS_gettid));
	work_until_stopped();
	pthread_mutex_unlock(&work);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	watcher.seconds = (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
	return NULL;
}

static void launch(const struct watcher_tasks *tasks)
{
	watcher.tasks = *tasks;
	watcher.started = own_thread_start(&watcher.thread, watch, NULL) == 0;
}

bool watcher_start(const struct watcher_tasks *tasks)
{
	if ((pid_t)syscall(SYS_gettid) == getpid())
		launch(tasks);
	return watcher.started;
}

void watcher_start_in_child(const struct watcher_tasks *tasks)
{
	atomic_store(&watcher.tid, 0);
	atomic_store(&watcher.stop, GO_ON);
	atomic_store(&watcher.kept, 0);
	launch(tasks);
}

bool watcher_runs(void)
{
	return watcher.started;
}

void watcher_finish(void)
{
	struct timespec patience = { 1, 0 };

	if (!watcher.started)
		return;
	atomic_store_explicit(&watcher.stop, FINISH, memory_order_release);
	syscall(SYS_futex, &watcher.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (!atomic_load_explicit(&watcher.kept, memory_order_acquire))
		syscall(SYS_futex, &watcher.kept, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0);
}

void watcher_stop(void)
{
	if (!watcher.started)
		return;
	watcher.started = false;
	atomic_store_explicit(&watcher.stop, STOP, memory_order_release);
	syscall(SYS_futex, &watcher.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(watcher.thread, NULL);
}

void watcher_hold(void)
{
	for (int tries = 0; tries < HOLD_TRIES; tries++) {
		held = pthread_mutex_trylock(&work) == 0;
		if (held && (!watcher.started || atomic_load(&watcher.tid)))
			return;
		/* the watcher works, or has not started yet, which is work too */
		watcher_let_go();
		usleep(HOLD_PAUSE_US);
	}
}

void watcher_let_go(void)
{
	if (held)
		pthread_mutex_unlock(&work);
	held = false;
}

void watcher_let_go_in_child(void)
{
	/* the thread that holds it may not exist in the child */
	pthread_mutex_init(&work, NULL);
	held = false;
}

double watcher_seconds(void)
{
	return watcher.seconds;
}

bool watcher_is_me(void)
{
	return atomic_load(&watcher.tid) == (int)syscall(SYS_gettid);
}
