/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/phase_calls.h"

#include <math.h>

#include "agent/report/parts/document.h"

#define KNOWN 0.5 /* least share of the phase's time that the structure has */

struct phase_calls phase_calls(const struct structures *structures,
		const struct prototype_table *table, uint32_t phase)
{
	struct phase_calls sum = { 0, 0 };

	for (uint32_t i = 0; structures && i < structures->tokens; i++) {
		const struct structure_token *token = &structures->token[i];

		if (token->kind != LOOPS_CALL || token->prototype >= table->count ||
				table->all[token->prototype].phase != phase)
			continue;
		sum.bursts += token->seconds[SLOT_BURST];
		sum.calls += token->seconds[SLOT_INSIDE];
	}
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
