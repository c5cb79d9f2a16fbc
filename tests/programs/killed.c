/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of which one rank is killed, and which nevertheless tells the truth about itself. Each rank counts
 * its MPI calls in a file that outlives it.
 *
 *	killed FOLDER RANK MICROSECONDS [PAUSE]    RANK dies by SIGKILL that long after MPI_Init
 *
 * PAUSE: microseconds that each rank sleeps before each call. FOLDER/truth.R holds the number of calls that
 * rank R has started since MPI_Init, as a 64-bit number.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t *calls;
static useconds_t pause_before;

static void *kill_later(void *data)
{
	usleep((useconds_t)atol(data));
	kill(getpid(), SIGKILL);
	return NULL;
}

static volatile uint64_t *open_truth(const char *folder, int rank)
{
	char path[4096];
	void *map = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/truth.%d", folder, rank);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(uint64_t)) == 0)
		map = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

static void work_until_call(const char *kind, uint64_t instructions)
{
	if (pause_before)
		usleep(pause_before);
	work(kind, instructions);
	++*calls;
}

int main(int argc, char **argv)
{
	pthread_t killer;
	int rank, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 4 || !(calls = open_truth(argv[1], rank)))
		return 1;
	if (rank == atoi(argv[2]))
		pthread_create(&killer, NULL, kill_later, argv[3]);
	pause_before = argc > 4 ? (useconds_t)atol(argv[4]) : 0;
	for (int i = 0;; i++) {
		work_until_call("alu", 100000);
		MPI_Barrier(MPI_COMM_WORLD);
		work_until_call("fdiv", 50000);
		MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}
