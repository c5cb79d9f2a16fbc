/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the fold of calls into loops. The input is a sequence of calls, a byte each. The text must
 * give back the same calls, and their times. A byte of 0xff closes the text, and later calls
 * continue it. A byte of 0xfe is calls that are not observed.
 */
#include "cluster/loops/expand.h"
#include "cluster/loops/iteration.h"
#include "cluster/loops/loops.h"
#include "fuzz.h"

#define FINISH  0xff
#define SKIP    0xfe
#define SKIPPED 5 /* calls that are not observed together */

static struct loops text;
static struct expand expansion;

static bool add_ticks(const struct expand_token *visited, void *data)
{
	if (visited->token->kind != LOOPS_LOOP)
		*(uint64_t *)data += slot_ticks(&visited->token->slot);
	return true;
}

/* Returns the number of calls that a byte of the input stands for. */
static unsigned calls_of(unsigned char byte)
{
	return byte == FINISH ? 0 : byte == SKIP ? SKIPPED : 1;
}

static void check_calls(const unsigned char *data, size_t size, uint64_t calls)
{
	uint64_t done = 0;
	uint32_t symbol;

	expand_start(&expansion, &text);
	for (size_t i = 0; i < size; i++)
		for (unsigned call = calls_of(data[i]); call; call--) {
			if (!expand_next(&expansion, &symbol))
				goto end;
			if (symbol != LOOPS_ANY && symbol != data[i])
				abort();
			done++;
		}
end:
	if (done != calls && done < text.exact)
		abort();
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	uint64_t calls = 0, ticks = 0, in_slots = 0;
	struct iteration iteration;

	memset(&text, 0, sizeof(text));
	loops_init(&text);
	for (size_t i = 0; i < size; i++) {
		if (data[i] == FINISH) {
			loops_finish(&text);
			continue;
		}
		if (data[i] == SKIP)
			loops_skip(&text, SKIPPED, i % 5000, i % 7);
		else
			loops_add(&text, data[i], i % 5000, i % 7);
		ticks += i % 5000 + i % 7;
		calls += calls_of(data[i]);
	}
	check_calls(data, size, calls);
	loops_finish(&text);
	check_calls(data, size, calls);
	expand_tokens(&text, add_ticks, &in_slots);
	if (text.calls != calls || in_slots != ticks)
		abort();
	if (iteration_find(&text, NULL, &iteration) &&
			(!(iteration.share >= 0.5) || !iteration.rounds))
		abort();
	return true;
}

/* Seeds: loops in loops, with counts that are the same, grow, or come from the numbers before. */
static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	size_t size = 0;

	if (seed >= 12)
		return 0;
	for (unsigned step = 0; step < 60; step++) {
		unsigned inner = seed % 3 == 0 ? 3 : seed % 3 == 1 ? step % 5 : step * step % 7;

		data[size++] = 'a';
		for (unsigned i = 0; i < inner; i++) {
			data[size++] = 'b';
			data[size++] = 'c';
			for (unsigned j = 0; seed & 4 && j < 4; j++)
				data[size++] = (unsigned char)('d' + j % (1 + seed % 4));
		}
		for (unsigned i = 0; seed & 8 && i < 30; i++)
			data[size++] = (unsigned char)(100 + i);
		if (seed % 5 == 0 && step % 7 == 0)
			data[size++] = SKIP;
		data[size++] = 'z';
	}
	return size;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}
