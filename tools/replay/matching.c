/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/matching.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/replay/matching_state.h"
#include "tools/replay/repetition.h"

#define TURN                                                                                       \
	64 /* calls of a rank before the next one has its turn, so that few messages are under way */

/* Notes why the check failed. Returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct check *check, int code,
		const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(check->why, check->why_size, format, list);
	va_end(list);
	check->code = code;
	return false;
}

/* Returns room for one more element of an array, or NULL without memory. */
static void *array_grow(void **array, size_t *room, size_t used, size_t size)
{
	if (used == *room) {
		size_t more = *room ? 2 * *room : 8;
		void *grown = realloc(*array, more * size);

		if (!grown)
			return NULL;
		*array = grown;
		*room = more;
	}
	return (char *)*array + used * size;
}

/* ---- words ---- */

static void print_value(FILE *out, const char *words, int64_t value)
{
	if (value == PLAN_ANY)
		fprintf(out, "%sany", words);
	else if (value == PLAN_NONE)
		fprintf(out, "%snone", words);
	else if (value != PLAN_UNKNOWN)
		fprintf(out, "%s%lld", words, (long long)value);
}

/* Prints a call with its arguments: "MPI_Recv from 0, tag 5 (call 12 of rank 3)". */
static void print_call(FILE *out, const struct rank *rank, long number,
		const struct cursor_call *call)
{
	fputs(call->token->name, out);
	print_value(out, " to ", call->value[ARGUMENT_TO]);
	print_value(out, " from ", call->value[ARGUMENT_FROM]);
	print_value(out, " root ", call->value[ARGUMENT_ROOT]);
	print_value(out, " bytes ", call->value[ARGUMENT_BYTES]);
	print_value(out, " tag ", call->value[ARGUMENT_TAG]);
	print_value(out, " request ", call->value[ARGUMENT_REQUEST]);
	if (call->value[ARGUMENT_COMMUNICATOR] > 0)
		print_value(out, " communicator ", call->value[ARGUMENT_COMMUNICATOR]);
	fprintf(out, " (call %llu of rank %ld)", (unsigned long long)rank->number, number);
}

/* ---- messages ---- */

static bool envelope_fits(const struct envelope *receive, const struct envelope *message)
{
	return receive->communicator == message->communicator &&
			(receive->source == PLAN_ANY || receive->source == message->source) &&
			(receive->tag == PLAN_ANY || receive->tag == message->tag);
}

/* Refuses a message that is larger than the room for it, if that is known. */
static bool check_room(struct check *check, const struct envelope *receive,
		const struct envelope *message, long to)
{
	if (check->plan->bytes_most || receive->bytes == PLAN_UNKNOWN ||
			receive->bytes >= message->bytes)
		return true;
	check->blamed = message->communicator;
	return fail(check, 2,
			"the message of %lld bytes with tag %lld from rank %lld to rank %ld is larger than the %lld bytes of its receive",
			(long long)message->bytes, (long long)message->tag,
			(long long)message->source, to, (long long)receive->bytes);
}

static bool deliver(struct check *check, long to, const struct envelope *envelope)
{
	struct rank *rank = &check->rank[to];
	struct message *last = rank->messages ? &rank->message[rank->messages - 1] : NULL;

	for (size_t i = 0; i < rank->requests; i++) {
		struct request *request = &rank->request[i];

		if (request->is_receive && !request->done &&
				envelope_fits(&request->envelope, envelope)) {
			request->done = true;
			return check_room(check, &request->envelope, envelope, to);
		}
	}
	if (last && memcmp(&last->envelope, envelope, sizeof(*envelope)) == 0) {
		last->times++;
		return true;
	}
	last = array_grow((void **)&rank->message, &rank->messages_room, rank->messages,
			sizeof(*last));
	if (!last)
		return fail(check, 1, "no memory");
	rank->messages++;
	*last = (struct message){ *envelope, 1 };
	return true;
}

/* Finds a message for a receive, and takes it if `take`. Returns whether there is one. */
static bool find_message(struct check *check, long number, const struct envelope *receive,
		bool take)
{
	struct rank *rank = &check->rank[number];

	for (size_t i = 0; i < rank->messages; i++) {
		struct message *message = &rank->message[i];

		if (!envelope_fits(receive, &message->envelope))
			continue;
		if (!take)
			return true;
		check_room(check, receive, &message->envelope, number);
		if (--message->times == 0)
			memmove(message, message + 1, (--rank->messages - i) * sizeof(*message));
		return true;
	}
	return false;
}

/* Returns the slot of a communicator, of which several may share one. */
static int64_t slot_of(const struct cursor_call *call)
{
	int64_t communicator = call->value[ARGUMENT_COMMUNICATOR];

	return communicator < 2 ? communicator : 2 + calls_copy(communicator);
}

static bool send(struct check *check, long number, const struct cursor_call *call)
{
	const struct envelope envelope = { slot_of(call), number, call->value[ARGUMENT_TAG],
		call->value[ARGUMENT_BYTES] };

	if (call->value[ARGUMENT_TO] == PLAN_NONE)
		return true;
	return deliver(check, (long)call->value[ARGUMENT_TO], &envelope);
}

/* Returns what a call receives. */
static struct envelope received(const struct cursor_call *call)
{
	enum call_kind kind = call->token->call;
	bool both = kind == CALL_SENDRECV || kind == CALL_SENDRECV_REPLACE;

	return (struct envelope){ slot_of(call), call->value[ARGUMENT_FROM],
		call->value[both ? ARGUMENT_FROM_TAG : ARGUMENT_TAG],
		call->value[kind == CALL_SENDRECV ? ARGUMENT_FROM_BYTES : ARGUMENT_BYTES] };
}

/* ---- requests ---- */

static void forget_done(struct rank *rank)
{
	size_t left = 0;

	for (size_t i = 0; i < rank->requests; i++)
		if (!rank->request[i].done)
			rank->request[left++] = rank->request[i];
	rank->requests = left;
}

static void remove_request(struct rank *rank, size_t at)
{
	memmove(&rank->request[at], &rank->request[at + 1],
			(--rank->requests - at) * sizeof(*rank->request));
}

/*
 * Opens a request. opened: its number. call: the one that has its arguments, which has made the persistent request with the number
 * `persistent`, if that is not 0.
 */
static bool add_request(struct check *check, long number, const struct cursor_call *call,
		uint64_t opened, uint64_t persistent)
{
	struct rank *rank = &check->rank[number];
	enum call_kind kind = call->token->call;
	struct request *request,
			made = { opened, persistent, kind == CALL_IRECV || kind == CALL_RECV_INIT,
				true, received(call) };

	if (!made.is_receive && !send(check, number, call))
		return false;
	if (made.is_receive && made.envelope.source != PLAN_NONE)
		made.done = find_message(check, number, &made.envelope, true);
	if (rank->requests >= CALLS_OPEN_MAX)
		forget_done(rank);
	request = array_grow((void **)&rank->request, &rank->requests_room, rank->requests,
			sizeof(*request));
	if (!request)
		return fail(check, 1, "no memory");
	rank->requests++;
	*request = made;
	return true;
}

/* ---- persistent requests ---- */

/* Says which request of a call was made twice, or not at all. Returns false. */
static bool refuse_persistent(struct check *check, long number, const char *words)
{
	FILE *out = fmemopen(check->why, check->why_size, "w");

	check->code = 2;
	if (!out)
		return fail(check, 1, "no memory");
	print_call(out, &check->rank[number], number, &check->rank[number].call);
	fputs(words, out);
	fclose(out);
	return false;
}

/* Notes the persistent request that the call which was taken makes. Returns false if the check has failed. */
static bool make_persistent(struct check *check, long number)
{
	struct rank *rank = &check->rank[number];

	switch (persistents_add(&rank->persistents, &rank->call)) {
	case PERSISTENTS_TWICE:
		return refuse_persistent(check, number,
				" makes a persistent request that was made before");
	case PERSISTENTS_NO_MEMORY:
		return fail(check, 1, "no memory");
	default:
		return true;
	}
}

/*
 * Looks for the persistent requests that the call which was taken starts. *any: whether one of them is among those that were made.
 * Returns false if the check has failed, because one was not made.
 */
static bool look_for_started(struct check *check, long number, bool *any)
{
	const struct rank *rank = &check->rank[number];
	int64_t count = rank->call.value[ARGUMENT_REQUESTS], found = 0;

	for (int64_t i = 0; i < count; i++)
		found += persistents_find(&rank->persistents, cursor_started(&rank->call, i)) !=
				NULL;
	*any = found > 0;
	return found == count || rank->persistents.incomplete ||
			refuse_persistent(check, number,
					count > 1 ? " starts persistent requests of which one was not made" :
						    " starts a persistent request that was not made");
}

/* Ends a persistent request that the program starts again, which has therefore ended. Returns false if it has not. */
static bool end_before_start(struct rank *rank, uint64_t persistent)
{
	for (size_t i = 0; i < rank->requests; i++) {
		if (rank->request[i].persistent != persistent)
			continue;
		if (!rank->request[i].done)
			return false;
		remove_request(rank, i--);
	}
	return true;
}

/* Starts persistent requests. *ended: whether all of them had ended. Returns false if the check has failed. */
static bool start_requests(struct check *check, long number, bool *ended)
{
	struct rank *rank = &check->rank[number];
	const struct cursor_call *call = &rank->call;

	for (int64_t i = 0; i < call->value[ARGUMENT_REQUESTS] && *ended; i++)
		*ended = end_before_start(rank, cursor_started(call, i));
	for (int64_t i = 0; i < call->value[ARGUMENT_REQUESTS] && *ended; i++) {
		const struct persistent *request =
				persistents_find(&rank->persistents, cursor_started(call, i));

		if (request &&
				!add_request(check, number, &request->call,
						call->opened.count ?
								call->opened.first + (uint64_t)i :
								0,
						request->number))
			return false;
	}
	return true;
}

/* ---- calls that wait ---- */

/* Returns the place of the first open request from a number on. */
static size_t request_from(const struct rank *rank, uint64_t number)
{
	size_t first = 0, end = rank->requests;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (rank->request[middle].number < number)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Returns whether there is an open request for which the call that was taken may wait, or whether it waits for none. */
static bool may_wait(const struct rank *rank)
{
	const struct cursor_requests *ended = &rank->call.ended;

	if (!rank->call.names_ended)
		return rank->requests > 0;
	for (size_t i = request_from(rank, ended->first);
			i < rank->requests && rank->request[i].number <= cursor_last(ended); i++)
		if (cursor_has(ended, rank->request[i].number))
			return true;
	return !ended->count;
}

/* Carries out a call of which it is known for which requests it waits. Returns whether it has ended. */
static bool wait_for_named(struct rank *rank)
{
	const struct cursor_requests *ended = &rank->call.ended;
	size_t first = request_from(rank, ended->first), end = first, left = first;

	for (; ended->count && end < rank->requests &&
			rank->request[end].number <= cursor_last(ended);
			end++)
		if (cursor_has(ended, rank->request[end].number) && !rank->request[end].done)
			return false;
	for (size_t i = first; i < rank->requests; i++)
		if (i >= end || !cursor_has(ended, rank->request[i].number))
			rank->request[left++] = rank->request[i];
	rank->requests = left;
	return true;
}

/* Carries out a call that waits for requests. Returns whether it has ended. */
static bool wait_for(struct rank *rank, enum call_kind kind)
{
	size_t done = 0, first = 0;

	if (rank->call.names_ended)
		return wait_for_named(rank);
	while (first < rank->requests && !rank->request[first].done)
		first++;
	for (size_t i = 0; i < rank->requests; i++)
		done += rank->request[i].done;
	if (!rank->requests)
		return true;
	if (!done || (kind == CALL_WAIT && first) ||
			(kind == CALL_WAITALL && done < rank->requests))
		return false;
	if (kind == CALL_WAIT || kind == CALL_WAITANY)
		remove_request(rank, first);
	else
		forget_done(rank);
	return true;
}

/* ---- collectives ---- */

static bool is_same(const struct cursor_call *one, const struct cursor_call *other)
{
	return one->token->call == other->token->call &&
			one->value[ARGUMENT_ROOT] == other->value[ARGUMENT_ROOT] &&
			/* parts that differ, of MPI_Gatherv for example, are not carried out */
			(!calls_need(one->token->call, ARGUMENT_BYTES) ||
					one->value[ARGUMENT_BYTES] ==
							other->value[ARGUMENT_BYTES]) &&
			one->value[ARGUMENT_COMMUNICATOR] == other->value[ARGUMENT_COMMUNICATOR];
}

static bool refuse_collective(struct check *check, const struct collective *collective, long number)
{
	FILE *out = fmemopen(check->why, check->why_size, "w");

	check->code = 2;
	check->blamed = slot_of(&collective->call);
	if (!out)
		return fail(check, 1, "no memory");
	print_call(out, &check->rank[collective->first], collective->first, &collective->call);
	fputs(" is another collective than ", out);
	print_call(out, &check->rank[number], number, &check->rank[number].call);
	fclose(out);
	return false;
}

/* Joins a collective. */
static bool join(struct check *check, long number)
{
	struct rank *rank = &check->rank[number];
	struct collective *collective = &check->collective[slot_of(&rank->call)];

	if (rank->call.value[ARGUMENT_COMMUNICATOR] == 1) {
		rank->state = FRESH;
		return true;
	}
	if (!collective->arrived) {
		collective->call = rank->call;
		collective->first = number;
	} else if (!is_same(&collective->call, &rank->call)) {
		return refuse_collective(check, collective, number);
	}
	rank->state = JOINED;
	rank->round = collective->round;
	if (++collective->arrived == check->plan->ranks) {
		collective->arrived = 0;
		collective->round++;
	}
	return true;
}

/* ---- calls ---- */

/* Looks for what an earlier call has made for the call that was taken. Returns false if the check has failed. */
static bool find_request(struct check *check, long number, bool *found)
{
	const struct rank *rank = &check->rank[number];
	enum call_kind kind = rank->call.token->call;

	if (calls_start(kind) && rank->call.reason == CURSOR_CARRIED)
		return look_for_started(check, number, found);
	if (calls_make(kind))
		*found = persistents_find(&rank->persistents,
					 (uint64_t)rank->call.value[ARGUMENT_REQUEST]) != NULL;
	else
		*found = kind == CALL_MRECV ? rank->probed > 0 : may_wait(rank);
	return true;
}

/* Takes the next call of a rank. Returns false if the check has failed. */
static bool take_call(struct check *check, long number)
{
	struct rank *rank = &check->rank[number];
	enum cursor_step step = cursor_next(rank->cursor, &rank->call);
	bool has_request;

	rank->state = FRESH;
	if (step >= CURSOR_LOST) {
		check->counts->lost += step == CURSOR_LOST;
		rank->state = ENDED;
		return true;
	}
	if (step == CURSOR_HOLE) {
		check->counts->hidden += rank->call.hidden;
		rank->persistents.incomplete = true;
		return true;
	}
	rank->number++;
	rank->sent = false;
	if (rank->call.is_outside && slot_of(&rank->call) > 1 && rank->call.reason != CURSOR_COPY) {
		check->blamed = slot_of(&rank->call);
		return fail(check, 2, "a communicator is no copy of MPI_COMM_WORLD");
	}
	if (!make_persistent(check, number) || !find_request(check, number, &has_request))
		return false;
	matching_count(check->counts, &rank->call, has_request);
	if (rank->call.reason == CURSOR_CARRIED)
		rank->state = STARTED;
	return true;
}

/* Receives, or looks for a message. Returns whether the call has ended. */
static bool receive(struct check *check, long number)
{
	const struct cursor_call *call = &check->rank[number].call;
	const struct envelope wanted = received(call);

	return wanted.source == PLAN_NONE ||
			find_message(check, number, &wanted, call->token->call != CALL_PROBE);
}

/* Goes on with a call that was taken. Returns false if the check has failed. */
static bool go_on(struct check *check, long number)
{
	struct rank *rank = &check->rank[number];
	enum call_kind kind = rank->call.token->call;
	bool ended = true;

	if (rank->state == JOINED) {
		ended = check->collective[slot_of(&rank->call)].round != rank->round;
	} else if (kind >= CALL_COLLECTIVES) {
		return join(check, number);
	} else if (kind == CALL_ISEND || kind == CALL_ISSEND || kind == CALL_IRECV) {
		if (!add_request(check, number, &rank->call, rank->call.opened.first, 0))
			return false;
	} else if (calls_start(kind)) {
		if (!start_requests(check, number, &ended))
			return false;
	} else if (matching_waits(kind)) {
		ended = wait_for(rank, kind);
	} else if (kind == CALL_MRECV) {
		rank->probed -= rank->probed > 0;
	} else if (kind != CALL_INIT && kind != CALL_FINALIZE && !calls_make(kind)) {
		bool sends = calls_need(kind, ARGUMENT_TO);

		if (sends && !rank->sent && !send(check, number, &rank->call))
			return false;
		rank->sent = true;
		ended = !calls_need(kind, ARGUMENT_FROM) || receive(check, number);
		rank->probed += ended && kind == CALL_MPROBE;
	}
	if (ended)
		rank->state = FRESH;
	return !check->code;
}

/* Gives a rank its turn. *moved: whether it went on. Returns false if the check has failed. */
static bool turn(struct check *check, long number, bool *moved)
{
	struct rank *rank = &check->rank[number];

	for (unsigned i = 0; i < TURN && rank->state != ENDED && rank->state != HELD; i++) {
		enum state before = rank->state;
		bool sent = rank->sent;

		if (before == FRESH && repetition_holds(check, number)) {
			rank->state = HELD;
			*moved = true;
			break;
		}
		if (!(before <= PASSED ? take_call(check, number) : go_on(check, number)))
			return false;
		if (before > PASSED && rank->state == before) { /* it waits */
			*moved |= rank->sent != sent;
			break;
		}
		*moved = true;
	}
	return true;
}

/* Finds a communicator of the program in which a rank waits. Returns its slot, or 0 if there is none. */
static int64_t blame(const struct check *check)
{
	for (long i = 0; i < check->plan->ranks; i++) {
		const struct rank *rank = &check->rank[i];

		if (rank->state == ENDED)
			continue;
		if (calls_need(rank->call.token->call, ARGUMENT_COMMUNICATOR) &&
				slot_of(&rank->call) > 1)
			return slot_of(&rank->call);
		for (size_t j = 0; j < rank->requests; j++)
			if (!rank->request[j].done && rank->request[j].envelope.communicator > 1)
				return rank->request[j].envelope.communicator;
	}
	return 0;
}

/* Says for what the first rank that waits does wait. */
static bool refuse_stuck(struct check *check)
{
	FILE *out = fmemopen(check->why, check->why_size, "w");
	long number = 0;

	check->code = 2;
	check->blamed = blame(check);
	if (!out)
		return fail(check, 1, "no memory");
	while (check->rank[number].state == ENDED)
		number++;
	print_call(out, &check->rank[number], number, &check->rank[number].call);
	if (check->rank[number].state == JOINED) {
		const struct collective *collective =
				&check->collective[slot_of(&check->rank[number].call)];
		long other = 0;

		while (other < check->plan->ranks - 1 && check->rank[other].state == JOINED &&
				&check->collective[slot_of(&check->rank[other].call)] == collective)
			other++;
		fprintf(out, " waits for rank %ld, which ", other);
		if (check->rank[other].state == ENDED)
			fputs("makes no further call", out);
		else
			print_call(out, &check->rank[other], other, &check->rank[other].call);
	} else {
		fputs(" waits for a message that no rank sends", out);
	}
	fclose(out);
	return false;
}

/* Refuses messages that no rank receives. */
static bool check_rest(struct check *check)
{
	for (long i = 0; i < check->plan->ranks; i++)
		if (check->rank[i].messages) {
			const struct message *message = &check->rank[i].message[0];

			check->blamed = message->envelope.communicator;
			return fail(check, 2,
					"rank %lld sends a message of %lld bytes with tag %lld to rank %ld, which does not receive it",
					(long long)message->envelope.source,
					(long long)message->envelope.bytes,
					(long long)message->envelope.tag, i);
		}
	return true;
}

/*
 * Lets the ranks that are held go on if no other one can. Returns whether there are any. If all of them are between two rounds,
 * the rounds to come may be left out.
 */
static bool release(struct check *check, bool moved)
{
	bool all = true, any = false;

	for (long i = 0; i < check->plan->ranks; i++) {
		any |= check->rank[i].state == HELD;
		all &= check->rank[i].state == HELD || check->rank[i].state == ENDED;
	}
	if (!any || (moved && !all))
		return moved;
	if (all)
		repetition_leave_out(check);
	for (long i = 0; i < check->plan->ranks; i++)
		if (check->rank[i].state == HELD)
			check->rank[i].state = PASSED;
	return true;
}

static bool go_through(struct check *check)
{
	bool moved = true, waiting = true;

	while (moved && waiting) {
		moved = waiting = false;
		for (long i = 0; i < check->plan->ranks; i++) {
			if (!turn(check, i, &moved))
				return false;
			waiting |= check->rank[i].state != ENDED;
		}
		moved = release(check, moved);
	}
	return waiting ? refuse_stuck(check) : check_rest(check);
}

static bool check_start(struct check *check)
{
	char why[200];

	check->rank = calloc((size_t)check->plan->ranks, sizeof(*check->rank));
	if (!check->rank)
		return fail(check, 1, "no memory");
	for (long i = 0; i < check->plan->ranks; i++) {
		check->rank[i].cursor = cursor_new(check->plan, i, check->copies, check->sample,
				why, sizeof(why));
		if (!check->rank[i].cursor)
			return fail(check, 2, "%s", why);
	}
	return repetition_new(check) || fail(check, 1, "no memory");
}

/* Checks once. Returns as matching_check. */
static int check_once(struct check *check)
{
	memset(check->counts, 0, sizeof(*check->counts));
	memset(check->collective, 0, sizeof(check->collective));
	check->code = 0;
	check->blamed = 0;
	if (check_start(check))
		go_through(check);
	for (long i = 0; check->rank && i < check->plan->ranks; i++) {
		cursor_free(check->rank[i].cursor);
		free(check->rank[i].message);
		free(check->rank[i].request);
		persistents_fini(&check->rank[i].persistents);
	}
	repetition_free(check);
	free(check->rank);
	check->rank = NULL;
	return check->code;
}

int matching_check(struct matching *matching, const struct plan *plan, const struct sample *sample,
		unsigned *copies, char *why, size_t why_size)
{
	struct check check = { .plan = plan,
		.sample = sample,
		.copies = *copies,
		.counts = matching,
		.why = why,
		.why_size = why_size };

	while (check_once(&check) == 2 && check.copies)
		check.copies = check.blamed > 1 ? check.copies & ~(1u << (check.blamed - 2)) : 0;
	*copies = check.copies;
	return check.code;
}
