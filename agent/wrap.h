/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands around every intercepted call, for the files that define wrappers. Private to the
 * preload.
 */
#ifndef PHASEMUX_AGENT_WRAP_H
#define PHASEMUX_AGENT_WRAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/preload.h"
#include "agent/role.h"

/*
 * depth: how many intercepted calls this thread is in, so that a Fortran call that enters the C one
 * is one call, and what a runtime calls for itself is none. passes: the outermost one is passed over.
 * site, frame: of the outermost one, as CALLER has them; NULL: there is none, or not known.
 * called: as site and frame, of the call whose wrapper leaves what is to be done to another function.
 * begun: as of struct preload. Initial-exec: reading it must not call __tls_get_addr.
 */
struct wrap_thread {
	_Alignas(64) unsigned depth;
	bool passes;
	struct preload_thread of_core;
	const void *site, *frame;
	struct {
		void *site;
		const void *frame;
	} called;
	_Atomic uint64_t begun; /* written by the thread alone */
};

extern __thread struct wrap_thread wrap_thread __attribute__((tls_model("initial-exec")));

/* Released by set_hooks after the core is ready; acquired by enter and leave. NULL: no target, or paused. */
extern _Atomic(const struct preload_hooks *) wrap_hooks;

extern enum wrap_role wrap_role;

/* What a process has when it becomes a target. */
enum wrap_with {
	WITH_NOTHING,  /* no MPI */
	WITH_MPI,      /* MPI is initialised, and MPI_COMM_WORLD exists */
	WITH_SESSIONS, /* an MPI without MPI_COMM_WORLD: ranks are alone */
};

/* Opens the core, once. */
void wrap_attach(enum wrap_with with);

/*
 * A region of OpenMP begins, in a process that was started below the command of `phasemux run`: it becomes a
 * target. On the main thread alone, because to open the core waits for the loader's lock, which the main
 * thread may hold in a dlopen while it waits for the calling one.
 */
void wrap_first_region(void);

/* Whether an MPI library is loaded: the process becomes a target at MPI_Init, not before. */
bool wrap_has_mpi(void);

/* In the constructor: finds the real calls of threads that the program started with. */
void threads_start(void);

/* After MPI_Init, or when a process without it becomes a target: whom threads belong to. */
void threads_look(void);

static inline const struct preload_hooks *wrap_observed(void)
{
	return atomic_load_explicit(&wrap_hooks, memory_order_acquire);
}

/* A return address is where the stack pointer was before the call, on this processor. */
#if defined(__x86_64__)
#define WRAP_RETURNS_ON_STACK true
#else
#define WRAP_RETURNS_ON_STACK false
#endif
#define WRAP_FRAMES_NEAR 65536 /* bytes: on the same stack */

/*
 * The program has left the call that it was in, by an exception or a longjmp: the next one comes from no
 * deeper in the stack, or something else stands where that one's return address was. Some that were
 * left are seen only at a later call.
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

/* A call begins that tells of the program's progress. */
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

/* For a function that has the call's own parameters, and so none for these. */
static inline void wrap_called(void *site, const void *frame)
{
	wrap_thread.called.site = site;
	wrap_thread.called.frame = frame;
}

/* The outermost call has made another one. */
static inline void wrap_nests(void)
{
	wrap_thread.of_core.passed.nests = true;
	wrap_thread.of_core.rest.nests = true;
}

/* A call begins: whether it is the outermost one. */
static inline bool wrap_begins(const void *site, const void *frame)
{
	if (__builtin_expect(wrap_thread.depth, 0)) {
		if (!wrap_was_left(frame)) {
			wrap_thread.depth++;
			wrap_nests();
			return false;
		}
		wrap_thread.passes = false;
	}
	wrap_note(site, frame);
	return true;
}

/* It returned. */
static inline void wrap_ends(void)
{
	/* not below none: on stacks of the program's own, calls may end in another order */
	if (wrap_thread.depth > 1) {
		wrap_thread.depth--;
		return;
	}
	wrap_thread.depth = 0;
	wrap_thread.frame = NULL;
}

/*
 * Where so many calls come that most go by (passed.h), and this one is from where it was expected, it is
 * made, and nothing else. So it is while the thread rests (rest.h). Those that go by and are from elsewhere, or nest, do so in wrap_enter. When hooks
 * are paused, some more are counted: who goes on begins anew (thread_return).
 */
static inline __attribute__((always_inline)) bool wrap_goes_by(const void *site, const void *frame)
{
	return passed_takes_next(&wrap_thread.of_core.passed, site, frame) ||
			(!wrap_thread.depth && rest_goes_by(&wrap_thread.of_core.rest));
}

static inline __attribute__((always_inline)) void wrap_enter(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks;
	struct passed *passed = &wrap_thread.of_core.passed;

	if (!wrap_begins(site, frame))
		return;
	/* The hook may itself call MPI: it must see the depth. */
	__asm__ volatile("" ::: "memory");
	hooks = wrap_observed();
	if (!hooks)
		return;
	if ((passed_left(passed) && passed_takes(passed, site, frame)) ||
			rest_takes(&wrap_thread.of_core.rest))
		wrap_thread.passes = true;
	else
		hooks->before(&wrap_thread.of_core, call, site, frame);
}

static inline __attribute__((always_inline)) void wrap_leave(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks;

	if (wrap_thread.depth == 1) {
		hooks = wrap_observed();
		if (wrap_thread.passes)
			wrap_thread.passes = false;
		else if (hooks)
			hooks->after(&wrap_thread.of_core, call, site, frame);
		__asm__ volatile("" ::: "memory");
	}
	wrap_ends();
}

/*
 * The answer of a call that only asks, in C or Fortran: a flag, of which some compilers of Fortran set all bits,
 * or a number, which is negative where there was nothing to ask for (MPI_UNDEFINED).
 */
#define WRAP_ANSWERS(answer)                                                                       \
	((answer) && (*(const int *)(answer) > 0 || *(const int *)(answer) == -1))

/* The call went by, and said that what it asked for has come. */
static __attribute__((noinline)) void wrap_answered(enum runtime_call call, void *site,
		const void *frame)
{
	const struct preload_hooks *hooks = wrap_observed();

	if (hooks)
		hooks->answered(&wrap_thread.of_core, call, site, frame);
}

/* As wrap_leave, of a call that only asks. */
static inline __attribute__((always_inline)) void wrap_leave_asked(enum runtime_call call,
		void *site, const void *frame, bool answered)
{
	struct preload_thread *of_core = &wrap_thread.of_core;
	bool passes = wrap_thread.depth == 1 && wrap_thread.passes;

	of_core->answered = answered;
	if (passes && answered && of_core->passed.heeds)
		wrap_answered(call, site, frame);
	wrap_leave(call, site, frame);
}

/* Who called the wrapper, and its stack pointer once the wrapper has returned. */
#define CALLER __builtin_return_address(0), __builtin_dwarf_cfa()

/*
 * Parameter and argument lists by number; those of the calls are all integers and pointers. Volatile is
 * what lies on the stack, where it stays when the call is made by a jump: else it is loaded and stored.
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
