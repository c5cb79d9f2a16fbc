/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that this process has, as the kernel counts them, and waits for them. The kernel gives up a thread a moment
 * after another one has joined it. tasks_wait_until_... are points of cancellation.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_TASKS_H
#define PHASEMUX_AGENT_BOUNDARY_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/file_status.h"
#include "sampling/clock.h"

/* At most TASKS_TRIES x TASKS_PAUSE_NS until threads that have ended are gone. */
#define TASKS_TRIES    1000
#define TASKS_PAUSE_NS 1000000

/* The longest time in ns for which a thread may not run while another one waits for its work. */
#define TASKS_STILL_MAX_NS 1000000000u

/* A wait for a thread's work. Starts as zeros. */
struct tasks_patience {
	uint64_t ran;    /* processor time of the thread in ns */
	uint64_t ran_at; /* when that had last grown */
};

/* Returns the number of threads of this process; 0: not known. */
static inline unsigned tasks_count(void)
{
	struct stat tasks;

	/* the folder has two links of its own */
	return file_status_at("/proc/self/task", &tasks) ? 0 : (unsigned)tasks.st_nlink - 2;
}

/* Waits until the thread of this number, which another one has joined, is gone, one second at most. */
static inline void tasks_wait_until_gone(pid_t tid)
{
	for (int tries = 0; syscall(SYS_tgkill, getpid(), tid, 0) == 0 && tries < TASKS_TRIES;
			tries++)
		nanosleep(&(struct timespec){ .tv_nsec = TASKS_PAUSE_NS }, NULL);
}

/* Waits until this process has no more than `most` threads, one second at most. */
static inline void tasks_wait_until_at_most(unsigned most)
{
	for (int tries = 0; tasks_count() > most && tries < TASKS_TRIES; tries++)
		nanosleep(&(struct timespec){ .tv_nsec = TASKS_PAUSE_NS }, NULL);
}

/*
 * Returns whether to wait on for the work of the thread `tid`: it has run within the last second. So the wait is as long as
 * the machine is slow, and ends if that thread itself waits for something that the calling thread holds. Returns false for
 * the calling thread, whose work a signal may have interrupted. For tid 0, a thread that is not known yet, returns true for
 * a second.
 */
static inline bool tasks_patience_lasts(struct tasks_patience *patience, pid_t tid)
{
	uint64_t ran = tid ? clock_thread_ns(tid) : 0, now = clock_monotonic();

	if (!patience->ran_at || ran != patience->ran)
		*patience = (struct tasks_patience){ .ran = ran, .ran_at = now };
	return tid != (pid_t)syscall(SYS_gettid) && now - patience->ran_at < TASKS_STILL_MAX_NS;
}

#endif
