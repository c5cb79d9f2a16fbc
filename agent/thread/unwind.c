/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <unwind.h>

static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	_Unwind_Ptr (*address)(struct _Unwind_Context *);
	_Unwind_Word (*frame)(struct _Unwind_Context *);
} unwind;

int unwind_setup(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	void *backtrace, *address, *frame;

	if (!library)
		return -ENOENT;
	backtrace = dlsym(library, "_Unwind_Backtrace");
	address = dlsym(library, "_Unwind_GetIP");
	frame = dlsym(library, "_Unwind_GetCFA");
	if (!backtrace || !address || !frame)
		return -ENOENT;
	*(void **)&unwind.address = address;
	*(void **)&unwind.frame = frame;
	*(void **)&unwind.backtrace = backtrace;
	return 0;
}

bool unwind_works(void)
{
	return unwind.backtrace;
}

/* Returns where on the stack, between two frames, the return address into the upper one is; 0: nowhere. */
#if defined(__x86_64__)
/* A call instruction pushes it. */
static uintptr_t find_slot(uintptr_t lower, uintptr_t upper, uintptr_t address)
{
	(void)lower;
	(void)address;
	return upper - sizeof(uintptr_t);
}
#else
/*
 * A call leaves it in a register, and the function called saves it, each one at its own place. Of several equal
 * words the lowest is taken. If that is not the place, the next path from this address differs, and paths end
 * there. Reads words of the stack that belong to other functions.
 */
static __attribute__((no_sanitize("address"))) uintptr_t find_slot(uintptr_t lower, uintptr_t upper,
		uintptr_t address)
{
	for (uintptr_t at = lower; at < upper; at += sizeof(uintptr_t))
		if (*(const uintptr_t *)at == address)
			return at;
	return 0;
}
#endif

struct walk {
	struct unwound *frames;
	unsigned count, max;
	uintptr_t first; /* the stack pointer of the first frame */
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	struct unwound at = { unwind.address(context), unwind.frame(context), 0 };
	uintptr_t lower = walk->count ? walk->frames[walk->count - 1].frame : walk->first;

	/* the agent's own frames, below the call in question */
	if (!walk->count && at.frame < walk->first)
		return _URC_NO_REASON;
	if (!at.address || at.frame < lower || at.frame - walk->first > UNWIND_SPAN_MAX)
		return _URC_END_OF_STACK;
	if (walk->count)
		at.slot = find_slot(lower, at.frame, at.address);
	if (walk->count ? at.slot < lower : at.frame != walk->first)
		return _URC_END_OF_STACK;
	walk->frames[walk->count] = at;
	return ++walk->count < walk->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

unsigned unwind_stack(uintptr_t frame, struct unwound *frames, unsigned max)
{
	struct walk walk = { .frames = frames, .max = max, .first = frame };

	if (unwind.backtrace)
		unwind.backtrace(note_frame, &walk);
	return walk.count;
}
