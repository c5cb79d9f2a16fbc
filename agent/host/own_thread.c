/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/own_thread.h"

#include <signal.h>

#include "agent/host/float_env.h"

#define STACK_BYTES (1u << 20)

int own_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	struct float_env kept;
	sigset_t all, before;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	/*
	 * The new thread inherits the mask, because the program's signals must be handled by its own threads,
	 * and an environment in which no arithmetic traps.
	 */
	kept = float_env_hold();
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, &attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	float_env_release(kept);
	pthread_attr_destroy(&attributes);
	return error;
}
