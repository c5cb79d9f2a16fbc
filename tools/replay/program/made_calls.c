/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of messages are zeros. A message that is received goes to memory of its own as long as its request is open,
 * as in a program.
 */
#include "tools/replay/program/made_calls.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/replay/plan/persistent.h"

static struct {
	const struct plan *plan;
	int ranks;
	MPI_Comm copy[CALLS_COPIES];
	void *data; /* of all messages that are sent */
	int *zeros; /* one for each rank */
} made;

/* Memory for what a collective gives and takes, and for what a blocking call receives. */
static struct memory {
	void *data;
	size_t size;
} given, taken, received;

/*
 * Requests in the order in which they were opened. Those that have ended are MPI_REQUEST_NULL. Open ones stay at their places as
 * long as there is room, as in a program.
 */
static struct {
	size_t first, end, room; /* before `first` and from `end` on, none is open */
	uint64_t *number;        /* in the order in which the rank opens them, as the plan has it */
	MPI_Request *request;
	MPI_Request *hidden; /* room for as many */
	struct memory *buffer;
	int *indices;
	bool *receives;
	struct own_request **persistent; /* that was started; NULL: the request is not persistent */
} open_;

/* A persistent request that was made, and what it receives. */
struct own_request {
	MPI_Request request;
	struct memory buffer;
};

static struct persistents persistents;

/* Returns memory of at least this size. A replay without memory ends. */
static void *memory_of(struct memory *memory, size_t size)
{
	if (memory->size >= size && memory->data)
		return memory->data;
	free(memory->data);
	memory->data = calloc(1, size + 1);
	memory->size = size;
	if (!memory->data) {
		fprintf(stderr, "phasemux replay: no memory for %zu bytes of a message\n", size);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return memory->data;
}

/* ---- the start ---- */

static int64_t most_of(const struct plan_stream *stream)
{
	int64_t most = 0;

	for (size_t i = 0; i < stream->count; i++) {
		const struct plan_item *item = &stream->item[i];
		int64_t value = item->loop ? most_of(item->loop) : item->value;

		most = value > most ? value : most;
	}
	return most;
}

/* Returns the highest value of an argument in all calls. of_sends: only in calls that send a message. */
static int64_t most_in_plan(const struct plan *plan, enum call_argument argument, bool of_sends)
{
	int64_t most = 0;

	for (size_t i = 0; i < plan->paths; i++) {
		const struct plan_argument *values = &plan->path[i].argument[argument];

		if (of_sends && !plan->path[i].argument[ARGUMENT_TO].count)
			continue;
		for (size_t j = 0; j < values->count; j++) {
			int64_t here = most_of(&values->values[j].stream);

			most = here > most ? here : most;
		}
	}
	return most;
}

bool made_calls_start(const struct plan *plan, unsigned copies)
{
	int64_t bytes = most_in_plan(plan, ARGUMENT_BYTES, true);
	int64_t communicators = most_in_plan(plan, ARGUMENT_COMMUNICATOR, false) - 1;

	made.plan = plan;
	made.ranks = (int)plan->ranks;
	made.data = calloc(1, (size_t)(bytes > plan->bytes_most ? bytes : plan->bytes_most) + 1);
	made.zeros = calloc((size_t)plan->ranks, sizeof(*made.zeros));
	for (unsigned i = 0; i < CALLS_COPIES && i < communicators; i++)
		if (copies >> i & 1)
			MPI_Comm_dup(MPI_COMM_WORLD, &made.copy[i]);
	return made.data && made.zeros;
}

/* ---- arguments ---- */

static MPI_Comm communicator_of(const struct cursor_call *call)
{
	int64_t number = call->value[ARGUMENT_COMMUNICATOR];

	if (number == 1)
		return MPI_COMM_SELF;
	return number > 1 ? made.copy[calls_copy(number)] : MPI_COMM_WORLD;
}

static int peer_of(int64_t value)
{
	if (value == PLAN_ANY)
		return MPI_ANY_SOURCE;
	return value == PLAN_NONE ? MPI_PROC_NULL : (int)value;
}

static int tag_of(int64_t value)
{
	return value == PLAN_ANY ? MPI_ANY_TAG : (int)value;
}

static int bytes_of(const struct cursor_call *call)
{
	return (int)call->value[ARGUMENT_BYTES];
}

/* Returns how many bytes a receive has room for. */
static int room_of(int64_t bytes)
{
	return (int)(bytes > made.plan->bytes_most ? bytes : made.plan->bytes_most);
}

/* ---- requests ---- */

/* Messages that MPI_Mprobe has taken, in a ring. */
static struct {
	size_t count, first;
	struct probed {
		MPI_Message message;
		int bytes;
	} of[CALLS_OPEN_MAX];
} probed;

static void *open_grow(void *array, size_t size)
{
	void *grown = realloc(array, open_.room * size);

	if (!grown) {
		fputs("phasemux replay: no memory for open requests\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return grown;
}

/* Leaves out the requests at both ends that have ended. */
static void trim(void)
{
	while (open_.first < open_.end && open_.request[open_.first] == MPI_REQUEST_NULL)
		open_.first++;
	while (open_.first < open_.end && open_.request[open_.end - 1] == MPI_REQUEST_NULL)
		open_.end--;
	if (open_.first == open_.end)
		open_.first = open_.end = 0;
}

/* Moves the open requests to the start. */
static void move_open(void)
{
	size_t left = 0;

	for (size_t i = open_.first; i < open_.end; i++) {
		struct memory buffer = open_.buffer[i];

		if (open_.request[i] == MPI_REQUEST_NULL)
			continue;
		open_.buffer[i] = open_.buffer[left];
		open_.buffer[left] = buffer;
		open_.request[left] = open_.request[i];
		open_.number[left] = open_.number[i];
		open_.persistent[left] = open_.persistent[i];
		open_.receives[left++] = open_.receives[i];
	}
	open_.first = 0;
	open_.end = left;
}

/* Forgets requests that have ended. MPI leaves the handles of persistent ones. indices: which ones; NULL: the first ones. */
static void forget_ended(MPI_Request *request, int count, const int *indices)
{
	/* MPI_UNDEFINED is negative */
	for (int i = 0; i < count; i++)
		request[indices ? indices[i] : i] = MPI_REQUEST_NULL;
}

/* Notes which requests have ended, without waiting for any. */
static void test_open(void)
{
	MPI_Request *request = open_.request + open_.first;
	int ended = 0;

	if (open_.first < open_.end)
		MPI_Testsome((int)(open_.end - open_.first), request, &ended, open_.indices,
				MPI_STATUSES_IGNORE);
	forget_ended(request, ended, open_.indices);
	trim();
}

static void make_room(void)
{
	size_t before = open_.room;

	open_.room = before ? 2 * before : 64;
	open_.number = open_grow(open_.number, sizeof(*open_.number));
	open_.request = open_grow(open_.request, sizeof(*open_.request));
	open_.hidden = open_grow(open_.hidden, sizeof(*open_.hidden));
	open_.buffer = open_grow(open_.buffer, sizeof(*open_.buffer));
	open_.indices = open_grow(open_.indices, sizeof(*open_.indices));
	open_.receives = open_grow(open_.receives, sizeof(*open_.receives));
	open_.persistent = open_grow(open_.persistent, sizeof(*open_.persistent));
	memset(&open_.buffer[before], 0, (open_.room - before) * sizeof(*open_.buffer));
}

/* Returns the place of a new request. number: in the order in which the rank opens them. */
static size_t new_request(uint64_t number, bool receives)
{
	if (open_.end == open_.room)
		move_open();
	if (open_.end >= CALLS_OPEN_MAX) {
		test_open();
		move_open();
	}
	if (open_.end == open_.room)
		make_room();
	open_.receives[open_.end] = receives;
	open_.number[open_.end] = number;
	open_.persistent[open_.end] = NULL;
	return open_.end++;
}

/* Returns the place of the first request from a number on. */
static size_t place_from(uint64_t number)
{
	size_t first = open_.first, end = open_.end;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (open_.number[middle] < number)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Waits by a call of a kind until all requests of a list have ended. */
static void wait_for_all(enum call_kind kind, MPI_Request *request, int count)
{
	int at = 0;

	switch (kind) {
	case CALL_WAIT:
		MPI_Wait(request, MPI_STATUS_IGNORE);
		forget_ended(request, 1, NULL);
		break;
	case CALL_WAITANY:
		MPI_Waitany(count, request, &at, MPI_STATUS_IGNORE);
		forget_ended(request, at >= 0, &at);
		break;
	case CALL_WAITSOME:
		MPI_Waitsome(count, request, &at, open_.indices, MPI_STATUSES_IGNORE);
		/* those that ended together in the recorded run need not do so here */
		PMPI_Waitall(count, request, MPI_STATUSES_IGNORE);
		forget_ended(request, count, NULL);
		break;
	default:
		MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
		forget_ended(request, count, NULL);
	}
}

/* Waits for the requests for which the recorded call has waited. Returns false if none of them is open. */
static bool wait_for_named(enum call_kind kind, const struct cursor_requests *ended)
{
	size_t first = place_from(ended->first), end = place_from(cursor_last(ended) + 1);
	bool is_open = false;

	/* those between them are not in the list of the call */
	for (size_t i = first; i < end; i++) {
		bool is_named = cursor_has(ended, open_.number[i]);

		is_open |= is_named && open_.request[i] != MPI_REQUEST_NULL;
		open_.hidden[i] = is_named ? MPI_REQUEST_NULL : open_.request[i];
		if (!is_named)
			open_.request[i] = MPI_REQUEST_NULL;
	}
	if (is_open)
		wait_for_all(kind, open_.request + first, (int)(end - first));
	for (size_t i = first; i < end; i++)
		if (open_.hidden[i] != MPI_REQUEST_NULL)
			open_.request[i] = open_.hidden[i];
	trim();
	return is_open;
}

/* Waits for open requests, of which it is not known for which of them the recorded call has waited. */
static bool wait_for_any(enum call_kind kind)
{
	int count = (int)(open_.end - open_.first), at = 0;
	MPI_Request *request = open_.request + open_.first;

	if (!count)
		return false;
	if (kind == CALL_WAITSOME) {
		MPI_Waitsome(count, request, &at, open_.indices, MPI_STATUSES_IGNORE);
		forget_ended(request, at, open_.indices);
	} else {
		/* the first one is open */
		wait_for_all(kind, request, count);
	}
	trim();
	return true;
}

static bool wait_for_requests(const struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	MPI_Request none = MPI_REQUEST_NULL;

	if (!call->names_ended)
		return wait_for_any(kind);
	if (call->ended.count)
		return wait_for_named(kind, &call->ended);
	wait_for_all(kind, &none, kind == CALL_WAIT);
	return true;
}

/* ---- persistent requests ---- */

static bool make_persistent(const struct cursor_call *call)
{
	int to = peer_of(call->value[ARGUMENT_TO]), from = peer_of(call->value[ARGUMENT_FROM]);
	int tag = tag_of(call->value[ARGUMENT_TAG]), bytes = bytes_of(call), room = room_of(bytes);
	MPI_Comm comm = communicator_of(call);
	struct own_request *own = calloc(1, sizeof(*own));
	struct persistent *request;

	if (!own || persistents_add(&persistents, call) == PERSISTENTS_NO_MEMORY) {
		fputs("phasemux replay: no memory for persistent requests\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	request = persistents_find(&persistents, (uint64_t)call->value[ARGUMENT_REQUEST]);
	if (!request || request->made) {
		/* the call is one too many */
		free(own);
		return false;
	}
	request->made = own;
	if (call->token->call == CALL_SEND_INIT)
		MPI_Send_init(made.data, bytes, MPI_BYTE, to, tag, comm, &own->request);
	else if (call->token->call == CALL_SSEND_INIT)
		MPI_Ssend_init(made.data, bytes, MPI_BYTE, to, tag, comm, &own->request);
	else
		MPI_Recv_init(memory_of(&own->buffer, (size_t)room), room, MPI_BYTE, from, tag,
				comm, &own->request);
	return true;
}

/* Waits for a persistent request that the program starts again, and which had therefore ended. */
static void end_before_start(const struct own_request *own)
{
	for (size_t i = open_.first; i < open_.end; i++)
		if (open_.persistent[i] == own && open_.request[i] != MPI_REQUEST_NULL) {
			PMPI_Wait(&open_.request[i], MPI_STATUS_IGNORE);
			forget_ended(&open_.request[i], 1, NULL);
		}
	trim();
}

/* Starts those of the persistent requests of a call that were made. Returns false if there are none. */
static bool start_persistent(const struct cursor_call *call)
{
	static struct persistent *started[CALLS_OPEN_MAX];
	static MPI_Request list[CALLS_OPEN_MAX];
	static uint64_t number[CALLS_OPEN_MAX];
	int count = 0;

	for (int64_t i = 0; i < call->value[ARGUMENT_REQUESTS]; i++) {
		struct persistent *request =
				persistents_find(&persistents, cursor_started(call, i));

		if (!request)
			continue;
		started[count] = request;
		list[count] = ((struct own_request *)request->made)->request;
		number[count++] = call->opened.count ? call->opened.first + (uint64_t)i : 0;
		end_before_start(request->made);
	}
	if (count && call->token->call == CALL_START)
		MPI_Start(list);
	else if (count)
		MPI_Startall(count, list);
	for (int i = 0; i < count; i++) {
		size_t at = new_request(number[i], started[i]->call.token->call == CALL_RECV_INIT);

		open_.request[at] = list[i];
		open_.persistent[at] = started[i]->made;
	}
	return count > 0;
}

static void free_persistent(void)
{
	for (size_t i = 0; i < persistents.count; i++) {
		struct own_request *own = persistents.request[i].made;

		PMPI_Request_free(&own->request);
		free(own->buffer.data);
		free(own);
	}
	persistents_fini(&persistents);
}

void made_calls_end(void)
{
	test_open();
	for (size_t i = open_.first; i < open_.end; i++) {
		if (open_.request[i] == MPI_REQUEST_NULL)
			continue;
		if (open_.receives[i])
			MPI_Cancel(&open_.request[i]);
		MPI_Wait(&open_.request[i], MPI_STATUS_IGNORE);
		forget_ended(&open_.request[i], 1, NULL);
	}
	trim();
	free_persistent();
}

/* ---- messages ---- */

/* Takes a message, which MPI_Mrecv receives. */
static void probe_message(int from, int tag, MPI_Comm comm)
{
	struct probed taken_here = { MPI_MESSAGE_NULL, 0 };
	MPI_Status status;

	MPI_Mprobe(from, tag, comm, &taken_here.message, &status);
	MPI_Get_count(&status, MPI_BYTE, &taken_here.bytes);
	if (probed.count == CALLS_OPEN_MAX) {
		fputs("phasemux replay: too many messages of MPI_Mprobe\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	probed.of[(probed.first + probed.count++) % CALLS_OPEN_MAX] = taken_here;
}

/* Receives the oldest message that MPI_Mprobe has taken. Returns false if there is none. */
static bool receive_probed(void)
{
	struct probed *oldest = &probed.of[probed.first];

	if (!probed.count)
		return false;
	MPI_Mrecv(memory_of(&received, (size_t)oldest->bytes), oldest->bytes, MPI_BYTE,
			&oldest->message, MPI_STATUS_IGNORE);
	probed.first = (probed.first + 1) % CALLS_OPEN_MAX;
	probed.count--;
	return true;
}

static void make_message(const struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	const int64_t *value = call->value;
	int to = peer_of(value[ARGUMENT_TO]), from = peer_of(value[ARGUMENT_FROM]);
	int tag = tag_of(value[ARGUMENT_TAG]), bytes = bytes_of(call), room;
	MPI_Comm comm = communicator_of(call);
	size_t at;

	switch (kind) {
	case CALL_SEND:
		MPI_Send(made.data, bytes, MPI_BYTE, to, tag, comm);
		break;
	case CALL_SSEND:
		MPI_Ssend(made.data, bytes, MPI_BYTE, to, tag, comm);
		break;
	case CALL_ISEND:
		at = new_request(call->opened.first, false);
		MPI_Isend(made.data, bytes, MPI_BYTE, to, tag, comm, &open_.request[at]);
		break;
	case CALL_ISSEND:
		at = new_request(call->opened.first, false);
		MPI_Issend(made.data, bytes, MPI_BYTE, to, tag, comm, &open_.request[at]);
		break;
	case CALL_RECV:
		room = room_of(bytes);
		MPI_Recv(memory_of(&received, (size_t)room), room, MPI_BYTE, from, tag, comm,
				MPI_STATUS_IGNORE);
		break;
	case CALL_IRECV:
		at = new_request(call->opened.first, true);
		room = room_of(bytes);
		MPI_Irecv(memory_of(&open_.buffer[at], (size_t)room), room, MPI_BYTE, from, tag,
				comm, &open_.request[at]);
		break;
	case CALL_PROBE:
		MPI_Probe(from, tag, comm, MPI_STATUS_IGNORE);
		break;
	case CALL_MPROBE:
		probe_message(from, tag, comm);
		break;
	case CALL_SENDRECV_REPLACE:
		/* where sizes are means, the message that comes may be larger than the one that goes */
		if (!made.plan->bytes_most) {
			MPI_Sendrecv_replace(memory_of(&received, (size_t)bytes), bytes, MPI_BYTE,
					to, tag, from, tag_of(value[ARGUMENT_FROM_TAG]), comm,
					MPI_STATUS_IGNORE);
			break;
		}
		/* fall through */
	default:
		room = room_of(kind == CALL_SENDRECV ? value[ARGUMENT_FROM_BYTES] : bytes);
		MPI_Sendrecv(made.data, bytes, MPI_BYTE, to, tag,
				memory_of(&received, (size_t)room), room, MPI_BYTE, from,
				tag_of(value[ARGUMENT_FROM_TAG]), comm, MPI_STATUS_IGNORE);
		break;
	}
}

/* ---- collectives ---- */

/* A type whose sum can be formed, and how many of them make up the recorded size. */
static MPI_Datatype sum_type(int bytes, int *count, MPI_Op *operation)
{
	*operation = MPI_SUM;
	if (bytes % 8 == 0) {
		*count = bytes / 8;
		return MPI_DOUBLE;
	}
	if (bytes % 4 == 0) {
		*count = bytes / 4;
		return MPI_INT;
	}
	*count = bytes;
	*operation = MPI_BOR;
	return MPI_BYTE;
}

static void make_reduction(const struct cursor_call *call, MPI_Comm comm)
{
	int bytes = bytes_of(call), root = (int)call->value[ARGUMENT_ROOT], count;
	enum call_kind kind = call->token->call;
	size_t size = (size_t)bytes, parts = kind == CALL_REDUCE_SCATTER_BLOCK ? made.ranks : 1;
	MPI_Op sum;
	MPI_Datatype type = sum_type(bytes, &count, &sum);
	void *in = memory_of(&given, size * parts), *out = memory_of(&taken, size);

	if (kind == CALL_REDUCE)
		MPI_Reduce(in, out, count, type, sum, root, comm);
	else if (kind == CALL_ALLREDUCE)
		MPI_Allreduce(in, out, count, type, sum, comm);
	else if (kind == CALL_REDUCE_SCATTER_BLOCK)
		MPI_Reduce_scatter_block(in, out, count, type, sum, comm);
	else if (kind == CALL_SCAN)
		MPI_Scan(in, out, count, type, sum, comm);
	else
		MPI_Exscan(in, out, count, type, sum, comm);
}

/* Makes a collective of which each rank has a part of equal size. */
static void make_parts(const struct cursor_call *call, MPI_Comm comm)
{
	int bytes = bytes_of(call), root = (int)call->value[ARGUMENT_ROOT];
	size_t one = (size_t)bytes, all = one * (size_t)made.ranks;

	switch (call->token->call) {
	case CALL_BCAST:
		MPI_Bcast(memory_of(&given, one), bytes, MPI_BYTE, root, comm);
		break;
	case CALL_GATHER:
		MPI_Gather(memory_of(&given, one), bytes, MPI_BYTE, memory_of(&taken, all), bytes,
				MPI_BYTE, root, comm);
		break;
	case CALL_SCATTER:
		MPI_Scatter(memory_of(&given, all), bytes, MPI_BYTE, memory_of(&taken, one), bytes,
				MPI_BYTE, root, comm);
		break;
	case CALL_ALLGATHER:
		MPI_Allgather(memory_of(&given, one), bytes, MPI_BYTE, memory_of(&taken, all),
				bytes, MPI_BYTE, comm);
		break;
	default:
		MPI_Alltoall(memory_of(&given, all), bytes, MPI_BYTE, memory_of(&taken, all), bytes,
				MPI_BYTE, comm);
	}
}

/* Makes a collective whose parts differ. Each rank knows its own part alone, so it has no data. */
static void make_without_data(const struct cursor_call *call, MPI_Comm comm)
{
	int root = (int)call->value[ARGUMENT_ROOT];
	void *in = memory_of(&given, 1), *out = memory_of(&taken, 1);
	int *none = made.zeros;

	switch (call->token->call) {
	case CALL_GATHERV:
		MPI_Gatherv(in, 0, MPI_BYTE, out, none, none, MPI_BYTE, root, comm);
		break;
	case CALL_SCATTERV:
		MPI_Scatterv(in, none, none, MPI_BYTE, out, 0, MPI_BYTE, root, comm);
		break;
	case CALL_ALLGATHERV:
		MPI_Allgatherv(in, 0, MPI_BYTE, out, none, none, MPI_BYTE, comm);
		break;
	case CALL_ALLTOALLV:
		MPI_Alltoallv(in, none, none, MPI_BYTE, out, none, none, MPI_BYTE, comm);
		break;
	default:
		MPI_Reduce_scatter(in, out, none, MPI_INT, MPI_SUM, comm);
	}
}

bool made_calls_make(const struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	MPI_Comm comm = communicator_of(call);

	switch (kind) {
	case CALL_WAIT:
	case CALL_WAITANY:
	case CALL_WAITSOME:
	case CALL_WAITALL:
		return wait_for_requests(call);
	case CALL_SEND_INIT:
	case CALL_SSEND_INIT:
	case CALL_RECV_INIT:
		return make_persistent(call);
	case CALL_START:
	case CALL_STARTALL:
		return start_persistent(call);
	case CALL_MRECV:
		return receive_probed();
	case CALL_BARRIER:
		MPI_Barrier(comm);
		break;
	case CALL_REDUCE:
	case CALL_ALLREDUCE:
	case CALL_REDUCE_SCATTER_BLOCK:
	case CALL_SCAN:
	case CALL_EXSCAN:
		make_reduction(call, comm);
		break;
	case CALL_BCAST:
	case CALL_GATHER:
	case CALL_SCATTER:
	case CALL_ALLGATHER:
	case CALL_ALLTOALL:
		make_parts(call, comm);
		break;
	case CALL_GATHERV:
	case CALL_SCATTERV:
	case CALL_ALLGATHERV:
	case CALL_ALLTOALLV:
	case CALL_REDUCE_SCATTER:
		make_without_data(call, comm);
		break;
	default:
		make_message(call);
	}
	return true;
}
