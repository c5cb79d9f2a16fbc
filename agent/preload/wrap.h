/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code around every intercepted call, for the files that define wrappers. It is private to the preload.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_WRAP_H
#define PHASEMUX_AGENT_PRELOAD_WRAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/boundary/preload.h"
#include "agent/preload/role.h"

/*
 * What the preload knows of a thread.
 *
 * depth: number of nested intercepted calls that the thread is in. Only the outermost one counts, so that a
 * Fortran call that enters the C one is one call, and calls that a runtime makes for itself are none.
 * skips: the outermost call is skipped.
 * site, frame: CALLER of the outermost call; NULL: there is none, or it is not known.
 * called: CALLER of the call whose wrapper leaves the work to another function.
 * begun: see struct preload.
 *
 * It is initial-exec, because reading it must not call __tls_get_addr.
 */
struct wrap_thread {
	_Alignas(64) unsigned depth;
	bool skips;
	struct preload_thread of_core;
	const void *site, *frame;
	struct {
		void *site;
		const void *frame;
	} called;
	_Atomic uint64_t begun; /* written by the thread alone */
};

extern __thread struct wrap_thread wrap_thread __attribute__((tls_model("initial-exec")));

/*
 * The hooks that calls reach; NULL: the process is no target, or hooks are paused. The release in set_hooks,
 * after the core is ready, pairs with the acquire in wrap_observed.
 */
extern _Atomic(const struct preload_hooks *) wrap_hooks;

/* The core wants to know the arguments of calls (mpi_arguments.def). */
extern atomic_bool wrap_keeps_arguments;

extern enum wrap_role wrap_role;

static inline const struct preload_hooks *wrap_observed(void)
{
	return atomic_load_explicit(&wrap_hooks, memory_order_acquire);
}

/* Whether a call puts its return address on the stack, right below the caller's stack pointer. */
#if defined(__x86_64__)
#define WRAP_RETURNS_ON_STACK true
#else
#define WRAP_RETURNS_ON_STACK false
#endif
#define WRAP_FRAMES_NEAR 65536 /* bytes; frames closer than that are on the same stack */

/*
 * Returns whether the program has left the outermost call by an exception or a longjmp. `frame`: CALLER's, of
 * the call that starts. The call was left if the new one comes from no deeper in the stack, or if the return
 * address of the old one has been overwritten. Some calls that were left are detected only at a later call.
 */
static inline bool wrap_was_left(const void *frame)
{
	uintptr_t before = (uintptr_t)wrap_thread.frame, now = (uintptr_t)frame;

	if (!before || !now)
		return false;
	if (now >= before)
		return true;
	return WRAP_RETURNS_ON_STACK && before - now < WRAP_FRAMES_NEAR &&
			((const void *const *)before)[-1] != wrap_thread.site;
}

/* Counts a call that tells of the program's progress. */
static inline void wrap_progresses(void)
{
	uint64_t begun = atomic_load_explicit(&wrap_thread.begun, memory_order_relaxed);

	atomic_store_explicit(&wrap_thread.begun, begun + 1, memory_order_relaxed);
}

static inline void wrap_note(const void *site, const void *frame)
{
	wrap_thread.depth = 1;
	wrap_thread.site = site;
	wrap_thread.frame = frame;
}

/* Hands `site` and `frame` to a function whose parameters are those of the call. */
static inline void wrap_called(void *site, const void *frame)
{
	wrap_thread.called.site = site;
	wrap_thread.called.frame = frame;
}

/* Notes that the outermost call has made another one. */
static inline void wrap_nests(void)
{
	wrap_thread.of_core.skip.nests = true;
	wrap_thread.of_core.rest.nests = true;
}

/* Notes that a call starts. Returns whether it is the outermost one. */
static inline bool wrap_begins(const void *site, const void *frame)
{
	if (__builtin_expect(wrap_thread.depth, 0)) {
		if (!wrap_was_left(frame)) {
			wrap_thread.depth++;
			wrap_nests();
			return false;
		}
		wrap_thread.skips = false;
	}
	wrap_note(site, frame);
	return true;
}

/* Notes that a call has returned. */
static inline void wrap_ends(void)
{
	/* never below 0: if the program switches stacks itself, calls may end in another order */
	if (wrap_thread.depth > 1) {
		wrap_thread.depth--;
		return;
	}
	wrap_thread.depth = 0;
	wrap_thread.frame = NULL;
}

/*
 * Returns whether the call is skipped here: it is made, and nothing else is done. That is so if most calls are
 * skipped and this one comes from the expected place (skip.h), or if the thread rests (rest.h). Calls from
 * other places, and calls that nest, are skipped in wrap_enter. Some calls are counted even while hooks are
 * paused, and delimit_return then starts anew.
 */
static inline __attribute__((always_inline)) bool wrap_skips(const void *site, const void *frame)
{
	return skip_takes_next(&wrap_thread.of_core.skip, site, frame) ||
			(!wrap_thread.depth && rest_skips(&wrap_thread.of_core.rest));
}

static inline __attribute__((always_inline)) void wrap_enter(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks;
	struct skip *skip = &wrap_thread.of_core.skip;

	if (!wrap_begins(site, frame))
		return;
	/* the hook may call MPI itself, whose wrapper must see the depth */
	__asm__ volatile("" ::: "memory");
	hooks = wrap_observed();
	if (!hooks)
		return;
	if ((skip_left(skip) && skip_takes(skip, site, frame)) ||
			rest_takes(&wrap_thread.of_core.rest))
		wrap_thread.skips = true;
	else
		hooks->before(&wrap_thread.of_core, call, site, frame);
}

static inline __attribute__((always_inline)) void wrap_leave(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks;

	if (wrap_thread.depth == 1) {
		hooks = wrap_observed();
		if (wrap_thread.skips)
			wrap_thread.skips = false;
		else if (hooks)
			hooks->after(&wrap_thread.of_core, call, site, frame);
		__asm__ volatile("" ::: "memory");
	}
	wrap_ends();
}

/*
 * Whether a call that only asks, in C or Fortran, was answered. `answer` points to a flag, of which some
 * Fortran compilers set all bits, or to a number, which is negative if there was nothing to ask for
 * (MPI_UNDEFINED).
 */
#define WRAP_ANSWERS(answer)                                                                       \
	((answer) && (*(const int *)(answer) > 0 || *(const int *)(answer) == -1))

/* Tells the hooks that a skipped call was answered: what it asked for has arrived. */
static __attribute__((noinline)) void wrap_answered(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks = wrap_observed();

	if (hooks)
		hooks->answered(&wrap_thread.of_core, call, site, frame);
}

/* Like wrap_leave(), for a call that only asks. `answered`: what it asked for has arrived. */
static inline __attribute__((always_inline)) void wrap_leave_asked(enum runtime_call call,
		void *site, const void *frame, bool answered)
{
	struct preload_thread *of_core = &wrap_thread.of_core;
	bool skips = wrap_thread.depth == 1 && wrap_thread.skips;

	of_core->answered = answered;
	if (skips && answered && of_core->skip.heeds)
		wrap_answered(call, site, frame);
	wrap_leave(call, site, frame);
}

/* The return address of the wrapper, and its caller's stack pointer once the wrapper has returned. */
#define CALLER __builtin_return_address(0), __builtin_dwarf_cfa()

/*
 * Lists of parameters and arguments, by their number. All parameters of the calls are integers or pointers.
 * Those that are passed on the stack are volatile: they stay in place when the wrapper jumps to the real call,
 * and otherwise the compiler would load and store them.
 */
#define P_0  void
#define P_1  long a1
#define P_2  P_1, long a2
#define P_3  P_2, long a3
#define P_4  P_3, long a4
#define P_5  P_4, long a5
#define P_6  P_5, long a6
#define P_7  P_6, volatile long a7
#define P_8  P_7, volatile long a8
#define P_9  P_8, volatile long a9
#define P_10 P_9, volatile long a10
#define P_11 P_10, volatile long a11
#define P_12 P_11, volatile long a12
#define P_13 P_12, volatile long a13
#define P_14 P_13, volatile long a14

#define A_0
#define A_1  a1
#define A_2  A_1, a2
#define A_3  A_2, a3
#define A_4  A_3, a4
#define A_5  A_4, a5
#define A_6  A_5, a6
#define A_7  A_6, a7
#define A_8  A_7, a8
#define A_9  A_8, a9
#define A_10 A_9, a10
#define A_11 A_10, a11
#define A_12 A_11, a12
#define A_13 A_12, a13
#define A_14 A_13, a14

#endif
