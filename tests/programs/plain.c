/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI, which computes for a given number of million instructions, prints, and ends. */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	unsigned millions = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;

	for (unsigned i = 0; i < millions; i++)
		work("alu", 1000000);
	printf("plain: %u million instructions\n", millions);
	return 3;
}
