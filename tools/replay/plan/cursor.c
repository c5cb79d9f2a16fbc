/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/cursor.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/replay/plan/values.h"

#define EMPTY_STEPS_MAX                                                                            \
	10000000 /* without a call; a file of unknown origin may have loops that make none */

/* How far a rank has come in the counts of a token. */
struct uses {
	size_t run;    /* the next one */
	uint64_t left; /* uses that the run before has left */
	uint64_t used; /* all until now */
};

/* A body whose calls are being taken, or a call that comes several times. */
struct level {
	const struct plan_token *loop;
	size_t next;                       /* token */
	uint64_t rounds, times;            /* rounds: that are left after this one; times: all */
	const struct sample_loop *sampled; /* NULL: no rounds are left out */
	unsigned window;                   /* of the sample */
	double weight;                     /* number of calls for which one stands */
};

struct path {
	uint64_t number;         /* of values that the rank has of each argument */
	uint64_t calls;          /* in the list of the rank's calls */
	uint64_t before, behind; /* calls before the first hole, and before the last one */
	uint64_t at, taken;      /* calls, and values, that were taken */
	struct values values[ARGUMENTS];
};

struct cursor {
	const struct plan *plan;
	const struct sample *sample; /* NULL: nothing is left out */
	long rank;
	unsigned copies; /* mask */
	bool hides, complete;
	const struct plan_structure *structure;
	const struct plan_variant *variant;
	int64_t made; /* calls that were taken, or left out */
	uint64_t opened; /* requests that calls before have opened, without those of calls that were left out */
	uint64_t forgotten; /* up to this one, it is not known which number is whose */
	int64_t unnamed; /* `made` of the last call that waits for a request so far back that it is not known; 0: none */
	struct uses *uses;
	struct path *path;
	unsigned depth;
	struct level level[PLAN_DEPTH_MAX + 3];
};

/* ---- the calls ---- */

static void restart(struct cursor *cursor)
{
	for (size_t i = 0; i < cursor->structure->tokens; i++)
		cursor->uses[i] = (struct uses){ 0, 0, 0 };
	cursor->made = cursor->unnamed = 0;
	cursor->opened = cursor->forgotten = 0;
	cursor->level[0] =
			(struct level){ .loop = &cursor->structure->text, .times = 1, .weight = 1 };
	cursor->depth = 1;
}

/* Takes at most `number` uses of a token that have one count. Returns how many. */
static uint64_t take_uses(const struct plan_counts *counts, struct uses *uses, uint64_t number,
		uint64_t *count)
{
	size_t run = (uses->run + counts->runs - (uses->left > 0)) % counts->runs;

	if (!uses->left) {
		uses->left = counts->run[run].uses;
		uses->run = (run + 1) % counts->runs;
	}
	number = number < uses->left ? number : uses->left;
	uses->left -= number;
	uses->used += number;
	*count = counts->run[run].count;
	return number;
}

/* Leaves out a number of uses of a token. Returns the sum of their counts. */
static uint64_t skip_uses(const struct plan_counts *counts, struct uses *uses, uint64_t number)
{
	uint64_t cycle = 0, sum = 0, count;

	for (size_t i = 0; i < counts->runs; i++) {
		cycle = plan_add(cycle, counts->run[i].uses);
		sum = plan_add(sum, plan_multiply(counts->run[i].uses, counts->run[i].count));
	}
	if (!cycle)
		return 0;
	/* behind the last run comes the first one again */
	sum = plan_multiply(number / cycle, sum);
	uses->used += number - number % cycle;
	for (number %= cycle; number;) {
		uint64_t taken = take_uses(counts, uses, number, &count);

		sum = plan_add(sum, plan_multiply(taken, count));
		number -= taken;
	}
	return sum;
}

/* Leaves out rounds of a loop, at the start of a round. */
static void skip_rounds(struct cursor *cursor, const struct plan_token *loop, uint64_t rounds)
{
	if (loop->kind == PLAN_CALL) {
		uint64_t made = plan_add((uint64_t)cursor->made, rounds);

		cursor->made = made < INT64_MAX ? (int64_t)made : INT64_MAX;
		if (loop->path >= 0)
			cursor->path[loop->path].at = plan_add(cursor->path[loop->path].at, rounds);
	}
	for (size_t i = 0; i < loop->length; i++) {
		const struct plan_token *token = &loop->body[i];

		skip_rounds(cursor, token,
				skip_uses(&cursor->variant->counts[token->number],
						&cursor->uses[token->number], rounds));
	}
}

/* Begins to take a loop, or a call that comes several times. */
static void enter(struct cursor *cursor, const struct plan_token *token, uint64_t count)
{
	cursor->level[cursor->depth] = (struct level){
		.loop = token,
		.rounds = count - 1,
		.times = count,
		.sampled = cursor->sample ? sample_find(cursor->sample, count) : NULL,
		.weight = cursor->level[cursor->depth - 1].weight,
	};
	cursor->depth++;
}

/* Goes to the next round of a loop that is in the sample. */
static void next_round(struct cursor *cursor, struct level *level)
{
	const struct sample *sample = cursor->sample;
	uint64_t round = level->times - level->rounds;
	struct sample_window window;

	level->rounds--;
	if (!level->sampled)
		return;
	window = sample_window(sample, level->sampled, level->times, level->window);
	if (round < window.first + window.count)
		return;
	window = sample_window(sample, level->sampled, level->times, ++level->window);
	skip_rounds(cursor, level->loop, window.first - round);
	level->rounds -= window.first - round;
	level->weight = cursor->level[cursor->depth - 2].weight * window.weight;
}

static size_t length_of(const struct plan_token *loop)
{
	return loop->kind == PLAN_CALL ? 1 : loop->length;
}

/* Goes to the next call, without its arguments and whether the rank is known to have made it. */
static enum cursor_step next_token(struct cursor *cursor, struct cursor_call *call)
{
	for (unsigned steps = 0; cursor->depth && steps < EMPTY_STEPS_MAX; steps++) {
		struct level *level = &cursor->level[cursor->depth - 1];
		const struct plan_token *token = level->loop;
		size_t length = length_of(token);
		uint64_t count;

		call->token = token;
		call->weight = level->weight;
		if (level->next == length) {
			level->next = 0;
			if (level->rounds && length)
				next_round(cursor, level);
			else
				cursor->depth--;
			continue;
		}
		level->next++;
		if (token->kind == PLAN_CALL)
			return CURSOR_CALL;
		token = &token->body[level->next - 1];
		if (!cursor->variant->counts[token->number].runs)
			return CURSOR_LOST;
		take_uses(&cursor->variant->counts[token->number], &cursor->uses[token->number], 1,
				&count);
		if (count && token->kind != PLAN_HOLE) {
			enter(cursor, token, count);
		} else if (count) {
			call->token = token;
			call->hidden = (double)count;
			return CURSOR_HOLE;
		}
	}
	return cursor->depth ? CURSOR_LOST : CURSOR_END;
}

/* Goes to the next call, without its arguments. */
static enum cursor_step next_call(struct cursor *cursor, struct cursor_call *call)
{
	enum cursor_step step = next_token(cursor, call);

	if (step == CURSOR_CALL && cursor->variant->exact_calls >= 0 &&
			cursor->made >= cursor->variant->exact_calls)
		step = CURSOR_LOST;
	if (step == CURSOR_CALL)
		cursor->made++;
	if (step == CURSOR_LOST)
		cursor->depth = 0;
	return step;
}

/* ---- their arguments ---- */

/*
 * Returns the number of the value that belongs to the next call of a path, or UINT64_MAX. Calls that the agent has not
 * observed have no values. If calls are missing that were observed, then values belong to calls before the first hole, or
 * from the end, to those behind the last one.
 */
static uint64_t number_of_value(const struct cursor *cursor, const struct path *path)
{
	if (!cursor->hides || path->calls == path->number || path->at < path->before)
		return path->at;
	if (cursor->complete && path->at >= path->behind && path->number >= path->calls)
		return path->number - (path->calls - path->at);
	return UINT64_MAX;
}

/* Takes the values of the next call of a path. */
static void take_values(struct cursor *cursor, struct path *path, struct cursor_call *call)
{
	uint64_t number = number_of_value(cursor, path);

	path->at++;
	if (number == UINT64_MAX)
		return;
	if (path->taken > number)
		return;
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		values_skip(&path->values[i], number - path->taken);
		call->value[i] = values_next(&path->values[i]);
	}
	path->taken = number + 1;
}

/* Returns the rank of a peer, or PLAN_UNKNOWN if there is no such rank. */
static int64_t peer_of(const struct cursor *cursor, struct cursor_call *call,
		enum call_argument argument)
{
	int64_t distance = call->value[argument], peer = cursor->rank + distance;

	if (distance == PLAN_NONE || (distance == PLAN_ANY && argument == ARGUMENT_FROM))
		return distance;
	if (distance == PLAN_UNKNOWN || distance == PLAN_ANY)
		return PLAN_UNKNOWN;
	if (peer >= 0 && peer < cursor->plan->ranks)
		return peer;
	call->is_outside = true;
	return PLAN_UNKNOWN;
}

static int64_t from_zero(int64_t value, int64_t end)
{
	return value >= 0 && value < end ? value : PLAN_UNKNOWN;
}

static int64_t tag_of(int64_t value, bool may_be_any)
{
	return value == PLAN_ANY && may_be_any ? value : from_zero(value, INT32_MAX);
}

/* Makes the recorded values of a call those that a call takes, or PLAN_UNKNOWN. */
static void place_values(const struct cursor *cursor, const struct path *path,
		struct cursor_call *call)
{
	static const enum call_argument sizes[] = { ARGUMENT_BYTES, ARGUMENT_FROM_BYTES };
	enum call_kind kind = call->token->call;
	int64_t *value = call->value;
	bool receives = kind == CALL_RECV || kind == CALL_IRECV || kind == CALL_PROBE ||
			kind == CALL_MPROBE || kind == CALL_RECV_INIT;
	bool is_self = value[ARGUMENT_COMMUNICATOR] == 1;

	value[ARGUMENT_COMMUNICATOR] = from_zero(value[ARGUMENT_COMMUNICATOR], INT32_MAX);
	if (is_self) /* its only rank is 0 */
		value[ARGUMENT_TO] = value[ARGUMENT_FROM] = PLAN_UNKNOWN;
	value[ARGUMENT_TO] = peer_of(cursor, call, ARGUMENT_TO);
	value[ARGUMENT_FROM] = peer_of(cursor, call, ARGUMENT_FROM);
	value[ARGUMENT_ROOT] = from_zero(value[ARGUMENT_ROOT], is_self ? 1 : cursor->plan->ranks);
	value[ARGUMENT_TAG] = tag_of(value[ARGUMENT_TAG], receives);
	value[ARGUMENT_FROM_TAG] = tag_of(value[ARGUMENT_FROM_TAG], true);
	for (unsigned i = 0; i < 2; i++) {
		const struct plan_values *known = path->values[sizes[i]].recorded;

		if (value[sizes[i]] == PLAN_UNKNOWN && known && known->mean >= 0) {
			value[sizes[i]] = known->mean;
			call->is_mean = true;
		}
		value[sizes[i]] = from_zero(value[sizes[i]], INT32_MAX);
	}
}

/* ---- requests ---- */

/* Returns the value of an argument, or 1 if the calls of the path do not have it. */
static int64_t value_or_one(const struct cursor *cursor, const struct cursor_call *call,
		enum call_argument argument)
{
	return cursor->plan->path[call->token->path].argument[argument].count ?
			call->value[argument] :
			1;
}

/* Returns how many requests back it is known which one is meant. */
static uint64_t known_requests(const struct cursor *cursor)
{
	return cursor->opened - cursor->forgotten;
}

/* Finds the requests for which a call waits. */
static void name_ended(struct cursor *cursor, struct cursor_call *call)
{
	int64_t back = call->value[ARGUMENT_BACK];
	int64_t count = value_or_one(cursor, call, ARGUMENT_REQUESTS);
	int64_t step = value_or_one(cursor, call, ARGUMENT_STEP);
	uint64_t bits = 0, last;

	if (back == PLAN_NONE) {
		call->names_ended = true;
		return;
	}
	if (step < 1 && call->value[ARGUMENT_WHICH] > 0) {
		step = 0;
		bits = (uint64_t)call->value[ARGUMENT_WHICH];
	}
	if (back < 1 || count < 1 || (step < 1 && !bits) ||
			(bits && __builtin_popcountll(bits) != count))
		return;
	if ((uint64_t)back > known_requests(cursor)) {
		cursor->unnamed = cursor->made;
		return;
	}
	call->ended = (struct cursor_requests){ (uint64_t)count,
		cursor->opened + 1 - (uint64_t)back, (uint64_t)step, bits };
	last = cursor_last(&call->ended);
	call->names_ended = last >= call->ended.first && last <= cursor->opened;
}

/* Finds the persistent requests that a call starts: value[ARGUMENT_REQUESTS] of them, as cursor_started() says. */
static void name_started(const struct cursor *cursor, struct cursor_call *call)
{
	const struct plan_argument *argument = cursor->plan->path[call->token->path].argument;
	int64_t *value = call->value, most = INT32_MAX, last;

	if (!argument[ARGUMENT_REQUESTS].count)
		value[ARGUMENT_REQUESTS] = 1;
	if (value[ARGUMENT_REQUESTS] == 1)
		value[ARGUMENT_STEP] = 1;
	if (value[ARGUMENT_REQUESTS] < 1 || value[ARGUMENT_REQUESTS] > CALLS_OPEN_MAX ||
			value[ARGUMENT_STEP] < -most || value[ARGUMENT_STEP] > most ||
			!value[ARGUMENT_STEP]) {
		value[ARGUMENT_REQUEST] = PLAN_UNKNOWN;
		return;
	}
	last = value[ARGUMENT_REQUEST] + (value[ARGUMENT_REQUESTS] - 1) * value[ARGUMENT_STEP];
	if (last < 1)
		value[ARGUMENT_REQUEST] = PLAN_UNKNOWN;
}

/* Finds the persistent requests that a call makes or starts. */
static void number_persistent(const struct cursor *cursor, struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	long path = call->token->path;

	/* those of a call whose arguments are not known may be any */
	call->makes = calls_make(kind) || path == PLAN_PATH_UNKNOWN;
	if (path < 0)
		return;
	if (call->value[ARGUMENT_REQUEST] < 1 || call->value[ARGUMENT_REQUEST] > INT32_MAX)
		call->value[ARGUMENT_REQUEST] = PLAN_UNKNOWN;
	if (calls_start(kind))
		name_started(cursor, call);
	else
		call->makes |= cursor->plan->path[path].argument[ARGUMENT_REQUEST].count > 0;
}

/* Numbers the requests that a call opens, and finds those for which it waits. */
static void number_requests(struct cursor *cursor, struct cursor_call *call)
{
	int64_t count;

	if (call->token->path < 0) {
		/* it may have opened some */
		if (call->token->path == PLAN_PATH_UNKNOWN)
			cursor->forgotten = cursor->opened;
		return;
	}
	name_ended(cursor, call);
	if (!cursor->plan->path[call->token->path].opens)
		return;
	count = value_or_one(cursor, call, ARGUMENT_REQUESTS);
	if (count < 0) {
		cursor->forgotten = cursor->opened;
		return;
	}
	call->opened = (struct cursor_requests){ (uint64_t)count, cursor->opened + 1, 1, 0 };
	cursor->opened += (uint64_t)count;
}

/* Returns why a call is not carried out. */
static enum cursor_reason reason_of(const struct cursor *cursor, const struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	int64_t communicator = call->value[ARGUMENT_COMMUNICATOR];

	if (kind == CALL_OTHER)
		return CURSOR_UNSUPPORTED;
	if (calls_need(kind, ARGUMENT_COMMUNICATOR) && communicator > 1 &&
			!(cursor->copies >> calls_copy(communicator) & 1))
		return CURSOR_COPY;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		if (calls_need(kind, i) && call->value[i] == PLAN_UNKNOWN)
			return CURSOR_UNKNOWN;
	return CURSOR_CARRIED;
}

enum cursor_step cursor_next(struct cursor *cursor, struct cursor_call *call)
{
	enum cursor_step step = next_call(cursor, call);

	call->reason = CURSOR_CARRIED;
	call->is_mean = call->is_outside = call->names_ended = call->makes = false;
	call->opened = call->ended = (struct cursor_requests){ 0, 0, 1, 0 };
	for (unsigned i = 0; i < ARGUMENTS; i++)
		call->value[i] = PLAN_UNKNOWN;
	if (step != CURSOR_CALL) {
		cursor->forgotten = cursor->opened;
		return step;
	}
	if (call->token->path >= 0) {
		struct path *path = &cursor->path[call->token->path];

		take_values(cursor, path, call);
		place_values(cursor, path, call);
	}
	number_requests(cursor, call);
	number_persistent(cursor, call);
	call->reason = reason_of(cursor, call);
	return step;
}

/* ---- rounds that come again ---- */

struct cursor_mark {
	unsigned depth; /* of the loop; 0: the end */
	int64_t made;
	uint64_t known_requests;
	struct level level[PLAN_DEPTH_MAX + 3];
	uint64_t number[]; /* uses of each token, and then calls of each path */
};

/* Returns the depth of the deepest loop between two rounds of which the rank is, or 0. */
static unsigned depth_between(const struct cursor *cursor)
{
	for (unsigned depth = cursor->depth; depth; depth--) {
		const struct level *level = &cursor->level[depth - 1];

		if (level->next < length_of(level->loop))
			return 0;
		if (level->rounds)
			return depth;
	}
	return 0;
}

uint64_t cursor_opened(const struct cursor *cursor)
{
	return cursor->opened;
}

uint64_t cursor_loop(const struct cursor *cursor)
{
	unsigned depth = depth_between(cursor);

	return depth ? cursor->level[depth - 1].times : 0;
}

unsigned cursor_depth(const struct cursor *cursor)
{
	return depth_between(cursor);
}

struct cursor_mark *cursor_mark_new(const struct cursor *cursor)
{
	return calloc(1,
			sizeof(struct cursor_mark) +
					(cursor->structure->tokens + cursor->plan->paths) *
							sizeof(uint64_t));
}

void cursor_mark_set(const struct cursor *cursor, struct cursor_mark *mark)
{
	size_t tokens = cursor->structure->tokens;

	mark->depth = depth_between(cursor);
	mark->made = cursor->made;
	mark->known_requests = known_requests(cursor);
	for (unsigned i = 0; i < mark->depth; i++)
		mark->level[i] = cursor->level[i];
	for (size_t i = 0; i < tokens; i++)
		mark->number[i] = cursor->uses[i].used;
	for (size_t i = 0; i < cursor->plan->paths; i++)
		mark->number[tokens + i] = cursor->path[i].at;
}

bool cursor_is_in_loop(const struct cursor *cursor, const struct cursor_mark *mark)
{
	unsigned depth = depth_between(cursor);

	if (depth != mark->depth || (!depth && cursor->depth))
		return false;
	for (unsigned i = 0; i < depth; i++) {
		const struct level *level = &cursor->level[i], *was = &mark->level[i];

		/* the loops around it are in the same round */
		if (level->loop != was->loop || level->next != was->next ||
				(i + 1 < depth ? level->rounds != was->rounds :
						 level->rounds > was->rounds))
			return false;
	}
	return true;
}

/* Returns for how many uses of a token from now on each certainly has the count of that which was `period` uses before. */
static uint64_t repeat_uses(const struct plan_counts *counts, const struct uses *uses,
		uint64_t period)
{
	uint64_t cycle = 0;
	size_t run;

	if (counts->runs <= 1)
		return UINT64_MAX;
	for (size_t i = 0; i < counts->runs; i++)
		cycle = plan_add(cycle, counts->run[i].uses);
	if (period % cycle == 0)
		return UINT64_MAX;
	run = (uses->run + counts->runs - (uses->left > 0)) % counts->runs;
	return uses->left && counts->run[run].uses - uses->left >= period ? uses->left : 0;
}

/* Returns how many times the values of a path that belong to the last `calls` calls come again. */
static uint64_t repeat_values(struct path *path, uint64_t calls)
{
	uint64_t repeats = UINT64_MAX;

	for (unsigned i = 0; i < ARGUMENTS && calls; i++) {
		struct values *values = &path->values[i];
		uint64_t times;

		/* calls that were left out have values */
		values_skip(values, path->at - values->at);
		times = values_repeat(values, path->at - calls, calls) / calls;
		repeats = times < repeats ? times : repeats;
	}
	path->taken = calls ? path->at : path->taken;
	return repeats;
}

static void lower(uint64_t *least, uint64_t number)
{
	*least = number < *least ? number : *least;
}

uint64_t cursor_repeats(struct cursor *cursor, const struct cursor_mark *mark)
{
	size_t tokens = cursor->structure->tokens;
	uint64_t repeats, rounds, calls = (uint64_t)(cursor->made - mark->made);

	if (!cursor_is_in_loop(cursor, mark) || cursor->hides || cursor->sample)
		return 0;
	if (!mark->depth)
		return CURSOR_ALWAYS;
	rounds = mark->level[mark->depth - 1].rounds - cursor->level[mark->depth - 1].rounds;
	if (!rounds)
		return CURSOR_ALWAYS;
	/* calls would wait for other requests than these, because fewer or more of them are known */
	if (known_requests(cursor) < mark->known_requests || cursor->unnamed > mark->made)
		return 0;
	repeats = cursor->level[mark->depth - 1].rounds / rounds;
	if (calls && cursor->variant->exact_calls >= 0)
		lower(&repeats, (uint64_t)(cursor->variant->exact_calls - cursor->made) / calls);
	for (size_t i = 0; repeats && i < tokens; i++) {
		uint64_t used = cursor->uses[i].used - mark->number[i];

		if (used)
			lower(&repeats,
					repeat_uses(&cursor->variant->counts[i], &cursor->uses[i],
							used) /
							used);
	}
	for (size_t i = 0; repeats && i < cursor->plan->paths; i++)
		lower(&repeats,
				repeat_values(&cursor->path[i],
						cursor->path[i].at - mark->number[tokens + i]));
	return repeats;
}

void cursor_leave_out(struct cursor *cursor, const struct cursor_mark *mark, uint64_t times)
{
	struct level *level;
	uint64_t rounds;

	if (!mark->depth)
		return;
	/* the loops inside have ended */
	cursor->depth = mark->depth;
	level = &cursor->level[mark->depth - 1];
	rounds = times * (mark->level[mark->depth - 1].rounds - level->rounds);
	skip_rounds(cursor, level->loop, rounds);
	level->rounds -= rounds;
}

/* ---- the start ---- */

/* Counts the calls of each path, and those before and behind holes. */
static void count_calls(struct cursor *cursor)
{
	struct cursor_call call;
	enum cursor_step step;

	while ((step = next_call(cursor, &call)) <= CURSOR_HOLE) {
		if (step == CURSOR_CALL) {
			if (call.token->path >= 0)
				cursor->path[call.token->path].calls++;
			continue;
		}
		for (size_t i = 0; i < cursor->plan->paths; i++) {
			struct path *path = &cursor->path[i];

			if (!cursor->hides)
				path->before = path->calls;
			path->behind = path->calls;
		}
		cursor->hides = true;
	}
	cursor->complete = step == CURSOR_END;
	restart(cursor);
}

static bool has_hole(const struct plan_token *loop)
{
	for (size_t i = 0; i < loop->length; i++)
		if (loop->body[i].kind == PLAN_HOLE || has_hole(&loop->body[i]))
			return true;
	return false;
}

static bool find_variant(struct cursor *cursor)
{
	for (size_t i = 0; i < cursor->plan->structures; i++) {
		const struct plan_structure *structure = &cursor->plan->structure[i];

		for (size_t j = 0; j < structure->variants; j++)
			if (plan_has_rank(&structure->variant[j].ranks, cursor->rank)) {
				cursor->structure = structure;
				cursor->variant = &structure->variant[j];
				return true;
			}
	}
	return false;
}

static bool find_arguments(struct cursor *cursor)
{
	cursor->uses = calloc(cursor->structure->tokens + 1, sizeof(*cursor->uses));
	cursor->path = calloc(cursor->plan->paths + 1, sizeof(*cursor->path));
	if (!cursor->uses || !cursor->path)
		return false;
	for (size_t i = 0; i < cursor->plan->paths; i++)
		for (unsigned j = 0; j < ARGUMENTS; j++) {
			struct values *values = &cursor->path[i].values[j];

			if (!values_find(values, &cursor->plan->path[i].argument[j], cursor->rank))
				return false;
			if (values->recorded)
				cursor->path[i].number = values->recorded->number;
		}
	return true;
}

struct cursor *cursor_new(const struct plan *plan, long rank, unsigned copies,
		const struct sample *sample, char *why, size_t why_size)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));

	snprintf(why, why_size, "no memory");
	if (!cursor)
		return NULL;
	cursor->plan = plan;
	cursor->rank = rank;
	cursor->copies = copies;
	if (!find_variant(cursor))
		snprintf(why, why_size, "the calls of rank %ld are not known", rank);
	else if (find_arguments(cursor)) {
		restart(cursor);
		if (has_hole(&cursor->structure->text))
			count_calls(cursor);
		cursor->sample = sample;
		return cursor;
	}
	cursor_free(cursor);
	return NULL;
}

void cursor_free(struct cursor *cursor)
{
	for (size_t i = 0; cursor && cursor->path && i < cursor->plan->paths; i++)
		for (unsigned j = 0; j < ARGUMENTS; j++)
			values_fini(&cursor->path[i].values[j]);
	if (cursor) {
		free(cursor->path);
		free(cursor->uses);
	}
	free(cursor);
}
