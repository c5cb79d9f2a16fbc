/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/streams/stream.h"

uint32_t stream_new(struct streams *streams, uint32_t count)
{
	uint32_t number = streams->count;

	if (count > STREAMS_MAX - number)
		return STREAMS_MAX;
	for (uint32_t i = number; i < number + count; i++) {
		streams->stream[i] = (struct stream){ .exact = STREAM_ALL };
		streams->repeat[i].count = STREAM_NO_REPEAT;
	}
	streams->count += count;
	return number;
}

/* ---- items ---- */

static uint32_t mix(uint32_t hash, uint64_t value)
{
	uint64_t mixed = (hash ^ value) * 0xff51afd7ed558ccdu;

	mixed = (mixed ^ mixed >> 32) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(mixed ^ mixed >> 29);
}

/* Returns a new item, or 0 without room. */
static uint16_t take(struct streams *streams)
{
	uint16_t item = streams->free;

	if (item)
		streams->free = streams->item[item].next;
	else if (streams->fresh + 1 < STREAM_ITEMS)
		item = ++streams->fresh;
	return item;
}

/* Frees a list of items, with the bodies of its loops. */
static void give(struct streams *streams, struct stream *stream, uint16_t item)
{
	while (item) {
		uint16_t next = streams->item[item].next;

		if (streams->item[item].first)
			give(streams, stream, streams->item[item].first);
		streams->item[item].next = streams->free;
		streams->free = item;
		stream->items--;
		item = next;
	}
}

/* Calculates the hash and the depth of an item whose body is up to date. */
static void refresh(struct streams *streams, uint16_t number)
{
	struct stream_item *item = &streams->item[number];

	item->depth = 0;
	item->hash = mix(item->length, item->count);
	if (!item->first) {
		item->hash = mix(item->hash, (uint64_t)item->value);
		return;
	}
	for (uint16_t i = item->first; i; i = streams->item[i].next) {
		item->hash = mix(item->hash, streams->item[i].hash);
		if (streams->item[i].depth >= item->depth)
			item->depth = streams->item[i].depth + 1;
	}
}

static bool is_equal(const struct streams *streams, uint16_t a, uint16_t b);

/* Returns whether two lists are equal. The second one ends with `last`. */
static bool is_equal_list(const struct streams *streams, uint16_t a, uint16_t b, uint16_t last)
{
	for (;; a = streams->item[a].next, b = streams->item[b].next) {
		if (!a || !is_equal(streams, a, b))
			return false;
		if (b == last)
			return true;
	}
}

static bool is_equal(const struct streams *streams, uint16_t a, uint16_t b)
{
	const struct stream_item *x = &streams->item[a], *y = &streams->item[b];
	uint16_t i, j;

	if (x->hash != y->hash || x->count != y->count || x->length != y->length)
		return false;
	if (!x->first)
		return x->value == y->value;
	for (i = x->first, j = y->first; i && j;
			i = streams->item[i].next, j = streams->item[j].next)
		if (!is_equal(streams, i, j))
			return false;
	return !i && !j;
}

/* ---- folding ---- */

/* Ends the list of a stream with an item, and frees those behind it. */
static void end_with(struct streams *streams, struct stream *stream, uint16_t item)
{
	uint16_t behind = streams->item[item].next;

	streams->item[item].next = 0;
	stream->last = item;
	give(streams, stream, behind);
}

/* Makes the item before the last `length` ones, a loop that they repeat, have one more round. */
static bool add_round(struct streams *streams, struct stream *stream, uint16_t loop, uint16_t first,
		unsigned length)
{
	struct stream_item *item = &streams->item[loop];

	if (!item->first || item->length != length || item->count == UINT32_MAX ||
			!is_equal_list(streams, item->first, first, stream->last))
		return false;
	item->count++;
	end_with(streams, stream, loop);
	refresh(streams, loop);
	return true;
}

/*
 * Makes the last `length` items and as many equal ones before them a loop of two rounds. first: of the last
 * `length`. Returns false if they are not equal, or would be nested too deeply.
 */
static bool make_loop(struct streams *streams, struct stream *stream, uint16_t first,
		unsigned length)
{
	uint16_t a = streams->item[first].before, b = stream->last, loop, begin = first;

	for (unsigned i = 0; i < length; i++) {
		if (!a || !is_equal(streams, a, b) || streams->item[a].depth + 1 > STREAM_DEPTH_MAX)
			return false;
		begin = a;
		a = streams->item[a].before;
		b = streams->item[b].before;
	}
	end_with(streams, stream, streams->item[first].before);
	loop = take(streams); /* there is one, because `length` were freed */
	stream->items++;
	streams->item[loop] = (struct stream_item){ .count = 2,
		.first = begin,
		.before = streams->item[begin].before,
		.length = (uint8_t)length };
	if (streams->item[begin].before)
		streams->item[streams->item[begin].before].next = loop;
	else
		stream->first = loop;
	streams->item[begin].before = 0;
	stream->last = loop;
	refresh(streams, loop);
	return true;
}

/* Folds the end of a stream once. Returns whether it has changed. */
static bool fold(struct streams *streams, struct stream *stream)
{
	uint16_t first = stream->last;

	for (unsigned length = 1; length <= STREAM_PERIOD_MAX; length++) {
		uint16_t before = streams->item[first].before;

		if (!before)
			return false;
		if (add_round(streams, stream, before, first, length) ||
				make_loop(streams, stream, first, length))
			return true;
		first = before;
	}
	return false;
}

static void fold_end(struct streams *streams, struct stream *stream)
{
	if (!stream->last)
		return;
	refresh(streams, stream->last);
	while (fold(streams, stream))
		;
}

/* Appends a number, which comes `count` times, behind the folded end. Returns false without room. */
static bool push(struct streams *streams, struct stream *stream, int64_t value, uint32_t count)
{
	uint16_t item = stream->items < STREAM_ITEMS_MAX ? take(streams) : 0;

	if (!item)
		return false;
	stream->items++;
	streams->item[item] = (struct stream_item){ .value = value,
		.count = count,
		.before = stream->last };
	if (stream->last)
		streams->item[stream->last].next = item;
	else
		stream->first = item;
	stream->last = item;
	return true;
}

/* ---- rounds that are expected ---- */

/* Begins a round of the last item if that is a loop of numbers, and begins with this one. */
static bool begin_round(const struct streams *streams, struct stream *stream, int64_t value)
{
	const struct stream_item *loop = &streams->item[stream->last];

	if (!stream->last || loop->depth != 1 || streams->item[loop->first].value != value)
		return false;
	stream->expected = loop->first;
	stream->within = 1;
	return true;
}

/* Goes on in the round under way. Returns false if another value is expected. */
static bool follow_round(struct streams *streams, struct stream *stream, int64_t value)
{
	const struct stream_item *item = &streams->item[stream->expected];
	struct stream_item *loop = &streams->item[stream->last];
	uint16_t next = item->next ? item->next : loop->first;

	if (stream->within < item->count) {
		stream->within += item->value == value;
		return item->value == value;
	}
	if (streams->item[next].value != value || (!item->next && loop->count == UINT32_MAX))
		return false;
	loop->count += !item->next;
	stream->expected = next;
	stream->within = 1;
	return true;
}

/*
 * Makes the values of the round under way items behind the loop. Without room the stream is complete up to those that
 * found it.
 */
static void end_round(struct streams *streams, struct stream *stream)
{
	struct stream_item part[STREAM_PERIOD_MAX];
	unsigned parts = 0, pushed = 0;
	uint64_t missing = 0;

	if (!stream->expected)
		return;
	/* the items of the loop may move when those behind it are folded */
	for (uint16_t i = streams->item[stream->last].first; i; i = streams->item[i].next) {
		part[parts] = streams->item[i];
		if (i == stream->expected) {
			part[parts++].count = stream->within;
			break;
		}
		parts++;
	}
	stream->expected = 0;
	for (; pushed < parts; pushed++) {
		fold_end(streams, stream);
		if (!push(streams, stream, part[pushed].value, part[pushed].count))
			break;
	}
	if (pushed == parts)
		return;
	for (; pushed < parts; pushed++)
		missing += part[pushed].count;
	stream->exact = stream->count - missing;
}

/* ---- values ---- */

/* Counts a value that comes `count` times. */
static void count_values(struct stream *stream, int64_t value, uint32_t count)
{
	stream->count += count;
	if (value >= STREAM_MARK)
		stream->marks += count;
	else
		stream->sum += (double)value * count;
}

/* Notes a value that is new, or may be new. Call before it is counted. */
static void note_extremes(struct stream *stream, int64_t value)
{
	if (value >= STREAM_MARK)
		return;
	if (stream->count == stream->marks)
		stream->least = stream->most = value;
	stream->least = value < stream->least ? value : stream->least;
	stream->most = value > stream->most ? value : stream->most;
}

/* Adds a value that is not expected. Returns false without room. */
static bool stream_append(struct streams *streams, struct stream *stream, int64_t value)
{
	struct stream_item *last;

	end_round(streams, stream);
	/* the round may have found no room */
	if (stream->exact != STREAM_ALL)
		return true;
	last = &streams->item[stream->last];
	if (stream->last && !last->first && last->value == value && last->count < UINT32_MAX) {
		last->count++;
		return true;
	}
	fold_end(streams, stream);
	return begin_round(streams, stream, value) || push(streams, stream, value, 1);
}

/* Expects that the last item is repeated, if it is a number. */
static void expect_repeat(struct streams *streams, size_t number)
{
	const struct stream *stream = &streams->stream[number];
	const struct stream_item *last = &streams->item[stream->last];
	bool may = stream->last && !last->first && stream->exact == STREAM_ALL &&
			last->count <= UINT32_MAX - STREAM_REPEATS_MAX;

	streams->repeat[number] = (struct stream_repeat){ last->value, may ? 0 : STREAM_NO_REPEAT };
}

void stream_settle(struct streams *streams, size_t number)
{
	struct stream_repeat *repeat = &streams->repeat[number];
	struct stream *stream = &streams->stream[number];

	if (!repeat->count || repeat->count == STREAM_NO_REPEAT)
		return;
	streams->item[stream->last].count += repeat->count;
	count_values(stream, repeat->value, repeat->count);
	expect_repeat(streams, number);
}

void stream_add_cold(struct streams *streams, size_t number, int64_t value)
{
	struct stream *stream = &streams->stream[number];

	/* the round has had the value before, and it is no extreme */
	if (stream->expected && follow_round(streams, stream, value)) {
		count_values(stream, value, 1);
		return;
	}
	stream_settle(streams, number);
	note_extremes(stream, value);
	if (stream->exact != STREAM_ALL) {
		count_values(stream, value, 1);
		return;
	}
	if (!stream_append(streams, stream, value))
		stream->exact = stream->count;
	count_values(stream, value, 1);
	expect_repeat(streams, number);
}

void stream_finish(struct streams *streams, size_t number)
{
	struct stream *stream = &streams->stream[number];

	stream_settle(streams, number);
	end_round(streams, stream);
	if (stream->exact == STREAM_ALL)
		fold_end(streams, stream);
	expect_repeat(streams, number);
}
