/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper: it works again and again, and the end of the process does not depend on it. */
#include "agent/core/helper.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/tap.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int looks;
static pthread_t helper;

static bool begin(void)
{
	return true;
}

static uint64_t look(void)
{
	helper = pthread_self();
	atomic_fetch_add(&looks, 1);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return 1000000;
}

static void keep(void)
{
}

static const struct helper_tasks tasks = { .begin = begin, .look = look, .keep = keep };

static void wait_for_looks(int count)
{
	int before = atomic_load(&looks);

	while (atomic_load(&looks) < before + count)
		usleep(1000);
}

static void test_stops(void)
{
	int before;

	ok(helper_start(&tasks) && helper_runs(), "it starts");
	wait_for_looks(3);
	helper_stop();
	before = atomic_load(&looks);
	usleep(20000);
	ok(!helper_runs() && atomic_load(&looks) == before, "it stops");
}

/* A signal handler may call exit() while the thread that it interrupted holds what the helper needs. */
static void test_exit(void)
{
	helper_start_in_child(&tasks);
	wait_for_looks(1);
	pthread_mutex_lock(&lock);
	wait_for_looks(1);
	helper_stop_at_exit();
	ok(true, "the exit does not wait for a helper that cannot go on");
	pthread_mutex_unlock(&lock);
	pthread_join(helper, NULL);
}

int main(void)
{
	alarm(60);
	test_stops();
	test_exit();
	return tap_done();
}
