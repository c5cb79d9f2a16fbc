/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/boundary/calls.h"

static const char *const names[RUNTIME_CALLS] = {
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind)                                \
	[MPI_CALL_##name] = "MPI_" #name,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
#define THREAD_CALL(name, arguments)   [THREAD_##name] = #name,
#define THREAD_REGION(name, arguments) [THREAD_##name] = #name,
#define THREAD_LOCK(name, try, busy)   [THREAD_##name] = #name,
#include "agent/boundary/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	[THREAD_pthread_create] = "",
	[THREAD_GOMP_task] = "GOMP_task",
	[THREAD_ompt] = "OpenMP",
};

const char *runtime_call_name(unsigned call)
{
	return call < RUNTIME_CALLS && names[call] ? names[call] : "";
}
