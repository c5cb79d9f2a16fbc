/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the roll call with a job of simulated ranks whose messages take some time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mpi/roll.h"
#include "tests/tap.h"

#define RANKS_MAX    300
#define MESSAGES_MAX (8 * RANKS_MAX + 2 * RANKS_MAX * ROLL_COUNTERS)
#define STEP_NS      10000000u
#define LIMIT_NS     60000000000u
#define ABSENT       UINT64_MAX /* start time of a rank that has no agent */

struct message {
	uint64_t at;
	int from, to;
	enum roll_word word;
};

static struct {
	int size, current;
	uint64_t now, start[RANKS_MAX];
	bool started[RANKS_MAX], over[RANKS_MAX];
	struct roll roll[RANKS_MAX];
	struct message message[MESSAGES_MAX];
	unsigned messages;
} job;

static bool reaches(int rank)
{
	(void)rank;
	return true;
}

static void announce(void)
{
}

static void send_word(int rank, enum roll_word word)
{
	if (job.messages < MESSAGES_MAX)
		job.message[job.messages++] =
				(struct message){ job.now + 2 * STEP_NS, job.current, rank, word };
}

static bool is_seen(void)
{
	return false;
}

static const struct roll_channel channel = { reaches, announce, send_word, is_seen };

/* Delivers to a rank the messages that have arrived, in the order in which they were sent. */
static void deliver(int rank)
{
	for (unsigned i = 0; i < job.messages; i++) {
		struct message *message = &job.message[i];

		if (message->to != rank || message->at > job.now || !message->word)
			continue;
		roll_hear(&job.roll[rank], message->from, message->word);
		message->word = 0;
	}
}

static void step(int rank)
{
	enum roll_state state;

	if (job.over[rank] || job.start[rank] > job.now)
		return;
	job.current = rank;
	if (!job.started[rank])
		roll_start(&job.roll[rank], &channel, rank, job.size, job.now);
	job.started[rank] = true;
	deliver(rank);
	state = roll_step(&job.roll[rank], job.now);
	job.over[rank] = state == ROLL_HAS_ALL || state == ROLL_MISSES;
}

static void begin(int size)
{
	memset(&job, 0, sizeof(job));
	job.size = size;
}

/*
 * Runs the job whose ranks start at job.start. Returns whether the roll call ends in all ranks with an agent.
 */
static bool run(void)
{
	bool all = false;

	for (job.now = 0; job.now < LIMIT_NS && !all; job.now += STEP_NS) {
		all = true;
		for (int rank = 0; rank < job.size; rank++) {
			step(rank);
			all = all && (job.over[rank] || job.start[rank] == ABSENT);
		}
	}
	return all && job.messages < MESSAGES_MAX;
}

/* Returns whether all ranks with an agent reached this state. */
static bool all_are(enum roll_state state)
{
	for (int rank = 0; rank < job.size; rank++)
		if (job.start[rank] != ABSENT && job.roll[rank].state != state)
			return false;
	return true;
}

static void end(void)
{
	for (int rank = 0; rank < job.size; rank++)
		roll_end(&job.roll[rank]);
}

static void test_all_here(void)
{
	static const int sizes[] = { 2, 3, 16, 17, 18, RANKS_MAX };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		begin(sizes[i]);
		ok(run() && all_are(ROLL_HAS_ALL), "%d ranks: all have an agent", sizes[i]);
		ok(job.now < 1000000000u, "which takes no time of patience");
		end();
		begin(sizes[i]);
		job.start[sizes[i] - 1] = ROLL_PATIENCE_NS / 2;
		ok(run() && all_are(ROLL_HAS_ALL), "also if one is late");
		end();
	}
}

/* One rank of a job has no agent. */
static void misses(int size, int without)
{
	int speakers = 0;
	char named[64] = "", wanted[16];

	begin(size);
	job.start[without] = ABSENT;
	ok(run() && all_are(ROLL_MISSES), "%d ranks without rank %d: none takes part", size,
			without);
	ok(job.now < ROLL_PATIENCE_NS + ROLL_COUNT_NS + 2000000000u, "within seconds");
	for (int rank = 0; rank < size; rank++) {
		if (rank == without || !roll_speaks(&job.roll[rank]))
			continue;
		speakers++;
		roll_name_missing(&job.roll[rank], named, sizeof(named));
	}
	is_int(speakers, 1, "one rank says so");
	snprintf(wanted, sizeof(wanted), "%d", without);
	ok(strcmp(named, wanted) == 0, "and names it: %s", named);
	end();
}

/* Ranks start at any time around the end of the patience, or never. */
static void test_any_start(void)
{
	bool agree = true, ended = true;
	unsigned had_all = 0, missed = 0;

	srand(1);
	for (unsigned i = 0; i < 60; i++) {
		begin(2 + rand() % 60);
		for (int rank = 0; rank < job.size; rank++)
			job.start[rank] = rand() % 20 ? 0 :
					rand() % 6    ? (uint64_t)(rand() % 1500) * STEP_NS :
							ABSENT;
		ended = run() && ended;
		agree = agree && (all_are(ROLL_HAS_ALL) || all_are(ROLL_MISSES));
		had_all += all_are(ROLL_HAS_ALL);
		missed += all_are(ROLL_MISSES);
		end();
	}
	ok(ended, "jobs whose ranks start at any time or never: the roll ends");
	ok(agree, "and all ranks agree");
	ok(had_all > 5 && missed > 5, "%u had all, %u missed some", had_all, missed);
}

int main(void)
{
	test_all_here();
	misses(2, 0);
	misses(2, 1);
	misses(20, 0);
	misses(20, 1);
	misses(20, 19);
	misses(RANKS_MAX, 7);
	misses(RANKS_MAX, RANKS_MAX - 1);
	test_any_start();
	return tap_done();
}
