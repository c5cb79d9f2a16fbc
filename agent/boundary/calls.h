/* SPDX-License-Identifier: BSD-3-Clause */
/* The intercepted calls to the parallel runtime, at which bursts end and start. */
#ifndef PHASEMUX_AGENT_BOUNDARY_CALLS_H
#define PHASEMUX_AGENT_BOUNDARY_CALLS_H

/* The calls, in the order of mpi_calls.def and thread_calls.def. */
enum runtime_call {
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind) MPI_CALL_##name,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
	MPI_CALLS,
	THREAD_FIRST = MPI_CALLS - 1,
#define THREAD_CALL(name, arguments)   THREAD_##name,
#define THREAD_REGION(name, arguments) THREAD_##name,
#define THREAD_LOCK(name, try, busy)   THREAD_##name,
#include "agent/boundary/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	THREAD_pthread_create, /* a thread, or a process without MPI, starts or ends */
	THREAD_GOMP_task,      /* a task of GNU OpenMP starts or ends */
	THREAD_ompt,           /* an event that LLVM's OpenMP reports */
	RUNTIME_CALLS,
};

/*
 * Returns the name by which programs call it; "" if nothing is called (a thread starts), or `call` is invalid.
 */
const char *runtime_call_name(unsigned call);

#endif
