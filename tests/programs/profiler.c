/* SPDX-License-Identifier: BSD-3-Clause */
/* A second profiler like mpiP: it is preloaded, and counts calls by the PMPI interface. */
#include <mpi.h>
#include <stdio.h>

static unsigned sends, waits, reductions;

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
		void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
		MPI_Comm comm, MPI_Status *status)
{
	sends++;
	return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
			recvtype, source, recvtag, comm, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
	waits++;
	return PMPI_Waitall(count, requests, statuses);
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
		int root, MPI_Comm comm)
{
	reductions++;
	return PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		printf("profiler: %u sends, %u waits, %u reductions\n", sends, waits, reductions);
		fflush(stdout);
	}
	return PMPI_Finalize();
}
