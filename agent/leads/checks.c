/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/checks.h"

#include "multiplex/mix.h"

/* Returns the number of calls of a check: two rounds, in which inner loops are repeated once. */
static uint32_t calls_of(uint32_t calls)
{
	return calls > CHECKS_CALLS_MIN / 2 ? 2 * calls : CHECKS_CALLS_MIN;
}

/*
 * Returns whether an argument is equal whenever the program does the same. Numbers of what it makes anew are not, and which
 * request ends first is not.
 */
static bool is_compared(enum argument argument)
{
	return argument != ARGUMENT_COMMUNICATOR && argument != ARGUMENT_REQUEST &&
			argument < ARGUMENT_BACK;
}

static uint64_t signature_of(uint32_t site, const struct call_arguments *arguments)
{
	uint64_t signature = mix_bits(site);

	for (unsigned i = 0; i < ARGUMENTS; i++)
		if (is_compared((enum argument)i))
			signature = mix_bits(signature + (uint64_t)arguments->value[i]);
	return signature ? signature : 1;
}

void checks_begin(struct checks *checks, uint32_t calls)
{
	checks->left = calls_of(calls);
	checks->till = 1;
	checks->differs = false;
}

/* Returns the place of a signature, or of none where it would be. */
static uint64_t *slot_of(struct checks *checks, uint64_t signature)
{
	uint64_t at = signature;

	_Static_assert(CHECKS_KNOWN_MAX < CHECKS_SLOTS, "there is always a free place");
	while (checks->slot[at % CHECKS_SLOTS] && checks->slot[at % CHECKS_SLOTS] != signature)
		at++;
	return &checks->slot[at % CHECKS_SLOTS];
}

bool checks_add(struct checks *checks, uint32_t site, const struct call_arguments *arguments)
{
	if (arguments->noted && checks->known <= CHECKS_KNOWN_MAX) {
		uint64_t signature = signature_of(site, arguments);
		uint64_t *slot = slot_of(checks, signature);

		if (!*slot && checks->learned == CHECKS_LEARNED) {
			checks->differs = true;
		} else if (!*slot) {
			checks->known++;
			if (checks->known <= CHECKS_KNOWN_MAX)
				*slot = signature;
		}
	}
	return --checks->left;
}

bool checks_end(struct checks *checks, uint32_t calls)
{
	bool has_learnt = checks->learned < CHECKS_LEARNED;

	checks->learned += has_learnt;
	/* while it learns, the next check follows at once */
	checks->till = checks->learned < CHECKS_LEARNED ? 1 : CHECKS_REST * calls_of(calls);
	return !has_learnt && checks->known <= CHECKS_KNOWN_MAX;
}

void checks_stop(struct checks *checks)
{
	checks->left = 0;
	checks->till = 1;
}
