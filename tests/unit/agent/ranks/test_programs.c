/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the programs of a job. Each command is listed once, with its ranks, whether ranks exchange them or they
 * are added.
 */
#include <pthread.h>
#include <stdlib.h>

#include "agent/ranks/programs.h"
#include "tests/tap.h"

#define RANKS      12
#define VALUES_MAX 128 /* maximum number of values of a collective */

/* Ranks are threads, and a collective waits for all of them. */
static pthread_barrier_t all;
static double sent[RANKS][VALUES_MAX];
static _Thread_local int own_rank;

static int combine(double *values, size_t count, bool adds)
{
	memcpy(sent[own_rank], values, count * sizeof(*values));
	pthread_barrier_wait(&all);
	for (int r = 0; r < RANKS; r++)
		for (size_t i = 0; i < count && r != own_rank; i++)
			values[i] = adds                       ? values[i] + sent[r][i] :
					values[i] > sent[r][i] ? values[i] :
								 sent[r][i];
	pthread_barrier_wait(&all);
	return 0;
}

static int sum(double *values, size_t count)
{
	return combine(values, count, true);
}

static int max(double *values, size_t count)
{
	return combine(values, count, false);
}

static const struct mpi_adapter adapter = { .sum = sum, .max = max };

static struct job_of_test {
	const char *command[RANKS];
	size_t bytes[RANKS];
	struct programs told; /* what rank 0 receives */
} job;

static void *run_rank(void *number)
{
	struct mpi_world world = { .rank = (int)(intptr_t)number, .size = RANKS };
	struct programs programs = { .count = 0 };

	own_rank = world.rank;
	if (programs_reduce(&programs, &adapter, &world, job.command[own_rank],
			    job.bytes[own_rank]))
		abort();
	if (own_rank == 0)
		job.told = programs;
	return NULL;
}

static bool is_same(const struct programs *a, const struct programs *b)
{
	bool same = a->count == b->count && a->others == b->others;

	for (uint32_t i = 0; same && i < a->count; i++)
		same = memcmp(&a->program[i], &b->program[i], sizeof(a->program[i])) == 0;
	return same;
}

static void check(const char *name, uint32_t count, uint32_t others)
{
	struct programs added = { .count = 0 };
	pthread_t thread[RANKS];

	pthread_barrier_init(&all, NULL, RANKS);
	for (int r = 0; r < RANKS; r++)
		pthread_create(&thread[r], NULL, run_rank, (void *)(intptr_t)r);
	for (int r = 0; r < RANKS; r++)
		pthread_join(thread[r], NULL);
	pthread_barrier_destroy(&all);
	for (int r = 0; r < RANKS; r++)
		programs_add(&added, job.command[r], job.bytes[r], (unsigned)r);
	is_int(job.told.count, count, name);
	is_int(job.told.others, others, "and the number of ranks that run others");
	ok(is_same(&job.told, &added), "the exchange of ranks gives the same as adding them");
}

int main(void)
{
	static char text[RANKS][2 * PROGRAM_COMMAND_BYTES];
	const struct program *second = &job.told.program[1];

	for (int r = 0; r < RANKS; r++) {
		job.command[r] = "./one\0-n\0007";
		job.bytes[r] = 11;
	}
	check("all ranks run one program", 1, 0);
	ok(job.told.program[0].ranks == RANKS && job.told.program[0].last == RANKS - 1 &&
					job.told.program[0].command_bytes == 11 &&
					memcmp(job.told.program[0].command, "./one\0-n\0007", 11) ==
							0,
			"with its arguments, on all ranks");
	for (int r = 3; r < RANKS; r += 2) {
		job.command[r] = "./\xff";
		job.bytes[r] = 4;
	}
	check("two programs", 2, 0);
	ok(second->ranks == 5 && second->first == 3 && second->last == 11,
			"on five ranks, 3 to 11");
	for (int r = 0; r < RANKS; r++) {
		memset(text[r], 'a' + r, sizeof(text[r]));
		job.command[r] = text[r];
		job.bytes[r] = sizeof(text[r]);
	}
	check("a program for each rank", PROGRAMS_MAX, RANKS - PROGRAMS_MAX);
	for (int r = 0; r < RANKS; r++)
		job.bytes[r] = 0;
	check("commands that are not known are one", 1, 0);
	ok(programs_hash("ab", 2) != programs_hash("ba", 2) && programs_hash("ab", 2) > 0 &&
					programs_hash("ab", 2) ==
							(double)(uint64_t)programs_hash("ab", 2),
			"a hash is a whole number, and tells words apart");
	return tap_done();
}
