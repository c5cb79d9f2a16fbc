/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of arguments: what they learn, and what differs. */
#include "agent/leads/checks.h"
#include "tests/tap.h"

#define CALLS 10 /* of a loop */

static struct call_arguments arguments;
static uint32_t step;

/* Makes a check, in which call i of the loop has bytes(i). Returns whether it says something. */
static bool run(struct checks *checks, int64_t (*bytes)(uint32_t site))
{
	uint32_t site = 0;

	checks_begin(checks, CALLS);
	do {
		site = site % CALLS + 1;
		arguments.noted = true;
		arguments.value[ARGUMENT_BYTES] = bytes(site);
		/* made anew each time */
		arguments.value[ARGUMENT_COMMUNICATOR] = ++step;
		arguments.value[ARGUMENT_REQUEST] = step;
	} while (checks_add(checks, site, &arguments));
	return checks_end(checks, CALLS);
}

static int64_t equal(uint32_t site)
{
	return 8 * site;
}

static int64_t alternating(uint32_t site)
{
	return site == 3 ? step % 4 : 8 * site;
}

static int64_t swapped(uint32_t site)
{
	return site == 2 ? 8 * 3 : equal(site);
}

static int64_t all_different(uint32_t site)
{
	return 100000 + (int64_t)step * CALLS + site;
}

static unsigned learn(struct checks *checks, int64_t (*bytes)(uint32_t site))
{
	unsigned said = 0;

	*checks = (struct checks){ 0 };
	for (unsigned i = 0; i < CHECKS_LEARNED; i++) {
		ok(checks->till <= 1, "check %u follows at once", i);
		said += run(checks, bytes);
	}
	return said;
}

int main(void)
{
	static struct checks checks;

	is_int(learn(&checks, equal), 0, "while they learn, checks say nothing");
	is_int(checks.till, CHECKS_REST * 2 * CALLS, "the next one is later");
	ok(run(&checks, equal) && !checks.differs, "equal arguments do not differ");
	ok(run(&checks, swapped) && checks.differs, "those of another call do");
	ok(run(&checks, all_different) && checks.differs, "and so do new ones");
	ok(run(&checks, equal) && !checks.differs, "which are not learnt");
	checks_begin(&checks, CALLS);
	checks_stop(&checks);
	ok(checks.till == 1 && !checks.differs, "a check that is stopped starts anew");

	is_int(learn(&checks, alternating), 0, "arguments that alternate");
	ok(run(&checks, alternating) && !checks.differs, "do not differ");
	ok(run(&checks, equal) && checks.differs, "until they do not alternate");

	is_int(learn(&checks, all_different), 0, "arguments that are never equal");
	is_int(checks.known, 2 * CALLS * CHECKS_LEARNED, "are learnt");
	ok(run(&checks, all_different) && checks.differs, "and differ");

	checks = (struct checks){ 0 };
	for (unsigned i = 0; i < CHECKS_LEARNED; i++) {
		checks_begin(&checks, 100);
		do {
			arguments.noted = true;
			arguments.value[ARGUMENT_BYTES] = ++step;
		} while (checks_add(&checks, 1, &arguments));
		checks_end(&checks, 100);
	}
	ok(checks.known > CHECKS_KNOWN_MAX && !run(&checks, equal),
			"with more than there is room for, nothing is checked");
	return tap_done();
}
