/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/values.h"

#include <stdlib.h>

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

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool values_find(struct values *values, const struct plan_argument *argument, long rank)
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
	values->level[0].end = values->recorded->stream.length;
	values->depth = 1;
	return true;
}

/*
 * Goes to the next item, without taking a value of it. At the end of a round, leaves out as many further rounds as have no more
 * than `number` values. Returns how many values these have.
 */
static uint64_t next_item(struct values *values, uint64_t number)
{
	struct value_level *level = &values->level[values->depth - 1];
	const struct plan_stream *stream = level->stream;
	const struct plan_item *item = &stream->item[level->next];

	if (level->next == stream->count) {
		uint64_t whole = least_of(number / stream->length, level->rounds);

		level->rounds -= whole;
		if (!whole && level->rounds) {
			level->rounds--;
			level->next = 0;
		} else if (!level->rounds) {
			values->depth--;
		}
		return whole * stream->length;
	}
	level->next++;
	if (item->loop) {
		/* before its first round, as at the end of another one */
		values->level[values->depth++] = (struct value_level){ item->loop,
			item->loop->count, item->times, values->at,
			plan_add(values->at, plan_multiply(item->times, item->loop->length)) };
		return 0;
	}
	values->value = item->value;
	values->left = item->times;
	values->start = values->at;
	return 0;
}

int64_t values_next(struct values *values)
{
	while (!values->left && values->depth)
		next_item(values, 0);
	values->at++;
	if (!values->left)
		return PLAN_UNKNOWN;
	values->left--;
	return values->value;
}

void values_skip(struct values *values, uint64_t number)
{
	while (number && (values->left || values->depth)) {
		uint64_t taken = least_of(values->left, number);

		if (values->left)
			values->left -= taken;
		else
			taken = next_item(values, number);
		values->at += taken;
		number -= taken;
	}
	values->at += number;
}

uint64_t values_repeat(const struct values *values, uint64_t from, uint64_t period)
{
	uint64_t repeat = 0;

	/* behind the last value none is known */
	if (!period || !values->recorded || from >= values->recorded->stream.length)
		return VALUES_ALL;
	if (values->left && values->start <= from)
		repeat = values->left;
	for (unsigned i = 1; i < values->depth; i++) {
		const struct value_level *level = &values->level[i];

		if (level->start <= from && period % level->stream->length == 0 &&
				level->end > values->at && level->end - values->at > repeat)
			repeat = level->end - values->at;
	}
	return repeat;
}

void values_fini(struct values *values)
{
	free(values->level);
}
