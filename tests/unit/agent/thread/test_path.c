/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests call paths: they are told apart, recognised, cut if the stack moves, and safe on other stacks. */
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include "agent/thread/path.h"
#include "agent/thread/unwind.h"
#include "tests/tap.h"

/* Prevents tail calls, and that the compiler merges similar functions. */
#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noinline, noclone, optimize("no-ipa-icf")))
#endif
#define AFTER_CALL(value) __asm__ volatile("" : "+r"(value))

static struct path_table table;

/* Takes the place of an intercepted call. */
static KEEP unsigned intercepted(struct path_table *in)
{
	unsigned path = path_find(in, (uintptr_t)__builtin_return_address(0),
			__builtin_dwarf_cfa());

	AFTER_CALL(path);
	return path;
}

static KEEP unsigned wrapper(struct path_table *in)
{
	unsigned path = intercepted(in);

	AFTER_CALL(path);
	return path;
}

static KEEP unsigned outer_wrapper(struct path_table *in)
{
	unsigned path = wrapper(in);

	AFTER_CALL(path);
	return path;
}

static KEEP void three_callers(struct path_table *in, unsigned paths[3])
{
	paths[0] = wrapper(in);
	AFTER_CALL(paths[0]);
	paths[1] = wrapper(in);
	AFTER_CALL(paths[1]);
	paths[2] = outer_wrapper(in);
	AFTER_CALL(paths[2]);
}

static void test_callers(void)
{
	unsigned first[3], again[3];
	bool same = true;

	/*
	 * volatile, so that the compiler makes one call for all passes, and not another one for the first pass
	 */
	for (volatile int i = 0; i < 5; i++) {
		three_callers(&table, i ? again : first);
		for (int k = 0; k < 3 && i; k++)
			same = same && again[k] == first[k];
	}
	ok(first[0] != first[1] && first[1] != first[2] && first[0] != first[2],
			"callers of a wrapper are told apart");
	ok(same, "and recognised");
	is_int(table.count, 4, "no path was learnt twice");
	ok(table.path[first[0]].frames > 3, "a path goes up to main");
	ok(table.path[first[0]].address[0] == table.path[first[1]].address[0],
			"both begin in the wrapper");
	ok(table.path[first[0]].signature != table.path[first[1]].signature,
			"their signatures differ");
}

/* A function of two calls, which is reached over two paths. The next function has two calls as well. */
static KEEP void first_solver(unsigned paths[2])
{
	paths[0] = wrapper(&table);
	AFTER_CALL(paths[0]);
	paths[1] = wrapper(&table);
	AFTER_CALL(paths[1]);
}

/* Makes its calls in another order, so that the compiler does not merge both solvers. */
static KEEP void second_solver(unsigned paths[2])
{
	paths[1] = wrapper(&table);
	AFTER_CALL(paths[1]);
	paths[0] = wrapper(&table);
	AFTER_CALL(paths[0]);
}

static KEEP void first_solver_from_elsewhere(unsigned paths[2])
{
	first_solver(paths);
	AFTER_CALL(paths[0]);
}

static uint64_t between(unsigned from, unsigned to)
{
	return path_between(&table, from, to);
}

static void test_between(void)
{
	unsigned first[2], elsewhere[2], second[2];

	first_solver(first);
	first_solver_from_elsewhere(elsewhere);
	second_solver(second);
	ok(first[0] != elsewhere[0] && first[1] != elsewhere[1], "a function has two callers");
	ok(between(first[0], first[1]) == between(elsewhere[0], elsewhere[1]),
			"between its calls the code is the same for all callers");
	ok(between(first[0], first[1]) != between(second[0], second[1]),
			"another function's code is not");
	ok(between(first[0], first[1]) != between(first[1], first[0]), "nor is the way back");
	ok(between(first[1], second[0]) != between(elsewhere[1], second[0]),
			"between two functions, callers count");
	ok(between(first[0], first[0]) != between(elsewhere[0], elsewhere[0]),
			"and between a call and itself");
}

static void *in_thread(void *data)
{
	struct path_table *own = calloc(1, sizeof(*own));

	path_init(own, pthread_self());
	three_callers(own, data);
	return own;
}

static void test_threads(void)
{
	struct path_table *tables[2];
	pthread_t thread[2];
	unsigned paths[2][3];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, in_thread, paths[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], (void **)&tables[i]);
	for (int k = 0; k < 3; k++)
		ok(tables[0]->path[paths[0][k]].signature ==
								tables[1]->path[paths[1][k]]
										.signature &&
						tables[0]->path[paths[0][k]].frames > 3,
				"two threads' path %d has one signature", k);
	free(tables[0]);
	free(tables[1]);
}

/* Has a frame of another size at each call. */
static KEEP unsigned moving(struct path_table *in, size_t size)
{
	volatile char *room = alloca(size);
	unsigned path;

	room[0] = 1;
	path = wrapper(in);
	AFTER_CALL(path);
	return path + 0 * (unsigned)room[0];
}

static void test_moving_stack(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	unsigned path = 0;

	path_init(own, pthread_self());
	for (size_t size = 16; size < 4096; size += 16)
		path = moving(own, size);
	ok(own->count <= 4, "a stack that moves does not fill the table (%u paths)", own->count);
	is_int(own->path[path].frames, 2, "the path ends in the function that moves it");
	is_int(moving(own, 1 << 16), path, "and is recognised, whatever its size");
	free(own);
}

static KEEP unsigned recurse(struct path_table *in, unsigned left_or_right, int depth)
{
	unsigned path;

	if (!depth)
		path = intercepted(in);
	else if (left_or_right & 1) {
		path = recurse(in, left_or_right >> 1, depth - 1);
		__asm__ volatile("# left" : "+r"(path));
	} else {
		path = recurse(in, left_or_right >> 1, depth - 1);
		__asm__ volatile("# right" : "+r"(path));
	}
	AFTER_CALL(path);
	return path;
}

static void test_depth(void)
{
	struct path_table *own = calloc(1, sizeof(*own));

	path_init(own, pthread_self());
	for (int pass = 0; pass < 2; pass++)
		for (unsigned way = 0; way < 1 << 9; way++)
			recurse(own, way, 9);
	is_int(own->count, 1 + (1 << 7), "eight frames deep, seven turns");
	is_int(own->merged, 0, "none of which was merged with another");
	path_fini(own);
	free(own);
}

/* Takes a turn whose frame has another size than that of turn(). */
static KEEP unsigned wide(struct path_table *in, unsigned long way, int depth);

/*
 * Takes one of 4^depth paths. Each two of them differ in a frame, and most also differ in the addresses of
 * their frames.
 */
static KEEP unsigned turn(struct path_table *in, unsigned long way, int depth)
{
	unsigned path;

	if (!depth)
		path = intercepted(in);
	else
		switch (way & 3) {
		case 0:
			path = turn(in, way >> 2, depth - 1);
			__asm__ volatile("# 0" : "+r"(path));
			break;
		case 1:
			path = turn(in, way >> 2, depth - 1);
			__asm__ volatile("# 1" : "+r"(path));
			break;
		case 2:
			path = wide(in, way >> 2, depth - 1);
			__asm__ volatile("# 2" : "+r"(path));
			break;
		default:
			path = wide(in, way >> 2, depth - 1);
			__asm__ volatile("# 3" : "+r"(path));
		}
	AFTER_CALL(path);
	return path;
}

static KEEP unsigned wide(struct path_table *in, unsigned long way, int depth)
{
	volatile char room[200];
	unsigned path;

	room[0] = 1;
	path = turn(in, way, depth);
	AFTER_CALL(path);
	return path + 0 * (unsigned)room[0];
}

/*
 * Returns the i-th number below `count`: in order at first, then in another order. Is a function, so that the
 * compiler makes one call for all passes. `count` is not 0.
 */
static KEEP unsigned way_of(unsigned i, unsigned count)
{
	/* cppcheck-suppress zerodivcond */
	return i < count ? i : (unsigned)((uint64_t)i * 2654435761u % count);
}

static void test_many(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	/* paths of four turns, with at most three more frames for the wide ones */
	static unsigned first[1 << 8];
	unsigned count = 1 << 8, wrong = 0, ambiguous = 0;

	path_init(own, pthread_self());
	/* all calls come from one place, because that is a frame of these paths, too */
	for (volatile unsigned i = 0; i < 9 * count; i++) {
		unsigned way = way_of(i, count);
		unsigned path = turn(own, way, 4);

		if (i < count)
			first[way] = path;
		wrong += path != first[way];
	}
	is_int(wrong, 0, "paths that come in any order are recognised");
	for (unsigned a = 0; a < count; a++)
		for (unsigned b = 0; b < a; b++)
			ambiguous += first[a] == first[b] &&
					own->path[first[a]].frames < PATH_FRAMES_MAX;
	is_int(ambiguous, 0, "and none is mistaken for another one, unless they differ too far up");
	is_int(own->merged, 0, "none was merged");
	path_fini(own);
	free(own);
}

static void test_guesses(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	unsigned draw = 1, given_up = 0;

	path_init(own, pthread_self());
	/* one call for both orders, which a volatile number keeps the compiler from unrolling */
	for (volatile unsigned i = 0; i < 3000; i++) {
		draw = draw * 1664525 + 1013904223;
		turn(own, i < 2000 ? draw >> 24 : i & 3, 4);
		if (i == 1999)
			given_up = own->no_guess;
	}
	ok(given_up && own->path[own->last].then != 0,
			"paths in random order are not guessed any more");
	ok(!own->no_guess && own->expected == own->path[own->last].then && own->expected,
			"and are again once they repeat");
	path_fini(own);
	free(own);
}

/* Takes one of 8^depth paths. */
static KEEP unsigned eight(struct path_table *in, unsigned long way, int depth)
{
	unsigned path;

#define WAY(n)                                                                                     \
	case n:                                                                                    \
		path = eight(in, way >> 3, depth - 1);                                             \
		__asm__ volatile("# " #n : "+r"(path));                                            \
		break
	if (!depth)
		path = intercepted(in);
	else
		switch (way & 7) {
			WAY(0);
			WAY(1);
			WAY(2);
			WAY(3);
			WAY(4);
			WAY(5);
			WAY(6);
		default:
			path = eight(in, way >> 3, depth - 1);
			__asm__ volatile("# 7" : "+r"(path));
		}
#undef WAY
	AFTER_CALL(path);
	return path;
}

#define MANY 100000

static void test_bound(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	static unsigned first[MANY];
	unsigned changed = 0, none = 0, merged;

	path_init(own, pthread_self());
	is_int(path_mapped(own), 0, "a table begins without memory of its own");
	for (volatile unsigned i = 0; i < 2 * MANY; i++) {
		unsigned way = way_of(i, MANY);
		unsigned path = eight(own, way, 6);

		if (i < MANY)
			first[way] = path;
		changed += path != first[way];
		none += !first[way] || own->path[first[way]].address[0] != own->path[1].address[0];
	}
	is_int(none, 0, "each of 100,000 paths has a number, of a path that begins where it does");
	is_int(own->kept, PATHS_DEEP, "as many as there is room for are whole");
	is_int(own->merged, 2 * (MANY - PATHS_DEEP), "the calls of the others are counted");
	merged = own->count - 1 - (unsigned)own->kept;
	ok(merged > 8 && own->count <= PATHS_MAX, "and merged in a bounded number of paths (%u)",
			merged);
	is_int(own->path[first[MANY - 1]].frames, 4, "by their four innermost frames");
	ok(path_mapped(own) > 0 && path_mapped(own) <= PATH_SLOTS_MAX * 20,
			"the memory for finding them is bounded");
	is_int(changed, 0, "in any order each is found under the number that it had");
	path_fini(own);
	is_int(path_mapped(own), 0, "the memory is given back");
	free(own);
}

/* Many threads have many paths. */
static void test_process_bound(void)
{
	enum { TABLES = 8 };
	struct path_table *tables[TABLES];
	unsigned all = 0, least = PATHS_MAX;

	for (int t = 0; t < TABLES; t++) {
		tables[t] = calloc(1, sizeof(*tables[t]));
		path_init(tables[t], pthread_self());
		for (unsigned way = 0; way < PATHS_DEEP; way++)
			eight(tables[t], way, 6);
		all += tables[t]->count - 1;
		least = tables[t]->kept < least ? (unsigned)tables[t]->kept : least;
	}
	ok(all <= PATHS_PROCESS + TABLES * 2 * PATHS_EACH,
			"the process keeps a bounded number (%u)", all);
	is_int(least, PATHS_EACH, "of which each thread has some");
	for (int t = 0; t < TABLES; t++) {
		path_fini(tables[t]);
		free(tables[t]);
	}
}

/* Without time for learning, a path ends at the first frame that is not known. */
static void test_without_learning(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	unsigned paths[3], more[3];

	path_init(own, pthread_self());
	own->learn_most = 0;
	three_callers(own, paths);
	is_int(own->path[paths[0]].frames, 1, "without time to learn: one address");
	own->learn_most = UINT64_MAX;
	outer_wrapper(own);
	own->learn_most = 0;
	three_callers(own, more);
	is_int(own->path[more[2]].frames, 2, "known frames are used nevertheless");
	path_fini(own);
	free(own);
}

static ucontext_t here, there;
static unsigned coroutine_paths[3];

static void coroutine(void)
{
	three_callers(&table, coroutine_paths);
	swapcontext(&there, &here);
}

static void test_other_stack(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	char *stack = malloc(1 << 16);

	path_init(own, pthread_self());
	table = *own;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = 1 << 16;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
	is_int(table.path[coroutine_paths[0]].frames, 1, "on another stack: one address");
	is_int(coroutine_paths[0], coroutine_paths[1], "so callers are not told apart");
	free(stack);
	free(own);
}

static void test_without_stack(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	unsigned paths[3];

	three_callers(own, paths);
	is_int(own->path[paths[0]].frames, 1, "without a known stack: one address");
	free(own);
}

int main(void)
{
	if (unwind_setup()) {
		printf("1..0 # SKIP no libgcc_s\n");
		return 0;
	}
	path_init(&table, pthread_self());
	test_callers();
	test_between();
	test_threads();
	test_moving_stack();
	test_depth();
	test_many();
	test_guesses();
	test_bound();
	test_process_bound();
	test_without_learning();
	test_without_stack();
	test_other_stack();
	return tap_done();
}
