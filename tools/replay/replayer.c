/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that carries a plan out. An MPI's own compiler builds it from this folder, with made_calls.c, cursor.c, plan.c
 * and calls.c:
 *
 *	replayer PLAN RESULT SEED COPIES STALL
 *
 * COPIES: mask of the communicators of the program that are taken for copies of MPI_COMM_WORLD (cursor_new). STALL: seconds after which a rank
 * that makes no progress ends the replay. Rank 0 writes RESULT. If the plan is for another number of
 * ranks, it has 0 seconds. Exit code: 0; 1: it cannot be written; 2: the plan cannot be read; 3: no progress.
 */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "multiplex/mix.h"
#include "tools/replay/cursor.h"
#include "tools/replay/made_calls.h"

#define SHORT_SECONDS                                                                              \
	20e-6 /* of shorter bursts, the wall time is spent: to ask for the CPU time takes too long */
#define VARIED_SECONDS 1e-6 /* shorter bursts have the mean length */
#define TICKS_MAX      8    /* of the watchdog, without progress */

static struct {
	int rank;
	double last;             /* seconds of the end of the last call */
	double computed, lasted; /* seconds of bursts: with a processor, and all */
	uint64_t random;
	volatile uint64_t progress, number; /* number: of the call, from 1 */
	volatile const char *call;          /* that is being made */
	volatile bool is_at_end;            /* it only waits for other ranks */
} replay;

/* ---- no progress ---- */

static void end_if_stuck(int signal)
{
	static uint64_t seen;
	static unsigned ticks;
	char line[200];
	int length;

	(void)signal;
	if (seen != replay.progress) {
		seen = replay.progress;
		ticks = 0;
		return;
	}
	/* a rank that is still at work says more */
	if (++ticks < (replay.is_at_end ? 2 * TICKS_MAX : TICKS_MAX))
		return;
	length = snprintf(line, sizeof(line),
			"phasemux replay: rank %d makes no progress in %s (call %llu), and ends the replay\n",
			replay.rank, replay.call ? (const char *)replay.call : "a burst",
			(unsigned long long)replay.number);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		_exit(4);
	_exit(3);
}

static void start_watch(double stall)
{
	double tick = stall / TICKS_MAX;
	struct timeval every = { (time_t)tick, (suseconds_t)((tick - floor(tick)) * 1e6) };
	struct itimerval timer = { every, every };
	struct sigaction action = { .sa_handler = end_if_stuck, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_watch(void)
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

/* Computes for a time, of which the walk through the plan is a part. */
static void compute(double seconds)
{
	double spent = now(CLOCK_MONOTONIC) - replay.last;

	if (seconds < SHORT_SECONDS) {
		while (now(CLOCK_MONOTONIC) - replay.last < seconds)
			;
	} else {
		double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds - spent;

		/* a long burst is progress, too */
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
			replay.progress++;
		replay.computed += seconds;
		replay.lasted += now(CLOCK_MONOTONIC) - replay.last;
	}
}

/* Lets the time pass that calls took which are not carried out. */
static void pass_time(double seconds)
{
	double end = now(CLOCK_MONOTONIC) + seconds;

	while (now(CLOCK_MONOTONIC) < end)
		replay.progress++;
}

/* Returns a number of the log-normal distribution with mean 1. */
static double draw_factor(double variation)
{
	double variance = log1p(variation * variation);
	double normal = sqrt(-2 * log(1 - mix_uniform(&replay.random))) *
			cos(6.283185307179586 * mix_uniform(&replay.random));

	return exp(sqrt(variance) * fmax(-3, fmin(3, normal)) - variance / 2);
}

/* Returns the seconds that the burst before a call computes. */
static double burst_of(const struct plan *plan, const struct plan_token *token)
{
	const struct plan_phase *phase = token->phase < 0 ? NULL : &plan->phase[token->phase];
	double seconds = token->burst;

	if (!phase || seconds < VARIED_SECONDS)
		return seconds;
	if (phase->factors)
		seconds = fmax(token->least,
				fmin(token->most, seconds * phase->factor[replay.rank]));
	/* shorter bursts are wall time, of which preemption is no part in most cases */
	if (seconds >= SHORT_SECONDS)
		seconds *= phase->processor;
	return seconds * draw_factor(phase->variation);
}

/* ---- the replay ---- */

static void make_call(const struct plan *plan, const struct cursor_call *call)
{
	const struct plan_token *token = call->token;

	replay.number++;
	if (token->call == CALL_INIT)
		return;
	compute(burst_of(plan, token));
	replay.call = token->name;
	replay.progress++;
	if (token->call != CALL_FINALIZE &&
			(call->reason != CURSOR_CARRIED || !made_calls_make(call)))
		pass_time(token->seconds);
	replay.call = NULL;
}

static void go_through(const struct plan *plan, struct cursor *cursor)
{
	struct cursor_call call;
	enum cursor_step step;

	while ((step = cursor_next(cursor, &call)) <= CURSOR_HOLE) {
		if (step == CURSOR_HOLE)
			pass_time(call.hidden * (call.token->burst + call.token->seconds));
		else
			make_call(plan, &call);
		replay.last = now(CLOCK_MONOTONIC);
	}
}

struct result {
	double seconds; /* of the rank that took longest */
	double deprived; /* part of its bursts in which a rank had no processor, of the rank with the largest part */
};

static struct result carry_out(const struct plan *plan, struct cursor *cursor, double stall)
{
	struct result own = { 0, 0 }, most = { 0, 0 };
	double start;

	start_watch(stall);
	MPI_Barrier(MPI_COMM_WORLD);
	start = replay.last = now(CLOCK_MONOTONIC);
	go_through(plan, cursor);
	own.seconds = now(CLOCK_MONOTONIC) - start;
	if (replay.lasted > replay.computed)
		own.deprived = 1 - replay.computed / replay.lasted;
	replay.call = "the end";
	replay.is_at_end = true;
	made_calls_end();
	MPI_Reduce(&own, &most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	stop_watch();
	return most;
}

/* Writes what the command reads. Returns 0 or 1. */
static int write_result(const char *file, int ranks, struct result result)
{
	FILE *out = replay.rank == 0 ? fopen(file, "w") : NULL;

	if (replay.rank)
		return 0;
	if (!out ||
			fprintf(out, "ranks %d seconds %.17g deprived %.17g\n", ranks,
					result.seconds, result.deprived) < 0 ||
			fclose(out)) {
		fprintf(stderr, "phasemux replay: cannot write %s\n", file);
		return 1;
	}
	return 0;
}

/* Returns the exit code. */
static int run_plan(int ranks, char **argv)
{
	unsigned copies = (unsigned)strtoul(argv[4], NULL, 10);
	char why[300];
	struct plan *plan = plan_read(argv[1], why, sizeof(why));
	struct cursor *cursor;
	struct result result;

	if (plan && plan->ranks != ranks) {
		plan_free(plan);
		/* the command refuses it, without the messages of a launcher whose program fails */
		return write_result(argv[2], ranks, (struct result){ 0, 0 });
	}
	cursor = plan ? cursor_new(plan, replay.rank, copies, why, sizeof(why)) : NULL;
	if (!cursor) {
		fprintf(stderr, "phasemux replay: rank %d: %s\n", replay.rank, why);
		plan_free(plan);
		return 2;
	}
	if (!made_calls_start(plan, copies)) {
		fprintf(stderr, "phasemux replay: rank %d: no memory\n", replay.rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	result = carry_out(plan, cursor, strtod(argv[5], NULL));
	cursor_free(cursor);
	plan_free(plan);
	return write_result(argv[2], ranks, result);
}

int main(int argc, char **argv)
{
	int ranks, code = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &replay.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc == 6) {
		replay.random = mix_bits(strtoull(argv[3], NULL, 10)) +
				mix_bits((uint64_t)replay.rank + MIX_STEP);
		code = run_plan(ranks, argv);
	} else {
		fputs("usage: replayer PLAN RESULT SEED COPIES STALL\n", stderr);
	}
	MPI_Finalize();
	return code;
}
