/* Compiled once per MPI implementation, against its mpi.h. */
#include "agent/mpi_adapter.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/*
 * One communicator for rounds, and one for the end, when one rank may still be in a round that
 * another has not started.
 */
static MPI_Comm rounds = MPI_COMM_NULL, closing = MPI_COMM_NULL;
static MPI_Request pending = MPI_REQUEST_NULL;

/* Of the reduction under way. */
static struct {
	MPI_Datatype type;
	MPI_Op operation;
	mpi_merge merge;
} reduction = { MPI_DATATYPE_NULL, MPI_OP_NULL, NULL };

static int failed(int code)
{
	return code == MPI_SUCCESS ? 0 : -EIO;
}

static int adapter_open(struct mpi_world *world)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0, level = MPI_THREAD_SINGLE;

	if (PMPI_Comm_rank(MPI_COMM_WORLD, &world->rank) != MPI_SUCCESS ||
			PMPI_Comm_size(MPI_COMM_WORLD, &world->size) != MPI_SUCCESS)
		return -EIO;
	PMPI_Query_thread(&level);
	world->threads = level >= MPI_THREAD_SERIALIZED;
	version[0] = '\0';
	PMPI_Get_library_version(version, &length);
	/* "Open MPI v4.1.4, package: ...", "MPICH Version:      4.0.2\nMPICH Release date: ..." */
	version[strcspn(version, ",\n")] = '\0';
	snprintf(world->library, sizeof(world->library), "%.100s", version);
	for (char *blank; (blank = strpbrk(world->library, "\t:"));)
		*blank = ' ';
	for (char *blanks; (blanks = strstr(world->library, "  "));)
		memmove(blanks, blanks + 1, strlen(blanks));
	/* no attribute of the program's is there yet that a duplicate could copy */
	if (PMPI_Comm_dup(MPI_COMM_WORLD, &rounds) != MPI_SUCCESS ||
			PMPI_Comm_dup(rounds, &closing) != MPI_SUCCESS)
		return -EIO;
	PMPI_Comm_set_errhandler(rounds, MPI_ERRORS_RETURN);
	PMPI_Comm_set_errhandler(closing, MPI_ERRORS_RETURN);
	return 0;
}

static void release_reduction(void)
{
	if (reduction.operation != MPI_OP_NULL)
		PMPI_Op_free(&reduction.operation);
	if (reduction.type != MPI_DATATYPE_NULL)
		PMPI_Type_free(&reduction.type);
}

/* MPI's signature of a user operation; len counts elements of the one type that there is. */
static void merge_elements(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int bytes = 0;

	PMPI_Type_size(*type, &bytes);
	for (int i = 0; i < *len; i++)
		reduction.merge((char *)in + (size_t)i * bytes, (char *)inout + (size_t)i * bytes);
}

static int adapter_reduce_start(const void *mine, void *result, size_t bytes, mpi_merge merge)
{
	if (bytes > INT_MAX)
		return -EIO;
	reduction.merge = merge;
	if (PMPI_Type_contiguous((int)bytes, MPI_BYTE, &reduction.type) != MPI_SUCCESS ||
			PMPI_Type_commit(&reduction.type) != MPI_SUCCESS ||
			PMPI_Op_create(merge_elements, 1, &reduction.operation) != MPI_SUCCESS ||
			PMPI_Ireduce(mine, result, 1, reduction.type, reduction.operation, 0, rounds,
					&pending) != MPI_SUCCESS) {
		release_reduction();
		return -EIO;
	}
	return 0;
}

static int adapter_broadcast_start(void *buffer, size_t bytes)
{
	if (bytes > INT_MAX)
		return -EIO;
	return failed(PMPI_Ibcast(buffer, (int)bytes, MPI_BYTE, 0, rounds, &pending));
}

static int adapter_test(void)
{
	int done = 0;

	if (PMPI_Test(&pending, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return -EIO;
	if (done)
		release_reduction();
	return done;
}

static int adapter_wait(void)
{
	int error = failed(PMPI_Wait(&pending, MPI_STATUS_IGNORE));

	release_reduction();
	return error;
}

static int adapter_sum(double *values, size_t count, bool everywhere)
{
	int rank = 0;

	if (count > INT_MAX || PMPI_Comm_rank(closing, &rank) != MPI_SUCCESS)
		return -EIO;
	if (everywhere)
		return failed(PMPI_Allreduce(
				MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_SUM, closing));
	return failed(PMPI_Reduce(rank ? values : MPI_IN_PLACE, rank ? NULL : values, (int)count,
			MPI_DOUBLE, MPI_SUM, 0, closing));
}

static int adapter_max(double *values, size_t count)
{
	if (count > INT_MAX)
		return -EIO;
	return failed(PMPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, closing));
}

static void adapter_close(void)
{
	release_reduction();
	if (closing != MPI_COMM_NULL)
		PMPI_Comm_free(&closing);
	if (rounds != MPI_COMM_NULL)
		PMPI_Comm_free(&rounds);
}

__attribute__((visibility("default"))) const struct mpi_adapter *phasemux_mpi_adapter(void);

const struct mpi_adapter *phasemux_mpi_adapter(void)
{
	static const struct mpi_adapter adapter = {
		.open = adapter_open,
		.reduce_start = adapter_reduce_start,
		.broadcast_start = adapter_broadcast_start,
		.test = adapter_test,
		.wait = adapter_wait,
		.sum = adapter_sum,
		.max = adapter_max,
		.close = adapter_close,
	};

	return &adapter;
}
