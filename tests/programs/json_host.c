/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program with a JSON library of its own. Another library has functions of the same names
 * (json_object_get is in json-c and in jansson). The program's own functions have names of functions of the
 * libraries in the agent.
 */
#include <json-c/json.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

static int calls;

/* Names that libpfm4, libunwind and the agent's own parts might use. */
int pfm_initialize(void);
int unw_step(void *cursor);
void ring_push(void);
int json_dumpf(void);

int pfm_initialize(void)
{
	return calls++;
}
int unw_step(void *cursor)
{
	return cursor ? calls++ : calls++;
}
void ring_push(void)
{
	calls++;
}
int json_dumpf(void)
{
	return calls++;
}

int main(int argc, char **argv)
{
	struct json_object *object, *inner;
	int rank, right = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 200; i++) {
		work("alu", 300000);
		object = json_tokener_parse("{\"a\": {\"b\": [1, 2, 3]}}");
		inner = json_object_get(json_object_object_get(object, "a"));
		json_object_put(object);
		right += strcmp(json_object_to_json_string(inner), "{ \"b\": [ 1, 2, 3 ] }") == 0;
		json_object_put(inner);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (rank == 0)
		printf("expected 200 objects as they were, and 0 calls from outside: %d, %d\n",
				right, calls);
	return right == 200 && calls == 0 ? 0 : 1;
}
