/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface of MPI (mpi_abi.h). */
#include "agent/mpi/mpi_adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/mpi/mpi_channel.h"
#include "agent/mpi/mpi_functions.h"
#include "agent/mpi/mpi_version.h"

/*
 * The communicator for all messages of the agent. There is only one, because to make one takes several messages
 * that a rank may have to wait for. At the end, one rank may still be in a round that another has not started.
 * This is harmless: rounds use messages from one rank to another, which do not meet the messages of
 * collectives.
 */
static MPI_Comm own;
static bool has_own;

/*
 * Size of a piece of a message. Data moves along a binomial tree, in pieces that every transport sends eagerly.
 * With longer messages many transports let the receiver read the sender's memory, and UCX aborts the receiver
 * if the sender is killed in the meantime.
 */
#define PIECE_BYTES 4000
#define PIECES_MAX  256
#define SUM_PIECES  64 /* largest number of pieces of a sum that are moved at a time */

static struct {
	int rank, size;
	unsigned bit; /* in which the rank at the other end of the next transfer differs */
	char *data, *scratch;
	size_t bytes;
	mpi_merge merge; /* NULL: a broadcast */
	bool merging;    /* scratch must be merged when it has arrived */
	int pieces;      /* number of pieces of the transfer under way */
	int arrived;     /* number of pieces that have arrived */
	MPI_Request request[PIECES_MAX];
} tree;

/*
 * Makes the communicator of all ranks. It uses neither MPI_Comm_dup nor a non-blocking barrier. With either,
 * Open MPI polls for non-blocking collectives in each call, for the rest of the run.
 */
static int make_communicator(void)
{
	MPI_Group all;

	if (pmpi.Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS)
		return -EIO;
	has_own = pmpi.Comm_create_group(MPI_COMM_WORLD, all, 0, &own) == MPI_SUCCESS;
	pmpi.Group_free(&all);
	return has_own ? 0 : -EIO;
}

static int adapter_open(struct mpi_world *world)
{
	int level = MPI_THREAD_SINGLE, error;

	if (pmpi.Comm_rank(MPI_COMM_WORLD, &world->rank) != MPI_SUCCESS ||
			pmpi.Comm_size(MPI_COMM_WORLD, &world->size) != MPI_SUCCESS)
		return -EIO;
	tree.rank = world->rank;
	tree.size = world->size;
	pmpi.Query_thread(&level);
	world->threads = level >= MPI_THREAD_SERIALIZED;
	mpi_version_name(world->library, sizeof(world->library));
	/* in the next call the others would wait for a rank without an agent for ever */
	error = mpi_channel_call_roll(world->rank, world->size);
	if (!error)
		error = make_communicator();
	if (error)
		return error;
	pmpi.Comm_set_errhandler(own, MPI_ERRORS_RETURN);
	return 0;
}

typedef int (*piece_start)(char *piece, int bytes, int other, MPI_Request *request);

/* Starts the pieces of `bytes` bytes to or from rank `other`, behind those under way. Returns 0 or -EIO. */
static int start_pieces(piece_start start, char *buffer, size_t bytes, int other)
{
	for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
		size_t left = bytes - at;

		if (tree.pieces == PIECES_MAX ||
				start(buffer + at, (int)(left < PIECE_BYTES ? left : PIECE_BYTES),
						other, &tree.request[tree.pieces]) != MPI_SUCCESS)
			return -EIO;
		tree.pieces++;
	}
	return 0;
}

/* Starts the non-blocking send of all pieces to rank `other`, or their receive. Returns 1 or -EIO. */
static int transfer(piece_start start, char *buffer, int other)
{
	tree.pieces = tree.arrived = 0;
	return start_pieces(start, buffer, tree.bytes, other) ? -EIO : 1;
}

static int send_piece(char *piece, int bytes, int other, MPI_Request *request)
{
	return pmpi.Isend(piece, bytes, MPI_BYTE, other, 0, own, request);
}

static int receive_piece(char *piece, int bytes, int other, MPI_Request *request)
{
	return pmpi.Irecv(piece, bytes, MPI_BYTE, other, 0, own, request);
}

/*
 * Starts the next transfer of a reduction: first from all ranks below, then to the rank above. Returns 1, -EIO,
 * or 0 if the reduction is complete.
 */
static int next_of_reduction(void)
{
	while (tree.bit < (unsigned)tree.size) {
		unsigned bit = tree.bit;

		tree.bit <<= 1;
		if ((unsigned)tree.rank & bit) {
			tree.bit = (unsigned)tree.size;
			return transfer(send_piece, tree.data, tree.rank - (int)bit);
		}
		if ((unsigned)tree.rank + bit < (unsigned)tree.size) {
			tree.merging = true;
			return transfer(receive_piece, tree.scratch, tree.rank + (int)bit);
		}
	}
	return 0;
}

static int next_of_broadcast(void)
{
	while (tree.bit) {
		unsigned bit = tree.bit;

		tree.bit >>= 1;
		if ((unsigned)tree.rank + bit < (unsigned)tree.size)
			return transfer(send_piece, tree.data, tree.rank + (int)bit);
	}
	return 0;
}

/* Starts the next transfer when all pieces have arrived. Returns 1, -EIO, or 0 if there is none. */
static int next(void)
{
	if (tree.merging)
		tree.merge(tree.scratch, tree.data);
	tree.merging = false;
	tree.pieces = tree.arrived = 0;
	return tree.merge ? next_of_reduction() : next_of_broadcast();
}

static int adapter_reduce_start(void *part, void *scratch, size_t bytes, mpi_merge merge)
{
	if (bytes > (size_t)PIECE_BYTES * PIECES_MAX)
		return -EIO;
	tree.data = part;
	tree.scratch = scratch;
	tree.bytes = bytes;
	tree.merge = merge;
	tree.bit = 1;
	return next() < 0 ? -EIO : 0;
}

static int adapter_broadcast_start(void *buffer, size_t bytes)
{
	unsigned lowest = (unsigned)tree.rank & -(unsigned)tree.rank;

	if (bytes > (size_t)PIECE_BYTES * PIECES_MAX)
		return -EIO;
	tree.data = buffer;
	tree.bytes = bytes;
	tree.merge = NULL;
	if (tree.rank) {
		tree.bit = lowest >> 1;
		return transfer(receive_piece, buffer, tree.rank - (int)lowest) < 0 ? -EIO : 0;
	}
	for (tree.bit = 1; tree.bit < (unsigned)tree.size;)
		tree.bit <<= 1;
	return next() < 0 ? -EIO : 0;
}

/* Calls act() for each rank next to this one in the tree. above: that is the one above. Returns 0 or -EIO. */
static int with_neighbours(int (*act)(int other, bool above))
{
	unsigned bit = 1;
	int error = 0;

	for (; bit < (unsigned)tree.size && !((unsigned)tree.rank & bit) && !error; bit <<= 1)
		if ((unsigned)tree.rank + bit < (unsigned)tree.size)
			error = act(tree.rank + (int)bit, false);
	if (tree.rank && !error)
		error = act(tree.rank - (int)((unsigned)tree.rank & -(unsigned)tree.rank), true);
	return error;
}

/* Buffers of the rehearsal, and the bytes that go up and down the tree. */
static struct {
	char *out, *in;
	size_t up, down;
} rehearsal;

#define TAG_ALL_SENT 1 /* arrives after all messages sent before it, as none overtakes another */

static int all_arrive(MPI_Request *pieces)
{
	for (int i = 0; i < tree.pieces; i++)
		if (pmpi.Wait(&pieces[i], MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -EIO;
	return 0;
}

static int rehearse_send(int other, bool above)
{
	size_t bytes = above ? rehearsal.up : rehearsal.down;

	if (start_pieces(send_piece, rehearsal.out, bytes, other) || tree.pieces == PIECES_MAX ||
			pmpi.Isend(NULL, 0, MPI_BYTE, other, TAG_ALL_SENT, own,
					&tree.request[tree.pieces]) != MPI_SUCCESS)
		return -EIO;
	tree.pieces++;
	return 0;
}

static int rehearse_meet(int other, bool above)
{
	(void)above;
	return pmpi.Recv(NULL, 0, MPI_BYTE, other, TAG_ALL_SENT, own, MPI_STATUS_IGNORE) ==
					MPI_SUCCESS ?
			0 :
			-EIO;
}

static int rehearse_receive(int other, bool above)
{
	size_t bytes = above ? rehearsal.down : rehearsal.up;

	tree.pieces = 0;
	return start_pieces(receive_piece, rehearsal.in, bytes, other) || all_arrive(tree.request) ?
			-EIO :
			0;
}

static int adapter_rehearse(void *out, void *in, size_t reduced, size_t broadcast)
{
	MPI_Request sent[PIECES_MAX];
	int pieces;

	rehearsal.out = out;
	rehearsal.in = in;
	rehearsal.up = reduced;
	rehearsal.down = broadcast;
	tree.pieces = 0;
	if (with_neighbours(rehearse_send) || with_neighbours(rehearse_meet))
		return -EIO;
	pieces = tree.pieces;
	memcpy(sent, tree.request, (size_t)pieces * sizeof(MPI_Request));
	if (with_neighbours(rehearse_receive))
		return -EIO;
	tree.pieces = pieces;
	return all_arrive(sent);
}

static int adapter_test(void)
{
	int done, more;

	do {
		for (; tree.arrived < tree.pieces; tree.arrived++) {
			if (pmpi.Test(&tree.request[tree.arrived], &done, MPI_STATUS_IGNORE) !=
					MPI_SUCCESS)
				return -EIO;
			if (!done)
				return 0;
		}
		more = next();
	} while (more > 0);
	return more < 0 ? -EIO : 1;
}

static int adapter_wait(void)
{
	int more;

	do {
		for (; tree.arrived < tree.pieces; tree.arrived++)
			if (pmpi.Wait(&tree.request[tree.arrived], MPI_STATUS_IGNORE) !=
					MPI_SUCCESS)
				return -EIO;
		more = next();
	} while (more > 0);
	return more;
}

/* Adds `in` to `inout`, both doubles of tree.bytes together. */
static void tree_add(const void *in, void *inout)
{
	const double *more = in;
	double *sums = inout;

	for (size_t i = 0; i < tree.bytes / sizeof(*sums); i++)
		sums[i] += more[i];
}

/*
 * Adds up the tree, so that a rank sends what it has and goes on. In MPI's own reductions, ranks wait for each
 * other for each piece, which takes long if two of them share a processor.
 */
static int adapter_sum(double *values, size_t count)
{
	static double scratch[SUM_PIECES * PIECE_BYTES / sizeof(double)];
	const size_t most = sizeof(scratch) / sizeof(*scratch);

	for (size_t at = 0; at < count; at += most) {
		size_t left = count - at;

		if (adapter_reduce_start(values + at, scratch,
				    (left < most ? left : most) * sizeof(*values), tree_add) ||
				adapter_wait())
			return -EIO;
	}
	return 0;
}

/* Takes the maxima in pieces of at most PIECE_BYTES. */
static int adapter_max(double *values, size_t count)
{
	const size_t most = PIECE_BYTES / sizeof(*values);

	for (size_t at = 0; at < count; at += most) {
		size_t left = count - at;

		if (pmpi.Allreduce(MPI_IN_PLACE, values + at, (int)(left < most ? left : most),
				    MPI_DOUBLE, MPI_MAX, own) != MPI_SUCCESS)
			return -EIO;
	}
	return 0;
}

static void adapter_close(void)
{
	mpi_arguments.close();
	if (has_own)
		pmpi.Comm_free(&own);
	has_own = false;
}

__attribute__((visibility("default"))) const struct mpi_adapter *phasemux_mpi_adapter(void *library,
		char *why, size_t why_size);

const struct mpi_adapter *phasemux_mpi_adapter(void *library, char *why, size_t why_size)
{
	static const struct mpi_adapter adapter = {
		.open = adapter_open,
		.rehearse = adapter_rehearse,
		.reduce_start = adapter_reduce_start,
		.broadcast_start = adapter_broadcast_start,
		.test = adapter_test,
		.wait = adapter_wait,
		.sum = adapter_sum,
		.max = adapter_max,
		.close = adapter_close,
		.arguments = &mpi_arguments,
	};

	if (!mpi_functions_find(library, why, why_size) || !mpi_version_is_served(why, why_size))
		return NULL;
	return &adapter;
}
