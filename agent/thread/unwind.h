/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwinding of the calling thread's stack by the compiler's unwinder (libgcc_s), which C++ programs have anyway.
 * It neither allocates, nor opens files, nor makes system calls, and with glibc 2.35 it takes no lock. libunwind
 * 1.6 does all but the first: it opens a pipe, blocks signals several times for each frame, and locks.
 */
#ifndef PHASEMUX_AGENT_THREAD_UNWIND_H
#define PHASEMUX_AGENT_THREAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#define UNWIND_SPAN_MAX (1u << 26) /* bytes of stack between the first frame and the last */

/* A frame above a call. */
struct unwound {
	uintptr_t address; /* the return address into it */
	uintptr_t frame;   /* its stack pointer after that return */
	uintptr_t slot; /* address of the word on the stack that holds the return address; 0: not known */
};

/*
 * Opens the unwinder, RTLD_LOCAL, so that a program without it stays without it. Returns 0 or -ENOENT. Call
 * once, before unwind_stack. May allocate.
 */
int unwind_setup(void);

/* Returns whether unwind_setup() succeeded. */
bool unwind_works(void);

/*
 * Unwinds the calling thread from here. Notes the frames from the one with stack pointer `frame` on, innermost
 * first, as far as the return addresses are on the stack. The slot of the first is not looked for. Returns the
 * number of frames, at most `max`; 0 if there is no such frame.
 */
unsigned unwind_stack(uintptr_t frame, struct unwound *frames, unsigned max);

#endif
