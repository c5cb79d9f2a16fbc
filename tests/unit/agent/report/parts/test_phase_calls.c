/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel efficiency of a phase: bursts and calls that are added up, its factors, and when it is not known. */
#include <math.h>
#include <string.h>

#include "agent/report/parts/phase_calls.h"
#include "tests/tap.h"

#define NONE PROTOTYPES_MAX

static struct structures structures;
static struct prototype_table table;

static void add_token(uint32_t kind, uint32_t depth, uint32_t prototype, double burst,
		double inside)
{
	struct structure_token *token = &structures.token[structures.tokens++];

	token->kind = kind;
	token->depth = depth;
	token->prototype = prototype;
	token->seconds[SLOT_BURST] = burst;
	token->seconds[SLOT_INSIDE] = inside;
	structures.all[structures.count - 1].tokens++;
}

static void add_structure(void)
{
	structures.all[structures.count++].first = structures.tokens;
}

static double member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void test_sums(void)
{
	struct phase_calls calls;

	table.count = 3;
	table.all[0].phase = table.all[2].phase = 1;
	table.all[1].phase = 2;
	add_structure();
	add_token(LOOPS_CALL, 0, NONE, 0.1, 1000); /* of no phase yet */
	add_token(LOOPS_LOOP, 0, 0, 100, 100);     /* its body follows it */
	add_token(LOOPS_CALL, 1, NONE, 0.1, 4);    /* behind the last call of the round before */
	add_token(LOOPS_CALL, 1, 1, 10, 20);
	add_token(LOOPS_CALL, 1, 0, 3, 1);
	add_token(LOOPS_CALL, 1, NONE, 0.1, 2);
	add_token(LOOPS_CALL, 0, NONE, 0.1, 8); /* behind the loop */
	add_token(LOOPS_HOLE, 0, 0, 50, 50);
	add_token(LOOPS_CALL, 0, NONE, 0.1, 1000); /* behind what is not known */
	add_structure();
	add_token(LOOPS_CALL, 0, NONE, 0.1, 1000);
	add_token(LOOPS_CALL, 0, 2, 5, 16);
	add_token(LOOPS_LOOP, 0, 0, 1, 32);
	add_token(LOOPS_CALL, 1, NONE, 1, 32); /* a loop without a phase */
	calls = phase_calls(&structures, &table, 1);
	ok(calls.bursts == 8 && calls.calls == 63,
			"calls from bursts of the phase to the next burst of a phase: %g s, %g s",
			calls.bursts, calls.calls);
	calls = phase_calls(&structures, &table, 2);
	ok(calls.bursts == 10 && calls.calls == 20, "of another phase: %g s, %g s", calls.bursts,
			calls.calls);
	calls = phase_calls(NULL, &table, 1);
	ok(calls.bursts == 0 && calls.calls == 0, "nothing without a structure");
}

static void test_factors(void)
{
	struct phase_calls calls = { .bursts = 60, .calls = 40 };
	json_t *object = phase_calls_json(&calls, 60, 0.8);

	ok(fabs(member(object, "parallel") - 0.6) < 1e-12, "60 of 100 seconds are computing");
	ok(fabs(member(object, "communication") - 0.75) < 1e-12, "which is 0.8 x 0.75");
	ok(member(object, "call_seconds") == 40, "beside 40 seconds in calls");
	json_decref(object);
	object = phase_calls_json(&calls, 60, 0.5);
	ok(fabs(member(object, "parallel") - 0.6) < 1e-12 &&
					json_is_null(json_object_get(object, "communication")),
			"more than the balance: no rank waits for the slowest one in these calls");
	json_decref(object);
	object = phase_calls_json(&calls, 121, 0.8);
	ok(json_is_null(object), "not known if less than half of the phase is in the structure");
	json_decref(object);
	calls.bursts = 0;
	object = phase_calls_json(&calls, 0, 0.8);
	ok(json_is_null(object), "not known without bursts");
	json_decref(object);
}

int main(void)
{
	test_sums();
	test_factors();
	return tap_done();
}
