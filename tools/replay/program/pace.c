/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes as long as the program did, on this machine. */
#include "tools/replay/program/pace.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TICKS_MAX 8 /* of the watchdog, without progress */

static struct {
	int rank;
	double computed, lasted;            /* seconds of bursts: with a processor, and all */
	volatile uint64_t progress, number; /* number: of the call, from 1 */
	volatile const char *call;          /* that is being made */
	volatile bool is_at_end;            /* it only waits for other ranks */
} pace;

/* ---- no progress ---- */

static void end_if_stuck(int signal)
{
	static uint64_t seen;
	static unsigned ticks;
	char line[200];
	int length;

	(void)signal;
	if (seen != pace.progress) {
		seen = pace.progress;
		ticks = 0;
		return;
	}
	/* a rank that is still at work says more */
	if (++ticks < (pace.is_at_end ? 2 * TICKS_MAX : TICKS_MAX))
		return;
	length = snprintf(line, sizeof(line),
			"phasemux replay: rank %d makes no progress in %s (call %llu), and ends the replay\n",
			pace.rank, pace.call ? (const char *)pace.call : "a burst",
			(unsigned long long)pace.number);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		_exit(4);
	_exit(3);
}

void pace_start(int rank, double stall)
{
	double tick = stall / TICKS_MAX;
	struct timeval every = { (time_t)tick, (suseconds_t)((tick - floor(tick)) * 1e6) };
	struct itimerval timer = { every, every };
	struct sigaction action = { .sa_handler = end_if_stuck, .sa_flags = SA_RESTART };

	pace.rank = rank;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void pace_burst(void)
{
	pace.number++;
	pace.call = NULL;
}

void pace_call(const char *name)
{
	pace.call = name;
	pace.progress++;
}

void pace_end(void)
{
	pace.call = "the end";
	pace.is_at_end = true;
}

void pace_stop(void)
{
	static const struct itimerval none;

	setitimer(ITIMER_REAL, &none, NULL);
}

/* ---- times ---- */

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double pace_now(void)
{
	return now(CLOCK_MONOTONIC);
}

/* Only time in which the rank has a processor counts. */
void pace_compute(double since, double seconds)
{
	double spent = pace_now() - since;

	if (seconds < PACE_SHORT) {
		while (pace_now() - since < seconds)
			;
	} else {
		double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds - spent;

		/* a long burst is progress, too */
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
			pace.progress++;
		pace.computed += seconds;
		pace.lasted += pace_now() - since;
	}
}

void pace_pass(double seconds)
{
	double end = pace_now() + seconds;

	while (pace_now() < end)
		pace.progress++;
}

double pace_deprived(void)
{
	return pace.lasted > pace.computed ? 1 - pace.computed / pace.lasted : 0;
}
