/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/toggle.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "agent/core/core.h"
#include "agent/host/log.h"
#include "agent/host/memory.h"
#include "agent/host/own_thread.h"
#include "sampling/clock.h"

#define STRETCHES_MAX 1002
#define NS_PER_SECOND 1000000000u

static struct {
	pthread_t thread;
	atomic_bool started; /* several threads may abort the run at once */
	uint64_t ns;         /* length of a stretch */
	sem_t stop;
	/* written by the thread, read when it has ended */
	struct stretch *stretch;
	unsigned stretches;
	/* the stretch under way: its number, when it started, and number of calls before it */
	uint64_t number, since, calls;
	bool off, was_off;
} toggle;

/* Returns the time of day when stretch `number` starts, on all ranks. */
static struct timespec begin_of(uint64_t number)
{
	uint64_t ns = number * toggle.ns;

	return (struct timespec){ (time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND) };
}

/* Returns the number of the stretch at this time of day. */
static uint64_t number_now(void)
{
	struct timespec day;

	clock_gettime(CLOCK_REALTIME, &day);
	return ((uint64_t)day.tv_sec * NS_PER_SECOND + (uint64_t)day.tv_nsec) / toggle.ns;
}

/* Rests until stretch `number` starts. Returns false if the thread is to end. */
static bool rest_until(uint64_t number)
{
	struct timespec moment = begin_of(number);

	while (sem_timedwait(&toggle.stop, &moment))
		if (errno != EINTR)
			return errno == ETIMEDOUT;
	return false;
}

/* Ends the stretch under way, and starts stretch `number`. */
static void turn(uint64_t number, bool off)
{
	uint64_t calls = atomic_load_explicit(core.preload->begun, memory_order_relaxed);
	uint64_t now = clock_now();

	if (toggle.stretches < STRETCHES_MAX)
		toggle.stretch[toggle.stretches++] = (struct stretch){
			.number = toggle.number,
			.seconds = clock_ns(now - toggle.since) * 1e-9,
			.calls = calls - toggle.calls,
			.observed = !toggle.off,
		};
	toggle.number = number;
	toggle.since = now;
	toggle.calls = calls;
	if (off == toggle.off)
		return;
	toggle.off = off;
	toggle.was_off = true;
	if (off)
		core_pause();
	else
		core_resume();
}

static void *turn_in_time(void *unused)
{
	(void)unused;
	while (toggle.stretches < STRETCHES_MAX && rest_until(toggle.number + 1)) {
		uint64_t number = number_now();

		turn(number, !slowdown_observes(number));
	}
	turn(toggle.number, false);
	return NULL;
}

void toggle_start(double ns)
{
	int error = 0;

	if (!(ns > 0))
		return;
	if (!core.preload->with_mpi) {
		log_line("PHASEMUX_TOGGLE is for programs with MPI: phasemux stays on");
		return;
	}
	toggle.ns = (uint64_t)ns;
	toggle.stretch = memory_map(toggle_bytes());
	toggle.number = number_now();
	toggle.since = clock_now();
	toggle.calls = atomic_load_explicit(core.preload->begun, memory_order_relaxed);
	if (!toggle.stretch || sem_init(&toggle.stop, 0, 0))
		error = ENOMEM;
	else
		error = own_thread_start(&toggle.thread, turn_in_time, NULL);
	toggle.started = !error;
	if (error)
		log_line("PHASEMUX_TOGGLE: no thread for it (%s): phasemux stays on",
				strerror(error));
}

void toggle_stop(void)
{
	if (!atomic_exchange(&toggle.started, false))
		return;
	sem_post(&toggle.stop);
	pthread_join(toggle.thread, NULL);
}

bool toggle_slowdown(struct slowdown *slowdown)
{
	if (!toggle.was_off)
		return false;
	slowdown_of(toggle.stretch, toggle.stretches, slowdown);
	return true;
}

const struct stretch *toggle_stretches(unsigned *count)
{
	*count = toggle.was_off ? toggle.stretches : 0;
	return toggle.was_off ? toggle.stretch : NULL;
}

size_t toggle_bytes(void)
{
	return toggle.ns ? STRETCHES_MAX * sizeof(struct stretch) : 0;
}
