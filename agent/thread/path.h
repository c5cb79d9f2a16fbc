/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of one thread: the return addresses above a call, a few frames deep, so that a program's own
 * wrapper around a runtime call does not hide the caller.
 *
 * How far up the stack the next frame and the next return address are is a constant of the code that a return
 * address returns to. Unwinding learns it once for each return address. The stack is then walked without
 * unwinding, and a hash table tells which path the addresses are. Therefore the time to find a path does not
 * depend on the number of paths. Two guesses come before the walk: the path that followed the last one the time
 * before, and the offsets of the last path from this address.
 *
 * If code moves its stack pointer by varying amounts (alloca), paths end before it. To find such code, every
 * new path is compared with the result of unwinding, as far as `learn_most` allows. The stack is only read
 * between the call and the stack's end. On a stack that is not the thread's own (a coroutine's), a path is only
 * its first return address.
 *
 * Memory is bounded: a thread keeps PATHS_DEEP whole paths, and all threads of the process together
 * PATHS_PROCESS of them, except that each thread may have PATHS_EACH of its own. A path that is found later is
 * merged with others that have the same innermost frames: four of them, or fewer once there are many merged
 * paths. The hash tables are first within the struct and grow in memory that is mapped for them.
 *
 * One thread uses a table. Others may read `path` below `count` once they have a number from that thread,
 * because a path stays at its place, with its addresses and its signature. Zeros are an empty table without a
 * stack, in which every path is one return address.
 */
#ifndef PHASEMUX_AGENT_THREAD_PATH_H
#define PHASEMUX_AGENT_THREAD_PATH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_FRAMES_MAX  8
#define PATHS_MAX        4096 /* numbers of a thread; all but PATHS_DEEP are for merged paths */
#define PATHS_DEEP       3072 /* whole paths of a thread */
#define PATHS_PROCESS    8192 /* paths of all threads */
#define PATHS_EACH       64   /* paths, and merged ones, of each thread even beyond PATHS_PROCESS */
#define PATH_SLOTS_FIRST 128  /* slots of each hash table within the struct */
#define PATH_SLOTS_MAX   8192
#define PATH_ORIGINS     128

/*
 * A path. Paths are stored in the order in which they were first found, so that only memory in use is touched.
 * Path 0 has no frames, and stands for paths that found no room.
 */
struct path {
	/* return addresses, innermost first */
	_Alignas(64) uintptr_t address[PATH_FRAMES_MAX];
	uint32_t offset[PATH_FRAMES_MAX]; /* of the addresses, in bytes above the caller's frame */
	uint64_t signature; /* of the whole path; equal in every process of a program */
	uint16_t frames;
	uint16_t top;    /* frames to compare on the stack; 0: it is not found there */
	uint16_t merged; /* 1: stands for all paths with these frames that found no room */
	uint16_t then;   /* number of the path that came after this one, last time */
	uint32_t note;   /* for the table's user; 0 at first */
};

/* A known return address. */
struct path_frame {
	uintptr_t address;
	/* bytes above the stack pointer after the return: */
	uint32_t next; /* the stack pointer of the next frame; 0: a path ends here */
	uint32_t slot; /* the next return address */
};
_Static_assert(sizeof(struct path_frame) == 16, "a walk finds a slot by a shift");

struct path_table {
	uintptr_t stack_begin, stack_end;
	uint32_t count; /* paths in use, with number 0 */
	uint16_t last, expected;
	/* 0: the path that followed last time is guessed; all bits set: path 0 is, which is nowhere */
	uint16_t no_guess;
	uint16_t tried, right; /* searches since no_guess was judged, and those a guess would have spared */
	uint16_t searches; /* modulo its range */
	int16_t alike; /* score of look_alike: rises when it finds a path, falls when it does not */
	/* numbers of paths by hash of their addresses, with 16 bits of the hash; 0: free */
	uint32_t *index;
	struct path_frame *frames; /* by hash of the address; address 0: free */
	uint32_t *tokens; /* of the same slots: hash of the file's name and the offset in it */
	uint32_t index_slots, frame_slots, frame_count;
	_Atomic size_t mapped; /* bytes of index, frames and tokens; others may read it at any time */
	_Atomic uint64_t kept;        /* whole paths in use; others may read it at any time */
	uint64_t learn_most;          /* ticks that learning may take */
	_Atomic uint64_t learn_ticks; /* ticks that learning took; others may read it at any time */
	_Atomic uint64_t merged;      /* calls with a merged path; others may read it at any time */
	uint16_t origin[PATH_ORIGINS]; /* the last whole path from an address, by the address' hash */
	uint32_t first_index[PATH_SLOTS_FIRST];
	struct path_frame first_frames[PATH_SLOTS_FIRST];
	uint32_t first_tokens[PATH_SLOTS_FIRST];
	struct path path[PATHS_MAX];
};

/*
 * Notes the stack of `thread` in a table of zeros. Learning is not limited. May allocate. Until unwind_setup()
 * succeeds, a path is one return address.
 */
void path_init(struct path_table *table, pthread_t thread);

/* Unmaps the memory of the table. Call after its last use. */
void path_fini(struct path_table *table);

/* Returns the bytes that are mapped for the table, without the struct. Any thread may call it. */
size_t path_mapped(const struct path_table *table);

/* Looks a path up, or learns it. Only path_find calls it, if its guess was wrong. */
unsigned path_search(struct path_table *table, uintptr_t address, const void *frame);

/*
 * Returns whether the stack has the path's addresses at its offsets. Reads words of the stack that belong to
 * other functions.
 */
static inline __attribute__((no_sanitize("address"))) bool path_is_here(
		const struct path_table *table, const struct path *path, uintptr_t address,
		uintptr_t frame)
{
	unsigned top = path->top;

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
 * Returns the number in the table of the path of the call that returns to `address`. frame: the caller's stack
 * pointer after that return (the canonical frame address of the function called). Allocates nothing from the
 * program's heap. Takes no lock, except the loader's if glibc is older than 2.35 and the path is new.
 */
static inline unsigned path_find(struct path_table *table, uintptr_t address, const void *frame)
{
	/* programs are loops, so the path that followed this one last time is likely to follow it again */
	unsigned at = table->expected;

	if (__builtin_expect(!path_is_here(table, &table->path[at], address, (uintptr_t)frame),
			    0)) {
		at = path_search(table, address, frame);
		table->path[table->last].then = (uint16_t)at;
	}
	table->last = (uint16_t)at;
	/* read now, while that path is in the cache */
	table->expected = table->path[at].then & (uint16_t)~table->no_guess;
	return at;
}

/*
 * Returns a number for the code that runs between two calls, which is equal in every process of a program.
 * Callers that both paths have in common do not count, so the code of a function has one number for all its
 * callers. If both paths are equal, the number is the signature of the whole path. Call on the thread of the
 * table.
 */
uint64_t path_between(const struct path_table *table, unsigned from, unsigned to);

#endif
