/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binary interface of the MPICH family (mpi_abi.h): MPICH since 3.1, and the MPIs that keep to its initiative for
 * ABI compatibility, as those of Intel, MVAPICH, Cray and ParaStation. Handles are numbers. Values are those of the
 * public mpi.h of MPICH; tests/e2e/mpis.t compares them.
 */
#ifndef PHASEMUX_AGENT_MPI_ABI_MPICH_H
#define PHASEMUX_AGENT_MPI_ABI_MPICH_H

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Win;
typedef int MPI_Fint;

typedef struct {
	int internal[2];
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
} MPI_Status;

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);

#define MPI_COMM_NULL     ((MPI_Comm)0x04000000)
#define MPI_COMM_WORLD    ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF     ((MPI_Comm)0x44000001)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x0c000000)
#define MPI_BYTE          ((MPI_Datatype)0x4c00010d)
#define MPI_INT           ((MPI_Datatype)0x4c000405)
#define MPI_DOUBLE        ((MPI_Datatype)0x4c00080b)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_INFO_NULL     ((MPI_Info)0x1c000000)
#define MPI_MAX           ((MPI_Op)0x58000001)
#define MPI_REQUEST_NULL  ((MPI_Request)0x2c000000)

#define MPI_IN_PLACE          ((void *)-1)
#define MPI_STATUS_IGNORE     ((MPI_Status *)1)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)

#define MPI_SUCCESS                    0
#define MPI_ANY_SOURCE                 (-2)
#define MPI_ANY_TAG                    (-1)
#define MPI_PROC_NULL                  (-1)
#define MPI_UNDEFINED                  (-32766)
#define MPI_KEYVAL_INVALID             0x24000000
#define MPI_TAG_UB                     0x64400001
#define MPI_THREAD_SINGLE              0
#define MPI_THREAD_SERIALIZED          2
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_PORT_NAME              256

/* Fortran has the same numbers. */
#define ABI_SYMBOLS(X)
#define ABI_FUNCTIONS(X)
#define ABI_COMM_OF_FORTRAN(number) ((MPI_Comm)(number))
#define ABI_TYPE_OF_FORTRAN(number) ((MPI_Datatype)(number))
#define ABI_WIN_OF_FORTRAN(number)  ((MPI_Win)(number))
#define ABI_REQUEST_NULL_OF_FORTRAN ((long)MPI_REQUEST_NULL)

/* The named types of pairs have other handles; they are taken for types that the program has made. */
#define ABI_TYPE_IS_NAMED(type, parts) ((void)(parts), (unsigned)(type) >> 24 == 0x4c)

#endif
