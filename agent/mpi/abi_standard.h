/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binary interface that version 5.0 of the MPI standard defines (mpi_abi.h): version 1.0 of the ABI, by any
 * library libmpi_abi. Handles are pointers, and the predefined ones small numbers. Values are those of the standard
 * (chapter on the ABI, and its table of constants).
 */
#ifndef PHASEMUX_AGENT_MPI_ABI_STANDARD_H
#define PHASEMUX_AGENT_MPI_ABI_STANDARD_H

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Win *MPI_Win;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int internal[5];
} MPI_Status;

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);

#define MPI_COMM_NULL     ((MPI_Comm)0x100)
#define MPI_COMM_WORLD    ((MPI_Comm)0x101)
#define MPI_COMM_SELF     ((MPI_Comm)0x102)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_BYTE          ((MPI_Datatype)0x247)
#define MPI_INT           ((MPI_Datatype)0x209)
#define MPI_DOUBLE        ((MPI_Datatype)0x214)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_INFO_NULL     ((MPI_Info)0x130)
#define MPI_MAX           ((MPI_Op)0x23)
#define MPI_REQUEST_NULL  ((MPI_Request)0x180)

#define MPI_IN_PLACE          ((void *)1)
#define MPI_STATUS_IGNORE     ((MPI_Status *)0)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)

#define MPI_SUCCESS                    0
#define MPI_ANY_SOURCE                 (-1)
#define MPI_ANY_TAG                    (-2)
#define MPI_PROC_NULL                  (-3)
#define MPI_UNDEFINED                  (-32766)
#define MPI_KEYVAL_INVALID             0
#define MPI_TAG_UB                     501
#define MPI_THREAD_SINGLE              0
#define MPI_THREAD_SERIALIZED          2048
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_PORT_NAME              1024

/* The number of a handle in Fortran is that of MPI_Comm_toint and its kind. Not every early library has these. */
#define ABI_SYMBOLS(X)
#define ABI_FUNCTIONS(X)                                                                           \
	X(MPI_Comm, Comm_fromint, (int), false)                                                    \
	X(MPI_Win, Win_fromint, (int), false)                                                      \
	X(MPI_Datatype, Type_fromint, (int), false)                                                \
	X(int, Abi_get_version, (int *, int *), false)
#define ABI_COMM_OF_FORTRAN(number)                                                                \
	(pmpi.Comm_fromint ? pmpi.Comm_fromint((int)(number)) : MPI_COMM_NULL)
#define ABI_TYPE_OF_FORTRAN(number)                                                                \
	(pmpi.Type_fromint ? pmpi.Type_fromint((int)(number)) : MPI_DATATYPE_NULL)
#define ABI_REQUEST_NULL_OF_FORTRAN ((long)MPI_REQUEST_NULL)
#define ABI_WIN_OF_FORTRAN(number)  (pmpi.Win_fromint ? pmpi.Win_fromint((int)(number)) : (MPI_Win)0)

/* Handles that the standard defines have at most 12 bits, which no address has. */
#define ABI_TYPE_IS_NAMED(type, parts) ((void)(parts), (unsigned long)(type) < 0x1000)

#endif
