/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of the agent in the program's process. It takes no signal, and has a small stack. */
#ifndef PHASEMUX_AGENT_HOST_OWN_THREAD_H
#define PHASEMUX_AGENT_HOST_OWN_THREAD_H

#include <pthread.h>

/* Starts a thread. Returns 0, or a positive error number, like pthread_create. */
int own_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
