/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library libmpi_abi.so.1 for systems that have none: it takes calls by the ABI of MPI 5.0 and makes those of an
 * MPICH with its own interface. It has the functions that phases.c and the adapter call. The numbers are those of the
 * standard. A number that is none of them ends the program.
 *
 * ABI_LIBRARY_VERSION: what it says that its version is. ABI_LIBRARY_ABI: the major version of its ABI.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;

struct status {
	int source, tag, error, internal[5];
};

static const struct {
	intptr_t standard;
	int mpich;
} handles[] = {
	{ 0x21, MPI_SUM },
	{ 0x23, MPI_MAX },
	{ 0x100, MPI_COMM_NULL },
	{ 0x101, MPI_COMM_WORLD },
	{ 0x102, MPI_COMM_SELF },
	{ 0x108, MPI_GROUP_NULL },
	{ 0x130, MPI_INFO_NULL },
	{ 0x140, MPI_ERRHANDLER_NULL },
	{ 0x141, MPI_ERRORS_ARE_FATAL },
	{ 0x143, MPI_ERRORS_RETURN },
	{ 0x180, MPI_REQUEST_NULL },
	{ 0x200, MPI_DATATYPE_NULL },
	{ 0x209, MPI_INT },
	{ 0x214, MPI_DOUBLE },
	{ 0x247, MPI_BYTE },
	{ 0x259, MPI_UINT64_T },
};
#define HANDLES        (sizeof(handles) / sizeof(*handles))
#define PREDEFINED_MAX 0xfff
#define REQUESTS_MAX   16

static _Noreturn void refuse(const char *what, intptr_t number)
{
	fprintf(stderr, "abi_library: %s %#lx\n", what, (long)number);
	abort();
}

/* Finds a function of MPICH, whose own calls stay within it. */
static void *real(const char *name)
{
	static void *mpich;
	void *found;

	if (!mpich)
		mpich = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	found = mpich ? dlsym(mpich, name) : NULL;
	if (!found)
		refuse(name, 0);
	return found;
}
#define REAL(name) ((__typeof__(&PMPI_##name))real("PMPI_" #name))

static int in(handle own)
{
	for (size_t i = 0; i < HANDLES; i++)
		if (handles[i].standard == (intptr_t)own)
			return handles[i].mpich;
	if ((uintptr_t)own <= PREDEFINED_MAX)
		refuse("no handle is", (intptr_t)own);
	return (int)(intptr_t)own;
}

static handle out(int mpich)
{
	for (size_t i = 0; i < HANDLES; i++)
		if (handles[i].mpich == mpich)
			return (handle)handles[i].standard;
	return (handle)(uintptr_t)(unsigned)mpich;
}

static int rank_in(int rank)
{
	if (rank < -3)
		refuse("no rank is", rank);
	return rank == -1 ? MPI_ANY_SOURCE : rank == -3 ? MPI_PROC_NULL : rank;
}

static const void *buffer_in(const void *buffer)
{
	return buffer == (void *)1 ? MPI_IN_PLACE : buffer;
}

static int key_in(int key)
{
	if (key == 501)
		return MPI_TAG_UB;
	if (key >= 0 && key <= PREDEFINED_MAX)
		refuse("no key is", key);
	return key;
}

static void status_out(struct status *own, const MPI_Status *mpich)
{
	if (own)
		*own = (struct status){ mpich->MPI_SOURCE, mpich->MPI_TAG, mpich->MPI_ERROR,
			{ 0 } };
}

/* Defines PMPI_NAME, and MPI_NAME as the same function, with the types of the standard. */
#define ABI(name, parameters)                                                                      \
	int abi_##name parameters __asm__("PMPI_" #name);                                          \
	int abi_of_program_##name parameters __asm__("MPI_" #name)                                 \
			__attribute__((alias("PMPI_" #name)));                                     \
	int abi_##name parameters

ABI(Abi_get_version, (int *major, int *minor))
{
	const char *version = getenv("ABI_LIBRARY_ABI");

	*major = version ? atoi(version) : 1;
	*minor = 0;
	return MPI_SUCCESS;
}

ABI(Abort, (handle comm, int code))
{
	return REAL(Abort)(in(comm), code);
}

ABI(Allreduce, (const void *from, void *to, int count, handle type, handle op, handle comm))
{
	return REAL(Allreduce)(buffer_in(from), to, count, in(type), in(op), in(comm));
}

ABI(Cancel, (handle * request))
{
	MPI_Request mpich = in(*request);

	return REAL(Cancel)(&mpich);
}

ABI(Comm_create_group, (handle comm, handle group, int tag, handle *made))
{
	MPI_Comm mpich;
	int result = REAL(Comm_create_group)(in(comm), in(group), tag, &mpich);

	*made = out(mpich);
	return result;
}

static int (*drop_of_program)(handle comm, int key, void *value, void *extra);

static int drop_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
	return drop_of_program(out(comm), key, value, extra);
}

ABI(Comm_create_keyval, (void *copy, __typeof__(drop_of_program) drop, int *key, void *extra))
{
	if (copy || drop_of_program)
		refuse("no function of attributes is", (intptr_t)copy);
	drop_of_program = drop;
	return REAL(Comm_create_keyval)(MPI_COMM_NULL_COPY_FN,
			drop ? drop_attribute : MPI_COMM_NULL_DELETE_FN, key, extra);
}

ABI(Comm_free, (handle * comm))
{
	MPI_Comm mpich = in(*comm);
	int result = REAL(Comm_free)(&mpich);

	*comm = out(mpich);
	return result;
}

ABI(Comm_free_keyval, (int *key))
{
	int result = REAL(Comm_free_keyval)(key);

	*key = 0;
	return result;
}

ABI(Comm_get_attr, (handle comm, int key, void *value, int *found))
{
	return REAL(Comm_get_attr)(in(comm), key_in(key), value, found);
}

ABI(Comm_get_errhandler, (handle comm, handle *errors))
{
	MPI_Errhandler mpich;
	int result = REAL(Comm_get_errhandler)(in(comm), &mpich);

	*errors = out(mpich);
	return result;
}

ABI(Comm_get_parent, (handle * parent))
{
	MPI_Comm mpich;
	int result = REAL(Comm_get_parent)(&mpich);

	*parent = out(mpich);
	return result;
}

ABI(Comm_group, (handle comm, handle *group))
{
	MPI_Group mpich;
	int result = REAL(Comm_group)(in(comm), &mpich);

	*group = out(mpich);
	return result;
}

ABI(Comm_rank, (handle comm, int *rank))
{
	return REAL(Comm_rank)(in(comm), rank);
}

ABI(Comm_set_attr, (handle comm, int key, void *value))
{
	return REAL(Comm_set_attr)(in(comm), key_in(key), value);
}

ABI(Comm_set_errhandler, (handle comm, handle errors))
{
	return REAL(Comm_set_errhandler)(in(comm), in(errors));
}

ABI(Comm_size, (handle comm, int *size))
{
	return REAL(Comm_size)(in(comm), size);
}

ABI(Comm_test_inter, (handle comm, int *inter))
{
	return REAL(Comm_test_inter)(in(comm), inter);
}

ABI(Errhandler_free, (handle * errors))
{
	MPI_Errhandler mpich = in(*errors);
	int result = REAL(Errhandler_free)(&mpich);

	*errors = out(mpich);
	return result;
}

ABI(Finalize, (void))
{
	return REAL(Finalize)();
}

ABI(Get_library_version, (char *version, int *length))
{
	const char *own = getenv("ABI_LIBRARY_VERSION");

	strcpy(version, own ? own : "MPICH Version:      5.0.2\nMPICH Release date: of a test");
	*length = (int)strlen(version);
	return MPI_SUCCESS;
}

ABI(Group_free, (handle * group))
{
	MPI_Group mpich = in(*group);
	int result = REAL(Group_free)(&mpich);

	*group = out(mpich);
	return result;
}

ABI(Group_rank, (handle group, int *rank))
{
	return REAL(Group_rank)(in(group), rank);
}

ABI(Init, (int *argc, char ***argv))
{
	return REAL(Init)(argc, argv);
}

ABI(Irecv, (void *to, int count, handle type, int source, int tag, handle comm, handle *request))
{
	MPI_Request mpich;
	int result = REAL(Irecv)(to, count, in(type), rank_in(source),
			tag == -2 ? MPI_ANY_TAG : tag, in(comm), &mpich);

	*request = out(mpich);
	return result;
}

ABI(Isend,
		(const void *from, int count, handle type, int dest, int tag, handle comm,
				handle *request))
{
	MPI_Request mpich;
	int result = REAL(Isend)(from, count, in(type), rank_in(dest), tag, in(comm), &mpich);

	*request = out(mpich);
	return result;
}

ABI(Lookup_name, (const char *name, handle info, char *port))
{
	return REAL(Lookup_name)(name, in(info), port);
}

ABI(Publish_name, (const char *name, handle info, const char *port))
{
	return REAL(Publish_name)(name, in(info), port);
}

ABI(Query_thread, (int *level))
{
	static const int levels[] = { 0, 1024, 2048, 4096 };
	int result = REAL(Query_thread)(level);

	*level = levels[*level];
	return result;
}

ABI(Recv,
		(void *to, int count, handle type, int source, int tag, handle comm,
				struct status *status))
{
	MPI_Status mpich;
	int result = REAL(Recv)(to, count, in(type), rank_in(source), tag == -2 ? MPI_ANY_TAG : tag,
			in(comm), &mpich);

	status_out(status, &mpich);
	return result;
}

ABI(Reduce, (const void *from, void *to, int count, handle type, handle op, int root, handle comm))
{
	return REAL(Reduce)(buffer_in(from), to, count, in(type), in(op), root, in(comm));
}

ABI(Request_free, (handle * request))
{
	MPI_Request mpich = in(*request);
	int result = REAL(Request_free)(&mpich);

	*request = out(mpich);
	return result;
}

ABI(Sendrecv,
		(const void *from, int send_count, handle send_type, int dest, int send_tag,
				void *to, int count, handle type, int source, int tag, handle comm,
				struct status *status))
{
	MPI_Status mpich;
	int result = REAL(Sendrecv)(from, send_count, in(send_type), rank_in(dest), send_tag, to,
			count, in(type), rank_in(source), tag, in(comm), &mpich);

	status_out(status, &mpich);
	return result;
}

ABI(Test, (handle * request, int *done, struct status *status))
{
	MPI_Request mpich = in(*request);
	MPI_Status of_mpich;
	int result = REAL(Test)(&mpich, done, &of_mpich);

	*request = out(mpich);
	if (*done)
		status_out(status, &of_mpich);
	return result;
}

ABI(Type_size, (handle type, int *size))
{
	return REAL(Type_size)(in(type), size);
}

ABI(Unpublish_name, (const char *name, handle info, const char *port))
{
	return REAL(Unpublish_name)(name, in(info), port);
}

ABI(Wait, (handle * request, struct status *status))
{
	MPI_Request mpich = in(*request);
	MPI_Status of_mpich;
	int result = REAL(Wait)(&mpich, &of_mpich);

	*request = out(mpich);
	status_out(status, &of_mpich);
	return result;
}

ABI(Waitall, (int count, handle *requests, struct status *statuses))
{
	MPI_Request mpich[REQUESTS_MAX];
	MPI_Status of_mpich[REQUESTS_MAX];
	int result;

	if (count > REQUESTS_MAX)
		refuse("too many requests:", count);
	for (int i = 0; i < count; i++)
		mpich[i] = in(requests[i]);
	result = REAL(Waitall)(count, mpich, of_mpich);
	for (int i = 0; i < count; i++) {
		requests[i] = out(mpich[i]);
		status_out(statuses ? &statuses[i] : NULL, &of_mpich[i]);
	}
	return result;
}

/* No window is made, and so no attribute of one is dropped. */
ABI(Win_create_keyval, (void *copy, void *drop, int *key, void *extra))
{
	(void)copy;
	(void)drop;
	return REAL(Win_create_keyval)(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, extra);
}

ABI(Win_free_keyval, (int *key))
{
	int result = REAL(Win_free_keyval)(key);

	*key = 0;
	return result;
}

ABI(Win_get_attr, (handle window, int key, void *value, int *found))
{
	return REAL(Win_get_attr)(in(window), key, value, found);
}

ABI(Win_get_group, (handle window, handle *group))
{
	MPI_Group mpich;
	int result = REAL(Win_get_group)(in(window), &mpich);

	*group = out(mpich);
	return result;
}

ABI(Win_set_attr, (handle window, int key, void *value))
{
	return REAL(Win_set_attr)(in(window), key, value);
}
