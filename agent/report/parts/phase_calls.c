/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/phase_calls.h"

#include <math.h>
#include <stdbool.h>

#include "agent/report/parts/document.h"

#define KNOWN 0.5 /* least share of the phase's time that the structure has */

/* Returns the phase of the bursts before a call, or 0. */
static uint32_t phase_of(const struct prototype_table *table, const struct structure_token *token)
{
	bool known = token->kind == LOOPS_CALL && token->prototype < table->count;

	return known ? table->all[token->prototype].phase : 0;
}

/* Returns the last phase in the body of a loop, of which `left` tokens may follow it, or 0. */
static uint32_t last_phase(const struct prototype_table *table, const struct structure_token *loop,
		uint32_t left)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i <= left && loop[i].depth > loop->depth; i++)
		if (phase_of(table, &loop[i]))
			last = phase_of(table, &loop[i]);
	return last;
}

/* Adds the times of a phase in a text. */
static void add_text(struct phase_calls *sum, const struct structure_token *token, uint32_t tokens,
		const struct prototype_table *table, uint32_t phase)
{
	uint32_t current = 0; /* the phase of the last burst that has one */

	for (uint32_t i = 0; i < tokens; i++) {
		uint32_t own = phase_of(table, &token[i]);

		if (token[i].kind == LOOPS_HOLE) {
			current = 0;
		} else if (token[i].kind == LOOPS_LOOP) {
			/* most rounds come after another one */
			own = last_phase(table, &token[i], tokens - i - 1);
			current = own ? own : current;
		} else {
			current = own ? own : current;
			sum->bursts += own == phase ? token[i].seconds[SLOT_BURST] : 0;
			sum->calls += current == phase ? token[i].seconds[SLOT_INSIDE] : 0;
		}
	}
}

struct phase_calls phase_calls(const struct structures *structures,
		const struct prototype_table *table, uint32_t phase)
{
	struct phase_calls sum = { 0, 0 };

	for (uint32_t i = 0; structures && i < structures->count; i++)
		add_text(&sum, &structures->token[structures->all[i].first],
				structures->all[i].tokens, table, phase);
	return sum;
}

json_t *phase_calls_json(const struct phase_calls *calls, double seconds, double load_balance)
{
	double parallel = calls->bursts / (calls->bursts + calls->calls);
	/* above 1, ranks do not wait for the slowest one in these calls */
	double communication = parallel / load_balance;

	if (!(calls->bursts > 0) || calls->bursts < KNOWN * seconds)
		return json_null();
	return json_pack("{s:o,s:o,s:o}", "parallel", document_number(parallel), "communication",
			document_number(communication <= 1 ? communication : NAN), "call_seconds",
			document_number(calls->calls));
}
