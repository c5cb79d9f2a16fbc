/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface of MPI (mpi_abi.h). */
#include "agent/mpi/mpi_arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/mpi/mpi_functions.h"

/*
 * The number of a communicator is an attribute of it, because MPI gives the handle of one that was freed to another
 * one. Copies do not inherit it.
 */
static int key = MPI_KEYVAL_INVALID;
static intptr_t numbered = MPI_ARGUMENTS_SELF; /* the last number */
static struct mpi_member world;

static int arguments_open(void)
{
	world.communicator = MPI_ARGUMENTS_WORLD;
	return pmpi.Comm_rank(MPI_COMM_WORLD, &world.rank) == MPI_SUCCESS &&
					pmpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
							MPI_COMM_NULL_DELETE_FN, &key,
							NULL) == MPI_SUCCESS ?
			0 :
			-EIO;
}

static int arguments_type_bytes(long handle, bool fortran)
{
	MPI_Datatype type = fortran ? ABI_TYPE_OF_FORTRAN(handle) : (MPI_Datatype)handle;
	int size;

	if (!type || type == MPI_DATATYPE_NULL || pmpi.Type_size(type, &size) != MPI_SUCCESS ||
			size == MPI_UNDEFINED)
		return -1;
	return size;
}

/* Returns the number of a communicator, which it gets if it has none, or -1. */
static int number_of(MPI_Comm communicator)
{
	void *known;
	int found;

	if (communicator == MPI_COMM_SELF)
		return MPI_ARGUMENTS_SELF;
	if (pmpi.Comm_get_attr(communicator, key, &known, &found) != MPI_SUCCESS)
		return -1;
	if (found)
		return (int)(intptr_t)known;
	if (pmpi.Comm_set_attr(communicator, key, (void *)(numbered + 1)) != MPI_SUCCESS)
		return -1;
	return (int)++numbered;
}

static bool arguments_member(long handle, bool fortran, struct mpi_member *member)
{
	MPI_Comm communicator = fortran ? ABI_COMM_OF_FORTRAN(handle) : (MPI_Comm)handle;
	int inter;

	if (communicator == MPI_COMM_WORLD) {
		*member = world;
		return true;
	}
	if (!communicator || communicator == MPI_COMM_NULL)
		return false;
	member->communicator = number_of(communicator);
	if (member->communicator < 0 ||
			pmpi.Comm_rank(communicator, &member->rank) != MPI_SUCCESS ||
			pmpi.Comm_test_inter(communicator, &inter) != MPI_SUCCESS)
		return false;
	member->inter = inter;
	return true;
}

static int arguments_members(long handle, bool fortran)
{
	MPI_Comm communicator = fortran ? ABI_COMM_OF_FORTRAN(handle) : (MPI_Comm)handle;
	int members;

	return pmpi.Comm_size(communicator, &members) == MPI_SUCCESS ? members : 0;
}

static void arguments_close(void)
{
	if (key != MPI_KEYVAL_INVALID)
		pmpi.Comm_free_keyval(&key);
}

const struct mpi_arguments mpi_arguments = {
	.proc_null = MPI_PROC_NULL,
	.any_source = MPI_ANY_SOURCE,
	.any_tag = MPI_ANY_TAG,
	.handle_bytes = sizeof(MPI_Datatype),
	.open = arguments_open,
	.type_bytes = arguments_type_bytes,
	.member = arguments_member,
	.members = arguments_members,
	.close = arguments_close,
};
