/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/iteration.h"

#include <stddef.h>

#include "cluster/loops/combine.h"
#include "cluster/loops/reduce.h"

/* Calls in one order, up to the end of its room. */
struct calls {
	uint32_t symbol[LOOPS_ROUND_MAX];
	unsigned count, room;
	bool backwards;
	bool ended; /* what follows is not known */
};

static void list_body(const struct loops *loops, unsigned cell, struct calls *calls);

static void list_token(const struct loops *loops, unsigned cell, struct calls *calls)
{
	const struct loops_token *token = arena_look(loops, cell);

	if (token->kind == LOOPS_HOLE || token->counts || token->lossy)
		calls->ended = true;
	for (uint32_t i = 0; i < token->count && calls->count < calls->room && !calls->ended; i++)
		if (token->kind == LOOPS_CALL)
			calls->symbol[calls->count++] = token->symbol;
		else
			list_body(loops, token->first, calls);
}

/* Adds the calls of the tokens from `cell` on. Backwards the last of these tokens comes first. */
static void list_body(const struct loops *loops, unsigned cell, struct calls *calls)
{
	if (!cell)
		return;
	if (!calls->backwards)
		list_token(loops, cell, calls);
	list_body(loops, arena_look(loops, cell)->next, calls);
	if (calls->backwards)
		list_token(loops, cell, calls);
}

/* Returns how many calls directly before and behind a loop of constant rounds continue it. */
static unsigned calls_around(const struct loops *loops, unsigned place)
{
	const struct loops_token *loop = arena_look(loops, loops->cell[place]);
	unsigned period = loop->calls, before = 0, behind = 0;
	struct calls round = { .room = period };
	struct calls back = { .room = period, .backwards = true }, on = { .room = period };

	list_body(loops, loop->first, &round);
	for (unsigned at = place; at-- > 0 && back.count < period && !back.ended;)
		list_token(loops, loops->cell[at], &back);
	for (unsigned at = place + 1; at < loops->tokens && on.count < period && !on.ended; at++)
		list_token(loops, loops->cell[at], &on);
	while (before < back.count && back.symbol[before] == round.symbol[period - 1 - before])
		before++;
	while (behind < on.count && on.symbol[behind] == round.symbol[behind])
		behind++;
	return before + behind;
}

/*
 * Returns how many tokens of the loop's body end a round directly before it. The longest stretch of
 * text counts.
 */
static unsigned tokens_before(const struct loops *loops, unsigned place, const uint16_t *child,
		unsigned length)
{
	unsigned most = place < REDUCE_ROUND_MAX ? place : REDUCE_ROUND_MAX;

	for (unsigned tokens = most; tokens; tokens--)
		for (unsigned part = 1; part < length; part++)
			if (reduce_follows(loops, child[0], child[length - part], place - tokens,
					    place))
				return part;
	return 0;
}

/* The tokens of a loop's body. */
struct body {
	uint16_t child[LOOPS_CELLS];
	unsigned length;
};

static void list_children(const struct loops *loops, unsigned loop, struct body *body)
{
	body->length = 0;
	for (unsigned cell = arena_look(loops, loop)->first; cell;
			cell = arena_look(loops, cell)->next)
		body->child[body->length++] = (uint16_t)cell;
}

/* Returns how many tokens directly before and behind a loop continue it. */
static unsigned tokens_around(const struct loops *loops, unsigned place, const struct body *body)
{
	unsigned behind = 0;

	while (behind < body->length && place + 1 + behind < loops->tokens &&
			combine_is_alike(loops, loops->cell[place + 1 + behind],
					body->child[behind]))
		behind++;
	return tokens_before(loops, place, body->child, body->length) + behind;
}

/*
 * Returns how many rounds directly before (step -1) or behind (step 1) a loop have other calls
 * inside, as the last step of a program may compute a norm. At most half as many tokens as in the
 * body may be other ones. Between rounds there may be none, because they would separate the rounds
 * from the loop.
 */
static unsigned interrupted_rounds(const struct loops *loops, unsigned place,
		const struct body *body, int step)
{
	unsigned matched = 0, others = 0, rounds = 0;

	for (int at = (int)place + step; at >= 0 && at < loops->tokens; at += step) {
		unsigned next = step > 0 ? matched : body->length - 1 - matched;

		if (combine_is_alike(loops, loops->cell[at], body->child[next])) {
			if (++matched < body->length)
				continue;
			rounds++;
			matched = others = 0;
		} else if (!matched || ++others > body->length / 2) {
			break;
		}
	}
	return rounds;
}

/* Returns how many rounds stand around a loop that are not part of it. */
static unsigned rounds_around(const struct loops *loops, unsigned place)
{
	const struct loops_token *loop = arena_look(loops, loops->cell[place]);
	struct body body;
	unsigned rounds;

	list_children(loops, loops->cell[place], &body);
	rounds = interrupted_rounds(loops, place, &body, -1) +
			interrupted_rounds(loops, place, &body, 1);
	if (rounds)
		return rounds;
	return loop->calls ? calls_around(loops, place) / loop->calls :
			     tokens_around(loops, place, &body) / body.length;
}

static uint64_t weight_of(const struct loops *loops, unsigned cell, bool timed)
{
	return timed ? slot_ticks(&arena_look(loops, cell)->slot) : arena_calls(loops, cell);
}

static uint64_t weight_of_text(const struct loops *loops, bool timed)
{
	uint64_t total = 0;

	for (unsigned place = 0; place < loops->tokens; place++)
		total += weight_of(loops, loops->cell[place], timed);
	return total;
}

/*
 * Returns what speaks for a token as the iteration: its weight, with the mean of the others in place of its longest
 * round. That one may hold what the program did before the loop, or a wait for a processor.
 */
static uint64_t weight_as_loop(const struct loops *loops, unsigned cell, bool timed)
{
	const struct loops_token *token = arena_look(loops, cell);
	const struct loops_slot *slot = &token->slot;
	uint64_t weight = weight_of(loops, cell, timed);
	double excess = 0;

	if (token->kind == LOOPS_HOLE || slot->count < 2)
		return 0;
	for (unsigned time = 0; timed && time < SLOT_TIMES; time++)
		excess += ((double)slot->most[time] * (double)slot->count -
					  (double)slot->sum[time]) /
				(double)(slot->count - 1);
	return excess > 0 ? weight - (uint64_t)excess : weight;
}

/* A loop, or loops that differ only in counts, as an iteration. */
struct found {
	unsigned cell;
	unsigned place; /* of the token of the text that holds the loop */
	const struct iteration_shape
			*like; /* of loops that differ only in counts; NULL: one loop */
	uint64_t weight, uses;
};

static void describe_loop(const struct loops *loops, const struct loops_names *names,
		unsigned place, struct iteration *iteration)
{
	const struct loops_token *loop = arena_look(loops, iteration->cell);

	iteration->rounds = loop->slot.count;
	if (loop->kind == LOOPS_CALL) {
		iteration->hash = iteration->shape =
				arena_mix(LOOPS_CALL, loops_signature(names, loop->symbol));
		return;
	}
	if (iteration->cell == loops->cell[place])
		iteration->rounds += rounds_around(loops, place);
	iteration->hash = compare_hash_body(loops, iteration->cell, names, true);
	iteration->shape = compare_hash_body(loops, iteration->cell, names, false);
}

/* ---- loops that differ only in counts ---- */

/* The loops of each shape in the text. */
struct shapes {
	const struct loops *loops;
	const struct loops_names *names;
	bool timed;
	unsigned count;
	struct iteration_shape *all;
};

static void add_loop(struct shapes *shapes, unsigned cell, uint64_t uses)
{
	const struct loops_token *token = arena_look(shapes->loops, cell);
	uint64_t weight = weight_of(shapes->loops, cell, shapes->timed);
	uint64_t wanted = compare_hash_body(shapes->loops, cell, shapes->names, false);
	struct iteration_shape *shape = shapes->all;

	while (shape < shapes->all + shapes->count && shape->shape != wanted)
		shape++;
	if (shape == shapes->all + shapes->count) {
		shapes->count++;
		*shape = (struct iteration_shape){ .shape = wanted };
	}
	shape->weight += weight;
	shape->as_loop += weight_as_loop(shapes->loops, cell, shapes->timed);
	shape->rounds += token->slot.count;
	shape->uses += uses;
	if (weight > shape->most) {
		shape->most = weight;
		shape->cell = cell;
	}
}

static void add_shapes(struct shapes *shapes, unsigned cell, uint64_t uses)
{
	const struct loops_token *token = arena_look(shapes->loops, cell);

	if (token->kind != LOOPS_LOOP)
		return;
	add_loop(shapes, cell, uses);
	for (unsigned child = token->first; child; child = arena_look(shapes->loops, child)->next)
		add_shapes(shapes, child, token->slot.count);
}

/*
 * Finds the shape whose loops together are an iteration. Returns false if there is none. known: weight of the
 * text without holes.
 */
static bool find_shape(struct shapes *shapes, uint64_t known, struct found *found)
{
	const struct iteration_shape *most = shapes->all;

	shapes->count = 0;
	for (unsigned place = 0; place < shapes->loops->tokens; place++)
		add_shapes(shapes, shapes->loops->cell[place], 1);
	for (unsigned i = 1; i < shapes->count; i++)
		if (shapes->all[i].weight > most->weight)
			most = &shapes->all[i];
	if (!shapes->count || most->as_loop < known - most->weight ||
			most->rounds < ITERATION_ROUNDS_MIN * most->uses)
		return false;
	*found = (struct found){ .cell = most->cell,
		.like = most,
		.weight = most->weight,
		.uses = most->uses };
	return true;
}

/* What is known of the holes in a text. */
struct holes {
	uint64_t weight, skipped; /* of all, and number of calls in them that were not observed */
};

static struct holes look_at_holes(const struct loops *loops, bool timed)
{
	struct holes holes = { 0 };

	for (unsigned place = 0; place < loops->tokens; place++) {
		const struct loops_token *token = arena_look(loops, loops->cell[place]);

		if (token->kind != LOOPS_HOLE)
			continue;
		holes.weight += weight_of(loops, loops->cell[place], timed);
		holes.skipped += token->run;
	}
	return holes;
}

/* Finds the shallowest loop that has half of the weight `known`, which is that of the text without holes. */
static bool find_shallowest(const struct loops *loops, bool timed, uint64_t known,
		struct found *found)
{
	for (unsigned place = 0; place < loops->tokens; place++) {
		unsigned cell = loops->cell[place];
		uint64_t uses = 1;

		/*
		 * at most one token of each level holds half of the time, so there is one way down
		 */
		while (cell) {
			const struct loops_token *token = arena_look(loops, cell);
			uint64_t weight = weight_of(loops, cell, timed);

			if (weight_as_loop(loops, cell, timed) < known - weight) {
				cell = token->next;
				continue;
			}
			if (token->slot.count >= ITERATION_ROUNDS_MIN * uses) {
				*found = (struct found){ .cell = cell,
					.place = place,
					.weight = weight,
					.uses = uses };
				return true;
			}
			uses = token->slot.count;
			cell = token->first;
		}
	}
	return false;
}

/* What a text is measured by. */
struct measure {
	bool timed;
	struct holes holes;
	uint64_t weight; /* outside of holes */
	uint64_t known;  /* calls outside of holes */
};

static struct measure measure_text(const struct loops *loops)
{
	struct measure measure = { .timed = weight_of_text(loops, true) > 0 };

	measure.holes = look_at_holes(loops, measure.timed);
	measure.weight = weight_of_text(loops, measure.timed) - measure.holes.weight;
	measure.known = loops->calls - loops->unknown;
	return measure;
}

static bool find(const struct loops *loops, const struct loops_names *names,
		struct iteration_room *room, const struct measure *measure, struct found *found)
{
	struct shapes shapes = { .loops = loops,
		.names = names,
		.timed = measure->timed,
		.all = room->shape };

	if (measure->known * ITERATION_KNOWN < loops->calls)
		return false;
	/* calls that were not observed cut one loop into several */
	return (measure->holes.skipped && find_shape(&shapes, measure->weight, found)) ||
			find_shallowest(loops, measure->timed, measure->weight, found) ||
			find_shape(&shapes, measure->weight, found);
}

unsigned iteration_cell(const struct loops *loops, struct iteration_room *room)
{
	struct measure measure = measure_text(loops);
	struct found found;

	return find(loops, NULL, room, &measure, &found) ? found.cell : 0;
}

bool iteration_find(const struct loops *loops, const struct loops_names *names,
		struct iteration *iteration)
{
	struct measure measure = measure_text(loops);
	struct iteration_room room;
	struct found found;

	if (!find(loops, names, &room, &measure, &found))
		return false;
	*iteration = (struct iteration){ .cell = (uint16_t)found.cell,
		.uses = found.uses,
		.share = (double)found.weight / (double)measure.weight };
	if (!found.like) {
		describe_loop(loops, names, found.place, iteration);
	} else {
		iteration->rounds = found.like->rounds;
		iteration->hash = compare_hash_body(loops, found.cell, names, true);
		iteration->shape = found.like->shape;
	}
	iteration->hidden = (uint64_t)((double)measure.holes.skipped * (double)iteration->rounds /
			(double)measure.known);
	return true;
}
