/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a program without MPI forks (agent/family.h). The child of a fork begins as one
 * that nobody observes. Where the forking process had no thread but the one that forks, a thread of
 * ours looks in the child whether it computes; once it has for a while, it is observed from then on.
 */
#ifndef PHASEMUX_AGENT_FORKED_H
#define PHASEMUX_AGENT_FORKED_H

#include <stdbool.h>

struct thread;

/* Of the first process, once; run: as in the spool. 0 or -ENOMEM. */
int forked_prepare(double run);

/* On the watcher of a child, before it watches. False: the child is not to be observed. */
bool forked_join(void);

/*
 * What a thread's own word of core.thread_ends holds, as a thread: the first one of a forked child
 * does not know that it is observed. NULL: it is not. *first: it is that first one.
 */
struct thread *forked_thread(void *data, bool *first);

#endif
