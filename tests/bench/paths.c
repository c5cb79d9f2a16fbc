/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of call paths at repeated sites, with and without path_find, in turns. Twelve call sites
 * lie behind two wrappers, in a loop and in random order. Other runs have 16 to 100,000 paths in random order,
 * whose frames have equal sizes or not. Prints lines of a name and nanoseconds a call: the smallest of the
 * turns, and for many paths the difference.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/thread/path.h"
#include "agent/thread/unwind.h"

#define TURNS      40
#define TURNS_MANY 25
#define CALLS      200000

#define KEEP              __attribute__((noinline, noclone))
#define AFTER_CALL(value) __asm__ volatile("" : "+r"(value))

static struct path_table table;
static bool with;

static KEEP unsigned intercepted(void)
{
	unsigned path = with ? path_find(&table, (uintptr_t)__builtin_return_address(0),
					       __builtin_dwarf_cfa()) :
			       0;

	AFTER_CALL(path);
	return path;
}

static KEEP unsigned inner(void)
{
	unsigned path = intercepted();

	AFTER_CALL(path);
	return path;
}

static KEEP unsigned outer(void)
{
	unsigned path = inner();

	AFTER_CALL(path);
	return path;
}

/* A call site. The number prevents the compiler from merging two calls. */
#define CALL                                                                                       \
	path = outer();                                                                            \
	__asm__ volatile("# %1" : "+r"(path) : "i"(__COUNTER__))

static KEEP void loop(void)
{
	unsigned path;

	for (int i = 0; i < CALLS / 12; i++) {
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
		CALL;
	}
}

/*
 * Makes calls in an order that does not repeat soon, so that the call that followed last time seldom follows
 * again.
 */
static KEEP void shuffled(void)
{
	unsigned path, x = 1;

	for (int i = 0; i < CALLS; i++) {
		x = x * 1664525 + 1013904223;
		switch (x >> 28) {
		case 0:
			CALL;
			break;
		case 1:
			CALL;
			break;
		case 2:
			CALL;
			break;
		case 3:
			CALL;
			break;
		case 4:
			CALL;
			break;
		case 5:
			CALL;
			break;
		case 6:
			CALL;
			break;
		case 7:
			CALL;
			break;
		case 8:
			CALL;
			break;
		case 9:
			CALL;
			break;
		case 10:
			CALL;
			break;
		default:
			CALL;
			break;
		}
	}
}

/* Takes one of 8^6 paths of frames that have equal sizes. */
static KEEP unsigned alike(unsigned way, int depth);

/* Takes one of 8^6 paths whose frames are larger for some of the ways. */
static KEEP unsigned small(unsigned way, int depth);
static KEEP unsigned large(unsigned way, int depth);

#define WAY(n, function)                                                                           \
	case n:                                                                                    \
		path = function(way >> 3, depth - 1);                                              \
		__asm__ volatile("# %1" : "+r"(path) : "i"(__COUNTER__));                          \
		break
#define WAYS(f, g)                                                                                 \
	if (!depth)                                                                                \
		path = intercepted();                                                              \
	else                                                                                       \
		switch (way & 7) {                                                                 \
			WAY(0, f);                                                                 \
			WAY(1, g);                                                                 \
			WAY(2, f);                                                                 \
			WAY(3, g);                                                                 \
			WAY(4, f);                                                                 \
			WAY(5, g);                                                                 \
			WAY(6, f);                                                                 \
			WAY(7, g);                                                                 \
		}                                                                                  \
	AFTER_CALL(path)

static KEEP unsigned alike(unsigned way, int depth)
{
	unsigned path = 0;

	WAYS(alike, alike);
	return path;
}

static KEEP unsigned small(unsigned way, int depth)
{
	unsigned path = 0;

	WAYS(small, large);
	return path;
}

static KEEP unsigned large(unsigned way, int depth)
{
	volatile char room[200];
	unsigned path = 0;

	room[0] = 1;
	WAYS(small, large);
	return path + 0 * (unsigned)room[0];
}

static unsigned ways;
static unsigned (*turns)(unsigned way, int depth);

static void many(void)
{
	unsigned draw = 1;

	for (int i = 0; i < CALLS; i++) {
		draw = draw * 1664525 + 1013904223;
		turns((draw >> 8) % ways, 6);
	}
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(void (*calls)(void), int times, double least[2])
{
	least[0] = least[1] = 1e18;
	for (int turn = 0; turn < times; turn++)
		for (int way = 0; way < 2; way++) {
			double begin;

			with = way;
			begin = now_ns();
			calls();
			begin = (now_ns() - begin) / CALLS;
			if (begin < least[way])
				least[way] = begin;
		}
}

static void print_both(const char *name, void (*calls)(void))
{
	double least[2];

	measure(calls, TURNS, least);
	printf("%s %.2f\n%s_with_path %.2f\n", name, least[0], name, least[1]);
}

static void print_many(const char *name, unsigned (*function)(unsigned way, int depth))
{
	static const unsigned counts[] = { 1, 16, 256, 1024, 4096, 16384, 100000 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		double least[2];

		path_fini(&table);
		memset(&table, 0, sizeof(table));
		path_init(&table, pthread_self());
		ways = counts[i];
		turns = function;
		measure(many, TURNS_MANY, least);
		printf("%s_%u_added %.2f\n", name, ways, least[1] - least[0]);
	}
}

int main(void)
{
	if (unwind_setup())
		puts("no unwinder: paths of one address");
	path_init(&table, pthread_self());
	print_both("in_a_loop", loop);
	print_both("in_random_order", shuffled);
	print_many("alike", alike);
	print_many("unlike", small);
	return 0;
}
