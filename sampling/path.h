/*
 * Call paths of one thread: the return addresses above a call, a few frames deep, so that a
 * program's own wrapper around a runtime call does not hide who called it.
 *
 * A path is learnt once by unwinding. From then on it is recognised by looking whether the same
 * return addresses stand at the same distances up the stack: frame by frame, the distance to the
 * next return address is a constant of the code that the last one returns to, so equal words there
 * are the same path, not chance. Where code moves its stack pointer by varying amounts (alloca),
 * the path ends before it. The stack is only looked at between the call and the stack's end; on a
 * stack that is not the thread's own (a coroutine's), a path is its first return address alone.
 *
 * One thread uses a table; others may read it once that thread has stopped. Plain data, without
 * pointers; zeros are an empty table without a stack: every path is one return address.
 */
#ifndef PHASEMUX_SAMPLING_PATH_H
#define PHASEMUX_SAMPLING_PATH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PATH_FRAMES_MAX 8
#define PATHS_MAX       2048
#define PATHS_DEEP      (PATHS_MAX / 4 * 3) /* those met later are one return address */
#define PATH_HEADS      1024

/*
 * In the order in which they were met: memory is touched as far as it is used. A program may have
 * more of them (one that reads its input with a broadcast for each variable has a thousand before
 * its loop begins): what is met late is still told apart by the call. Path 0 stands for those that
 * found no room: no frames.
 */
struct path {
	/* return addresses, innermost first */
	_Alignas(64) uintptr_t address[PATH_FRAMES_MAX];
	uint32_t offset[PATH_FRAMES_MAX]; /* where they stand, in bytes above the caller's frame */
	uint64_t signature; /* of the whole path; the same in every process of a program */
	uint16_t frames;
	uint16_t depth; /* that paths from this address may have at most */
	uint16_t next;  /* of the same head; 0: none */
	uint16_t then;  /* which path came after this one, last time */
	uint32_t note;  /* whatever the table's user remembers of it; 0 at first */
};

struct path_table {
	uintptr_t stack_begin, stack_end;
	uint32_t count; /* paths in use, with number 0 */
	uint16_t last, expected;
	uint64_t crowded; /* paths that were met late: their first return address is all they have */
	_Atomic uint64_t learn_ticks; /* that learning took; others may read it at any time */
	uint16_t head[PATH_HEADS];
	struct path path[PATHS_MAX];
};

/*
 * Makes unwinding possible, for the whole process: 0 or -ENOENT, and then a path is one return
 * address. Before the first path_find; may allocate.
 */
int path_setup(void);

/* Notes the stack of its thread in a (zeroed) table. May allocate. */
void path_init(struct path_table *table, pthread_t thread);

/* The cold side of path_find: looked up, or learnt. */
unsigned path_search(struct path_table *table, uintptr_t address, const void *frame);

/* Looks at words of the stack that are other functions'. */
static inline __attribute__((no_sanitize("address"))) bool path_is_here(
		const struct path_table *table, const struct path *path, uintptr_t address,
		uintptr_t frame)
{
	unsigned top = path->frames;

	if (path->address[0] != address)
		return false;
	if (top <= 1)
		return top == 1;
	if (frame < table->stack_begin ||
			frame + path->offset[top - 1] + sizeof(uintptr_t) > table->stack_end)
		return false;
	for (unsigned i = 1; i < top; i++)
		if (*(const uintptr_t *)(frame + path->offset[i]) != path->address[i])
			return false;
	return true;
}

/*
 * The path of the call that returns to `address`, by its number in the table; frame is the caller's
 * stack pointer after that return (the canonical frame address of the function called). Allocates
 * nothing, takes no lock (but the loader's where glibc is older than 2.35 and the path is new).
 */
static inline unsigned path_find(struct path_table *table, uintptr_t address, const void *frame)
{
	/* programs are loops: what followed this path last time follows it again */
	unsigned at = table->expected;

	if (__builtin_expect(!path_is_here(table, &table->path[at], address, (uintptr_t)frame),
			    0)) {
		at = path_search(table, address, frame);
		if (at < PATHS_DEEP)
			table->path[table->last].then = (uint16_t)at;
	}
	table->last = (uint16_t)at;
	/* looked up while that path is in the cache */
	table->expected = table->path[at].then;
	return at;
}

#endif
