/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of calls: a brute-force peer logs each call, and the text must give back the same ones.
 * `test_loops SEED PROGRAMS` runs that many random programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/loops/compare.h"
#include "cluster/loops/expand.h"
#include "cluster/loops/iteration.h"
#include "cluster/loops/loops.h"
#include "tests/random.h"
#include "tests/tap.h"

#define LOG_MAX       1000000
#define ROTATED_RANKS 40

static struct loops text, other;
static struct expand expansion;

/* What was called: the peer. */
static struct {
	uint32_t symbol[LOG_MAX];
	unsigned count;
	uint64_t ticks;
} logged;

static void start(void)
{
	memset(&text, 0, sizeof(text));
	loops_init(&text);
	logged.count = 0;
	logged.ticks = 0;
}

/* The program makes a call. */
static void call_after(uint64_t burst, uint32_t symbol)
{
	uint64_t inside = 1 + below(300);

	if (logged.count == LOG_MAX)
		return;
	logged.symbol[logged.count++] = symbol;
	logged.ticks += burst + inside;
	loops_add(&text, symbol, burst, inside);
}

static void call(uint32_t symbol)
{
	call_after(1 + below(5000), symbol);
}

/* The program makes calls that are not observed. */
static void skip_calls(unsigned number)
{
	uint64_t burst = number * (uint64_t)below(5000), inside = number * (uint64_t)below(300);

	if (number > LOG_MAX - logged.count)
		return;
	for (unsigned i = 0; i < number; i++)
		logged.symbol[logged.count++] = LOOPS_ANY;
	logged.ticks += burst + inside;
	loops_skip(&text, number, burst, inside);
}

static void calls(const char *symbols)
{
	for (; *symbols; symbols++)
		call((unsigned char)*symbols);
}

/* What the slots of a text hold together. */
struct totals {
	uint64_t calls, ticks, known;
	unsigned tokens, wrong;
};

static bool add_token(const struct expand_token *visited, void *data)
{
	const struct loops_token *token = visited->token;
	struct totals *totals = data;
	uint64_t binned = 0;

	totals->tokens++;
	for (unsigned bin = 0; bin < SLOT_BINS; bin++)
		binned += token->slot.bin[SLOT_BURST][bin];
	totals->wrong += binned != token->slot.count;
	totals->wrong += token->slot.least[SLOT_INSIDE] > token->slot.most[SLOT_INSIDE];
	if (token->kind == LOOPS_LOOP)
		return true;
	totals->calls += token->slot.count;
	totals->ticks += slot_ticks(&token->slot);
	totals->known += token->kind == LOOPS_CALL ? token->slot.count : 0;
	return true;
}

/* Returns whether the times of all rounds of a loop are those of the calls in them. */
static bool rounds_add_up(const struct loops *loops, unsigned cell)
{
	const struct loops_token *token = arena_look(loops, cell);
	uint64_t ticks = 0;

	if (token->kind != LOOPS_LOOP)
		return true;
	for (unsigned child = token->first; child; child = arena_look(loops, child)->next) {
		ticks += slot_ticks(&arena_look(loops, child)->slot);
		if (!rounds_add_up(loops, child))
			return false;
	}
	return ticks == slot_ticks(&token->slot);
}

static struct totals totals_of(const struct loops *loops)
{
	struct totals totals = { 0 };

	expand_tokens(loops, add_token, &totals);
	for (unsigned place = 0; place < loops->tokens; place++)
		totals.wrong += !rounds_add_up(loops, loops->cell[place]);
	return totals;
}

/*
 * Returns the number of the first call that the text gives back wrongly, or UINT_MAX if all are
 * right.
 */
static unsigned first_wrong(uint64_t *holes)
{
	uint64_t promised = text.exact < logged.count ? text.exact : logged.count;
	uint32_t symbol;
	unsigned at = 0;

	*holes = 0;
	expand_start(&expansion, &text);
	while (expand_next(&expansion, &symbol)) {
		if (at >= logged.count || (symbol != LOOPS_ANY && symbol != logged.symbol[at]))
			return at;
		*holes += symbol == LOOPS_ANY;
		at++;
	}
	return at < promised || text.calls != logged.count ? at : UINT32_MAX;
}

/* Returns whether the text is true to the log, and prints the first difference. */
static bool is_true(const char *name)
{
	struct totals totals;
	uint64_t holes;
	unsigned wrong = first_wrong(&holes);
	unsigned cells = text.free_count + text.counts_cells;

	if (wrong != UINT32_MAX) {
		diag("%s: call %u of %u is wrong (exact up to %llu)", name, wrong, logged.count,
				(unsigned long long)text.exact);
		return false;
	}
	if (text.exact == UINT64_MAX && holes != text.unknown) {
		diag("%s: %llu calls in holes, and the text says %llu", name,
				(unsigned long long)holes, (unsigned long long)text.unknown);
		return false;
	}
	totals = totals_of(&text);
	cells += totals.tokens;
	if (cells != LOOPS_CELLS - 1) {
		diag("%s: %u cells are accounted for", name, cells);
		return false;
	}
	if (text.at)
		return !totals.wrong;
	if (totals.calls != logged.count || totals.ticks != logged.ticks ||
			totals.known + text.unknown != logged.count || totals.wrong) {
		diag("%s: %llu calls of %llu ticks in slots, %u and %llu were made, %u wrong", name,
				(unsigned long long)totals.calls, (unsigned long long)totals.ticks,
				logged.count, (unsigned long long)logged.ticks, totals.wrong);
		return false;
	}
	return true;
}

/* A random program: loops in loops, with constant and varying counts, branches, and calls. */
static unsigned calls_most;

static void random_part(unsigned depth, unsigned alphabet, uint64_t code)
{
	unsigned parts = 1 + code % 4, vary = (unsigned)(code >> 8) % 4;

	for (unsigned part = 0; part < parts && logged.count < calls_most; part++) {
		uint64_t inner = (code + part) * 0x9e3779b97f4a7c15u;
		unsigned rounds = 1 + (unsigned)(inner >> 16) % 6;

		inner ^= inner >> 29;
		if (!depth || inner % 3 == 0) {
			call((uint32_t)(inner >> 5) % alphabet);
			continue;
		}
		if (vary == 1 && inner % 5 == 0)
			rounds = below(8);
		if (vary == 2 && below(20) == 0)
			rounds += below(3);
		for (unsigned round = 0; round < rounds; round++)
			random_part(depth - 1, alphabet, inner);
	}
}

/* Returns whether the text of a random program is true, in the middle and at the end. */
static bool random_program(uint64_t seed)
{
	unsigned depth, alphabet, again, stop, skips;
	char name[64];
	uint64_t code;

	random_state = seed * 2862933555777941757u + 3037000493u;
	depth = 1 + below(5);
	alphabet = 1 + below(below(2) ? 4 : 40);
	again = 1 + below(40);
	calls_most = 64u << below(9);
	stop = below(3) ? UINT32_MAX : below(again);
	skips = below(3) ? 0 : 1 + below(20);
	code = (uint64_t)below(1u << 30) << 20 ^ below(1u << 30);
	snprintf(name, sizeof(name), "program %llu", (unsigned long long)seed);
	start();
	for (unsigned round = 0; round < again && logged.count < calls_most; round++) {
		random_part(depth, alphabet, code);
		if (below(30) == 0)
			random_part(2, alphabet, below(1u << 30));
		if (skips && below(skips) == 0)
			skip_calls(1 + below(200));
		if (round == stop) {
			if (!is_true(name))
				return false;
			loops_finish(&text);
		}
	}
	if (!is_true(name))
		return false;
	loops_finish(&text);
	return is_true(name);
}

static void test_random(uint64_t first, unsigned programs)
{
	unsigned lossless = 0, right = 0;
	uint64_t made = 0;

	for (unsigned i = 0; i < programs; i++) {
		right += random_program(first + i);
		lossless += text.exact == UINT64_MAX && !text.unknown;
		made += logged.count;
	}
	is_int(right, programs, "the texts of random programs give back the calls that were made");
	diag("%u programs, %llu calls, %u texts exact to the end", programs,
			(unsigned long long)made, lossless);
}

/*
 * The text in letters: `3{a 2b}` is three times a, b, b; 2..4b is b two to four times; ?7 is a hole
 * of 7 calls.
 */
static char shown[8192];
static size_t shown_length;
static unsigned shown_depth;

__attribute__((format(printf, 1, 2))) static void show(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (shown_length < sizeof(shown) - 256)
		shown_length += (size_t)vsprintf(shown + shown_length, format, arguments);
	va_end(arguments);
}

static void show_depth(unsigned depth)
{
	for (; shown_depth > depth; shown_depth--)
		show("}");
}

static bool show_token(const struct expand_token *visited, void *data)
{
	const struct loops_token *token = visited->token;

	(void)data;
	show_depth(visited->depth);
	if (shown_length && shown[shown_length - 1] != '{')
		show(" ");
	if (token->least != token->most)
		show("%u..%u", token->least, token->most);
	else if (token->count != 1)
		show("%u", token->count);
	if (token->kind == LOOPS_HOLE)
		show("?%llu", (unsigned long long)token->slot.count);
	else if (token->kind == LOOPS_LOOP)
		show("{");
	else
		show(token->symbol < 128 ? "%c" : "<%u>", token->symbol);
	shown_depth += token->kind == LOOPS_LOOP;
	return true;
}

static const char *show_text(void)
{
	shown_length = 0;
	shown[0] = '\0';
	expand_tokens(&text, show_token, NULL);
	show_depth(0);
	return shown;
}

/*
 * Checks the text of what was called since start(), and its iteration. rounds: 0 if there must be
 * none.
 */
static void is_text(const char *want, uint64_t rounds, const char *name)
{
	struct iteration iteration = { 0 };
	bool found;

	loops_finish(&text);
	ok(is_true(name), "%s: the text is true", name);
	if (want)
		is_str(show_text(), want, name);
	found = iteration_find(&text, NULL, &iteration);
	if (!ok(found == (rounds > 0) && iteration.rounds == rounds, "%s: %llu iterations", name,
			    (unsigned long long)rounds))
		diag("got %llu in %.300s", (unsigned long long)iteration.rounds, show_text());
}

static void test_words(void)
{
	static const struct {
		const char *calls, *text;
		uint64_t rounds;
	} cases[] = {
		{ "", "", 0 },
		{ "a", "a", 0 },
		{ "aaaa", "4a", 4 },
		{ "abcd", "a b c d", 0 },
		{ "abab", "a b a b", 0 },
		{ "abababab", "4{a b}", 4 },
		{ "aabababab", "2a 3{b a} b", 4 }, /* a run before the loop takes its first call */
		{ "xabcabcabcab", "x 3{a b c} a b", 3 },
		{ "bbabbbabbbabbba", "2b 3{a 3b} a", 3 }, /* not four: one call is missing */
		{ "babbbabbbabbbabb", "b 4{a 2..3b}", 4 },
		/* a pair of long rounds, and rounds with other counts */
		{ "abcdefghijklmnopqqabcdefghijklmnopqqabcdefghijklmnopqabcdefghijklmnopqqq"
		  "abcdefghijklmnopq",
				"5{a b c d e f g h i j k l m n o p 1..3q}", 5 },
		{ "cabababcabababcababab", "3{c 3{a b}}", 3 },
		/* counts differ */
		{ "cabababcababababcababab", "3{c 3..4{a b}}", 3 },
		/* once there is a loop, the inner one may be executed once, twice or not at all */
		{ "cabababdcababababdcabababdcabdcdcababdf", "6{c 0..4{a b} d} f", 6 },
		/* and in rounds before those by which the loop was found */
		{ "fcababdcabdcabababdcababababdcabababdf", "f 5{c 1..4{a b} d} f", 5 },
		/* more in the last part of a round than before */
		{ "abbbabbbabbbabbbabbbbabbbabbc", "7{a 2..4b} c", 7 },
		{ "cabababcabababcabababcababababcabababdf", "5{c 3..4{a b}} d f", 5 },
		{ "cabababcababababcabababcabcababe", "5{c 1..4{a b}} e", 5 },
		{ "aabaaabaabab", "4{1..3a b}", 4 },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start();
		calls(cases[i].calls);
		is_text(cases[i].text, cases[i].rounds,
				cases[i].calls[0] ? cases[i].calls : "no call");
	}
}

/* A loop whose counts vary begins where the program begins it, whatever the counts are. */
static void test_rotated(void)
{
	unsigned same = 0;
	uint64_t shape = 0;

	for (unsigned rank = 0; rank < ROTATED_RANKS; rank++) {
		start();
		for (unsigned step = 0; step < 200; step++) {
			calls("a");
			for (unsigned inner = 1 + below(9); inner; inner--)
				calls("b");
			calls("c");
		}
		loops_finish(&text);
		shape = rank ? shape : compare_shape(&text, NULL);
		same += compare_shape(&text, NULL) == shape && text.tokens == 1;
	}
	is_int(same, ROTATED_RANKS, "ranks whose counts vary in other ways have one shape");
	ok(is_true("rotated"), "and the calls are those that were made");
}

/*
 * The calls of well-known programs, by the structure of their sources. Symbols are letters for what
 * the program does before and after its loop, and numbers from 200 on in it.
 */
static void block_tridiagonal_step(unsigned stages)
{
	for (unsigned face = 0; face < 6; face++)
		call(200);
	for (unsigned face = 0; face < 6; face++)
		call(201);
	call(202);
	for (unsigned direction = 0; direction < 3; direction++)
		for (unsigned sweep = 0; sweep < 2; sweep++)
			for (unsigned stage = 0; stage < stages; stage++) {
				uint32_t symbol = 210 + 20 * direction + 10 * sweep;

				if (stage)
					call(symbol);
				if (stage)
					call(symbol + 1);
				if (stage + 1 < stages)
					call(symbol + 2);
				if (stage + 1 < stages)
					call(symbol + 3);
			}
}

static void test_block_tridiagonal(void)
{
	start();
	calls("abbbbcd");
	block_tridiagonal_step(2);
	calls("eff");
	for (unsigned step = 0; step < 200; step++)
		block_tridiagonal_step(2);
	calls("gghi");
	is_int((logged.count - 14) / 201, 37, "BT: a step has 37 calls");
	is_text(NULL, 200, "BT");
	ok(totals_of(&text).tokens < 70, "BT: %u tokens", totals_of(&text).tokens);
	diag("%s", show_text());
	start();
	for (unsigned step = 0; step < 200; step++)
		block_tridiagonal_step(4);
	is_text(NULL, 200, "BT of 16 ranks, without anything around");
	diag("%s", show_text());
}

/*
 * A rank of a wavefront: it receives from the north and west, and sends to the south and east,
 * plane by plane.
 */
static void wavefront_sweep(uint32_t symbol, unsigned planes, unsigned sides)
{
	for (unsigned plane = 0; plane < planes; plane++)
		for (unsigned side = 0; side < 4; side++)
			if (sides >> side & 1)
				call(symbol + side);
}

static void test_wavefront(void)
{
	uint64_t hash[16];
	unsigned differ = 0, right = 0;

	for (unsigned sides = 1; sides < 16; sides++) {
		struct iteration iteration = { 0 };

		start();
		calls("abccd");
		for (unsigned step = 0; step < 250; step++) {
			wavefront_sweep(200, 31, sides);
			wavefront_sweep(210, 31, sides);
			for (unsigned side = 0; side < 4; side++)
				if (sides >> side & 1)
					call(220 + side);
		}
		calls("ef");
		loops_finish(&text);
		right += is_true("LU") && iteration_find(&text, NULL, &iteration) &&
				iteration.rounds == 250;
		hash[sides] = iteration.hash;
		for (unsigned before = 1; before < sides; before++)
			differ += hash[before] != hash[sides];
	}
	diag("%s", show_text());
	is_int(right, 15, "LU: 250 iterations, at corners, at edges and inside");
	start();
	calls("abccd");
	for (unsigned step = 1; step <= 250; step++) {
		wavefront_sweep(200, 31, 15);
		calls(step % 250 ? "" : "n");
		wavefront_sweep(210, 31, 15);
		call(220);
		calls(step % 250 ? "" : "n");
	}
	calls("ef");
	is_text(NULL, 250, "LU that computes a norm in its last step");
	is_int(differ, 105, "LU: ranks with other neighbours have loops of their own");
}

static void conjugate_gradient_step(unsigned steps)
{
	for (unsigned step = 0; step < steps; step++) {
		for (unsigned stage = 0; stage < 2; stage++) {
			call(200);
			call(201);
			call(202);
		}
		call(203);
		call(204);
		call(205);
		for (unsigned stage = 0; stage < 2; stage++)
			call(206);
	}
	calls("xyz");
	call(210);
}

static void test_conjugate_gradient(void)
{
	start();
	calls("abcd");
	conjugate_gradient_step(25);
	calls("e");
	for (unsigned step = 0; step < 15; step++)
		conjugate_gradient_step(25);
	calls("fg");
	is_text("a b c d 25{<200> <201> <202> <200> <201> <202> <203> <204> <205> 2<206>} "
		"x y z <210> e "
		"15{25{<200> <201> <202> <200> <201> <202> <203> <204> <205> 2<206>} "
		"x y z <210>} f g",
			15, "CG");
}

static void exchange(uint32_t symbol)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		call(symbol);
		call(symbol + 1);
		call(symbol + 2);
		call(symbol + 1);
	}
}

static void v_cycle(unsigned levels)
{
	for (unsigned level = levels; level > 1; level--)
		exchange(200);
	exchange(210);
	for (unsigned level = 2; level < levels; level++) {
		exchange(220);
		exchange(230);
		exchange(240);
	}
	exchange(250);
	exchange(260);
	call(270);
}

static void test_multigrid(void)
{
	struct iteration iteration = { 0 };

	start();
	calls("abc");
	exchange(100);
	calls("de");
	for (unsigned cycle = 0; cycle < 4; cycle++)
		v_cycle(8);
	calls("fg");
	is_text(NULL, 4, "MG: four V-cycles");
	diag("%s", show_text());
	start();
	for (unsigned cycle = 0; cycle < 40; cycle++)
		v_cycle(4 + cycle % 3);
	loops_finish(&text);
	iteration_find(&text, NULL, &iteration);
	ok(is_true("MG") && iteration.rounds >= 36 && iteration.rounds <= 40,
			"MG whose depth changes in turn: %llu of 40 V-cycles are one loop",
			(unsigned long long)iteration.rounds);
	diag("%s", show_text());
}

static void test_integer_sort(void)
{
	start();
	calls("ab");
	for (unsigned step = 0; step < 11; step++)
		calls(step == 0 ? "xyzc" : "xyz");
	calls("def");
	is_text("a b x y z c 10{x y z} d e f", 10, "IS");
}

static void test_count_limit(void)
{
	struct loops_token *token;

	start();
	call('a');
	token = arena_top(&text, 0);
	token->count = token->least = token->most = LOOPS_COUNT_MAX;
	call('a');
	is_int(text.tokens, 2, "a run that is at its limit is continued by another one");
}

static void test_no_loop(void)
{
	start();
	calls("abcxyxyxyzabxyxyxyx");
	is_int(text.at, 1, "a loop that was left before is expected again");
	start();
	for (unsigned i = 0; i < 5000; i++)
		call(below(50));
	is_text(NULL, 0, "calls at random");
	start();
	for (uint32_t i = 0; i < 300; i++)
		call(1000 + i);
	is_text(NULL, 0, "each call once");
	start();
	for (unsigned part = 0; part < 5; part++)
		for (unsigned i = 0; i < 50; i++) {
			call(200 + 10 * part);
			call(201 + 10 * part);
		}
	is_text(NULL, 0, "five loops, none of which has half of the time");
}

/* One burst that is as long as the rest of the program makes no iteration of the loop that it is in. */
static void test_long_burst(void)
{
	for (unsigned round = 0; round < 5; round++) {
		start();
		for (uint32_t i = 0; i < 100; i++)
			call_after(1000, 200 + i);
		for (unsigned i = 0; i < 5; i++) {
			call_after(i == round ? 1000000 : 1000, 'a');
			call_after(1000, 'b');
		}
		is_text(NULL, 0, "a loop with one long burst");
	}
	start();
	for (unsigned i = 0; i < 5; i++)
		call_after(i == 4 ? 1000000 : 1000, 'a');
	calls("bcdefghijk");
	is_text(NULL, 0, "a call that is repeated with one long burst");
	for (unsigned round = 0; round < 5; round++) {
		start();
		calls("bc");
		for (unsigned i = 0; i < 5; i++)
			call_after(i == round ? 1000000 : 20000, 'a');
		is_text(NULL, 5, "a loop without its long burst is longer than the rest");
	}
}

/* Programs whose steps are drawn. Each returns the number of its iterations. */
static unsigned varying_solver(void)
{
	for (unsigned step = 0; step < 300; step++)
		conjugate_gradient_step(below(30));
	return 300;
}

static unsigned rebuilt_lists(void)
{
	unsigned rebuilt = 0;

	for (unsigned step = 0; step < 4000; step++) {
		bool rebuilds = below(7) == 0;

		calls(rebuilds ? "uvwvwxyzzzz" : "uvwvw");
		rebuilt += rebuilds;
	}
	return rebuilt;
}

static unsigned optional_part(void)
{
	for (unsigned step = 0; step < 2000; step++)
		calls(below(3) ? "uvwpqpqpq" : "xyxyxyuvwpqpqpqpqpq");
	return 2000;
}

static unsigned two_solvers(void)
{
	for (unsigned step = 0; step < 500; step++) {
		calls("st");
		for (unsigned more = 1 + below(8); more; more--)
			calls("pq");
		calls("r");
		for (unsigned more = 3 + below(8); more; more--)
			calls("jkl");
	}
	return 500;
}

/*
 * Draws each program 50 times. All texts must be true. The iterations must be right in most of
 * them, because a few rounds may be missed before the loop is known.
 */
static void test_drawn(void)
{
	static const struct {
		const char *name;
		unsigned (*run)(void);
	} programs[] = {
		{ "a solver of 0 to 29 steps", varying_solver },
		{ "lists that are rebuilt at drawn times", rebuilt_lists },
		{ "steps some of which have a part more", optional_part },
		{ "two solvers", two_solvers },
	};

	for (unsigned i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		unsigned right = 0, near = 0, true_texts = 0, tokens = 0;

		for (unsigned draw = 0; draw < 50; draw++) {
			struct iteration iteration = { 0 };
			unsigned want;

			random_state = draw * 7919;
			start();
			calls("ab");
			want = programs[i].run();
			calls("ef");
			loops_finish(&text);
			true_texts += is_true(programs[i].name);
			iteration_find(&text, NULL, &iteration);
			right += iteration.rounds == want;
			near += iteration.rounds > want * 0.9 && iteration.rounds < want * 1.1;
			tokens += totals_of(&text).tokens;
		}
		is_int(true_texts, 50, programs[i].name);
		ok(right >= 35 && near >= 40, "%s: iterations right in %u and near in %u of 50",
				programs[i].name, right, near);
		diag("%u tokens in the mean; the last one: %.300s", tokens / 50, show_text());
	}
}

static void test_branches(void)
{
	random_state = 1;
	start();
	for (unsigned step = 0; step < 4000; step++)
		calls(below(3) ? "abcd" : below(2) ? "abxd" : "ayd");
	is_text(NULL, 0, "three branches");
	diag("%.300s", show_text());
}

static void test_memory(void)
{
	random_state = 1;
	ok(sizeof(text) <= 65536, "a thread has at most 64 KiB, and has %zu bytes", sizeof(text));
	start();
	for (unsigned i = 0; i < LOG_MAX; i++)
		call(below(300));
	ok(is_true("calls at random"), "a million calls at random: what the text says is true");
	ok(text.unknown > 0 && text.unknown < LOG_MAX && text.last_unknown == text.unknown,
			"calls at random: the oldest %llu calls are a hole",
			(unsigned long long)text.unknown);
	/* a loop after calls at random is found as if it were alone */
	for (unsigned step = 0; logged.count < LOG_MAX; step++)
		call(step % 7);
	start();
	for (unsigned i = 0; i < 20000; i++)
		call(below(300));
	for (unsigned step = 0; step < 700; step++)
		block_tridiagonal_step(2);
	is_text(NULL, 700, "a loop after calls at random");
	start();
	for (unsigned step = 0; step < 700; step++)
		block_tridiagonal_step(2);
	for (unsigned i = 0; i < 5000; i++)
		call(300 + below(300));
	is_text(NULL, 700, "a loop before calls at random is kept");
}

/* Calls that are not observed, between windows of a few that are. */
static void test_skipped(void)
{
	struct iteration iteration = { 0 };

	random_state = 1;
	start();
	for (unsigned step = 0; step < 100; step++)
		calls("abc");
	skip_calls(1000);
	for (unsigned step = 0; step < 100; step++)
		calls("abc");
	is_text("100{a b c} ?1000 100{a b c}", 200, "calls that were skipped once");
	iteration_find(&text, NULL, &iteration);
	is_int((long)iteration.hidden, 1000 / 3, "calls that were skipped may be rounds, too");
	start();
	for (unsigned step = 0; step < 50; step++)
		calls("xyz");
	for (unsigned window = 0; window < 10000; window++) {
		calls("abcdefgh");
		skip_calls(1 + below(90));
	}
	is_text(NULL, 0, "windows between skipped calls");
	ok(totals_of(&text).tokens < 16, "windows between skipped calls are one hole: %s",
			show_text());
}

static void test_lost_counts(void)
{
	random_state = 1;
	start();
	calls("ab");
	for (unsigned step = 0; step < 60000; step++) {
		for (unsigned more = 1 + below(12); more; more--)
			call('x');
		calls("yz");
	}
	calls("cd");
	is_text(NULL, 60000, "more counts than are kept");
	ok(text.exact > 50000 && text.exact < logged.count,
			"more counts than are kept: exact up to call %llu of %u",
			(unsigned long long)text.exact, logged.count);
	start();
	for (unsigned step = 0; step < 300; step++)
		for (unsigned inner = 1; inner <= 50; inner++) {
			for (unsigned more = inner; more; more--)
				call('x');
			calls(inner == 50 ? "yzw" : "yz");
		}
	is_text(NULL, 300, "counts that repeat");
	is_str(show_text(), "300{50{1..50x y z} w}", "counts that repeat are kept once");
	is_int(text.exact == UINT64_MAX, 1, "counts that repeat: exact to the end");
}

/* Gives the symbols of a rank whose paths have other numbers the signatures of rank 0. */
static uint64_t signature_of(const void *data, uint32_t symbol)
{
	return symbol - *(const uint32_t *)data;
}

static void test_ranks(void)
{
	static const uint32_t offset = 1000;
	const struct loops_names names = { signature_of, &offset };
	struct iteration here = { 0 }, there = { 0 };
	struct totals before, after;

	random_state = 1;
	start();
	calls("abc");
	for (unsigned step = 0; step < 90; step++)
		calls("uvvwxyyy");
	calls("d");
	loops_finish(&text);
	iteration_find(&text, NULL, &here);
	other = text;
	start();
	calls("abwxyyy"); /* the loop is entered at another call */
	for (unsigned step = 0; step < 90; step++)
		calls("uvvwxyyy");
	loops_finish(&text);
	iteration_find(&text, NULL, &there);
	ok(here.hash && here.hash == there.hash && here.shape == there.shape,
			"ranks that enter a loop at different calls have one iteration");
	is_int(there.rounds, 90, "and as many of them");
	ok(compare_hash(&text, NULL) != compare_hash(&other, NULL), "but other texts");
	is_int(compare_merge(&other, NULL, &text, NULL), -EINVAL, "which cannot be added");
	start();
	for (unsigned step = 0; step < 90; step++)
		calls("uvvwxyyyy");
	loops_finish(&text);
	iteration_find(&text, NULL, &there);
	ok(here.hash != there.hash && here.shape == there.shape,
			"a loop with other counts has the same shape");
	start();
	for (const char *symbol = "abc"; *symbol; symbol++)
		call((unsigned char)*symbol + offset);
	for (unsigned step = 0; step < 90; step++)
		for (const char *symbol = "uvvwxyyy"; *symbol; symbol++)
			call((unsigned char)*symbol + offset);
	call('d' + offset);
	loops_finish(&text);
	ok(compare_hash(&text, &names) == compare_hash(&other, NULL),
			"signatures make texts with other numbers equal");
	before = totals_of(&other);
	after = totals_of(&text);
	is_int(compare_merge(&other, NULL, &text, &names), 0, "and equal texts are added");
	before.ticks += after.ticks;
	before.calls += after.calls;
	after = totals_of(&other);
	ok(after.ticks == before.ticks && after.calls == before.calls && !after.wrong,
			"with all calls and their times");
}

static void test_slot(void)
{
	struct loops_slot a = { 0 }, b = { 0 };

	ok(slot_bin(0) == 0 && slot_bin(1023) == 0 && slot_bin(1024) == 1 && slot_bin(16383) == 1 &&
					slot_bin(16384) == 2 &&
					slot_bin(UINT64_MAX) == SLOT_BINS - 1,
			"bins of times");
	slot_add(&a, 10, 2000);
	slot_add(&b, 30, 5);
	slot_add(&b, 20000, 7);
	slot_merge(&a, &b);
	ok(a.count == 3 && a.sum[SLOT_BURST] == 20040 && a.sum[SLOT_INSIDE] == 2012,
			"slots are additive");
	ok(a.least[SLOT_BURST] == 10 && a.most[SLOT_BURST] == 20000 && a.least[SLOT_INSIDE] == 5 &&
					a.most[SLOT_INSIDE] == 2000,
			"also their extremes");
	ok(a.bin[SLOT_BURST][0] == 2 && a.bin[SLOT_BURST][2] == 1 && a.bin[SLOT_INSIDE][1] == 1,
			"also their bins");
	is_near(a.squares[SLOT_INSIDE], 4000000 + 25 + 49, 0, "also their squares");
	b.bin[SLOT_BURST][0] = UINT32_MAX;
	slot_merge(&a, &b);
	is_int(a.bin[SLOT_BURST][0], UINT32_MAX, "a bin that is full stays full");
}

/* Returns the processor time of the thread, because other programs may run. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints what a call costs. Not a test, because it depends on the machine. */
static void print_cost(const char *name, unsigned period, unsigned vary)
{
	unsigned count = 0, all = tap_cases(LOG_MAX);
	double began;

	start();
	for (unsigned step = 0; count < all; step++)
		for (unsigned i = 0; i < period && count < all; i++)
			logged.symbol[count++] = vary && below(2) ? below(vary) : i;
	began = seconds();
	for (unsigned i = 0; i < count; i++)
		loops_add(&text, logged.symbol[i], 3000, 200);
	diag("%s: %.1f ns a call", name, 1e9 * (seconds() - began) / count);
}

int main(int argc, char **argv)
{
	if (argc <= 2) {
		test_slot();
		test_words();
		test_rotated();
		test_block_tridiagonal();
		test_wavefront();
		test_conjugate_gradient();
		test_multigrid();
		test_integer_sort();
		test_count_limit();
		test_no_loop();
		test_long_burst();
		test_drawn();
		test_branches();
		test_memory();
		test_skipped();
		test_lost_counts();
		test_ranks();
		print_cost("a loop of 2 calls", 2, 0);
		print_cost("a loop of 37 calls", 37, 0);
		print_cost("a loop of 150 calls", 150, 0);
		print_cost("calls half of which are drawn", 37, 300);
	}
	test_random(argc > 2 ? strtoull(argv[1], NULL, 10) : 1,
			argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : tap_cases(2000));
	return tap_done();
}
