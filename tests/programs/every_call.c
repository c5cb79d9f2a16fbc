/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of all MPI calls, which only note that they were made, and in which state. */
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/every_form.h"

extern int every_call_trouble, every_call_breaks;
extern long every_call_count;
int every_call_trouble; /* a real call was made with cancellation disabled */
int every_call_breaks; /* the real calls break the rules of the agent, so that the test must find it */
long every_call_count;

static __attribute__((noinline)) void break_rules(void)
{
	volatile char deep[30000];

	memset((void *)deep, 1, sizeof(deep));
	free(malloc(8));
	dlsym(RTLD_DEFAULT, "none");
	feraiseexcept(FE_INEXACT);
	if (read(-1, NULL, 0) < 0)
		every_call_breaks = 0;
}

/* Notes a real call, which must be cancellable, because the program has made it so. */
static long note(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	every_call_trouble |= state != PTHREAD_CANCEL_ENABLE;
	every_call_count++;
	if (every_call_breaks)
		break_rules();
	return 0;
}

#define CALL(name)                                                                                 \
	long name(void);                                                                           \
	long name(void)                                                                            \
	{                                                                                          \
		return note();                                                                     \
	}

#define MPI_CALL(name, fortran, count, fortran_count, kind) EVERY_FORM(CALL, name, fortran)
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL

int PMPI_Finalize(void);
int PMPI_Finalize(void)
{
	return (int)note();
}
