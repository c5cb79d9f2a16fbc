/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log of every burst of an MPI program, beside phasemux and of the same run. Two shared objects stand around
 * the preload in LD_PRELOAD: burst_edge.so, libphasemux.so, burst_log.so. The first one notes when the program
 * enters an intercepted call, and jumps to the preload. The last one makes the real call, and makes it return
 * to the program through a function that notes the time. A burst of the log is therefore the time of the
 * program alone, without the work of phasemux before and after the call. Without burst_edge.so, burst_log.so
 * itself bounds the bursts, which then include the work of phasemux.
 */
#ifndef PHASEMUX_BENCH_BURST_LOG_H
#define PHASEMUX_BENCH_BURST_LOG_H

#include <stdint.h>
#include <time.h>

/* The last call that the calling thread has entered, as burst_edge.so saw it. */
struct burst_edge {
	uint64_t ns; /* CLOCK_MONOTONIC */
	const void *frame; /* the caller's stack pointer before the call; NULL: there is no burst_edge.so */
};

/* burst_log.so defines it. */
extern __thread struct burst_edge burst_edge __attribute__((tls_model("initial-exec")));

static inline uint64_t burst_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* FORM(symbol, call, count of arguments): the forms of each call of agent/boundary/mpi_calls.def. */
#define BURST_FORMS(FORM, name, fortran, count, fortran_count)                                     \
	FORM(MPI_##name, name, count)                                                              \
	FORM(MPI_##name##_c, name, count)                                                          \
	FORM(mpi_##fortran##_, name, fortran_count)                                                \
	FORM(mpi_##fortran, name, fortran_count)                                                   \
	FORM(mpi_##fortran##__, name, fortran_count)                                               \
	FORM(mpi_##fortran##_f08_, name, fortran_count)                                            \
	FORM(mpi_##fortran##_f08ts_, name, fortran_count)                                          \
	FORM(mpi_##fortran##_f08ts_large_, name, fortran_count)

#endif
