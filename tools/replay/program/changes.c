/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/program/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/replay/program/pace.h"

/* The changes of all phases. The first element has that of the bursts in no phase. */
static struct {
	size_t count;
	struct phase_change {
		double factor;
		long set; /* -1: it is not balanced */
	} * phase;
	double *balance; /* the factor of this rank in each set */
	bool balances;
} changes;

static struct phase_change *change_of(const struct plan_token *token)
{
	return changes.phase ? &changes.phase[1 + token->phase] : NULL;
}

/* Takes one word of a rank. Returns false if it is none. */
static bool take_word(const char *word, long rank)
{
	long place, set, of_rank = rank;
	double factor;

	if (sscanf(word, "%ld@%ld", &place, &set) == 2 && place >= -1 &&
			place < (long)changes.count - 1 && set >= 0 && set < (long)changes.count) {
		changes.phase[1 + place].set = set;
		changes.balances = true;
		return true;
	}
	if ((sscanf(word, "%ld,%ld=%lf", &place, &of_rank, &factor) != 3 &&
			    sscanf(word, "%ld=%lf", &place, &factor) != 2) ||
			place < -1 || place >= (long)changes.count - 1 || !(factor >= 0))
		return false;
	if (of_rank == rank)
		changes.phase[1 + place].factor = factor;
	return true;
}

bool changes_take(const struct plan *plan, long rank, int count, char **words)
{
	if (!count)
		return true;
	changes.count = plan->phases + 1;
	changes.phase = calloc(changes.count, sizeof(*changes.phase));
	changes.balance = calloc(changes.count, sizeof(*changes.balance));
	if (!changes.phase || !changes.balance)
		return false;
	for (size_t i = 0; i < changes.count; i++) {
		changes.phase[i] = (struct phase_change){ 1, -1 };
		changes.balance[i] = 1;
	}
	for (int i = 0; i < count; i++)
		if (!take_word(words[i], rank))
			return false;
	return true;
}

double changes_mean(const struct plan *plan, const struct plan_token *token, long rank)
{
	const struct plan_phase *phase = token->phase < 0 ? NULL : &plan->phase[token->phase];
	double seconds = token->burst;

	if (!phase || seconds < CHANGES_VARIED)
		return seconds;
	if (phase->factors)
		seconds = fmax(token->least, fmin(token->most, seconds * phase->factor[rank]));
	/* in shorter ones there is mostly no preemption */
	return seconds >= PACE_SHORT ? seconds * phase->processor : seconds;
}

bool changes_is_balanced(const struct plan_token *token)
{
	return changes.balances && change_of(token)->set >= 0;
}

double changes_factor(const struct plan_token *token)
{
	const struct phase_change *change = change_of(token);

	if (!change)
		return 1;
	return change->factor * (change->set >= 0 ? changes.balance[change->set] : 1);
}

double *changes_totals(const struct plan *plan, long rank, unsigned copies,
		const struct sample *sample, size_t *count)
{
	char why[300];
	struct cursor *cursor = changes.balances ?
			cursor_new(plan, rank, copies, sample, why, sizeof(why)) :
			NULL;
	double *totals = cursor ? calloc(changes.count, sizeof(*totals)) : NULL;
	struct cursor_call call;
	enum cursor_step step;

	*count = changes.balances ? changes.count : 0;
	while (totals && (step = cursor_next(cursor, &call)) <= CURSOR_HOLE)
		/* the program does not spend the burst before MPI_Init */
		if (step == CURSOR_CALL && call.token->call != CALL_INIT &&
				changes_is_balanced(call.token))
			totals[change_of(call.token)->set] += call.weight *
					changes_mean(plan, call.token, rank) *
					change_of(call.token)->factor;
	cursor_free(cursor);
	return totals;
}

void changes_balance(const double *own, const double *means)
{
	for (size_t i = 0; i < changes.count; i++)
		if (own[i] > 0)
			changes.balance[i] = means[i] / own[i];
}

void changes_end(void)
{
	free(changes.phase);
	free(changes.balance);
}
