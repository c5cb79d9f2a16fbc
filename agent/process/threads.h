/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which threads of the program are observed, and finds the thread that the preload calls a hook for. A
 * thread is met at its first call. It is observed until it ends, if it gets one of the places for threads.
 */
#ifndef PHASEMUX_AGENT_PROCESS_THREADS_H
#define PHASEMUX_AGENT_PROCESS_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/boundary/preload.h"

struct thread;

/*
 * Makes threads drain themselves and close their counters when they end. Call once, before the first thread is
 * met. Returns 0 or -ENOMEM.
 */
int threads_start(void);

/* Undoes threads_start, if it was called and succeeded. Call if no thread was met. */
void threads_stop(void);

/* The `core` of a slot points to it if the thread is not observed. */
extern char threads_unobserved;

/*
 * Returns the value in the slot's `core`: NULL before the thread is met, later the thread or
 * &threads_unobserved.
 */
static inline void *threads_in_slot(struct preload_thread *slot)
{
	/*
	 * pairs with the release in threads_publish_first, by which the helper fills the slot of another
	 * thread
	 */
	return __atomic_load_n(&slot->core, __ATOMIC_ACQUIRE);
}

/* Returns whether the value of threads_in_slot() is a thread that is observed. */
static inline bool threads_is_observed(const void *thread)
{
	return __builtin_expect(thread && thread != &threads_unobserved, 1);
}

/* Returns the thread of a slot, or NULL if the thread is not observed. */
struct thread *threads_of_slot(struct preload_thread *slot);

/*
 * Decides whether the calling thread is observed, and fills the `core` of its slot. Call at the thread's first
 * call, which no signal handler may have made. Keeps errno.
 */
void threads_meet(struct preload_thread *slot);

/*
 * Starts to observe a thread: the calling one (tid 0), or the first thread of a forked child, given its kernel
 * number. The latter learns of it by threads_publish_first. Returns NULL if the thread is not observed.
 */
struct thread *threads_adopt(pid_t tid, struct preload_thread *slot);

/*
 * Returns the calling thread, or NULL if it is not observed; after threads_stop no thread is. *first: the
 * calling thread is the first one of a forked child.
 */
struct thread *threads_calling(bool *first);

/* The hook first_ends (agent/boundary/preload.h). */
void threads_first_ends(void);

/* Forgets the parent's threads in the child of a fork, and closes none. Call on the child's only thread. */
void threads_forget(void);

/*
 * Makes the first thread of a forked child known to its hooks and to its end. Call on the helper, once
 * threads_adopt has returned the thread and its burst has begun.
 */
void threads_publish_first(struct thread *thread);

#endif
