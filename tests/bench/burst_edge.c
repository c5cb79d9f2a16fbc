/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in front of libphasemux.so in LD_PRELOAD. It notes when the program enters an intercepted call, and
 * jumps to the preload, which finds the stack as the program left it. See burst_log.h.
 */
#include "tests/bench/burst_log.h"

#include <dlfcn.h>

#include "agent/preload/wrap.h" /* P_1, A_1: lists of parameters */

/*
 * Notes the time and the stack, and calls the preload. The compiler must make this call a jump, so
 * CMakeLists.txt sets -O2.
 */
#define FORM(symbol, call, count)                                                                  \
	static long (*next_##symbol)(P_##count);                                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		burst_edge.ns = burst_clock(CLOCK_MONOTONIC);                                      \
		burst_edge.frame = __builtin_dwarf_cfa();                                          \
		return next_##symbol(A_##count);                                                   \
	}
#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	BURST_FORMS(FORM, name, fortran, count, fortran_count)
#include "agent/boundary/mpi_calls.def"
#undef FORM

/* Finds the preload's functions. The preload exports all forms, so all are found. */
static __attribute__((constructor)) void find_next(void)
{
#define FORM(symbol, call, count) *(void **)&next_##symbol = dlsym(RTLD_NEXT, #symbol);
#include "agent/boundary/mpi_calls.def"
#undef FORM
}
