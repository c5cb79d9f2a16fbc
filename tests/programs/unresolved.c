/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a call that no loaded object defines:
 *
 *	unresolved mpi | fortran | barrier | lock | region
 *
 * If the call returns, prints how often a region's function was run.
 */
#include <stdio.h>

int make_unresolved_call(const char *what);

int main(int argc, char **argv)
{
	int times = make_unresolved_call(argc > 1 ? argv[1] : "");

	printf("returned, and ran the body %d times\n", times);
	return 0;
}
