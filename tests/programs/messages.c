/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes calls of MPI whose arguments vary, and logs each of them.
 *
 *	messages PREFIX STEPS WAYS [MILLISECONDS]
 *
 * Rank R writes PREFIX.R: a line for each call in the form of `phasemux trace --expand`, without the place of the
 * call. WAYS: a set of letters: h exchange with neighbours, r reductions, c communicators, f messages to rank 0, d random
 * sizes, v collectives whose parts differ, p persistent requests, o a file and collectives of
 * neighbours, w one-sided calls, t communicators that another thread frees, x calls in a random order. MILLISECONDS: the
 * last rank dies by SIGKILL that long after MPI_Init.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 4096
#define TAG    10

static int rank, size;
static FILE *calls;
static double data[LENGTH], other[LENGTH];
static int last = 1; /* number of the last communicator that was made from MPI_COMM_WORLD */

__attribute__((format(printf, 1, 2))) static void made(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(calls, format, list);
	va_end(list);
	fputc('\n', calls);
}

static const char *name(int peer)
{
	static char text[4][16];
	static unsigned next;
	char *into = text[next++ % 4];

	if (peer == MPI_PROC_NULL)
		return "none";
	if (peer == MPI_ANY_SOURCE)
		return "any";
	snprintf(into, sizeof(text[0]), "%d", peer);
	return into;
}

static int at_most(int peer)
{
	return peer < 0 || peer >= size ? MPI_PROC_NULL : peer;
}

/* Exchanges faces with both sides of a line of ranks; sizes change in each eighth step. */
static void exchange(int step)
{
	MPI_Request request[4];
	MPI_Status statuses[4];
	int count = 1 + step / 8 % 5 * 100;

	/* volatile: a compiler that knows the sides makes a call of each, and thus two call sites of one */
	for (volatile int side = 0; side < 2; side++) {
		int peer = at_most(rank + (side ? 1 : -1));

		made("MPI_Irecv from %s, %d bytes, tag %d", name(peer), 8 * count, TAG + side);
		MPI_Irecv(other, count, MPI_DOUBLE, peer, TAG + side, MPI_COMM_WORLD,
				&request[side]);
	}
	for (volatile int side = 0; side < 2; side++) {
		int peer = at_most(rank + (side ? 1 : -1));

		made("MPI_Isend to %s, %d bytes, tag %d", name(peer), 8 * count, TAG + !side);
		MPI_Isend(data, count, MPI_DOUBLE, peer, TAG + !side, MPI_COMM_WORLD,
				&request[2 + side]);
	}
	made("MPI_Waitall 4 requests, from 4 back");
	MPI_Waitall(4, request, statuses);
}

/* Passes a vector with gaps round a ring. */
static void ring(int step)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, blocks = 1 + step % 3;
	MPI_Datatype strided;

	MPI_Type_vector(blocks, 2, 3, MPI_INT, &strided);
	MPI_Type_commit(&strided);
	made("MPI_Sendrecv to %d, %d bytes, tag %d, from %d, %d bytes, tag any", to, 8 * blocks,
			step % 7, from, (int)sizeof(data));
	MPI_Sendrecv(data, 1, strided, to, step % 7, other, sizeof(data), MPI_BYTE, from,
			MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_free(&strided);
	made("MPI_Sendrecv_replace to %d, 12 bytes, tag 1, from %d, tag 1", to, from);
	MPI_Sendrecv_replace(other, 3, MPI_FLOAT, to, 1, from, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
}

static void reduce(int step)
{
	int root = step % size;

	made("MPI_Allreduce %d bytes", 8 * (1 + step % 4));
	MPI_Allreduce(data, other, 1 + step % 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	made("MPI_Bcast root %d, 40 bytes", root);
	MPI_Bcast(data, 10, MPI_INT, root, MPI_COMM_WORLD);
	made("MPI_Reduce root 0, 8 bytes");
	MPI_Reduce(data, other, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	made("MPI_Gather root %d, 16 bytes", root);
	if (rank == root)
		MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, other, 2, MPI_DOUBLE, root,
				MPI_COMM_WORLD);
	else
		MPI_Gather(data, 2, MPI_DOUBLE, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	made("MPI_Scatter root %d, 4 bytes", root);
	if (rank == root)
		MPI_Scatter(data, 1, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root,
				MPI_COMM_WORLD);
	else
		MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, other, 1, MPI_INT, root, MPI_COMM_WORLD);
	made("MPI_Allgather 24 bytes");
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, 3, MPI_DOUBLE, MPI_COMM_WORLD);
	made("MPI_Alltoall 8 bytes");
	MPI_Alltoall(data, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	made("MPI_Barrier");
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Gives each rank another number of elements, also none. */
static void vectors(int step)
{
	int counts[64], places[64], sizes[64], all = 0, root = step % size;
	MPI_Datatype types[64];

	for (int i = 0; i < size; i++) {
		counts[i] = (i + step) % 3;
		places[i] = all;
		all += counts[i];
	}
	made("MPI_Gatherv root %d, %d bytes", root, 8 * counts[rank]);
	if (rank == root)
		MPI_Gatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, other, counts, places, MPI_DOUBLE,
				root, MPI_COMM_WORLD);
	else
		MPI_Gatherv(data, counts[rank], MPI_DOUBLE, NULL, NULL, NULL, MPI_DATATYPE_NULL,
				root, MPI_COMM_WORLD);
	made("MPI_Scatterv root %d, %d bytes", root, 4 * counts[rank]);
	if (rank == root)
		MPI_Scatterv(data, counts, places, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL,
				root, MPI_COMM_WORLD);
	else
		MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, other, counts[rank], MPI_INT,
				root, MPI_COMM_WORLD);
	made("MPI_Allgatherv %d bytes", 8 * counts[rank]);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, counts, places, MPI_DOUBLE,
			MPI_COMM_WORLD);
	made("MPI_Reduce_scatter %d bytes", 8 * counts[rank]);
	MPI_Reduce_scatter(data, other, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	/* each rank sends all ranks as many elements as it has in the list */
	for (int i = 0; i < size; i++) {
		sizes[i] = counts[rank];
		places[i] = 4 * i;
	}
	made("MPI_Alltoallv %d bytes", 4 * all);
	MPI_Alltoallv(data, sizes, places, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) {
		types[i] = MPI_DOUBLE;
		places[i] *= 8;
	}
	made("MPI_Alltoallw %d bytes", 8 * all);
	MPI_Alltoallw(data, sizes, places, types, other, counts, places, types, MPI_COMM_WORLD);
}

/* Exchanges with the neighbours in a ring, and writes a file. */
static void others(const char *prefix, int step)
{
	static MPI_Comm cart = MPI_COMM_NULL;
	static MPI_File file;
	char path[4096];
	int periodic = 1, count = 1 + step % 4;

	if (cart == MPI_COMM_NULL) {
		made("MPI_Cart_create");
		last++;
		MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
		made("MPI_File_open");
		snprintf(path, sizeof(path), "%s.%d.data", prefix, rank);
		MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
				&file);
	}
	made("MPI_Neighbor_alltoall %d bytes, communicator 2", 8 * count);
	MPI_Neighbor_alltoall(data, count, MPI_DOUBLE, other, count, MPI_DOUBLE, cart);
	made("MPI_Neighbor_allgather 4 bytes, communicator 2");
	MPI_Neighbor_allgather(data, 1, MPI_INT, other, 1, MPI_INT, cart);
	made("MPI_File_write_at %d bytes", 8 * count);
	MPI_File_write_at(file, 0, data, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
	made("MPI_File_read_at %d bytes", count);
	MPI_File_read_at(file, 0, other, count, MPI_BYTE, MPI_STATUS_IGNORE);
}

static MPI_Win window = MPI_WIN_NULL;

static void free_window(void)
{
	if (window == MPI_WIN_NULL)
		return;
	made("MPI_Win_free");
	MPI_Win_free(&window);
}

/*
 * Puts numbers into a window of the next rank, and gets some of the last one. In each fifth step another window takes the
 * place of the first one. It has the ranks in reverse order, or as they are.
 */
static void put(int step)
{
	MPI_Comm ordered;
	int own = step / 5 % 2 ? rank : size - 1 - rank, next = (own + 1) % size;
	int count = 1 + step % 3;

	if (step % 5 == 0) {
		free_window();
		made("MPI_Comm_split");
		MPI_Comm_split(MPI_COMM_WORLD, 0, own, &ordered);
		made("MPI_Win_create");
		MPI_Win_create(other, sizeof(other), sizeof(double), MPI_INFO_NULL, ordered,
				&window);
		made("MPI_Comm_free");
		MPI_Comm_free(&ordered);
		last++;
	}
	made("MPI_Win_fence");
	MPI_Win_fence(0, window);
	made("MPI_Put to rank%+d, %d bytes", next - own, 8 * count);
	MPI_Put(data, count, MPI_DOUBLE, next, 0, count, MPI_DOUBLE, window);
	made("MPI_Get from rank%+d, %d bytes", size - 1 - own, 4 * count);
	MPI_Get(data + 10, count, MPI_INT, size - 1, 100, count, MPI_INT, window);
	made("MPI_Accumulate to none, 8 bytes");
	MPI_Accumulate(data, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, window);
	made("MPI_Win_fence");
	MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
	made("MPI_Win_lock to rank%+d", next - own);
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
	made("MPI_Fetch_and_op to rank%+d", next - own);
	MPI_Fetch_and_op(data, data + 20, MPI_DOUBLE, next, 200, MPI_SUM, window);
	made("MPI_Win_unlock to rank%+d", next - own);
	MPI_Win_unlock(next, window);
}

static void *free_unseen(void *communicator)
{
	PMPI_Comm_free(communicator);
	return NULL;
}

/*
 * Sends round a ring in a communicator that another thread then frees, by a call that is not intercepted. The next one has
 * the ranks in another order.
 */
static void renewed(int step)
{
	int own = step % 2 ? rank : size - 1 - rank, to = (own + 1) % size,
	    from = (own + size - 1) % size;
	MPI_Comm ordered;
	pthread_t thread;

	made("MPI_Comm_split");
	MPI_Comm_split(MPI_COMM_WORLD, 0, own, &ordered);
	last++;
	for (volatile int i = 0; i < 2; i++) {
		made("MPI_Sendrecv_replace to rank%+d, 8 bytes, tag 1, from rank%+d, tag 1, communicator %d",
				to - own, from - own, last);
		MPI_Sendrecv_replace(other, 1, MPI_DOUBLE, to, 1, from, 1, ordered,
				MPI_STATUS_IGNORE);
	}
	if (pthread_create(&thread, NULL, free_unseen, &ordered))
		MPI_Abort(MPI_COMM_WORLD, 1);
	made("pthread_join");
	pthread_join(thread, NULL);
}

/* Starts requests that were made once, one by one and together. In the middle of the run, others take their place. */
static void persistent(int step)
{
	static MPI_Request request[4];
	static int first;
	MPI_Status statuses[4];

	if (step % 20 == 0) {
		for (int i = 0; i < 4 && step; i++) {
			made("MPI_Request_free");
			MPI_Request_free(&request[i]);
		}
		/* volatile: as in exchange */
		for (volatile int side = 0; side < 2; side++) {
			int peer = at_most(rank + (side ? 1 : -1)), count = 10 + step / 20;

			made("MPI_Recv_init from %s, %d bytes, tag %d, request %d", name(peer),
					8 * count, TAG + side, first + side + 1);
			MPI_Recv_init(other, count, MPI_DOUBLE, peer, TAG + side, MPI_COMM_WORLD,
					&request[side]);
		}
		for (volatile int side = 0; side < 2; side++) {
			int peer = at_most(rank + (side ? 1 : -1)), count = 10 + step / 20;

			made("MPI_Send_init to %s, %d bytes, tag %d, request %d", name(peer),
					8 * count, TAG + !side, first + side + 3);
			MPI_Send_init(data, count, MPI_DOUBLE, peer, TAG + !side, MPI_COMM_WORLD,
					&request[2 + side]);
		}
		first += 4;
	}
	made("MPI_Startall request %d, 2 requests", first - 3);
	MPI_Startall(2, request);
	for (volatile int side = 0; side < 2; side++) {
		made("MPI_Start request %d", first - 1 + side);
		MPI_Start(&request[2 + side]);
	}
	made("MPI_Waitall 4 requests, from 4 back");
	MPI_Waitall(4, request, statuses);
}

/* Rank 0 alone uses a communicator that all ranks have made. */
static void alone(void)
{
	MPI_Comm one;

	made("MPI_Comm_split");
	MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, 0, &one);
	last++;
	if (one == MPI_COMM_NULL)
		return;
	made("MPI_Allreduce 8 bytes, communicator %d", last);
	MPI_Allreduce(data, other, 1, MPI_DOUBLE, MPI_SUM, one);
	made("MPI_Comm_free");
	MPI_Comm_free(&one);
}

/* Sends within halves of the ranks, whose communicator is made anew in each step. */
static void halves(void)
{
	MPI_Comm half, joined, copy;
	int own, members, first = 2 * (rank < size / 2);
	int number = ++last;

	made("MPI_Comm_split");
	MPI_Comm_split(MPI_COMM_WORLD, first, -rank, &half);
	MPI_Comm_rank(half, &own);
	MPI_Comm_size(half, &members);
	made("MPI_Sendrecv to rank%+d, 8 bytes, tag 0, from rank%+d, 8 bytes, tag 0, communicator %d",
			(own + 1) % members - own, (own + members - 1) % members - own, number);
	MPI_Sendrecv(data, 1, MPI_DOUBLE, (own + 1) % members, 0, other, 1, MPI_DOUBLE,
			(own + members - 1) % members, 0, half, MPI_STATUS_IGNORE);
	made("MPI_Allreduce 8 bytes, communicator %d", number);
	MPI_Allreduce(data, other, 1, MPI_DOUBLE, MPI_SUM, half);
	made("MPI_Allreduce 4 bytes, communicator 1");
	MPI_Allreduce(data, other, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	made("MPI_Intercomm_create communicator %d", number);
	/* the ranks of a half are in reverse order */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? size - 1 : size / 2 - 1, 3, &joined);
	made("MPI_Bcast root ?, ? bytes, communicator %d001", number);
	if (first)
		MPI_Bcast(data, 1, MPI_DOUBLE, own ? MPI_PROC_NULL : MPI_ROOT, joined);
	else
		MPI_Bcast(other, 1, MPI_DOUBLE, 0, joined);
	made("MPI_Comm_dup communicator %d", number);
	MPI_Comm_dup(half, &copy);
	made("MPI_Sendrecv_replace to rank%+d, 4 bytes, tag 1, from rank%+d, tag 1, communicator %d002",
			(own + 1) % members - own, (own + members - 1) % members - own, number);
	MPI_Sendrecv_replace(other, 1, MPI_INT, (own + 1) % members, 1,
			(own + members - 1) % members, 1, copy, MPI_STATUS_IGNORE);
	made("MPI_Comm_free");
	MPI_Comm_free(&copy);
	made("MPI_Comm_free");
	MPI_Comm_free(&joined);
	made("MPI_Comm_free");
	MPI_Comm_free(&half);
}

/* Rank 0 gets messages from the other ranks in any order. */
static void collect(int step)
{
	if (rank) {
		made("MPI_Send to 0, %d bytes, tag %d", step % 100, step % 3);
		MPI_Send(data, step % 100, MPI_BYTE, 0, step % 3, MPI_COMM_WORLD);
	}
	for (int i = 1; !rank && i < size; i++) {
		made("MPI_Recv from any, 100 bytes, tag any");
		MPI_Recv(other, 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	}
	/* the receives for any message take no later one */
	made("MPI_Barrier");
	MPI_Barrier(MPI_COMM_WORLD);
}

/* All sizes differ. */
static void random_sizes(int step)
{
	int bytes = (int)((unsigned)step * 2654435761u >> 18) + 1;
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	made("MPI_Sendrecv to %d, %d bytes, tag 5, from %d, %d bytes, tag 5", to, bytes, from,
			bytes);
	MPI_Sendrecv(data, bytes, MPI_BYTE, to, 5, other, bytes, MPI_BYTE, from, 5, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
	made("MPI_Allreduce %d bytes", 8 * (step % 3));
	MPI_Allreduce_c(data, other, step % 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
}

/* Calls whose arguments repeat, in an order that does not. */
static void random_order(int step)
{
	static int sums, copies;

	switch ((unsigned)step * 2654435761u >> 30) {
	case 0:
		made("MPI_Allreduce %d bytes", 8 * (1 + sums % 3));
		MPI_Allreduce(data, other, 1 + sums++ % 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 1:
		made("MPI_Bcast root %d, %d bytes", copies % size, 4 * (copies % 7));
		MPI_Bcast(data, copies % 7, MPI_INT, copies % size, MPI_COMM_WORLD);
		copies++;
		break;
	default:
		made("MPI_Barrier");
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	char file[4096];
	double begin;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 4)
		return 1;
	snprintf(file, sizeof(file), "%s.%d", argv[1], rank);
	calls = fopen(file, "w");
	if (!calls)
		return 1;
	/* what a rank has logged before it is killed is in the file */
	setvbuf(calls, NULL, _IOLBF, BUFSIZ);
	made("MPI_Init");
	begin = MPI_Wtime();
	for (int step = 0; step < atoi(argv[2]); step++) {
		if (strchr(argv[3], 'h')) {
			exchange(step);
			ring(step);
		}
		if (strchr(argv[3], 'r') && step % 5 == 0)
			reduce(step / 5);
		if (strchr(argv[3], 'c') && step % 10 == 0) {
			alone();
			halves();
		}
		if (strchr(argv[3], 'f'))
			collect(step);
		if (strchr(argv[3], 'd'))
			random_sizes(step);
		if (strchr(argv[3], 'v') && step % 3 == 0)
			vectors(step / 3);
		if (strchr(argv[3], 'o'))
			others(argv[1], step);
		if (strchr(argv[3], 'w'))
			put(step);
		if (strchr(argv[3], 't'))
			renewed(step);
		if (strchr(argv[3], 'p'))
			persistent(step);
		if (strchr(argv[3], 'x'))
			random_order(step);
		if (argc > 4 && rank == size - 1 && (MPI_Wtime() - begin) * 1e3 > atoi(argv[4]))
			raise(SIGKILL);
	}
	free_window();
	made("MPI_Finalize");
	MPI_Finalize();
	return fclose(calls) != 0;
}
