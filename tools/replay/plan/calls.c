/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/calls.h"

#include <string.h>

#define BIT(argument) (1u << ARGUMENT_##argument)
#define MESSAGE_OUT   (BIT(TO) | BIT(BYTES) | BIT(TAG) | BIT(COMMUNICATOR))
#define MESSAGE_IN    (BIT(FROM) | BIT(BYTES) | BIT(TAG) | BIT(COMMUNICATOR))
#define BOTH_WAYS     (MESSAGE_OUT | BIT(FROM) | BIT(FROM_TAG))
#define ROOTED        (BIT(ROOT) | BIT(COMMUNICATOR))
#define SIZED         (BIT(BYTES) | BIT(COMMUNICATOR))
#define ROOTED_SIZED  (SIZED | BIT(ROOT))

static const struct {
	const char *name;
	enum call_kind kind;
	unsigned needs;
} table[] = {
	/* the first name of each kind is the one under which it is carried out */
	{ "MPI_Init", CALL_INIT, 0 },
	{ "MPI_Init_thread", CALL_INIT, 0 },
	{ "MPI_Finalize", CALL_FINALIZE, 0 },
	{ "MPI_Send", CALL_SEND, MESSAGE_OUT },
	{ "MPI_Rsend", CALL_SEND, MESSAGE_OUT },
	{ "MPI_Ssend", CALL_SSEND, MESSAGE_OUT },
	{ "MPI_Isend", CALL_ISEND, MESSAGE_OUT },
	{ "MPI_Irsend", CALL_ISEND, MESSAGE_OUT },
	{ "MPI_Ibsend", CALL_ISEND, MESSAGE_OUT },
	{ "MPI_Issend", CALL_ISSEND, MESSAGE_OUT },
	{ "MPI_Recv", CALL_RECV, MESSAGE_IN },
	{ "MPI_Irecv", CALL_IRECV, MESSAGE_IN },
	{ "MPI_Probe", CALL_PROBE, BIT(FROM) | BIT(TAG) | BIT(COMMUNICATOR) },
	{ "MPI_Mprobe", CALL_MPROBE, BIT(FROM) | BIT(TAG) | BIT(COMMUNICATOR) },
	{ "MPI_Mrecv", CALL_MRECV, 0 },
	{ "MPI_Sendrecv", CALL_SENDRECV, BOTH_WAYS | BIT(FROM_BYTES) },
	{ "MPI_Sendrecv_replace", CALL_SENDRECV_REPLACE, BOTH_WAYS },
	{ "MPI_Send_init", CALL_SEND_INIT, MESSAGE_OUT | BIT(REQUEST) },
	{ "MPI_Rsend_init", CALL_SEND_INIT, MESSAGE_OUT | BIT(REQUEST) },
	{ "MPI_Bsend_init", CALL_SEND_INIT, MESSAGE_OUT | BIT(REQUEST) },
	{ "MPI_Ssend_init", CALL_SSEND_INIT, MESSAGE_OUT | BIT(REQUEST) },
	{ "MPI_Recv_init", CALL_RECV_INIT, MESSAGE_IN | BIT(REQUEST) },
	{ "MPI_Start", CALL_START, BIT(REQUEST) },
	{ "MPI_Startall", CALL_STARTALL, BIT(REQUEST) },
	{ "MPI_Wait", CALL_WAIT, 0 },
	{ "MPI_Waitany", CALL_WAITANY, 0 },
	{ "MPI_Waitsome", CALL_WAITSOME, 0 },
	{ "MPI_Waitall", CALL_WAITALL, 0 },
	{ "MPI_Barrier", CALL_BARRIER, BIT(COMMUNICATOR) },
	{ "MPI_Bcast", CALL_BCAST, ROOTED_SIZED },
	{ "MPI_Gather", CALL_GATHER, ROOTED_SIZED },
	{ "MPI_Gatherv", CALL_GATHERV, ROOTED },
	{ "MPI_Scatter", CALL_SCATTER, ROOTED_SIZED },
	{ "MPI_Scatterv", CALL_SCATTERV, ROOTED },
	{ "MPI_Allgather", CALL_ALLGATHER, SIZED },
	{ "MPI_Allgatherv", CALL_ALLGATHERV, BIT(COMMUNICATOR) },
	{ "MPI_Alltoall", CALL_ALLTOALL, SIZED },
	{ "MPI_Alltoallv", CALL_ALLTOALLV, BIT(COMMUNICATOR) },
	{ "MPI_Alltoallw", CALL_ALLTOALLV, BIT(COMMUNICATOR) },
	{ "MPI_Reduce", CALL_REDUCE, ROOTED_SIZED },
	{ "MPI_Allreduce", CALL_ALLREDUCE, SIZED },
	{ "MPI_Reduce_scatter", CALL_REDUCE_SCATTER, BIT(COMMUNICATOR) },
	{ "MPI_Reduce_scatter_block", CALL_REDUCE_SCATTER_BLOCK, SIZED },
	{ "MPI_Scan", CALL_SCAN, SIZED },
	{ "MPI_Exscan", CALL_EXSCAN, SIZED },
};

#define ROWS (sizeof(table) / sizeof(*table))

enum call_kind calls_kind(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].kind;
	return CALL_OTHER;
}

const char *calls_name(enum call_kind kind)
{
	for (size_t i = 0; i < ROWS; i++)
		if (table[i].kind == kind)
			return table[i].name;
	return "?";
}

int calls_need(enum call_kind kind, enum call_argument argument)
{
	for (size_t i = 0; i < ROWS; i++)
		if (table[i].kind == kind)
			return table[i].needs >> argument & 1;
	return 0;
}
