/*
 * What call paths cost at repeated sites: twelve call sites behind two wrappers, in a loop and in
 * random order, with and without path_find, in turns. Prints lines of a name and nanoseconds a call:
 * the smallest of the turns.
 */
#include <stdio.h>
#include <time.h>

#include "sampling/path.h"

#define TURNS 40
#define CALLS 200000

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

/* The number keeps the compiler from making one call of two. */
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

/* Callers in an order that does not repeat soon, so that what came next last time seldom does. */
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

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(const char *name, void (*calls)(void))
{
	double least[2] = { 1e18, 1e18 };

	for (int turn = 0; turn < TURNS; turn++)
		for (int way = 0; way < 2; way++) {
			double begin;

			with = way;
			begin = now_ns();
			calls();
			begin = (now_ns() - begin) / CALLS;
			if (begin < least[way])
				least[way] = begin;
		}
	printf("%s %.2f\n%s_with_path %.2f\n", name, least[0], name, least[1]);
}

int main(void)
{
	if (path_setup())
		puts("no unwinder: paths of one address");
	path_init(&table, pthread_self());
	measure("in_a_loop", loop);
	measure("in_random_order", shuffled);
	return 0;
}
