/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/cursor.h"

#include <stdio.h>
#include <stdlib.h>

#define EMPTY_STEPS_MAX                                                                            \
	10000000 /* without a call; a file of unknown origin may have loops that make none */

/* How far a rank has come in the counts of a token. */
struct uses {
	size_t run;    /* the next one */
	uint64_t left; /* uses that the run before has left */
};

/* A body whose calls are being taken. */
struct level {
	const struct plan_token *loop;
	size_t next;     /* token */
	uint64_t rounds; /* that are left after this one */
};

struct value_level {
	const struct plan_stream *stream;
	size_t next;
	uint64_t rounds;
};

/* The values of an argument, in order. */
struct values {
	const struct plan_values *recorded;
	int64_t value; /* that comes `left` times yet */
	uint64_t left;
	unsigned depth;
	struct value_level *level; /* as many as the stream is deep */
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
	long rank;
	unsigned copies; /* mask */
	bool hides, complete;
	const struct plan_structure *structure;
	const struct plan_variant *variant;
	int64_t made;       /* calls that were taken */
	uint64_t opened;    /* requests that calls before have opened */
	uint64_t forgotten; /* up to this one, it is not known which number is whose */
	struct uses *uses;
	struct path *path;
	const struct plan_token *repeated; /* the call that is being taken */
	uint64_t repeats;                  /* how often it comes yet */
	unsigned depth;
	struct level level[PLAN_DEPTH_MAX + 2];
};

/* ---- the values of an argument ---- */

static unsigned depth_of(const struct plan_stream *stream)
{
	unsigned deepest = 0;

	for (size_t i = 0; i < stream->count; i++)
		if (stream->item[i].loop) {
			unsigned depth = depth_of(stream->item[i].loop);

			deepest = depth > deepest ? depth : deepest;
		}
	return deepest + 1;
}

static bool find_values(struct values *values, const struct plan_argument *argument, long rank)
{
	for (size_t i = 0; i < argument->count && !values->recorded; i++)
		if (plan_has_rank(&argument->values[i].ranks, rank))
			values->recorded = &argument->values[i];
	if (!values->recorded || !values->recorded->stream.count)
		return true;
	values->level = calloc(depth_of(&values->recorded->stream), sizeof(*values->level));
	if (!values->level)
		return false;
	values->level[0].stream = &values->recorded->stream;
	values->depth = 1;
	return true;
}

/* Returns the next value, or PLAN_UNKNOWN. */
static int64_t next_value(struct values *values)
{
	while (!values->left && values->depth) {
		struct value_level *level = &values->level[values->depth - 1];
		const struct plan_item *item = &level->stream->item[level->next];

		if (level->next == level->stream->count) {
			level->next = 0;
			if (level->rounds)
				level->rounds--;
			else
				values->depth--;
			continue;
		}
		level->next++;
		if (item->loop) {
			values->level[values->depth++] =
					(struct value_level){ item->loop, 0, item->times - 1 };
			continue;
		}
		values->value = item->value;
		values->left = item->times;
	}
	if (!values->left)
		return PLAN_UNKNOWN;
	values->left--;
	return values->value;
}

/* ---- the calls ---- */

static void restart(struct cursor *cursor)
{
	for (size_t i = 0; i < cursor->structure->tokens; i++)
		cursor->uses[i] = (struct uses){ 0, 0 };
	cursor->made = 0;
	cursor->opened = cursor->forgotten = 0;
	cursor->repeats = 0;
	cursor->level[0] = (struct level){ &cursor->structure->text, 0, 0 };
	cursor->depth = 1;
}

/* Returns how often a token is repeated at the place that the rank has come to. */
static uint64_t next_count(const struct plan_counts *counts, struct uses *uses)
{
	size_t run = (uses->run + counts->runs - (uses->left > 0)) % counts->runs;

	if (!uses->left) {
		uses->left = counts->run[run].uses;
		uses->run = (run + 1) % counts->runs;
	}
	uses->left--;
	return counts->run[run].count;
}

/* Goes to the next token that has calls. */
static enum cursor_step next_token(struct cursor *cursor, struct cursor_call *call)
{
	for (unsigned steps = 0; cursor->depth && steps < EMPTY_STEPS_MAX; steps++) {
		struct level *level = &cursor->level[cursor->depth - 1];
		const struct plan_token *token = &level->loop->body[level->next];
		uint64_t count;

		if (level->next == level->loop->length) {
			level->next = 0;
			if (level->rounds && level->loop->length)
				level->rounds--;
			else
				cursor->depth--;
			continue;
		}
		level->next++;
		if (!cursor->variant->counts[token->number].runs)
			return CURSOR_LOST;
		count = next_count(&cursor->variant->counts[token->number],
				&cursor->uses[token->number]);
		if (!count)
			continue;
		if (token->kind == PLAN_LOOP) {
			cursor->level[cursor->depth++] = (struct level){ token, 0, count - 1 };
			continue;
		}
		call->token = token;
		call->hidden = (double)count;
		cursor->repeated = token;
		cursor->repeats = token->kind == PLAN_CALL ? count : 0;
		return token->kind == PLAN_CALL ? CURSOR_CALL : CURSOR_HOLE;
	}
	return cursor->depth ? CURSOR_LOST : CURSOR_END;
}

/* Goes to the next call, without its arguments. */
static enum cursor_step next_call(struct cursor *cursor, struct cursor_call *call)
{
	enum cursor_step step = cursor->repeats ? CURSOR_CALL : next_token(cursor, call);

	if (step == CURSOR_CALL && cursor->made == cursor->variant->exact_calls)
		step = CURSOR_LOST;
	if (step == CURSOR_CALL) {
		cursor->repeats--;
		cursor->made++;
		call->token = cursor->repeated;
	}
	if (step == CURSOR_LOST)
		cursor->depth = 0;
	if (step >= CURSOR_LOST)
		cursor->repeats = 0;
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
	for (; path->taken <= number; path->taken++)
		for (unsigned i = 0; i < ARGUMENTS; i++)
			call->value[i] = next_value(&path->values[i]);
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
			kind == CALL_MPROBE;
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

/* Finds the requests for which a call waits. */
static void name_ended(const struct cursor *cursor, struct cursor_call *call)
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
			(bits && __builtin_popcountll(bits) != count) ||
			(uint64_t)back > cursor->opened - cursor->forgotten)
		return;
	call->ended = (struct cursor_requests){ (uint64_t)count,
		cursor->opened + 1 - (uint64_t)back, (uint64_t)step, bits };
	last = cursor_last(&call->ended);
	call->names_ended = last >= call->ended.first && last <= cursor->opened;
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
	call->is_mean = call->is_outside = call->names_ended = false;
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
	call->reason = reason_of(cursor, call);
	return step;
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

			if (!find_values(values, &cursor->plan->path[i].argument[j], cursor->rank))
				return false;
			if (values->recorded)
				cursor->path[i].number = values->recorded->number;
		}
	return true;
}

struct cursor *cursor_new(const struct plan *plan, long rank, unsigned copies, char *why,
		size_t why_size)
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
		return cursor;
	}
	cursor_free(cursor);
	return NULL;
}

void cursor_free(struct cursor *cursor)
{
	for (size_t i = 0; cursor && cursor->path && i < cursor->plan->paths; i++)
		for (unsigned j = 0; j < ARGUMENTS; j++)
			free(cursor->path[i].values[j].level);
	if (cursor) {
		free(cursor->path);
		free(cursor->uses);
	}
	free(cursor);
}
