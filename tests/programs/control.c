/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that controls which of its parts are observed. Between barriers it executes BEFORE times 6 million
 * instructions. Then it pauses its profiler for PAUSED times 3 million, and executes AFTER times 1.5 million.
 * With `once`, another thread asks for the pause at the same time. With `on`, it does not resume. With
 * `report`, it asks for a report, and then executes AFTER times 1.5 million again.
 *
 *	control BEFORE PAUSED AFTER [once | on | report]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

static void part(int times, unsigned long instructions)
{
	for (int i = 0; i < times; i++) {
		work("fma", instructions);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void *pause_too(void *unused)
{
	(void)unused;
	MPI_Pcontrol(0);
	return NULL;
}

int main(int argc, char **argv)
{
	int thread_level, before, paused, after;
	const char *how = argc > 4 ? argv[4] : "";
	pthread_t other;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
	if (argc < 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	before = atoi(argv[1]);
	paused = atoi(argv[2]);
	after = atoi(argv[3]);
	part(before, 6000000);
	MPI_Pcontrol(7, "a level that means nothing");
	if (strcmp(how, "once") == 0)
		pthread_create(&other, NULL, pause_too, NULL);
	MPI_Pcontrol(0);
	if (strcmp(how, "once") == 0)
		pthread_join(other, NULL);
	part(paused, 3000000);
	if (strcmp(how, "on") != 0)
		MPI_Pcontrol(1);
	part(after, 1500000);
	if (strcmp(how, "report") == 0) {
		MPI_Pcontrol(2);
		part(after, 1500000);
	}
	printf("control: %d %d %d\n", before, paused, after);
	MPI_Finalize();
	return 0;
}
