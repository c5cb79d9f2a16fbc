/* SPDX-License-Identifier: BSD-3-Clause */
/* What the arguments of calls say of the requests for which they wait, in C with handles of 8 and 4 bytes, and in Fortran. */
#include "agent/thread/call_arguments.h"
#include "tests/tap.h"

#include <stdlib.h>

#define UNDEFINED (-32766)

static struct call_arguments arguments;
static struct site_table sites;
static struct preload_arguments given;
static const long request_null[2] = { 1, 2 };
static _Atomic uint64_t freed = 1;

static bool member(long handle, bool fortran, struct mpi_member *member)
{
	(void)handle;
	(void)fortran;
	*member = (struct mpi_member){ .communicator = 0 };
	return true;
}

static struct mpi_arguments mpi = { .handle_bytes = sizeof(long),
	.request_null = request_null,
	.freed = &freed,
	.member = member };

/* ---- calls ---- */

static enum preload_form form;
static char memory[64 * sizeof(long)]; /* handles of the program */
static int numbers[8];                 /* integers of the program */
static int number_count;

static size_t bytes_of_handle(void)
{
	return form == PRELOAD_FORTRAN ? sizeof(int) : mpi.handle_bytes;
}

static void *place(int i)
{
	return memory + (size_t)i * bytes_of_handle();
}

static void put(int i, long handle)
{
	if (bytes_of_handle() == sizeof(int))
		*(int *)place(i) = (int)handle;
	else
		*(long *)place(i) = handle;
}

/* Returns an argument that is an integer. */
static long integer(int value)
{
	if (form != PRELOAD_FORTRAN)
		return value;
	numbers[number_count] = value;
	return (long)&numbers[number_count++];
}

static void starts(enum runtime_call call)
{
	given.known = true;
	given.form = form;
	given.call = call;
	number_count = 0;
	sites.sites = 1;
	sites.site[1].call = call;
	arguments.first[1] = 0;
	call_arguments_note(&arguments, &given, call);
}

static void ends(void)
{
	call_arguments_add(&arguments, &sites, 1);
}

/* Opens a request with a handle at place i. */
static void opens(int i, long handle)
{
	given.value[1] = integer(0);
	given.value[2] = (long)place(i);
	starts(MPI_CALL_Ibarrier);
	put(i, handle);
	ends();
}

static void waits_for_list(enum runtime_call call, int first, int count)
{
	given.value[1] = integer(count);
	given.value[2] = (long)place(first);
	starts(call);
}

static int64_t wait_back(int i)
{
	given.value[1] = (long)place(i);
	starts(MPI_CALL_Wait);
	put(i, request_null[form == PRELOAD_FORTRAN]);
	ends();
	return arguments.value[ARGUMENT_BACK];
}

static bool is_known(int64_t requests, int64_t back, int64_t step)
{
	bool same = arguments.value[ARGUMENT_REQUESTS] == requests &&
			arguments.value[ARGUMENT_BACK] == back &&
			arguments.value[ARGUMENT_STEP] == step;

	if (!same)
		diag("%lld requests, %lld back, %lld apart",
				(long long)arguments.value[ARGUMENT_REQUESTS],
				(long long)arguments.value[ARGUMENT_BACK],
				(long long)arguments.value[ARGUMENT_STEP]);
	return same;
}

static void start_form(enum preload_form of, unsigned bytes)
{
	memset(&arguments, 0, sizeof(arguments));
	memset(memory, 0, sizeof(memory));
	arguments.mpi = &mpi;
	arguments.follows = true;
	mpi.handle_bytes = bytes;
	form = of;
}

static void test_wait(void)
{
	opens(0, 10);
	opens(1, 20);
	opens(2, 30);
	is_int(wait_back(1), 2, "MPI_Wait for the second of three");
	is_int(wait_back(1), ARGUMENT_NONE, "for MPI_REQUEST_NULL");
	is_int(wait_back(0), 3, "for the first one");
	put(5, 77);
	is_int(wait_back(5), ARGUMENT_UNKNOWN, "for a request that was not seen");
	is_int(wait_back(2), 1, "for the last one");
}

static void test_waitall(void)
{
	for (int i = 0; i < 6; i++)
		opens(i, 10 + i);
	put(6, request_null[form == PRELOAD_FORTRAN]);
	waits_for_list(MPI_CALL_Waitall, 3, 4);
	ends();
	ok(is_known(3, 3, 1), "MPI_Waitall for the last three and none");
	waits_for_list(MPI_CALL_Waitall, 6, 1);
	ends();
	ok(is_known(0, ARGUMENT_NONE, 1), "for none");
	for (int i = 0; i < 7; i++)
		opens(i, 10 + i);
	put(2, request_null[form == PRELOAD_FORTRAN]);
	put(4, request_null[form == PRELOAD_FORTRAN]);
	waits_for_list(MPI_CALL_Waitall, 0, 6);
	ends();
	ok(is_known(4, 7, ARGUMENT_UNKNOWN), "for four at unequal distances");
	is_int(arguments.value[ARGUMENT_WHICH], 0x2b, "which are listed");
	put(1, 99);
	waits_for_list(MPI_CALL_Waitall, 0, 3);
	ends();
	ok(is_known(2, ARGUMENT_UNKNOWN, ARGUMENT_UNKNOWN), "for one that was not seen");
	waits_for_list(MPI_CALL_Waitall, 0, REQUESTS_MAX + 1);
	ends();
	ok(is_known(ARGUMENT_UNKNOWN, ARGUMENT_UNKNOWN, ARGUMENT_UNKNOWN),
			"for more than are looked at");
}

/* first: the number that MPI gives the first request of a list. Those of Fortran begin with 1, but not in every MPI. */
static void some_end(int first)
{
	int which[4], done;
	long null = request_null[form == PRELOAD_FORTRAN];

	for (int i = 0; i < 6; i++)
		opens(i, 10 + i);
	given.value[3] = (long)&done;
	waits_for_list(MPI_CALL_Waitany, 0, 6);
	done = 2 + first;
	put(2, null);
	ends();
	is_int(arguments.value[ARGUMENT_BACK], 4, "MPI_Waitany");
	given.value[4] = (long)which;
	waits_for_list(MPI_CALL_Waitsome, 0, 6);
	done = 3;
	which[0] = 5 + first;
	which[1] = 1 + first;
	which[2] = 3 + first;
	for (int i = 1; i < 6; i += 2)
		put(i, null);
	ends();
	ok(is_known(3, 5, 2), "MPI_Waitsome");
	waits_for_list(MPI_CALL_Waitsome, 0, 6);
	done = UNDEFINED;
	ends();
	ok(is_known(0, ARGUMENT_NONE, 1), "MPI_Waitsome for none");
	waits_for_list(MPI_CALL_Waitany, 0, 6);
	done = UNDEFINED;
	ends();
	is_int(arguments.value[ARGUMENT_BACK], ARGUMENT_NONE, "MPI_Waitany for none");
}

static void test_some(void)
{
	some_end(form == PRELOAD_FORTRAN);
	some_end(0);
}

/* Each start of a persistent request opens one. */
static void test_persistent(void)
{
	int which;

	for (int i = 0; i < 3; i++) {
		given.value[1] = integer(0);
		given.value[3] = (long)place(i);
		starts(MPI_CALL_Barrier_init);
		put(i, 10 + i);
		ends();
	}
	waits_for_list(MPI_CALL_Startall, 0, 2);
	ends();
	is_int(arguments.value[ARGUMENT_REQUEST], 1, "the first persistent request");
	opens(5, 50);
	given.value[1] = (long)place(0);
	starts(MPI_CALL_Wait);
	ends();
	is_int(arguments.value[ARGUMENT_BACK], 3, "it is waited for");
	starts(MPI_CALL_Wait);
	ends();
	is_int(arguments.value[ARGUMENT_BACK], ARGUMENT_NONE, "it is not started any more");
	given.value[3] = (long)&which;
	which = 1 + (form == PRELOAD_FORTRAN);
	waits_for_list(MPI_CALL_Startall, 0, 2);
	ends();
	waits_for_list(MPI_CALL_Waitany, 0, 2);
	ends();
	is_int(arguments.value[ARGUMENT_BACK], 1, "one of two ends");
	waits_for_list(MPI_CALL_Waitall, 0, 2);
	ends();
	ok(is_known(1, 2, 1), "MPI_Waitall for it and another one");
}

/* Starts the persistent requests with these numbers, in this order. count: how many of them. */
static void starts_three(int one, int two, int three, int count)
{
	put(0, 9 + one);
	put(1, 9 + two);
	put(2, 9 + three);
	waits_for_list(MPI_CALL_Startall, 0, count);
	ends();
}

static bool starts_from(int64_t request, int64_t requests, int64_t step)
{
	return is_known(requests, ARGUMENT_UNKNOWN, step) &&
			arguments.value[ARGUMENT_REQUEST] == request;
}

/* The numbers of the persistent requests that one call starts. */
static void test_started(void)
{
	for (int i = 0; i < 5; i++) {
		given.value[1] = integer(0);
		given.value[3] = (long)place(i);
		starts(MPI_CALL_Barrier_init);
		put(i, 10 + i);
		ends();
	}
	starts_three(1, 3, 5, 3);
	ok(starts_from(1, 3, 2), "every other one is started");
	starts_three(4, 3, 2, 3);
	ok(starts_from(4, 3, -1), "the last one is started first");
	starts_three(1, 2, 4, 3);
	ok(starts_from(1, 3, ARGUMENT_UNKNOWN), "they are at unequal distances");
	starts_three(1, 90, 5, 3);
	ok(starts_from(1, 3, ARGUMENT_UNKNOWN), "one of them was not seen");
	starts_three(90, 1, 2, 3);
	ok(starts_from(ARGUMENT_UNKNOWN, 3, ARGUMENT_UNKNOWN), "the first one was not seen");
	starts_three(5, 1, 2, 1);
	ok(starts_from(5, 1, 1), "a list of one");
	starts_three(1, 2, 3, 0);
	ok(starts_from(ARGUMENT_UNKNOWN, 0, 1), "an empty list");
}

static void test_form(const char *name, enum preload_form of, unsigned bytes)
{
	static void (*const tests[])(void) = { test_wait, test_waitall, test_some, test_persistent,
		test_started };

	diag("%s", name);
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		start_form(of, bytes);
		tests[i]();
	}
}

static void test_lost(void)
{
	start_form(PRELOAD_C, sizeof(long));
	opens(0, 10);
	call_arguments_lose(&arguments);
	opens(1, 20);
	is_int(wait_back(0), ARGUMENT_UNKNOWN, "a request before calls that were not observed");
	is_int(wait_back(1), 1, "and one behind them");
	start_form(PRELOAD_C, sizeof(long));
	arguments.follows = false;
	opens(0, 10);
	is_int(wait_back(0), ARGUMENT_UNKNOWN, "arguments that are only compared");
	is_int((long long)arguments.open.opened, 0, "nothing is done for requests then");
}

/* A program that repeats the same waits has streams of one item. */
static void test_fold(void)
{
	const struct streams *streams = &arguments.streams;

	start_form(PRELOAD_C, sizeof(long));
	sites.sites = 2;
	sites.site[2].call = MPI_CALL_Waitall;
	for (int step = 0; step < 500; step++) {
		for (int i = 0; i < 4; i++)
			opens(i, 10 + (step + i) % 6);
		waits_for_list(MPI_CALL_Waitall, 0, 4);
		call_arguments_add(&arguments, &sites, 2);
		for (int i = 0; i < 4; i++)
			put(i, request_null[0]);
	}
	call_arguments_finish(&arguments);
	for (unsigned i = 0; i < 3; i++)
		is_int(streams->stream[arguments.first[2] - 1 + i].items, 1,
				"a stream has one item");
}

int main(void)
{
	test_form("C", PRELOAD_C, sizeof(long));
	test_form("C, handles of 4 bytes", PRELOAD_C, sizeof(int));
	test_form("Fortran", PRELOAD_FORTRAN, sizeof(long));
	test_lost();
	test_fold();
	return tap_done();
}
