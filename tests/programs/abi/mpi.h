/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the standard's ABI (MPI 5.0) that phases.c uses, for programs that run with the library of
 * abi_library.c, or with any libmpi_abi.so.1.
 */
#ifndef PHASEMUX_TESTS_PROGRAMS_ABI_MPI_H
#define PHASEMUX_TESTS_PROGRAMS_ABI_MPI_H

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;

#define MPI_COMM_WORLD    ((MPI_Comm)0x101)
#define MPI_UINT64_T      ((MPI_Datatype)0x259)
#define MPI_SUM           ((MPI_Op)0x21)
#define MPI_IN_PLACE      ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

int MPI_Abort(MPI_Comm comm, int code);
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
		MPI_Comm comm);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Finalize(void);
int MPI_Init(int *argc, char ***argv);
int MPI_Irecv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		MPI_Request *request);
int MPI_Isend(const void *from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
		MPI_Request *request);
int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
		MPI_Comm comm);
int MPI_Sendrecv(const void *from, int send_count, MPI_Datatype send_type, int dest, int send_tag,
		void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		MPI_Status *status);
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);

#endif
