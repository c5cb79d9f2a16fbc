/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/matching_counts.h"

#include <string.h>

static bool is_without_data(enum call_kind kind)
{
	return kind == CALL_GATHERV || kind == CALL_SCATTERV || kind == CALL_ALLGATHERV ||
			kind == CALL_ALLTOALLV || kind == CALL_REDUCE_SCATTER;
}

bool matching_waits(enum call_kind kind)
{
	return kind >= CALL_WAIT && kind <= CALL_WAITALL;
}

/* Returns whether a call is made only if there is a request, or a message, that it needs. */
static bool needs_request(enum call_kind kind)
{
	return matching_waits(kind) || kind == CALL_MRECV || calls_start(kind) || calls_make(kind);
}

void matching_count(struct matching *counts, const struct cursor_call *call, bool has_request)
{
	const struct plan_token *token = call->token;
	bool carried = call->reason == CURSOR_CARRIED;
	bool without_data = carried && is_without_data(token->call);
	size_t at = 0;

	if (carried && needs_request(token->call) && !has_request) {
		carried = false;
		counts->no_request++;
	}
	counts->calls++;
	counts->walked++;
	counts->carried += carried;
	counts->means += carried && call->is_mean;
	counts->copies += carried && calls_need(token->call, ARGUMENT_COMMUNICATOR) &&
			call->value[ARGUMENT_COMMUNICATOR] > 1;
	if (call->reason == CURSOR_CARRIED && !without_data &&
			(token->call == CALL_INIT ||
					strcmp(token->name, calls_name(token->call)) == 0))
		return;
	while (at < counts->kinds &&
			(strcmp(counts->kind[at].name, token->name) != 0 ||
					counts->kind[at].reason != call->reason))
		at++;
	if (at == counts->kinds && at < MATCHING_KINDS_MAX) {
		memcpy(counts->kind[at].name, token->name, PLAN_NAME_MAX);
		counts->kind[at].reason = call->reason;
		counts->kind[at].without_data = without_data;
		counts->kinds++;
	}
	if (at < MATCHING_KINDS_MAX)
		counts->kind[at].calls++;
}

static void repeat(double *count, double since, uint64_t times)
{
	*count += (*count - since) * (double)times;
}

void matching_repeat(struct matching *counts, const struct matching *since, uint64_t times)
{
	repeat(&counts->calls, since->calls, times);
	repeat(&counts->carried, since->carried, times);
	repeat(&counts->hidden, since->hidden, times);
	repeat(&counts->means, since->means, times);
	repeat(&counts->copies, since->copies, times);
	repeat(&counts->no_request, since->no_request, times);
	for (size_t i = 0; i < counts->kinds; i++)
		repeat(&counts->kind[i].calls, i < since->kinds ? since->kind[i].calls : 0, times);
}
