/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequences of numbers, folded while they come: for example the sizes of the messages of one call.
 *
 * A stream is a list of items. An item is a number that comes `count` times in a row, or a loop:
 * a list of items that comes `count` times in a row (the RSDs and PRSDs of ScalaTrace, Noeth et al.
 * 2009). Unlike a text of calls (cluster/loops), an item has no times, so a stream of equal numbers
 * takes 24 bytes.
 *
 * While a stream repeats a number, a value is one comparison and one increment, next to those of the streams that were made
 * with it. It becomes part of the stream when another value comes, or when the stream is settled. While it repeats a loop of
 * numbers, a value is a comparison with the one that is expected.
 *
 * A stream is lossless as long as its items find room. After that only its summary goes on: number,
 * least, most and sum. All streams of a thread share one struct, which is plain data without
 * pointers and has a fixed size. One thread uses it.
 */
#ifndef PHASEMUX_CLUSTER_STREAMS_STREAM_H
#define PHASEMUX_CLUSTER_STREAMS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAMS_MAX       1536
#define STREAM_ITEMS      4096 /* of all streams; item 0 is not used */
#define STREAM_ITEMS_MAX  1024 /* of one stream */
#define STREAM_PERIOD_MAX 64   /* items in the body of a loop */
#define STREAM_DEPTH_MAX  12   /* levels of nested loops */
#define STREAM_ALL        UINT64_MAX

/* Values from here on are no numbers but marks, whose meaning the caller knows. */
#define STREAM_MARK (INT64_MAX - 15)

struct stream_item {
	int64_t value; /* of a number */
	uint32_t count;
	uint32_t hash;         /* of the item, unless it is a number that may still be repeated */
	uint16_t before, next; /* neighbours in the same list; 0: none */
	uint16_t first;        /* of a loop: first item of its body; 0: the item is a number */
	uint8_t length, depth; /* of a loop: items of its body; levels of loops, with this one */
};

struct stream {
	uint64_t count; /* values that were added */
	uint64_t exact; /* values up to which the items are complete; STREAM_ALL: all */
	uint64_t marks; /* values that are marks; the summary does not have them */
	int64_t least, most;
	double sum;
	uint16_t first, last, items;
	/* the round under way of the last item, a loop of numbers: `within` values of item `expected` have come */
	uint16_t expected; /* 0: no round is under way */
	uint32_t within;
};

#define STREAM_REPEATS_MAX INT32_MAX
#define STREAM_NO_REPEAT   UINT32_MAX

/* The last number of a stream, and how often it has come since the stream was settled. */
struct stream_repeat {
	int64_t value;
	uint32_t count; /* STREAM_NO_REPEAT: the last item may not be repeated */
};

/* Zeros are a struct without streams. */
struct streams {
	uint32_t count;       /* of streams in use */
	uint16_t free, fresh; /* items that were given back; number of those that were ever taken */
	struct stream_repeat repeat[STREAMS_MAX];
	struct stream stream[STREAMS_MAX];
	struct stream_item item[STREAM_ITEMS];
};

/* Returns the number of the first of `count` new streams in a row, or STREAMS_MAX without room. */
uint32_t stream_new(struct streams *streams, uint32_t count);

/* Adds a value that does not repeat the one before. The cold part of stream_add_all. */
void stream_add_cold(struct streams *streams, size_t number, int64_t value);

/*
 * Adds a value of each bit in `bits`, which is not 0, to streams in a row from number `first` on: values[i] of bit i. A value
 * takes some ns if it repeats the one before, or a loop, and else about 0.1 us.
 */
static inline void stream_add_all(struct streams *streams, size_t first, const int64_t *values,
		unsigned bits)
{
	struct stream_repeat *repeat = &streams->repeat[first];

	do {
		int64_t value = values[__builtin_ctz(bits)];

		if (__builtin_expect(repeat->value != value || repeat->count >= STREAM_REPEATS_MAX,
				    0))
			stream_add_cold(streams, (size_t)(repeat - streams->repeat), value);
		else
			repeat->count++;
		repeat++;
		bits &= bits - 1;
	} while (bits);
}

/* Adds a value to one stream. */
static inline void stream_add(struct streams *streams, size_t number, int64_t value)
{
	stream_add_all(streams, number, &value, 1);
}

/* Makes the values that were repeated part of the stream. Call before struct stream is read. */
void stream_settle(struct streams *streams, size_t number);

/* Settles a stream, and folds its end, whose last value waits for its repetition. More values may be added later. */
void stream_finish(struct streams *streams, size_t number);

#endif
