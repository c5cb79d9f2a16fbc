/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of phasemux's own in the program's process: it takes no signal, and has a small stack. */
#ifndef PHASEMUX_AGENT_OWN_THREAD_H
#define PHASEMUX_AGENT_OWN_THREAD_H

#include <pthread.h>

/* As pthread_create: 0, or an error number (positive). */
int own_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
