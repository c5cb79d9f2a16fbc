/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long messages take between the first and the last rank:
 *
 *	pingpong RESULT
 *
 * Messages of 1 byte to 4 MiB go to and fro. Rank 0 writes RESULT: the number of ranks, 1 if both ranks are on one node or 2,
 * and for each size the bytes and the seconds of one message, of the fastest of several rounds. One rank alone has no sizes.
 * Exit code: 0; 1: it cannot be written, or there is no memory; 2: invalid arguments.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX     (4 << 20)
#define FIRST_ROUNDS  10 /* of three messages, which say how many a round has */
#define ROUNDS        25
#define ROUND_SECONDS 0.002 /* at least, of a round */
#define REPEATS_MAX   2000

static int rank, last;
static char *buffer;

/* Sends messages to and fro. Returns the seconds of one of them. */
static double round_of(int bytes, int repeats)
{
	int other = rank ? 0 : last;
	double start = MPI_Wtime();

	for (int i = 0; i < repeats; i++) {
		if (!rank)
			MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - start) / (2 * repeats);
}

/* Returns the seconds of a message, of the fastest round, because others may have lacked a processor. */
static double measure(int bytes)
{
	double first = 1, least = 0;
	int repeats;

	for (int i = 0; i < FIRST_ROUNDS; i++) {
		double seconds = round_of(bytes, 3);

		first = seconds < first ? seconds : first;
	}
	repeats = (int)(ROUND_SECONDS / (2 * first + 1e-9)) + 1;
	if (repeats > REPEATS_MAX)
		repeats = REPEATS_MAX;
	MPI_Bcast(&repeats, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < ROUNDS; i++) {
		double seconds = round_of(bytes, repeats);

		least = i && least < seconds ? least : seconds;
	}
	return least;
}

/* Returns 1 if the first and the last rank have the name of one node, else 2. */
static int count_nodes(void)
{
	char own[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME] = "";
	int length;

	MPI_Get_processor_name(own, &length);
	if (rank == last)
		MPI_Send(own, sizeof(own), MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Recv(other, sizeof(other), MPI_CHAR, last, 1, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	return strcmp(own, other) == 0 ? 1 : 2;
}

/* Ranks between the first and the last one only take part in what all do. Returns the exit code. */
static int measure_all(const char *file)
{
	int nodes = last ? count_nodes() : 1, between = 0;
	FILE *out = rank ? NULL : fopen(file, "w");

	if (out)
		fprintf(out, "ranks %d nodes %d\n", last + 1, nodes);
	for (int bytes = 1; last && bytes <= BYTES_MAX; bytes *= 2) {
		double seconds = 0;

		if (rank && rank < last)
			MPI_Bcast(&between, 1, MPI_INT, 0, MPI_COMM_WORLD);
		else
			seconds = measure(bytes);
		if (out)
			fprintf(out, "%d %.9g\n", bytes, seconds);
	}
	if (rank || (out && !ferror(out) && !fclose(out)))
		return 0;
	fprintf(stderr, "phasemux whatif: cannot write %s\n", file);
	return 1;
}

int main(int argc, char **argv)
{
	int code = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &last);
	last--;
	buffer = calloc(1, BYTES_MAX);
	if (argc != 2)
		fputs("usage: pingpong RESULT\n", stderr);
	else
		code = buffer ? measure_all(argv[1]) : 1;
	free(buffer);
	MPI_Finalize();
	return code;
}
