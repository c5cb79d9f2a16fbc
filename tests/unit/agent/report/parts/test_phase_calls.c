/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel efficiency of a phase: bursts and calls that are added up, its factors, and when it is not known. */
#include <math.h>
#include <string.h>

#include "agent/report/parts/phase_calls.h"
#include "tests/tap.h"

static struct structures structures;
static struct prototype_table table;

static void add_token(uint32_t kind, uint32_t prototype, double burst, double inside)
{
	struct structure_token *token = &structures.token[structures.tokens++];

	token->kind = kind;
	token->prototype = prototype;
	token->seconds[SLOT_BURST] = burst;
	token->seconds[SLOT_INSIDE] = inside;
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
	add_token(LOOPS_LOOP, 0, 100, 100); /* its body follows it */
	add_token(LOOPS_CALL, 0, 3, 1);
	add_token(LOOPS_CALL, 1, 10, 20);
	add_token(LOOPS_CALL, 2, 5, 1);
	add_token(LOOPS_CALL, PROTOTYPES_MAX, 7, 7);
	add_token(LOOPS_HOLE, 0, 50, 50);
	calls = phase_calls(&structures, &table, 1);
	ok(calls.bursts == 8 && calls.calls == 2, "calls whose bursts are of the phase: %g s, %g s",
			calls.bursts, calls.calls);
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
