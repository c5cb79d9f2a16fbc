/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/loops.h"

#include <stddef.h>

#include "cluster/loops/combine.h"
#include "cluster/loops/reduce.h"
#include "cluster/loops/room.h"

void loops_init(struct loops *loops)
{
	arena_init(loops);
}

/* Returns whether the last token is a loop whose next round can be expected call by call. */
static bool may_continue(const struct loops *loops, const struct loops_token *last)
{
	return !loops->closed && last->kind == LOOPS_LOOP && last->calls &&
			last->count < LOOPS_COUNT_MAX;
}

static unsigned list_round(struct loops *loops, unsigned first, unsigned at)
{
	for (unsigned cell = first; cell; cell = arena_look(loops, cell)->next) {
		const struct loops_token *token = arena_look(loops, cell);

		for (uint32_t i = 0; i < token->count; i++)
			if (token->kind == LOOPS_CALL)
				loops->expected[at++] = token->symbol;
			else
				at = list_round(loops, token->first, at);
	}
	return at;
}

/* Writes the calls of a round of the last token, if they are not there yet. */
static void arm(struct loops *loops)
{
	unsigned cell = loops->cell[loops->tokens - 1];

	if (loops->armed == cell)
		return;
	loops->length = list_round(loops, arena_look(loops, cell)->first, 0);
	loops->armed = (uint16_t)cell;
}

static void disarm(struct loops *loops)
{
	loops->armed = 0;
	loops->length = 0;
}

/*
 * Adds the calls from `call` on to the slots of a body, and their times to `round`. Returns the
 * call behind them.
 */
static const struct loops_pending *add_round(struct loops *loops, unsigned first,
		const struct loops_pending *call, uint64_t round[SLOT_TIMES])
{
	for (unsigned cell = first; cell; cell = arena_look(loops, cell)->next) {
		struct loops_token *token = arena_token(loops, cell);

		for (uint32_t i = 0; i < token->count; i++) {
			uint64_t inner[SLOT_TIMES] = { 0 };

			if (token->kind == LOOPS_CALL) {
				inner[SLOT_BURST] = call->burst;
				inner[SLOT_INSIDE] = call->inside;
				call++;
			} else {
				call = add_round(loops, token->first, call, inner);
			}
			slot_add(&token->slot, inner[SLOT_BURST], inner[SLOT_INSIDE]);
			round[SLOT_BURST] += inner[SLOT_BURST];
			round[SLOT_INSIDE] += inner[SLOT_INSIDE];
		}
	}
	return call;
}

static void complete_round(struct loops *loops, struct loops_token *loop,
		const struct loops_pending *calls)
{
	uint64_t round[SLOT_TIMES] = { 0 };

	add_round(loops, loop->first, calls, round);
	slot_add(&loop->slot, round[SLOT_BURST], round[SLOT_INSIDE]);
	combine_set_count(loop, loop->count + 1);
}

/* Puts a call behind the text as a token of its own. */
static void loops_append(struct loops *loops, const struct loops_pending *call)
{
	struct loops_token *token;
	unsigned cell;

	room_make(loops);
	cell = arena_take(loops);
	token = arena_token(loops, cell);
	token->kind = LOOPS_CALL;
	token->symbol = call->symbol;
	combine_set_count(token, 1);
	slot_add(&token->slot, call->burst, call->inside);
	arena_push(loops, cell);
	loops->closed = false;
	loops->appended++;
}

/*
 * Returns how many of the calls are those that the armed loop expects, up to the end of its round.
 */
static unsigned count_expected(const struct loops *loops, const struct loops_pending *calls,
		unsigned count)
{
	unsigned fit = 0;

	count = count < loops->length ? count : loops->length;
	while (fit < count && calls[fit].symbol == loops->expected[fit])
		fit++;
	return fit;
}

/* Adds a call to the last token, or behind it. Returns false if the text was folded instead. */
static bool place_call(struct loops *loops, const struct loops_pending *call)
{
	struct loops_token *last = loops->tokens ? arena_top(loops, loops->tokens - 1u) : NULL;

	if (last && last->kind == LOOPS_CALL && last->symbol == call->symbol &&
			last->count < LOOPS_COUNT_MAX) {
		combine_set_count(last, last->count + 1);
		slot_add(&last->slot, call->burst, call->inside);
		return true;
	}
	disarm(loops);
	if (reduce_last(loops, call->symbol)) {
		loops->closed = false;
		return false;
	}
	loops_append(loops, call);
	return true;
}

/*
 * Adds the first `count` pending calls to the text, except those that are an incomplete round of
 * the last loop. With `finish` these are added as well. Each step adds a call, makes the text
 * shorter, or closes a loop until a token follows it, so it ends.
 */
static void settle(struct loops *loops, unsigned count, bool finish)
{
	const struct loops_pending *calls = loops->pending;
	unsigned done = 0;

	while (done < count) {
		struct loops_token *last =
				loops->tokens ? arena_top(loops, loops->tokens - 1u) : NULL;
		unsigned fit;

		if (!last || !may_continue(loops, last)) {
			done += place_call(loops, calls + done);
			continue;
		}
		arm(loops);
		fit = count_expected(loops, calls + done, count - done);
		if (fit == loops->length) {
			complete_round(loops, last, calls + done);
			done += fit;
		} else if (fit == count - done && !finish) {
			break;
		} else {
			loops->closed = true;
		}
	}
	loops->at = count - done;
	for (unsigned i = 0; i < loops->at && done; i++)
		loops->pending[i] = loops->pending[done + i];
}

void loops_add_cold(struct loops *loops, uint32_t symbol, uint64_t burst, uint64_t inside)
{
	loops->pending[loops->at] = (struct loops_pending){ burst, inside, symbol };
	loops->calls++;
	settle(loops, loops->at + 1, false);
}

void loops_skip(struct loops *loops, uint64_t calls, uint64_t burst, uint64_t inside)
{
	struct loops_slot times = { 0 };

	settle(loops, loops->at, true);
	disarm(loops);
	while (loops->tokens && reduce_last(loops, LOOPS_ANY))
		;
	slot_add_calls(&times, calls, burst, inside);
	loops->calls += calls;
	room_add_hole(loops, &times);
	loops->closed = false;
}

void loops_finish(struct loops *loops)
{
	settle(loops, loops->at, true);
	loops->closing = true;
	do
		room_finish(loops);
	while (combine_rotated(loops));
	loops->closing = false;
	disarm(loops);
	loops->closed = false;
}
