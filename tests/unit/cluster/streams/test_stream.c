/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded sequences of numbers: a brute-force peer logs each value, and the stream must give back the same ones.
 * `test_stream SEED SEQUENCES` adds that many random sequences.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/streams/stream_bytes.h"
#include "tests/random.h"
#include "tests/tap.h"

#define LOG_MAX 200000

static struct streams streams;
static uint8_t bytes[STREAM_BYTES_MAX];

/* What was added: the peer. */
static struct {
	int64_t value[LOG_MAX];
	unsigned count;
} logged;

/* What the bytes say. */
static struct {
	int64_t value[LOG_MAX];
	unsigned count;
} read_back;

static struct stream *start(void)
{
	memset(&streams, 0, sizeof(streams));
	logged.count = 0;
	return &streams.stream[stream_new(&streams, 1)];
}

static uint32_t number_of(const struct stream *stream)
{
	return (uint32_t)(stream - streams.stream);
}

static void add(struct stream *stream, int64_t value)
{
	if (logged.count == LOG_MAX)
		return;
	logged.value[logged.count++] = value;
	stream_add(&streams, number_of(stream), value);
}

/* Reads an item with its body, `times` times. Returns the bytes behind it. */
static const uint8_t *expand(const uint8_t *at)
{
	struct stream_part part;
	const uint8_t *body = at + stream_read(at, &part), *end = body;

	for (uint32_t round = 0; round < part.count; round++) {
		end = body;
		if (!part.length && read_back.count < LOG_MAX)
			read_back.value[read_back.count++] = part.value;
		for (unsigned i = 0; i < part.length; i++)
			end = expand(end);
	}
	return end;
}

static void read_all(const struct stream *stream)
{
	size_t size = stream_write(&streams, stream, bytes);

	read_back.count = 0;
	for (const uint8_t *at = bytes; at < bytes + size;)
		at = expand(at);
}

/* Returns whether the stream gives back what was logged, as far as it says that it does. */
static bool is_true_now(const struct stream *stream)
{
	unsigned exact;

	stream_settle(&streams, number_of(stream));
	exact = stream->exact == STREAM_ALL ? logged.count : (unsigned)stream->exact;
	read_all(stream);
	return stream->count == logged.count && read_back.count == exact &&
			!memcmp(read_back.value, logged.value, exact * sizeof(logged.value[0]));
}

/* Returns whether the stream is true before its end is folded, and after that. */
static bool is_true(struct stream *stream)
{
	bool before = is_true_now(stream);

	stream_finish(&streams, number_of(stream));
	return before && is_true_now(stream);
}

static bool is_summary_true(const struct stream *stream)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint64_t marks = 0;
	double sum = 0;

	for (unsigned i = 0; i < logged.count; i++) {
		int64_t value = logged.value[i];

		marks += value >= STREAM_MARK;
		if (value >= STREAM_MARK)
			continue;
		sum += (double)value;
		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	return marks == stream->marks && sum == stream->sum &&
			(marks == logged.count || (least == stream->least && most == stream->most));
}

static void is_folded(struct stream *stream, unsigned most, const char *what)
{
	ok(is_true(stream), "%s: the values are those that were added", what);
	ok(is_summary_true(stream), "%s: and so is their summary", what);
	ok(stream->exact == STREAM_ALL && stream->items <= most, "%s: %u items, at most %u", what,
			stream->items, most);
}

static void test_patterns(void)
{
	struct stream *stream = start();

	for (int i = 0; i < 1000; i++)
		add(stream, -7);
	is_folded(stream, 1, "a constant");
	stream = start();
	for (int i = 0; i < 999; i++)
		add(stream, i % 3);
	is_folded(stream, 4, "a period of three");
	stream = start();
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 25; j++) {
			add(stream, 1);
			add(stream, -1);
		}
		add(stream, INT64_MAX - 1);
		add(stream, 4);
		add(stream, 4);
	}
	is_folded(stream, 6, "a loop in a loop");
	stream = start();
	for (int i = 0; i < 100; i++) {
		for (int64_t size = 1 << 20; size; size >>= 1)
			add(stream, size);
		for (int64_t size = 1; size <= 1 << 20; size <<= 1)
			add(stream, size);
	}
	is_folded(stream, 82, "a V-cycle");
	stream = start();
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 19; j++)
			for (int k = 0; k < 6; k++)
				add(stream, 1000 + i * 6 + k);
		add(stream, 3);
	}
	is_folded(stream, 20 * 8 + 12, "six sizes that change in each 20th step");
}

static void test_extremes(void)
{
	struct stream *stream = start();

	add(stream, INT64_MIN);
	add(stream, STREAM_MARK - 1);
	add(stream, INT64_MAX);
	add(stream, 0);
	is_folded(stream, 4, "the least and the largest values");
}

/* A number is repeated more often than an item, or the repetitions that are not settled, can count. */
static void test_many(void)
{
	struct stream *stream = start();
	struct stream_repeat *repeat = &streams.repeat[number_of(stream)];
	struct stream_part part;
	uint64_t count = 1, kept = 0;

	stream_add(&streams, number_of(stream), 5);
	for (int i = 0; i < 4; i++) {
		/* as if that many had come */
		if (repeat->count != STREAM_NO_REPEAT) {
			count += STREAM_REPEATS_MAX - 1 - repeat->count;
			repeat->count = STREAM_REPEATS_MAX - 1;
		}
		for (int j = 0; j < 5; j++, count++)
			stream_add(&streams, number_of(stream), 5);
	}
	stream_finish(&streams, number_of(stream));
	for (uint8_t *at = bytes; at < bytes + stream_write(&streams, stream, bytes);) {
		at += stream_read(at, &part);
		kept += part.count;
	}
	ok(count > INT32_MAX && stream->count == count && kept == count &&
					stream->sum == 5.0 * (double)count,
			"2^31 equal values are counted: %llu", (unsigned long long)stream->count);
}

/* Random values do not find room: the first ones are kept, and the summary goes on. */
static void test_bound(void)
{
	struct stream *stream = start(), *other = NULL;

	for (int i = 0; i < 100000; i++)
		add(stream, (int64_t)below(1u << 30));
	ok(is_true(stream) && is_summary_true(stream), "at random: what is kept is true");
	ok(stream->exact != STREAM_ALL && stream->exact >= STREAM_ITEMS_MAX,
			"at random: values are complete up to number %llu",
			(unsigned long long)stream->exact);
	ok(stream->items <= STREAM_ITEMS_MAX, "at random: a stream is bounded");
	/* other streams share what is left */
	while (streams.count < STREAMS_MAX) {
		other = &streams.stream[stream_new(&streams, 1)];
		for (int i = 0; i < 10; i++)
			stream_add(&streams, number_of(other), (int64_t)below(1u << 30));
	}
	ok(streams.fresh < STREAM_ITEMS && stream_new(&streams, 1) == STREAMS_MAX,
			"at random: all streams together are bounded");
	ok(other && other->count == 10 && other->exact == 0 &&
					!stream_write(&streams, other, bytes),
			"a stream without room has a summary");
}

/* The items are used up by another stream while a round of this one is under way, which then ends at another value. */
static void test_round_without_room(void)
{
	bool right = true, was_cut = false;

	for (unsigned room = 0; room < 6; room++) {
		struct stream *stream = start(), *other = &streams.stream[stream_new(&streams, 1)];
		unsigned limit = STREAM_ITEMS - 1 - room;

		for (int i = 0; i < 54; i++)
			add(stream, i % 5);
		for (int64_t value = 0; streams.fresh < limit; value++) {
			if (other->exact != STREAM_ALL)
				other = &streams.stream[stream_new(&streams, 1)];
			stream_add(&streams, number_of(other), value);
		}
		while (streams.free)
			streams.free = streams.item[streams.free].next;
		add(stream, 77);
		add(stream, 78);
		right = right && is_true(stream) && is_summary_true(stream);
		was_cut = was_cut || (stream->exact > 50 && stream->exact < 54);
	}
	ok(right, "a round without room: the values up to there are those that were added");
	ok(was_cut, "a round without room: a part of it found room");
}

/* Makes a random nest of loops. */
static void add_random(struct stream *stream, unsigned depth)
{
	unsigned rounds = 1 + below(4), length = 1 + below(5), kinds = 1 + below(6);
	uint64_t same = random_state;

	for (unsigned i = 0; i < rounds; i++) {
		if (below(8))
			random_state = same; /* the round before, again */
		for (unsigned j = 0; j < length; j++)
			if (depth && below(2))
				add_random(stream, depth - 1);
			else
				add(stream, (int64_t)below(kinds) - 2);
	}
}

static void test_random(unsigned sequences)
{
	unsigned right = 0, wrong = 0;

	for (unsigned i = 0; i < sequences; i++) {
		struct stream *stream = start();

		random_state = 77 + i;
		for (unsigned more = 1 + below(20); more && logged.count < 20000; more--) {
			uint64_t next = random_state + i + more;

			add_random(stream, below(6));
			wrong += below(4) == 0 && !is_true_now(stream);
			random_state = next * 2862933555777941757u + 3037000493u;
		}
		right += is_true(stream) && is_summary_true(stream);
		/* more may be added after that */
		for (unsigned more = below(50); more; more--)
			add(stream, (int64_t)below(3));
		right -= !is_true(stream);
	}
	ok(right == sequences && !wrong, "%u of %u random sequences are as they were added", right,
			sequences);
}

int main(int argc, char **argv)
{
	random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	test_patterns();
	test_extremes();
	test_many();
	test_bound();
	test_round_without_room();
	test_random(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : tap_cases(500));
	return tap_done();
}
