/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binary interface of Open MPI (mpi_abi.h). Handles are the addresses of its symbols, which mpi_functions_find()
 * looks up. Values are those of the public mpi.h of Open MPI; tests/e2e/mpis.t compares them.
 */
#ifndef PHASEMUX_AGENT_MPI_ABI_OPENMPI_H
#define PHASEMUX_AGENT_MPI_ABI_OPENMPI_H

#include <stddef.h>

typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_group_t *MPI_Group;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_win_t *MPI_Win;
typedef int MPI_Fint;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int internal;
	size_t internal_count;
} MPI_Status;

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);

/* X(name of the symbol, whether the adapter needs it) */
#define ABI_SYMBOLS(X)                                                                             \
	X(ompi_mpi_comm_null, true)                                                                \
	X(ompi_mpi_comm_world, true)                                                               \
	X(ompi_mpi_comm_self, true)                                                                \
	X(ompi_mpi_datatype_null, true)                                                            \
	X(ompi_mpi_byte, true)                                                                     \
	X(ompi_mpi_int, true)                                                                      \
	X(ompi_mpi_double, true)                                                                   \
	X(ompi_mpi_errors_return, true)                                                            \
	X(ompi_mpi_info_null, true)                                                                \
	X(ompi_mpi_op_max, true)                                                                   \
	X(ompi_request_null, true)                                                                 \
	X(OMPI_C_MPI_COMM_NULL_COPY_FN, true)                                                      \
	X(ompi_mpi_param_check, false)

#define MPI_COMM_NULL     ((MPI_Comm)abi_symbols.ompi_mpi_comm_null)
#define MPI_COMM_WORLD    ((MPI_Comm)abi_symbols.ompi_mpi_comm_world)
#define MPI_COMM_SELF     ((MPI_Comm)abi_symbols.ompi_mpi_comm_self)
#define MPI_DATATYPE_NULL ((MPI_Datatype)abi_symbols.ompi_mpi_datatype_null)
#define MPI_BYTE          ((MPI_Datatype)abi_symbols.ompi_mpi_byte)
#define MPI_INT           ((MPI_Datatype)abi_symbols.ompi_mpi_int)
#define MPI_DOUBLE        ((MPI_Datatype)abi_symbols.ompi_mpi_double)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)abi_symbols.ompi_mpi_errors_return)
#define MPI_INFO_NULL     ((MPI_Info)abi_symbols.ompi_mpi_info_null)
#define MPI_MAX           ((MPI_Op)abi_symbols.ompi_mpi_op_max)
#define MPI_REQUEST_NULL  ((MPI_Request)abi_symbols.ompi_request_null)

#define MPI_IN_PLACE      ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_COMM_NULL_COPY_FN                                                                      \
	((MPI_Comm_copy_attr_function *)abi_symbols.OMPI_C_MPI_COMM_NULL_COPY_FN)

#define MPI_SUCCESS                    0
#define MPI_ANY_SOURCE                 (-1)
#define MPI_ANY_TAG                    (-1)
#define MPI_PROC_NULL                  (-2)
#define MPI_UNDEFINED                  (-32766)
#define MPI_KEYVAL_INVALID             (-1)
#define MPI_COMBINER_NAMED             0
#define MPI_TAG_UB                     0
#define MPI_THREAD_SINGLE              0
#define MPI_THREAD_SERIALIZED          2
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#define MPI_MAX_PORT_NAME              1024

#define ABI_FUNCTIONS(X)                                                                           \
	X(int, Type_get_envelope, (MPI_Datatype, int *, int *, int *, int *), true)                \
	X(MPI_Comm, Comm_f2c, (MPI_Fint), true)                                                    \
	X(MPI_Datatype, Type_f2c, (MPI_Fint), true)                                                \
	X(MPI_Win, Win_f2c, (MPI_Fint), true)                                                      \
	X(MPI_Fint, Request_c2f, (MPI_Request), true)
#define ABI_COMM_OF_FORTRAN(number) pmpi.Comm_f2c((MPI_Fint)(number))
#define ABI_TYPE_OF_FORTRAN(number) pmpi.Type_f2c((MPI_Fint)(number))
#define ABI_WIN_OF_FORTRAN(number)  pmpi.Win_f2c((MPI_Fint)(number))
#define ABI_REQUEST_NULL_OF_FORTRAN ((long)pmpi.Request_c2f(MPI_REQUEST_NULL))

#define ABI_TYPE_IS_NAMED(type, parts)                                                             \
	(pmpi.Type_get_envelope(type, (parts), (parts) + 1, (parts) + 2, (parts) + 3) ==           \
					MPI_SUCCESS &&                                             \
			(parts)[3] == MPI_COMBINER_NAMED)

#endif
