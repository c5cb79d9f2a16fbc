/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/crowd.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/clock.h"

static struct {
	pthread_key_t ends; /* slot of a thread that is left out */
	pthread_mutex_t lock;
	/* protected by the lock */
	struct thread *vacant;
	struct preload_thread *left_out; /* threads that are left out and live */
	double threads, ended_ns; /* number of all that were left out; processor time of the ended ones */
} crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Removes a thread from the list. It is the destructor of crowd.ends, and runs while the thread's storage
 * exists.
 */
static void ends(void *of_thread)
{
	struct preload_thread *slot = of_thread;
	struct crowd_link *link = &slot->crowd;

	/* a child that was made without fork()'s handlers has only a copy of the list */
	if (link->tid != (int)syscall(SYS_gettid))
		return;
	pthread_mutex_lock(&crowd.lock);
	if (link->next)
		link->next->crowd.previous = link->previous;
	if (link->previous)
		link->previous->crowd.next = link->next;
	else
		crowd.left_out = link->next;
	crowd.ended_ns += (double)clock_thread_ns(0) - link->ran_ns;
	pthread_mutex_unlock(&crowd.lock);
}

int crowd_start(void)
{
	return pthread_key_create(&crowd.ends, ends) ? -ENOMEM : 0;
}

void crowd_stop(void)
{
	pthread_key_delete(crowd.ends);
}

void crowd_forget(void)
{
	pthread_mutex_init(&crowd.lock, NULL); /* its owner may not exist in the child */
	crowd.vacant = NULL;
	crowd.left_out = NULL;
	crowd.threads = crowd.ended_ns = 0;
	pthread_setspecific(crowd.ends, NULL);
}

struct thread *crowd_take(void)
{
	struct thread *thread;

	pthread_mutex_lock(&crowd.lock);
	thread = crowd.vacant;
	if (thread)
		crowd.vacant = thread->vacant;
	pthread_mutex_unlock(&crowd.lock);
	return thread;
}

void crowd_give(struct thread *thread)
{
	pthread_mutex_lock(&crowd.lock);
	thread->vacant = crowd.vacant;
	crowd.vacant = thread;
	pthread_mutex_unlock(&crowd.lock);
}

void crowd_leave_out(struct preload_thread *slot)
{
	struct crowd_link *link = &slot->crowd;

	link->tid = (int)syscall(SYS_gettid);
	link->ran_ns = (double)clock_thread_ns(0);
	link->previous = NULL;
	pthread_mutex_lock(&crowd.lock);
	link->next = crowd.left_out;
	if (link->next)
		link->next->crowd.previous = slot;
	crowd.left_out = slot;
	crowd.threads++;
	pthread_mutex_unlock(&crowd.lock);
	pthread_setspecific(crowd.ends, slot);
}

void crowd_left_out(double *threads, double *seconds)
{
	double ns;

	pthread_mutex_lock(&crowd.lock);
	ns = crowd.ended_ns;
	for (const struct preload_thread *slot = crowd.left_out; slot; slot = slot->crowd.next) {
		double ran = (double)clock_thread_ns(slot->crowd.tid) - slot->crowd.ran_ns;

		ns += ran > 0 ? ran : 0;
	}
	*threads = crowd.threads;
	*seconds = ns * 1e-9;
	pthread_mutex_unlock(&crowd.lock);
}
