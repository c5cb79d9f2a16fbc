/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of ranks that repeat loops, change, and come back: who reads when. */
#include <stdlib.h>

#include "agent/leads/leads.h"
#include "cluster/loops/loops.h"
#include "tests/tap.h"

#define RANKS 4
#define CALLS 10 /* sites of each rank */

static struct thread *thread[RANKS];
static struct prototype_table table;
static uint64_t now = 1;

/* Gives each rank its sites, and spans between all of them, whose bursts belong to prototype 0. */
static void start(void)
{
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct site_table *sites;
		uint32_t spans = 0;

		thread[rank] = calloc(1, sizeof(*thread[rank]));
		if (!thread[rank])
			abort();
		thread[rank]->structure.loops = calloc(1, sizeof(struct loops));
		if (!thread[rank]->structure.loops ||
				leads_open(thread[rank], rank, RANKS, NULL, NULL))
			abort();
		loops_init(thread[rank]->structure.loops);
		sites = &thread[rank]->sites;
		for (uint16_t i = 1; i <= CALLS; i++) {
			sites->site[i].call = i;
			for (uint16_t to = 1; to <= CALLS; to++) {
				struct span *span = &sites->span[++spans];

				*span = (struct span){ .from = i,
					.to = to,
					.used = true,
					.lengths = 1 };
				atomic_store(&span->length[0], (uint16_t)spans);
				sites->length[spans].share[0] = (struct span_share){ .read = 10,
					.mean_ticks = 100 };
			}
		}
		sites->spans = spans;
		sites->sites = CALLS;
	}
	table = (struct prototype_table){ .count = 2, .phases = 2 };
	table.all[0].phase = 1;
	table.all[1].phase = 2;
}

static void stop(void)
{
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		free(thread[rank]->structure.loops);
		free(thread[rank]);
	}
}

static uint64_t unread[RANKS]; /* phases of each rank, as in leads_vote */

/* The rank makes a call. */
static void call(uint32_t rank, uint32_t site)
{
	leads_look_at(thread[rank], site, now++);
	loops_add(thread[rank]->structure.loops, site, 1, 1);
}

/* All ranks make the calls from `first` to `last`, `rounds` times. */
static void repeat(uint32_t first, uint32_t last, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		for (uint32_t site = first; site <= last; site++)
			for (uint32_t rank = 0; rank < RANKS; rank++)
				call(rank, site);
}

/* Makes a round of all ranks, with one lead for each shape. Returns the number of shapes. */
static unsigned vote(void)
{
	struct votes all = { 0 };

	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct votes own = { 0 };

		leads_vote(thread[rank], &table, unread[rank], &own);
		votes_merge(&own, &all);
	}
	votes_answer(&all, 1, 8);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		leads_answer(thread[rank], &table, &all);
	return all.shapes;
}

static unsigned count_spared(void)
{
	unsigned spared = 0;

	for (uint32_t rank = 0; rank < RANKS; rank++)
		spared += thread[rank]->structure.spared;
	return spared;
}

static uint32_t a_spared_rank(void)
{
	uint32_t rank = 0;

	while (rank < RANKS - 1 && !thread[rank]->structure.spared)
		rank++;
	return rank;
}

static void test_course(void)
{
	uint32_t rank;

	start();
	repeat(1, 3, 2);
	is_int(vote(), 0, "A: two rounds of a loop are no repetition");
	repeat(1, 3, 4);
	is_int(count_spared(), 0, "C: all ranks read until leads are named");
	is_int(vote(), 1, "they vote for one shape");
	is_int(count_spared(), RANKS - 1, "L: all ranks but one are spared");
	repeat(1, 3, 10);
	is_int(count_spared(), RANKS - 1, "and stay so");
	rank = a_spared_rank();
	call(rank, 7);
	ok(!thread[rank]->structure.spared, "the first call that does not fit ends it");
	is_int(count_spared(), RANKS - 2, "in this rank only");
	call(rank, 1);
	ok(!thread[rank]->structure.spared, "a call of the loop is not the loop");
	call(rank, 7);
	call(rank, 1);
	call(rank, 7);
	ok(!thread[rank]->structure.spared, "nor are some of them among others");
	for (unsigned i = 0; i < 2 * 3; i++)
		call(rank, 1 + i % 3);
	ok(thread[rank]->structure.spared, "two rounds of the loop are, without another vote");
	leads_end(thread[rank], now);
	ok(!thread[rank]->structure.spared, "F: at the end all ranks read");
	stop();
}

static void test_skipped(void)
{
	uint32_t rank;

	start();
	repeat(1, 3, 6);
	vote();
	rank = a_spared_rank();
	leads_lose(thread[rank]);
	loops_skip(thread[rank]->structure.loops, 5, 1, 1);
	call(rank, 2);
	ok(thread[rank]->structure.spared, "calls that were not observed do not end L");
	call(rank, 9);
	ok(!thread[rank]->structure.spared, "but a call that the loop does not have does");
	stop();
}

static unsigned wanted; /* times that arguments were wanted, and 1,000 for each time that they were not any more */

static void keep_arguments(bool wants)
{
	wanted += wants ? 1 : 1000;
}

/* Starts as start() does, and lets ranks check arguments. */
static void start_checks(void)
{
	static const struct mpi_arguments mpi = { .proc_null = -1 };

	start();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		thread[rank]->structure.leads->given.mpi = &mpi;
		thread[rank]->structure.leads->keep_arguments = keep_arguments;
	}
}

/* All ranks make rounds of the loop from 1 to `last`, whose calls have these bytes. */
static void repeat_with(int64_t bytes, uint32_t last, unsigned rounds)
{
	for (uint32_t i = 0; i < last * rounds; i++)
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			struct call_arguments *noting = thread[rank]->structure.noting;

			if (noting) {
				noting->noted = true;
				noting->value[ARGUMENT_BYTES] = bytes;
			}
			call(rank, 1 + i % last);
		}
}

static uint64_t count_checks(bool differing)
{
	uint64_t checks = 0;

	for (uint32_t rank = 0; rank < RANKS; rank++)
		checks += differing ? thread[rank]->counts.differing_checks :
				      thread[rank]->counts.checks;
	return checks;
}

/* A spared rank checks its arguments in some rounds of L, and a lead in none. */
static void test_checks(void)
{
	uint32_t lead = 0, rank;

	start_checks();
	repeat(1, 3, 6);
	is_int(wanted, 0, "without leads, no rank wants arguments");
	vote();
	repeat_with(8, 3, 1000);
	while (lead < RANKS - 1 && thread[lead]->structure.spared)
		lead++;
	ok(count_checks(false) >= (RANKS - 1) * 3 && count_checks(false) < (RANKS - 1) * 10,
			"spared ranks check now and then: %u times", (unsigned)count_checks(false));
	is_int(count_checks(true), 0, "equal arguments do not differ");
	repeat_with(16, 3, 200);
	is_int(count_checks(true), RANKS - 1, "each spared rank finds those of a later behaviour");
	is_int(count_spared(), 0, "and reads again");
	vote();
	is_int(count_spared(), 0, "until the second vote after it");
	vote();
	is_int(count_spared(), RANKS - 1, "in which others read for it again");
	repeat_with(16, 3, 1000);
	is_int(count_checks(true), RANKS - 1, "what it has learnt anew does not differ");
	is_int(count_spared(), RANKS - 1, "and it stays spared");
	is_int(thread[lead]->counts.checks, 0, "the lead checks nothing");
	rank = a_spared_rank();
	while (!thread[rank]->structure.noting)
		repeat_with(8, 3, 1);
	call(rank, 9);
	ok(!thread[rank]->structure.noting, "a check ends when the rank leaves L");
	for (rank = 0; rank < RANKS; rank++)
		leads_end(thread[rank], now);
	is_int(wanted / 1000, wanted % 1000, "arguments are wanted no longer than checks last");
	stop();
}

/* If arguments are new in each round, to read again says nothing more, and ends after some checks. */
static void test_always_new(void)
{
	unsigned changes = 0;

	start_checks();
	repeat(1, 3, 6);
	vote();
	for (unsigned i = 0; i < 2000; i++) {
		repeat_with(i, 3, 1);
		if (count_spared())
			continue;
		changes++;
		vote();
		vote();
	}
	is_int(changes, LEADS_CHANGES_MAX,
			"arguments that are always new: ranks read again a few times");
	ok(count_checks(true) > (RANKS - 1) * (LEADS_CHANGES_MAX + 2),
			"and later checks still differ");
	is_int(count_spared(), RANKS - 1, "without an effect");
	stop();
}

/* A rank comes back to a loop whose leads are known. Calls that were not observed hide it from the text. */
static void test_return(void)
{
	uint32_t rank;

	start();
	repeat(1, 3, 6);
	vote();
	rank = a_spared_rank();
	call(rank, 9);
	leads_lose(thread[rank]);
	loops_skip(thread[rank]->structure.loops, 5, 1, 1);
	call(rank, 2);
	ok(!thread[rank]->structure.spared, "a call of a known loop is not the loop");
	call(rank, 3);
	call(rank, 1);
	ok(thread[rank]->structure.spared, "a round of it is, although the text does not show it");
	stop();
}

/* All ranks execute an inner loop and two calls more, `rounds` times. */
static void repeat_outer(unsigned rounds)
{
	while (rounds--) {
		repeat(4, 5, 1);
		repeat(1, 2, 6);
	}
}

static void test_inner(void)
{
	start();
	repeat(1, 2, 6);
	vote();
	repeat_outer(4);
	is_int(count_spared(), RANKS - 1, "L in an inner loop, whose leads are known");
	repeat(4, 4, 1);
	is_int(count_spared(), 0, "between its uses all ranks read");
	repeat(5, 5, 1);
	repeat(1, 2, 6);
	is_int(vote(), 1, "they vote only for the loop around it");
	repeat_outer(1);
	repeat(4, 4, 1);
	is_int(count_spared(), RANKS - 1, "then they are in L in the whole loop");
	stop();
}

/* Loops with calls of a loop that has changed have changed as well. */
static void test_changed_inner(void)
{
	unsigned spared = 0;

	start_checks();
	repeat(1, 2, 6);
	vote();
	repeat_outer(4);
	vote();
	for (unsigned i = 0; i < 200 && !count_checks(true); i++) {
		repeat(4, 5, 1);
		repeat_with(i < 100 ? 8 : 16, 2, 6);
	}
	is_int(count_checks(true), RANKS - 1, "an outer loop changes");
	for (unsigned i = 0; i < 24; i++) {
		repeat(1 + i % 2, 1 + i % 2, 1);
		spared += count_spared();
	}
	is_int(spared, 0, "in its inner loop, whose leads were known, ranks read again as well");
	stop();
}

/* A rank that lacks one of two phases reads the bursts of this one only. */
static void test_lacks(void)
{
	start();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct site_table *sites = &thread[rank]->sites;

		for (uint32_t i = 1; i <= sites->spans; i++)
			sites->length[i].share[0].prototype = sites->span[i].from == 2;
		unread[rank] = votes_phase(2);
	}
	repeat(1, 3, 6);
	is_int(vote(), 1, "ranks that lack one phase of a loop vote for it");
	is_int(count_spared(), RANKS - 1, "and others read for them");
	repeat(1, 1, 1);
	is_int(count_spared(), RANKS - 1, "before a burst of the other phase");
	repeat(2, 2, 1);
	is_int(count_spared(), 0, "but they read those that they lack");
	repeat(3, 3, 1);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		unread[rank] = 0;
	vote();
	repeat(1, 2, 1);
	is_int(count_spared(), RANKS - 1, "until they lack nothing");
	stop();
}

/* A rank whose bursts in the loop are of another phase than those of the lead goes on reading. */
static void test_phases(void)
{
	uint32_t other;

	start();
	repeat(1, 3, 6);
	vote();
	other = a_spared_rank();
	for (uint32_t i = 1; i <= thread[other]->sites.spans; i++)
		thread[other]->sites.length[i].share[0].prototype = 1;
	is_int(vote(), 1, "ranks of two phases have one shape");
	ok(!thread[other]->structure.spared, "a rank with a phase that no lead has reads");
	is_int(count_spared(), RANKS - 2, "those with the phase of the lead do not");
	table.count = 0;
	is_int(vote(), 0, "no rank votes before there are phases");
	stop();
}

/* A rank that has not read all of its phases in each group of events goes on reading. */
static void test_unread(void)
{
	start();
	repeat(1, 3, 6);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		unread[rank] = votes_phase(1);
	is_int(vote(), 0, "ranks that have not read a phase of the loop do not vote");
	is_int(count_spared(), 0, "and go on reading");
	for (uint32_t rank = 0; rank < RANKS; rank++)
		unread[rank] = votes_phase(2);
	is_int(vote(), 1, "those that lack another phase do");
	is_int(count_spared(), RANKS - 1, "and others read for them");
	for (uint32_t rank = 0; rank < RANKS; rank++)
		unread[rank] = votes_phase(1);
	vote();
	is_int(count_spared(), 0, "until the loop has a phase that they have not read");
	for (uint32_t rank = 0; rank < RANKS; rank++)
		unread[rank] = 0;
	stop();
}

/* A loop that no rank repeats any more has no new leads, and one that ranks began has. */
static void test_change(void)
{
	start();
	repeat(1, 3, 6);
	vote();
	repeat(4, 6, 6);
	is_int(count_spared(), 0, "in a new loop all ranks read");
	is_int(vote(), 2, "and vote for both loops since the last vote");
	is_int(count_spared(), RANKS - 1, "then it has a lead, too");
	repeat(1, 3, 3);
	is_int(count_spared(), RANKS - 1, "the first loop still has its lead");
	stop();
}

/* A program that changes between two loops every ten rounds, or about that, is in L again after one round. */
static void test_changes(void)
{
	bool soon = true;

	start();
	repeat(1, 3, 6);
	repeat(4, 6, 6);
	vote();
	for (unsigned i = 0; i < 60; i++) {
		uint32_t first = i % 2 ? 4 : 1;

		repeat(first, first + 2, 1);
		soon = soon && count_spared() == RANKS - 1;
		repeat(first, first + 2, 7 + i * 5 % 7);
		soon = soon && count_spared() == RANKS - 1;
	}
	ok(soon, "after each change all ranks but one are spared again after a round");
	stop();
}

int main(void)
{
	test_course();
	test_skipped();
	test_checks();
	test_always_new();
	test_return();
	test_inner();
	test_changed_inner();
	test_lacks();
	test_phases();
	test_unread();
	test_change();
	test_changes();
	return tap_done();
}
