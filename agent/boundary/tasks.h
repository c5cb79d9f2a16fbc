/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of threads that this process has, as the kernel counts them. It gives up a thread a moment after another one
 * has joined it. The waits are points of cancellation.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_TASKS_H
#define PHASEMUX_AGENT_BOUNDARY_TASKS_H

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/file_status.h"

/* At most TASKS_TRIES x TASKS_PAUSE_NS until threads that have ended are gone. */
#define TASKS_TRIES    1000
#define TASKS_PAUSE_NS 1000000

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

#endif
