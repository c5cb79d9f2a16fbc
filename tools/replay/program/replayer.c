/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that carries a plan out. An MPI's own compiler builds it, with what else it needs of this folder and of the
 * one above:
 *
 *	replayer PLAN RESULT SEED COPIES STALL [PLACE=FACTOR...]
 *
 * COPIES: mask of the communicators of the program that are taken for copies of MPI_COMM_WORLD (cursor_new). STALL:
 * seconds after which a rank that makes no progress ends the replay. FACTOR: of the time of the bursts in the phase at this
 * place of the plan; place -1 has the bursts in no phase. Rank 0 writes RESULT. If the plan is for another number of ranks,
 * it has 0 seconds. Exit code: 0; 1: it cannot be written; 2: the plan cannot be read; 3: no progress.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/mix.h"
#include "tools/replay/cursor.h"
#include "tools/replay/program/made_calls.h"
#include "tools/replay/program/pace.h"

#define ARGUMENTS_LEAST 6    /* with the program's name */
#define VARIED_SECONDS  1e-6 /* shorter bursts have the mean length */

static struct {
	int rank;
	double last; /* seconds of the end of the last call */
	uint64_t random;
	double *factor; /* of the time in each phase; the first one of the time in none */
} replay;

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
	/* in shorter ones there is mostly no preemption */
	if (seconds >= PACE_SHORT)
		seconds *= phase->processor;
	return seconds * draw_factor(phase->variation);
}

/* Returns the factor of the time of the bursts before a call. */
static double factor_of(const struct plan_token *token)
{
	return replay.factor ? replay.factor[1 + token->phase] : 1;
}

/* Takes the factors that the words have. Returns false without memory, or if a word is none. */
static bool take_factors(const struct plan *plan, int count, char **words)
{
	if (!count)
		return true;
	replay.factor = calloc(plan->phases + 1, sizeof(*replay.factor));
	for (size_t i = 0; replay.factor && i <= plan->phases; i++)
		replay.factor[i] = 1;
	for (int i = 0; replay.factor && i < count; i++) {
		long place;
		double factor;

		if (sscanf(words[i], "%ld=%lf", &place, &factor) != 2 || place < -1 ||
				place >= (long)plan->phases || !(factor >= 0))
			return false;
		replay.factor[1 + place] = factor;
	}
	return replay.factor != NULL;
}

/* ---- the replay ---- */

static void make_call(const struct plan *plan, const struct cursor_call *call)
{
	const struct plan_token *token = call->token;

	pace_burst();
	if (token->call == CALL_INIT)
		return;
	pace_compute(replay.last, burst_of(plan, token) * factor_of(token));
	pace_call(token->name);
	if (token->call != CALL_FINALIZE &&
			(call->reason != CURSOR_CARRIED || !made_calls_make(call)))
		pace_pass(token->seconds);
}

static void go_through(const struct plan *plan, struct cursor *cursor)
{
	struct cursor_call call;
	enum cursor_step step;

	while ((step = cursor_next(cursor, &call)) <= CURSOR_HOLE) {
		if (step == CURSOR_HOLE)
			pace_pass(call.hidden * (call.token->burst + call.token->seconds));
		else
			make_call(plan, &call);
		replay.last = pace_now();
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

	pace_start(replay.rank, stall);
	MPI_Barrier(MPI_COMM_WORLD);
	start = replay.last = pace_now();
	go_through(plan, cursor);
	own.seconds = pace_now() - start;
	own.deprived = pace_deprived();
	pace_end();
	made_calls_end();
	MPI_Reduce(&own, &most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	pace_stop();
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
static int run_plan(int ranks, int argc, char **argv)
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
	if (!take_factors(plan, argc - ARGUMENTS_LEAST, argv + ARGUMENTS_LEAST) ||
			!made_calls_start(plan, copies)) {
		fprintf(stderr, "phasemux replay: rank %d: no memory, or an invalid factor\n",
				replay.rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	result = carry_out(plan, cursor, strtod(argv[5], NULL));
	cursor_free(cursor);
	plan_free(plan);
	free(replay.factor);
	return write_result(argv[2], ranks, result);
}

int main(int argc, char **argv)
{
	int ranks, code = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &replay.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc >= ARGUMENTS_LEAST) {
		replay.random = mix_bits(strtoull(argv[3], NULL, 10)) +
				mix_bits((uint64_t)replay.rank + MIX_STEP);
		code = run_plan(ranks, argc, argv);
	} else {
		fputs("usage: replayer PLAN RESULT SEED COPIES STALL [PLACE=FACTOR...]\n", stderr);
	}
	MPI_Finalize();
	return code;
}
