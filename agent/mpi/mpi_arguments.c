/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface of MPI (mpi_abi.h). */
#include "agent/mpi/mpi_arguments.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/host/hash.h"
#include "agent/mpi/mpi_functions.h"

/* What is known of a communicator. */
struct known {
	uint32_t number, made; /* made: how many were made from it */
};

/*
 * What is known of a communicator is an attribute of it, because MPI gives the handle of one that was freed to another
 * one. Copies do not inherit it.
 */
static int key = MPI_KEYVAL_INVALID;
static struct known first[2] = { { .number = MPI_ARGUMENTS_WORLD },
	{ .number = MPI_ARGUMENTS_SELF } };
static uint32_t own = MPI_ARGUMENTS_OWN; /* next number of one whose making was not seen */
static struct mpi_member world;
static long request_null[2];

/*
 * Windows have an attribute as well, with the rank of this process. When MPI deletes an attribute, its communicator or window
 * was freed, by whatever call and thread, before its handle can be that of another one.
 */
static int window_key = MPI_KEYVAL_INVALID;
static _Atomic(uint64_t) freed = 1;

/* Communicators that were made, and not used yet. Only their use says that the call that made them has not failed. */
#define UNUSED_MAX 64
static struct {
	MPI_Comm communicator;
	uint32_t number; /* 0: the place is free */
} unused[UNUSED_MAX];
static unsigned next_unused;

static void note_freed(void)
{
	/* The program orders it before the use of another handle with this value. */
	atomic_fetch_add_explicit(&freed, 1, memory_order_relaxed);
}

static int drop_communicator(MPI_Comm communicator, int of, void *value, void *state)
{
	(void)communicator;
	(void)of;
	(void)value;
	(void)state;
	note_freed();
	return MPI_SUCCESS;
}

static int drop_window(MPI_Win window, int of, void *value, void *state)
{
	(void)window;
	(void)of;
	(void)value;
	(void)state;
	note_freed();
	return MPI_SUCCESS;
}

/* A window has no copies. */
static int copy_no_window(MPI_Win window, int of, void *state, void *value, void *copy, int *copied)
{
	(void)window;
	(void)of;
	(void)state;
	(void)value;
	(void)copy;
	*copied = 0;
	return MPI_SUCCESS;
}

static int arguments_open(void)
{
	world.communicator = MPI_ARGUMENTS_WORLD;
	request_null[0] = (long)MPI_REQUEST_NULL;
	request_null[1] = ABI_REQUEST_NULL_OF_FORTRAN;
	if (pmpi.Comm_rank(MPI_COMM_WORLD, &world.rank) != MPI_SUCCESS ||
			pmpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_communicator, &key,
					NULL) != MPI_SUCCESS ||
			pmpi.Win_create_keyval(copy_no_window, drop_window, &window_key, NULL) !=
					MPI_SUCCESS)
		return -EIO;
	return 0;
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

static bool arguments_type_is_named(long handle, bool fortran)
{
	MPI_Datatype type = fortran ? ABI_TYPE_OF_FORTRAN(handle) : (MPI_Datatype)handle;
	int parts[4];

	return type && type != MPI_DATATYPE_NULL && ABI_TYPE_IS_NAMED(type, parts);
}

/* Returns the number of a communicator that was made and not used yet, and forgets it; 0: there is none. */
static uint32_t take_unused(MPI_Comm communicator)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < UNUSED_MAX; i++)
		if (unused[i].number && unused[i].communicator == communicator) {
			number = unused[i].number;
			unused[i].number = 0;
		}
	return number;
}

static bool keep_known(MPI_Comm communicator, struct known known)
{
	uint64_t value = (uint64_t)known.made << 32 | known.number;

	_Static_assert(sizeof(void *) == sizeof(value), "an attribute has room for both numbers");
	return pmpi.Comm_set_attr(communicator, key, (void *)(uintptr_t)value) == MPI_SUCCESS;
}

/* Finds what is known of a communicator that is neither of the first two, and numbers it if it has no number. */
static bool find_known(MPI_Comm communicator, struct known *known)
{
	void *value;
	int found;

	if (pmpi.Comm_get_attr(communicator, key, &value, &found) != MPI_SUCCESS)
		return false;
	if (found) {
		*known = (struct known){ (uint32_t)(uintptr_t)value,
			(uint32_t)((uintptr_t)value >> 32) };
		return true;
	}
	*known = (struct known){ take_unused(communicator), 0 };
	if (!known->number)
		known->number = own++;
	return keep_known(communicator, *known);
}

/* Returns the number of a communicator, which it gets if it has none, or -1. */
static int number_of(MPI_Comm communicator)
{
	struct known known;

	if (communicator == MPI_COMM_SELF)
		return MPI_ARGUMENTS_SELF;
	return find_known(communicator, &known) ? (int)known.number : -1;
}

/* Returns the number of the n-th communicator, from 1, that is made from another one. */
static int number_made(struct known from)
{
	uint64_t number = from.number == MPI_ARGUMENTS_WORLD ?
			MPI_ARGUMENTS_SELF + (uint64_t)from.made :
			MPI_ARGUMENTS_MADE * (uint64_t)from.number + from.made;

	if (from.made < MPI_ARGUMENTS_MADE - 1 && number < MPI_ARGUMENTS_OWN)
		return (int)number;
	return (int)(MPI_ARGUMENTS_HASHED +
			(hash_spread((uint64_t)from.number << 32 | from.made) >> 32) %
					(MPI_ARGUMENTS_HASHED - MPI_ARGUMENTS_OWN));
}

static int arguments_make(long handle, bool fortran)
{
	MPI_Comm communicator = fortran ? ABI_COMM_OF_FORTRAN(handle) : (MPI_Comm)handle;
	struct known known;

	if (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF) {
		struct known *of = &first[communicator == MPI_COMM_SELF];

		of->made++;
		return number_made(*of);
	}
	if (!communicator || communicator == MPI_COMM_NULL || !find_known(communicator, &known))
		return -1;
	known.made++;
	return keep_known(communicator, known) ? number_made(known) : -1;
}

static void arguments_made(long handle, bool fortran, int number)
{
	MPI_Comm communicator = fortran ? ABI_COMM_OF_FORTRAN(handle) : (MPI_Comm)handle;

	if (number <= 0 || !communicator || communicator == MPI_COMM_NULL)
		return;
	/* the handle may be that of one that was freed and never used */
	take_unused(communicator);
	unused[next_unused].communicator = communicator;
	unused[next_unused].number = (uint32_t)number;
	next_unused = (next_unused + 1) % UNUSED_MAX;
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

static bool arguments_window_rank(long handle, bool fortran, int *rank)
{
	MPI_Win window = fortran ? ABI_WIN_OF_FORTRAN(handle) : (MPI_Win)handle;
	MPI_Group group;
	void *value;
	int found;
	bool is_known;

	if (!window || pmpi.Win_get_attr(window, window_key, &value, &found) != MPI_SUCCESS)
		return false;
	if (found) {
		*rank = (int)(intptr_t)value;
		return true;
	}
	if (pmpi.Win_get_group(window, &group) != MPI_SUCCESS)
		return false;
	is_known = pmpi.Group_rank(group, rank) == MPI_SUCCESS;
	pmpi.Group_free(&group);
	return is_known &&
			pmpi.Win_set_attr(window, window_key, (void *)(intptr_t)*rank) ==
			MPI_SUCCESS;
}

static void arguments_close(void)
{
	if (key != MPI_KEYVAL_INVALID)
		pmpi.Comm_free_keyval(&key);
	if (window_key != MPI_KEYVAL_INVALID)
		pmpi.Win_free_keyval(&window_key);
}

const struct mpi_arguments mpi_arguments = {
	.proc_null = MPI_PROC_NULL,
	.any_source = MPI_ANY_SOURCE,
	.any_tag = MPI_ANY_TAG,
	.handle_bytes = sizeof(MPI_Datatype),
	.request_null = request_null,
	.open = arguments_open,
	.freed = &freed,
	.type_bytes = arguments_type_bytes,
	.type_is_named = arguments_type_is_named,
	.member = arguments_member,
	.members = arguments_members,
	.window_rank = arguments_window_rank,
	.make = arguments_make,
	.made = arguments_made,
	.close = arguments_close,
};
