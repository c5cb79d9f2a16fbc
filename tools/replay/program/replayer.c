/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that carries a plan out. An MPI's own compiler builds it, with what else it needs of this folder and of the
 * one above:
 *
 *	replayer PLAN RESULT SEED COPIES STALL WINDOW [times] [CHANGE...]
 *
 * COPIES: mask of the communicators of the program that are taken for copies of MPI_COMM_WORLD (cursor_new). STALL:
 * seconds after which a rank that makes no progress ends the replay. WINDOW: 0, or calls in a row that are taken of long
 * loops (sample.h); their times then count for the rounds that are left out. With `times`, RESULT has
 * a line of each rank: the seconds of its bursts, of its calls of each path, and of the other calls. The words behind it are
 * those of changes_take(). Rank 0 writes RESULT. If the plan is for another number of ranks,
 * it has 0 seconds. Exit code: 0; 1: it cannot be written; 2: the plan cannot be read; 3: no progress.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/mix.h"
#include "tools/replay/plan/cursor.h"
#include "tools/replay/program/changes.h"
#include "tools/replay/program/made_calls.h"
#include "tools/replay/program/pace.h"

#define ARGUMENTS_LEAST 7 /* with the program's name */

static struct {
	int rank;
	double last;     /* seconds of the end of the last call */
	double left_out; /* seconds of the rounds that are left out */
	struct sample sample;
	uint64_t seed, random;
	double *times; /* seconds of bursts, of the calls of each path, and of others; NULL: they are not asked for */
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
	double seconds = changes_mean(plan, token, replay.rank) * changes_factor(token);
	/* also if the burst is balanced, so that the other bursts are those of the replay without the change */
	double drawn = token->phase < 0 || token->burst < CHANGES_VARIED ?
			1 :
			draw_factor(plan->phase[token->phase].variation);

	return changes_is_balanced(token) ? seconds : seconds * drawn;
}

/* Gives each rank the same work in what is balanced. */
static void balance(const struct plan *plan, unsigned copies)
{
	size_t count;
	double *own = changes_totals(plan, replay.rank, copies, &replay.sample, &count);
	double *sums = calloc(4 * count + 1, sizeof(*sums));

	if (count && (!own || !sums)) {
		fprintf(stderr, "phasemux replay: rank %d: no memory\n", replay.rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (size_t i = 0; i < count; i++) {
		sums[i] = own[i];
		sums[count + i] = own[i] > 0;
	}
	if (count)
		MPI_Allreduce(sums, sums + 2 * count, (int)(2 * count), MPI_DOUBLE, MPI_SUM,
				MPI_COMM_WORLD);
	for (size_t i = 0; i < count; i++)
		sums[i] = sums[2 * count + i] / fmax(1, sums[3 * count + i]);
	if (count)
		changes_balance(own, sums);
	free(sums);
	free(own);
}

/* ---- the replay ---- */

/* Adds the time since the last end to an element of the times. weight: number of times for which it stands. */
static void count_time(size_t element, double weight)
{
	double at;

	if (!replay.times)
		return;
	at = pace_now();
	replay.times[element] += weight * (at - replay.last);
	replay.last = at;
}

static void make_call(const struct plan *plan, const struct cursor_call *call)
{
	const struct plan_token *token = call->token;

	pace_burst();
	if (token->call == CALL_INIT)
		return;
	pace_compute(replay.last, burst_of(plan, token));
	count_time(0, call->weight);
	pace_call(token->name);
	if (token->call != CALL_FINALIZE &&
			(call->reason != CURSOR_CARRIED || !made_calls_make(call)))
		pace_pass(token->seconds);
	count_time(1 + (token->path < 0 ? plan->paths : (size_t)token->path), call->weight);
}

static void go_through(const struct plan *plan, struct cursor *cursor)
{
	struct cursor_call call;
	enum cursor_step step;

	while ((step = cursor_next(cursor, &call)) <= CURSOR_HOLE) {
		double start = replay.last;

		if (step == CURSOR_HOLE)
			pace_pass(call.hidden * (call.token->burst + call.token->seconds));
		else
			make_call(plan, &call);
		replay.last = pace_now();
		replay.left_out += (call.weight - 1) * (replay.last - start);
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
	own.seconds = pace_now() - start + replay.left_out;
	own.deprived = pace_deprived();
	pace_end();
	made_calls_end();
	MPI_Reduce(&own, &most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	pace_stop();
	return most;
}

/* Writes what the command reads: the result, and a line with the times of each rank. Returns 0 or 1. */
static int write_result(const char *file, int ranks, struct result result, const double *times,
		size_t elements)
{
	FILE *out = replay.rank == 0 ? fopen(file, "w") : NULL;

	if (replay.rank)
		return 0;
	if (out)
		fprintf(out, "ranks %d seconds %.17g deprived %.17g\n", ranks, result.seconds,
				result.deprived);
	for (size_t i = 0; out && times && i < (size_t)ranks * elements; i++)
		fprintf(out, "%.9g%c", times[i], (i + 1) % elements ? ' ' : '\n');
	if (!out || ferror(out) || fclose(out)) {
		fprintf(stderr, "phasemux replay: cannot write %s\n", file);
		return 1;
	}
	return 0;
}

/* Brings the times of all ranks to rank 0, and writes the result there. Returns 0 or 1. */
static int gather_result(const char *file, int ranks, struct result result, size_t elements)
{
	double *all = replay.rank == 0 && replay.times ?
			calloc((size_t)ranks * elements, sizeof(*all)) :
			NULL;
	int code;

	/* without memory in rank 0, the ranks must not wait for it */
	if (replay.rank == 0 && replay.times && !all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (replay.times)
		MPI_Gather(replay.times, (int)elements, MPI_DOUBLE, all, (int)elements, MPI_DOUBLE,
				0, MPI_COMM_WORLD);
	code = write_result(file, ranks, result, all, elements);
	free(all);
	return code;
}

/* Takes the words that change the replay. Returns false without memory, or if a word is invalid. */
static bool take_words(const struct plan *plan, int count, char **words)
{
	if (count && strcmp(words[0], "times") == 0) {
		replay.times = calloc(plan->paths + 2, sizeof(*replay.times));
		return replay.times && changes_take(plan, replay.rank, count - 1, words + 1);
	}
	return changes_take(plan, replay.rank, count, words);
}

/* Returns NULL with one line in `why`. window: the word that has the length of the windows of the sample. */
static struct cursor *new_cursor(const struct plan *plan, unsigned copies, const char *window,
		char *why, size_t why_size)
{
	snprintf(why, why_size, "no memory");
	return sample_init(&replay.sample, plan, strtoull(window, NULL, 10), replay.seed) ?
			cursor_new(plan, replay.rank, copies, &replay.sample, why, why_size) :
			NULL;
}

/* Returns the exit code. */
static int run_plan(int ranks, int argc, char **argv)
{
	unsigned copies = (unsigned)strtoul(argv[4], NULL, 10);
	char why[300];
	struct plan *plan = plan_read(argv[1], why, sizeof(why));
	struct cursor *cursor;
	struct result result;
	int code;

	if (plan && plan->ranks != ranks) {
		plan_free(plan);
		/* the command refuses it, without the messages of a launcher whose program fails */
		return write_result(argv[2], ranks, (struct result){ 0, 0 }, NULL, 1);
	}
	cursor = plan ? new_cursor(plan, copies, argv[6], why, sizeof(why)) : NULL;
	if (!cursor) {
		fprintf(stderr, "phasemux replay: rank %d: %s\n", replay.rank, why);
		plan_free(plan);
		return 2;
	}
	if (!take_words(plan, argc - ARGUMENTS_LEAST, argv + ARGUMENTS_LEAST) ||
			!made_calls_start(plan, copies)) {
		fprintf(stderr, "phasemux replay: rank %d: no memory, or an invalid factor\n",
				replay.rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	balance(plan, copies);
	result = carry_out(plan, cursor, strtod(argv[5], NULL));
	code = gather_result(argv[2], ranks, result, plan->paths + 2);
	cursor_free(cursor);
	plan_free(plan);
	changes_end();
	sample_fini(&replay.sample);
	free(replay.times);
	return code;
}

int main(int argc, char **argv)
{
	int ranks, code = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &replay.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc >= ARGUMENTS_LEAST) {
		replay.seed = strtoull(argv[3], NULL, 10);
		replay.random = mix_bits(replay.seed) + mix_bits((uint64_t)replay.rank + MIX_STEP);
		code = run_plan(ranks, argc, argv);
	} else {
		fputs("usage: replayer PLAN RESULT SEED COPIES STALL WINDOW [times] [CHANGE...]\n",
				stderr);
	}
	MPI_Finalize();
	return code;
}
