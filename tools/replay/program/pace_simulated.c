/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets the clock of SimGrid go on instead of computing: the program is built by its compiler smpicc. SimGrid itself ends
 * a simulation in which all ranks wait.
 */
#include "tools/replay/program/pace.h"

#include <mpi.h>
#include <smpi/smpi.h>

void pace_start(int rank, double stall)
{
	(void)rank;
	(void)stall;
}

void pace_burst(void)
{
}

void pace_call(const char *name)
{
	(void)name;
}

void pace_end(void)
{
}

void pace_stop(void)
{
}

double pace_now(void)
{
	return MPI_Wtime();
}

/* The walk through the plan takes no simulated time. */
void pace_compute(double since, double seconds)
{
	(void)since;
	smpi_execute(seconds);
}

void pace_pass(double seconds)
{
	smpi_execute(seconds);
}

double pace_deprived(void)
{
	return 0;
}
