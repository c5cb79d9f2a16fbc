/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of x86-64 instructions, as far as the core model tells them apart. */
#ifndef PHASEMUX_SAMPLING_EMULATED_X86_CODE_H
#define PHASEMUX_SAMPLING_EMULATED_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>

enum x86_kind {
	X86_OTHER,
	X86_CONDITIONAL, /* a branch that is taken or not */
	X86_JUMP,        /* a jump to a fixed address */
	X86_INDIRECT,    /* a jump to an address in a register or in memory */
	X86_CALL,
	X86_INDIRECT_CALL,
	X86_RETURN,
	X86_FLOATING, /* floating-point addition, subtraction, multiplication, minimum, maximum, FMA, comparison */
	X86_DIVISION, /* division or square root, of integers or floating-point numbers */
};

struct x86_code {
	enum x86_kind kind;
	bool repeats; /* a string instruction with a REP prefix */
};

/* Returns the kind of the instruction in `size` bytes, in the legacy encoding or VEX. x87 is X86_OTHER. */
struct x86_code x86_look(const unsigned char *code, size_t size);

#endif
