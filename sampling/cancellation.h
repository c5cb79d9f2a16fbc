/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work on a thread of the program that calls points of cancellation (read, open, write, nanosleep, ...). The
 * calling thread cannot be cancelled between hold and release, because it would end with what it has locked
 * there, or with what the program has locked: pthread_mutex_lock is no point of cancellation.
 */
#ifndef PHASEMUX_SAMPLING_CANCELLATION_H
#define PHASEMUX_SAMPLING_CANCELLATION_H

#include <pthread.h>

/* Turns cancellation off. Returns the state before, which cancellation_release() takes. */
static inline int cancellation_hold(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void cancellation_release(int state)
{
	pthread_setcancelstate(state, NULL);
}

#endif
