/* Call paths: told apart, recognised, cut where the stack moves, safe on other stacks. */
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#include "sampling/path.h"
#include "tests/tap.h"

/* No tail call, nothing merged with its like. */
#define KEEP              __attribute__((noinline, noclone, optimize("no-ipa-icf")))
#define AFTER_CALL(value) __asm__ volatile("" : "+r"(value))

static struct path_table table;

/* In the place of an intercepted call. */
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

	/* volatile: the compiler makes one call of it, not one for the first pass */
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

/* Its frame has another size at each call. */
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

/* The path behind the last of them. */
static unsigned sixteen_callers(struct path_table *in, unsigned way, int depth)
{
	unsigned path = 0;

#define CALLER(n)                                                                                  \
	path = recurse(in, way, depth);                                                            \
	__asm__ volatile("# " #n : "+r"(path))
	CALLER(0);
	CALLER(1);
	CALLER(2);
	CALLER(3);
	CALLER(4);
	CALLER(5);
	CALLER(6);
	CALLER(7);
	CALLER(8);
	CALLER(9);
	CALLER(10);
	CALLER(11);
	CALLER(12);
	CALLER(13);
	CALLER(14);
	CALLER(15);
#undef CALLER
	return path;
}

static void test_crowd(void)
{
	struct path_table *own = calloc(1, sizeof(*own));
	unsigned path = 0;

	path_init(own, pthread_self());
	for (int pass = 0; pass < 2; pass++)
		for (unsigned way = 0; way < 1 << 9; way++)
			path = recurse(own, way, 9);
	is_int(own->count, 1 + (1 << 7), "eight frames deep, seven turns");
	for (int depth = 6; depth >= 5; depth--)
		for (unsigned way = 0; way < 1u << depth; way++)
			sixteen_callers(own, way, depth);
	is_int(own->count, PATHS_DEEP + 1, "more paths than there is room: the rest is one");
	is_int(own->path[PATHS_DEEP].frames, 1, "of one return address");
	is_int(own->crowded, 1, "which is counted");
	is_int(sixteen_callers(own, 31, 5), PATHS_DEEP, "what was met late is found there");
	path = recurse(own, 0, 9);
	ok(path && own->path[path].frames == PATH_FRAMES_MAX, "what was met early, as before");
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
	if (path_setup()) {
		printf("1..0 # SKIP no libgcc_s\n");
		return 0;
	}
	path_init(&table, pthread_self());
	test_callers();
	test_threads();
	test_moving_stack();
	test_crowd();
	test_without_stack();
	test_other_stack();
	return tap_done();
}
