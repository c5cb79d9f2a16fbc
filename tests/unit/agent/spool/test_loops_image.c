/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that the loops of a thread's calls are read as they were at any moment, and that no damage of them does harm.
 *
 * `test_loops_image SEED PROGRAMS` reads the calls of that many random programs.
 */
#include <stddef.h>
#include <stdlib.h>

#include "agent/spool/loops_image.h"
#include "cluster/loops/compare.h"
#include "cluster/loops/expand.h"
#include "cluster/loops/iteration.h"
#include "cluster/loops/loops.h"
#include "tests/random_calls.h"
#include "tests/tap.h"

#define LOG_MAX  20000
#define ALPHABET 40
#define SKIPPED  LOOPS_ANY

static struct loops text, raw, image;
static struct expand expansion;

/* What was called: the peer. */
static uint32_t logged[LOG_MAX];
static unsigned count;

static void start(void)
{
	memset(&text, 0, sizeof(text));
	loops_init(&text);
	count = 0;
}

static void call(uint32_t symbol)
{
	if (count == LOG_MAX)
		return;
	logged[count++] = symbol;
	loops_add(&text, symbol, 1 + below(5000), 1 + below(300));
}

static void skip_calls(unsigned number)
{
	if (number > LOG_MAX - count)
		return;
	for (unsigned i = 0; i < number; i++)
		logged[count++] = SKIPPED;
	loops_skip(&text, number, 100, 10);
}

/* Returns whether the image of the text has the calls of the log. */
static bool is_true(uint32_t symbols)
{
	uint64_t promised;
	uint32_t symbol;
	unsigned at = 0;

	raw = text;
	memset(&image, 0, sizeof(image));
	if (!loops_image_read(&image, &raw, symbols)) {
		diag("after %u calls: the text is refused", count);
		return false;
	}
	promised = text.exact < count ? text.exact : count;
	expand_start(&expansion, &image);
	for (; expand_next(&expansion, &symbol); at++)
		if (at >= count ||
				(symbol != SKIPPED && logged[at] != symbol &&
						(symbol || logged[at] < symbols)))
			break;
	if (at < promised || image.calls != count || image.unknown < text.unknown) {
		diag("call %u of %u differs", at, count);
		return false;
	}
	return true;
}

/* Returns whether the images of a random program are true while it runs. */
static bool random_program(uint64_t seed)
{
	struct random_program program = draw_program(seed, ALPHABET);

	start();
	for (unsigned round = 0; round < program.rounds; round++) {
		random_round(&program);
		if (below(8) == 0 && !is_true(ALPHABET))
			return false;
	}
	return is_true(below(2) ? ALPHABET : 1 + below(ALPHABET));
}

static void test_random(uint64_t first, unsigned programs)
{
	unsigned right = 0;

	for (unsigned i = 0; i < programs; i++)
		right += random_program(first + i);
	is_int(right, programs, "the calls of random programs are read as they were made");
}

static void test_full(void)
{
	unsigned right = 0;

	start();
	while (count < LOG_MAX) {
		call(below(ALPHABET));
		if (count % 997 == 0)
			right += is_true(ALPHABET);
	}
	is_int(right, LOG_MAX / 997, "a text without room is read, with its hole");
}

static void test_lost(void)
{
	start();
	while (count + 20 < LOG_MAX) {
		call(0);
		for (unsigned inner = 1 + below(3); inner; inner--)
			call(1);
		call(2);
		for (unsigned inner = 1 + below(3); inner; inner--)
			call(3);
	}
	text.exact = LOG_MAX / 2;
	while (count < LOG_MAX)
		call(below(ALPHABET));
	ok(is_true(ALPHABET) && image.exact == LOG_MAX / 2,
			"the calls up to which it is exact are kept");
}

static bool walk(const struct expand_token *visited, void *data)
{
	*(uint64_t *)data += visited->token->slot.count;
	return true;
}

/* Damages some bytes of the text. Most of them are in what is in use. */
static void damage(void)
{
	unsigned char *bytes = (unsigned char *)&raw;
	size_t arena = offsetof(struct loops, arena), used = raw.fresh * sizeof(raw.arena[0]);

	for (unsigned changes = 1 + below(4); changes; changes--) {
		size_t at = below(4) ? arena + below((unsigned)used) : below((unsigned)arena);

		bytes[at] = (unsigned char)(below(3) ? below(4) : below(256));
	}
}

static void test_damaged(void)
{
	unsigned refused = 0, tried = 0;
	uint64_t all = 0;

	for (unsigned program = 0; program < 40; program++) {
		random_program(5000 + program);
		for (unsigned trial = 0; trial < 50; trial++, tried++) {
			struct iteration iteration;

			raw = text;
			damage();
			memset(&image, 0, sizeof(image));
			if (!loops_image_read(&image, &raw, ALPHABET)) {
				refused++;
				continue;
			}
			expand_tokens(&image, walk, &all);
			iteration_find(&image, NULL, &iteration);
			all += compare_hash(&image, NULL);
		}
	}
	ok(refused > 0 && refused < tried,
			"damaged texts are refused, or can be read (%u of %u refused, %llu)",
			refused, tried, (unsigned long long)all % 10);
}

/* A text that says that a loop is in itself. */
static void test_circle(void)
{
	unsigned loop;

	start();
	for (unsigned i = 0; i < 40; i++)
		call(i % 2);
	raw = text;
	loop = raw.cell[0];
	arena_token(&raw, arena_look(&raw, loop)->last)->next = (uint16_t)loop;
	memset(&image, 0, sizeof(image));
	ok(!loops_image_read(&image, &raw, ALPHABET), "a loop that is in itself is refused");
	raw = text;
	raw.calls++;
	memset(&image, 0, sizeof(image));
	ok(!loops_image_read(&image, &raw, ALPHABET), "a text that lacks a call is refused");
	raw = text;
	arena_token(&raw, loop)->count = arena_token(&raw, loop)->most = 1000;
	memset(&image, 0, sizeof(image));
	ok(!loops_image_read(&image, &raw, ALPHABET),
			"a loop with more rounds than times is refused");
}

int main(int argc, char **argv)
{
	if (argc <= 2) {
		test_full();
		test_lost();
		test_damaged();
		test_circle();
	}
	test_random(argc > 2 ? strtoull(argv[1], NULL, 10) : 1,
			argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100);
	return tap_done();
}
