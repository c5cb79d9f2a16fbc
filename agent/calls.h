/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls to the parallel runtime that are intercepted: where bursts end and begin. */
#ifndef PHASEMUX_AGENT_CALLS_H
#define PHASEMUX_AGENT_CALLS_H

/* In the order of mpi_calls.def and thread_calls.def. */
enum runtime_call {
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind) MPI_CALL_##name,
#include "agent/mpi_calls.def"
#undef MPI_CALL
	MPI_CALLS,
	THREAD_FIRST = MPI_CALLS - 1,
#define THREAD_CALL(name, arguments)   THREAD_##name,
#define THREAD_REGION(name, arguments) THREAD_##name,
#define THREAD_LOCK(name, try, busy)   THREAD_##name,
#include "agent/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	THREAD_pthread_create, /* a thread begins or ends; the process, without MPI */
	THREAD_GOMP_task,      /* a task of GNU OpenMP begins or ends */
	THREAD_ompt,           /* what LLVM's OpenMP tells of */
	RUNTIME_CALLS,
};

/* As its users call it; "" where nothing is called (a thread begins), or there is no such number. */
const char *runtime_call_name(unsigned call);

#endif
