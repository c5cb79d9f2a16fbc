/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for requests in other orders than they were opened, and logs each call.
 *
 *	waits PREFIX STEPS WAYS [LENGTH]
 *
 * Rank R, of an even number of ranks, exchanges messages with its neighbour, and writes PREFIX.R: a line for each call in the
 * form of `phasemux trace --expand`, without the place of the call. WAYS: a set of letters: n waits for the newest request first,
 * h for every other one together, a for any one, s for some, f frees requests, m waits for copies of handles, t asks until
 * requests have ended, p starts persistent requests, o opens requests to no process, z waits for no request, l for more
 * requests than are followed, c for nonblocking collectives. LENGTH: numbers in a message (default 4).
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 12
#define MANY     3000
#define TAG      7

static int peer, opened; /* opened: number of requests that were ever opened */
static FILE *calls;
static int length = 4;   /* of a message */
static double *out, *in; /* a message, and room for MANY */
static MPI_Request request[MANY];
static MPI_Status statuses[MANY]; /* not MPI_STATUSES_IGNORE, of whose size compilers warn */
static int number[MANY]; /* of each request, from 1 in the order in which they are opened */

__attribute__((format(printf, 1, 2))) static void made(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(calls, format, list);
	va_end(list);
	fputc('\n', calls);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Logs a call that waits for requests of these numbers, which it sorts. */
static void made_wait(const char *name, int *ended, int count)
{
	int step = 1;

	qsort(ended, (size_t)count, sizeof(*ended), by_number);
	if (count > 1)
		step = ended[1] - ended[0];
	for (int i = 1; i < count; i++)
		if (ended[i] - ended[i - 1] != step)
			step = 0;
	fprintf(calls, "%s %d requests", name, count);
	for (int i = 0; i < count && !step; i++)
		fprintf(calls, ", %d", opened - ended[i] + 1);
	if (count && step)
		fprintf(calls, ", from %d", opened - ended[0] + 1);
	fputs(count ? " back" : "", calls);
	if (step > 1)
		fprintf(calls, ", %d apart", step);
	fputc('\n', calls);
}

static void receive(int i)
{
	made("MPI_Irecv from %d, %d bytes, tag %d", peer, 8 * length, TAG);
	MPI_Irecv(in + i * length, length, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request[i]);
	number[i] = ++opened;
}

static void send(int i)
{
	made("MPI_Isend to %d, %d bytes, tag %d", peer, 8 * length, TAG);
	MPI_Isend(out, length, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request[i]);
	number[i] = ++opened;
}

/* Opens requests of which every other one receives. */
static void open_all(void)
{
	for (int i = 0; i < REQUESTS; i += 2) {
		receive(i);
		send(i + 1);
	}
}

static void wait_for_newest(void)
{
	open_all();
	for (int i = REQUESTS - 1; i >= 0; i--) {
		made("MPI_Wait request %d back", opened - number[i] + 1);
		MPI_Wait(&request[i], MPI_STATUS_IGNORE);
	}
}

/* Waits for the receives, then for three sends that are not at equal distances, then for the others. */
static void wait_for_halves(void)
{
	static const int some[3] = { 1, 3, 9 };
	MPI_Request half[REQUESTS / 2];
	int ended[REQUESTS];

	for (int i = 0; i < REQUESTS / 2; i++) {
		receive(i);
		made("MPI_Isend to %d, %d bytes, tag %d", peer, 8 * length, TAG);
		MPI_Isend(out, length, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &half[i]);
		opened++;
	}
	memcpy(ended, number, sizeof(*ended) * REQUESTS / 2);
	made_wait("MPI_Waitall", ended, REQUESTS / 2);
	MPI_Waitall(REQUESTS / 2, request, statuses);
	for (int i = 0; i < REQUESTS / 2; i++)
		ended[i] = number[i] + 1;
	made_wait("MPI_Waitall", ended, REQUESTS / 2);
	MPI_Waitall(REQUESTS / 2, half, statuses);
	open_all();
	/* in this order, so that each is at its own place */
	for (int i = 0; i < 3; i++)
		ended[i] = number[some[i]];
	made_wait("MPI_Waitall", ended, 3);
	{
		MPI_Request at_its_place[REQUESTS];

		memcpy(at_its_place, request, sizeof(at_its_place));
		for (int i = 0; i < REQUESTS; i++)
			if (i != some[0] && i != some[1] && i != some[2])
				request[i] = MPI_REQUEST_NULL;
		MPI_Waitall(REQUESTS, request, statuses);
		memcpy(request, at_its_place, sizeof(request[0]) * REQUESTS);
	}
	for (int i = 0; i < 3; i++)
		request[some[i]] = MPI_REQUEST_NULL;
	for (int i = 0, left = 0; i < REQUESTS; i++)
		if (request[i] != MPI_REQUEST_NULL)
			ended[left++] = number[i];
	made_wait("MPI_Waitall", ended, REQUESTS - 3);
	MPI_Waitall(REQUESTS, request, statuses);
}

static void wait_for_any(void)
{
	int index;

	open_all();
	do {
		MPI_Waitany(REQUESTS, request, &index, MPI_STATUS_IGNORE);
		if (index == MPI_UNDEFINED)
			made("MPI_Waitany no request");
		else
			made("MPI_Waitany request %d back", opened - number[index] + 1);
	} while (index != MPI_UNDEFINED);
}

static void wait_for_some(void)
{
	int count, which[REQUESTS], ended[REQUESTS];

	open_all();
	do {
		MPI_Waitsome(REQUESTS, request, &count, which, statuses);
		for (int i = 0; i < count; i++)
			ended[i] = number[which[i]];
		made_wait("MPI_Waitsome", ended, count == MPI_UNDEFINED ? 0 : count);
	} while (count != MPI_UNDEFINED);
}

/* Frees sends, so that their handles may be those of the next requests. */
static void free_some(void)
{
	int ended[REQUESTS / 2];

	open_all();
	for (int i = 1; i < REQUESTS; i += 2) {
		made("MPI_Request_free");
		MPI_Request_free(&request[i]);
	}
	for (int i = 0; i < REQUESTS; i += 2)
		ended[i / 2] = number[i];
	made_wait("MPI_Waitall", ended, REQUESTS / 2);
	MPI_Waitall(REQUESTS, request, statuses);
}

/* Keeps copies of the handles of receives, and waits for these in the opposite order. */
static void wait_for_copies(void)
{
	MPI_Request copy[REQUESTS / 2];
	int of[REQUESTS / 2], ended[REQUESTS / 2];

	for (int i = 0; i < REQUESTS / 2; i++) {
		MPI_Request one;

		made("MPI_Irecv from %d, %d bytes, tag %d", peer, 8 * length, TAG);
		MPI_Irecv(in + i * length, length, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &one);
		copy[REQUESTS / 2 - 1 - i] = one;
		of[REQUESTS / 2 - 1 - i] = ++opened;
	}
	for (int i = 0; i < REQUESTS / 2; i++)
		send(i);
	made("MPI_Wait request %d back", opened - of[2] + 1);
	MPI_Wait(&copy[2], MPI_STATUS_IGNORE);
	for (int i = 0, left = 0; i < REQUESTS / 2; i++)
		if (i != 2)
			ended[left++] = of[i];
	made_wait("MPI_Waitall", ended, REQUESTS / 2 - 1);
	MPI_Waitall(REQUESTS / 2, copy, statuses);
	memcpy(ended, number, sizeof(ended));
	made_wait("MPI_Waitall", ended, REQUESTS / 2);
	MPI_Waitall(REQUESTS / 2, request, statuses);
}

/* Asks until some requests have ended. Calls that only ask are not logged. */
static void ask(void)
{
	int ended[REQUESTS], flag;

	open_all();
	for (int i = 0; i < REQUESTS; i += 3)
		do
			MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
		while (!flag);
	for (int i = 0, left = 0; i < REQUESTS; i++)
		if (i % 3)
			ended[left++] = number[i];
	made_wait("MPI_Waitall", ended, REQUESTS - REQUESTS / 3);
	MPI_Waitall(REQUESTS, request, statuses);
}

/* Starts persistent requests, and waits for the last one first. One of them is not started each time. */
static void start_persistent(int step)
{
	static MPI_Request persistent[4];
	int of[4], ended[4], left = 0;

	for (volatile int i = 0; i < 4 && !step; i++) {
		if (i < 2) {
			made("MPI_Recv_init from %d, %d bytes, tag %d, request %d", peer,
					8 * length, TAG + i, i + 1);
			MPI_Recv_init(in + i * length, length, MPI_DOUBLE, peer, TAG + i,
					MPI_COMM_WORLD, &persistent[i]);
		} else {
			made("MPI_Send_init to %d, %d bytes, tag %d, request %d", peer, 8 * length,
					TAG + i - 2, i + 1);
			MPI_Send_init(out, length, MPI_DOUBLE, peer, TAG + i - 2, MPI_COMM_WORLD,
					&persistent[i]);
		}
	}
	made("MPI_Startall request 1, 2 requests");
	MPI_Startall(2, persistent);
	of[0] = opened + 1;
	of[1] = opened + 2;
	opened += 2;
	if (step % 2) {
		MPI_Request backwards[2] = { persistent[3], persistent[2] };

		made("MPI_Startall request 4, 2 requests, -1 apart");
		MPI_Startall(2, backwards);
		of[3] = ++opened;
		of[2] = ++opened;
		persistent[3] = backwards[0];
		persistent[2] = backwards[1];
	}
	for (volatile int i = 2; i < 4 && step % 2 == 0; i++) {
		made("MPI_Start request %d", i + 1);
		MPI_Start(&persistent[i]);
		of[i] = ++opened;
	}
	made("MPI_Wait request %d back", opened - of[3] + 1);
	MPI_Wait(&persistent[3], MPI_STATUS_IGNORE);
	made("MPI_Wait request %d back", opened - of[1] + 1);
	MPI_Wait(&persistent[1], MPI_STATUS_IGNORE);
	/* it is not started */
	made("MPI_Wait no request");
	MPI_Wait(&persistent[1], MPI_STATUS_IGNORE);
	ended[left++] = of[0];
	ended[left++] = of[2];
	made_wait("MPI_Waitall", ended, left);
	MPI_Waitall(4, persistent, statuses);
}

/* MPI may give one handle to all requests to no process, which have ended at once. */
static void to_no_process(void)
{
	for (int i = 0; i < REQUESTS; i++) {
		made("MPI_Irecv from none, 0 bytes, tag %d", TAG);
		MPI_Irecv(in, 0, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request[i]);
		number[i] = ++opened;
	}
	for (int i = 0; i < REQUESTS; i++) {
		int at = i * 5 % REQUESTS;

		made("MPI_Wait request %d back", opened - number[at] + 1);
		MPI_Wait(&request[at], MPI_STATUS_IGNORE);
	}
}

static void wait_for_none(void)
{
	MPI_Request none[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };

	made("MPI_Wait no request");
	MPI_Wait(&none[0], MPI_STATUS_IGNORE);
	made("MPI_Waitall 0 requests");
	MPI_Waitall(2, none, statuses);
	made("MPI_Waitall 0 requests");
	MPI_Waitall(0, none, statuses);
}

static void wait_for_many(void)
{
	for (int i = 0; i < MANY; i += 2) {
		receive(i);
		send(i + 1);
	}
	made("MPI_Waitall ? requests, from ? back, ? apart");
	MPI_Waitall(MANY, request, statuses);
}

static void wait_for_collectives(void)
{
	int ended[3];

	made("MPI_Ibarrier");
	MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
	made("MPI_Ibcast root 0, %d bytes", 8 * length);
	MPI_Ibcast(in, length, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request[1]);
	made("MPI_Iallreduce %d bytes", 8 * length);
	MPI_Iallreduce(out, in + length, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request[2]);
	made("MPI_Iallgather 8 bytes");
	MPI_Iallgather(out, 1, MPI_DOUBLE, in + 2 * length, 1, MPI_DOUBLE, MPI_COMM_WORLD,
			&request[3]);
	made("MPI_Ialltoall 8 bytes");
	MPI_Ialltoall(out, 1, MPI_DOUBLE, in + 4 * length, 1, MPI_DOUBLE, MPI_COMM_WORLD,
			&request[4]);
	made("MPI_Ireduce root 1, 8 bytes");
	MPI_Ireduce(out, in + 6 * length, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD, &request[5]);
	for (int i = 0; i < 6; i++)
		number[i] = ++opened;
	made("MPI_Wait request 5 back");
	MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	made("MPI_Wait request 1 back");
	MPI_Wait(&request[5], MPI_STATUS_IGNORE);
	made("MPI_Wait request 6 back");
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	memcpy(ended, number + 2, sizeof(ended));
	made_wait("MPI_Waitall", ended, 3);
	MPI_Waitall(6, request, statuses);
}

static void make_step(int step, char way)
{
	switch (way) {
	case 'n':
		wait_for_newest();
		break;
	case 'h':
		wait_for_halves();
		break;
	case 'a':
		wait_for_any();
		break;
	case 's':
		wait_for_some();
		break;
	case 'f':
		free_some();
		break;
	case 'm':
		wait_for_copies();
		break;
	case 't':
		ask();
		break;
	case 'p':
		start_persistent(step);
		break;
	case 'o':
		to_no_process();
		break;
	case 'z':
		wait_for_none();
		break;
	case 'l':
		wait_for_many();
		break;
	case 'c':
		wait_for_collectives();
		break;
	default:
		break;
	}
}

int main(int argc, char **argv)
{
	char file[4096];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 4)
		return 1;
	if (argc > 4)
		length = atoi(argv[4]);
	out = calloc((size_t)length, sizeof(*out));
	in = calloc(MANY * (size_t)length, sizeof(*in));
	peer = rank ^ 1;
	snprintf(file, sizeof(file), "%s.%d", argv[1], rank);
	calls = fopen(file, "w");
	if (!calls || !out || !in)
		return 1;
	made("MPI_Init");
	for (int step = 0; step < atoi(argv[2]); step++)
		for (const char *way = argv[3]; *way; way++)
			make_step(step, *way);
	made("MPI_Finalize");
	MPI_Finalize();
	return fclose(calls) != 0;
}
