/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/boundary/tasks.h"
#include "agent/host/float_env.h"
#include "agent/host/own_thread.h"
#include "sampling/clock.h"

#define HOLD_PAUSE_US 100
#define EXIT_PAUSE_US 1000

enum stop {
	GO_ON,
	STOP,
	FINISH, /* call tasks.keep, then stop */
};

enum begun {
	NOT_YET, /* tasks.begin was not called, or was stopped */
	BEGUN,
	NOTHING, /* there is nothing to watch */
};

static struct {
	struct helper_tasks tasks; /* written before the thread starts */
	enum begun begun; /* the helper's own, and its starter's while there is no helper */
	pthread_t thread;
	bool started;                 /* written by the thread that starts and stops it */
	void (*last)(void *argument); /* see helper_stop_with; with its argument written before `stop` */
	void *argument;
	_Atomic int tid;
	_Atomic uint32_t stop; /* a futex: enum stop */
	_Atomic uint32_t kept; /* a futex: 1 when tasks.keep has returned */
	double seconds;        /* of all threads that were the helper; written before each ends */
} helper;

/* Held while the helper works, or the program forks. */
static pthread_mutex_t work = PTHREAD_MUTEX_INITIALIZER;
static bool held; /* `work` is held for a fork */

bool helper_rest(uint64_t ns)
{
	struct timespec pause = { 0, (long)ns };

	pthread_mutex_unlock(&work);
	syscall(SYS_futex, &helper.stop, FUTEX_WAIT_PRIVATE, GO_ON, &pause, NULL, 0);
	pthread_mutex_lock(&work);
	return atomic_load_explicit(&helper.stop, memory_order_acquire) == GO_ON;
}

static bool has_begun(void)
{
	if (helper.begun == NOT_YET) {
		if (helper.tasks.begin())
			helper.begun = BEGUN;
		else if (atomic_load(&helper.stop) == GO_ON)
			helper.begun = NOTHING;
	}
	return helper.begun == BEGUN;
}

static void work_until_stopped(void)
{
	if (!has_begun())
		return;
	while (helper_rest(helper.tasks.look()))
		;
	if (atomic_load(&helper.stop) == FINISH) {
		helper.tasks.keep();
		atomic_store_explicit(&helper.kept, 1, memory_order_release);
		syscall(SYS_futex, &helper.kept, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *watch(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&work);
	atomic_store(&helper.tid, (int)syscall(SYS_gettid));
	work_until_stopped();
	pthread_mutex_unlock(&work);
	helper.seconds += (double)clock_thread_ns(0) * 1e-9;
	if (helper.last)
		helper.last(helper.argument);
	return NULL;
}

static void launch(void)
{
	helper.started = own_thread_start(&helper.thread, watch, NULL) == 0;
}

static void begin_anew(const struct helper_tasks *tasks)
{
	helper.tasks = *tasks;
	helper.begun = NOT_YET;
	helper.seconds = 0;
	launch();
}

bool helper_start(const struct helper_tasks *tasks)
{
	if ((pid_t)syscall(SYS_gettid) == getpid())
		begin_anew(tasks);
	return helper.started;
}

static void *watch_from_now_on(void *unused)
{
	float_env_hold(); /* the thread may have been made by a program whose arithmetic traps */
	return watch(unused);
}

helper_body *helper_become(const struct helper_tasks *tasks)
{
	helper.tasks = *tasks;
	helper.thread = pthread_self();
	helper.started = true;
	helper.seconds = -(double)clock_thread_ns(0) *
			1e-9; /* what it has done so far is the start of the agent */
	return watch_from_now_on;
}

void helper_start_in_child(const struct helper_tasks *tasks)
{
	atomic_store(&helper.tid, 0);
	atomic_store(&helper.stop, GO_ON);
	atomic_store(&helper.kept, 0);
	begin_anew(tasks);
}

bool helper_runs(void)
{
	return helper.started;
}

void helper_finish(void)
{
	struct timespec patience = { 1, 0 };

	if (!helper.started)
		return;
	atomic_store_explicit(&helper.stop, FINISH, memory_order_release);
	syscall(SYS_futex, &helper.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (!atomic_load_explicit(&helper.kept, memory_order_acquire))
		syscall(SYS_futex, &helper.kept, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0);
}

static void tell_to_stop(void)
{
	helper.started = false;
	atomic_store_explicit(&helper.stop, STOP, memory_order_release);
	syscall(SYS_futex, &helper.stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void helper_stop(void)
{
	if (!helper.started)
		return;
	tell_to_stop();
	pthread_join(helper.thread, NULL);
}

void helper_stop_with(void (*last)(void *argument), void *argument)
{
	helper.last = last;
	helper.argument = argument;
	helper_stop();
	helper.last = NULL;
}

void helper_stop_at_exit(void)
{
	struct tasks_patience patience = { 0 };

	if (!helper.started)
		return;
	tell_to_stop();
	while (pthread_tryjoin_np(helper.thread, NULL) == EBUSY &&
			tasks_patience_lasts(&patience, atomic_load(&helper.tid)))
		usleep(EXIT_PAUSE_US);
}

void helper_hold(void)
{
	struct tasks_patience patience = { 0 };

	do {
		held = pthread_mutex_trylock(&work) == 0;
		if (held && (!helper.started || atomic_load(&helper.tid)))
			return;
		/* the helper works, or has not started yet, which is work too */
		helper_let_go();
		usleep(HOLD_PAUSE_US);
	} while (tasks_patience_lasts(&patience, atomic_load(&helper.tid)));
}

void helper_let_go(void)
{
	if (held)
		pthread_mutex_unlock(&work);
	held = false;
}

void helper_let_go_in_child(void)
{
	/* the thread that holds it may not exist in the child */
	pthread_mutex_init(&work, NULL);
	held = false;
}

bool helper_leave(void)
{
	if (!helper.started)
		return false;
	helper_stop();
	return true;
}

void helper_return(void)
{
	atomic_store(&helper.tid, 0);
	atomic_store(&helper.stop, GO_ON);
	launch();
}

double helper_seconds(void)
{
	return helper.seconds;
}

bool helper_is_me(void)
{
	return atomic_load(&helper.tid) == (int)syscall(SYS_gettid);
}
