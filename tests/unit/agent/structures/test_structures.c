/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the structures of several processes: equal texts are one structure, whose times are added up. */
#include <math.h>
#include <stdlib.h>

#include "agent/boundary/calls.h"
#include "agent/structures/structures.h"
#include "agent/structures/variants.h"
#include "cluster/prototypes.h"
#include "tests/tap.h"

#define FILE_BYTES 0x10000
#define STEPS      20

static struct loops text;
static struct site_table sites;
static struct structures job, other, scratch;
static struct place_files files;

static void make_site(unsigned number, uintptr_t address, unsigned call)
{
	sites.paths.path[number].address[0] = address;
	sites.paths.path[number].frames = 1;
	if (sites.paths.count <= number)
		sites.paths.count = number + 1;
	if (sites.sites < number)
		sites.sites = number;
	sites.site[number].path = (uint16_t)number;
	sites.site[number].call = (uint16_t)call;
}

static unsigned steps;               /* of the next process */
static struct recurrence recurrence; /* of its calls */

static void make_span(unsigned from, unsigned to, uint32_t prototype, double ticks)
{
	struct span *span = &sites.span[++sites.spans];

	span->used = true;
	span->from = (uint16_t)from;
	span->to = (uint16_t)to;
	span_note(&sites.length[span_length(&sites, span, (uint64_t)ticks)], prototype, 1, ticks);
}

/*
 * A process whose file is at `base`: it has `steps` steps of a send and a receive, and then `more` calls of its own.
 * Its sites are numbered from `first` on. A tick is a nanosecond, and bursts take `ticks`.
 */
static void run_process(uint32_t rank, uintptr_t base, unsigned first, uint64_t ticks,
		unsigned more, struct structures *structures)
{
	struct module module = { base, base, base + FILE_BYTES, "/bin/solver" };
	const struct structures_thread thread = { &text, &sites, 1, rank, &module, 1, recurrence };

	memset(&text, 0, sizeof(text));
	memset(&sites, 0, sizeof(sites));
	loops_init(&text);
	make_site(first, base + 0x100, MPI_CALL_Send);
	make_site(first + 1, base + 0x200, MPI_CALL_Recv);
	for (unsigned i = 0; i < more; i++)
		make_site(first + 2 + i, base + 0x300 + 0x10 * i, MPI_CALL_Barrier);
	make_span(first, first + 1, 7, 1000);
	make_span(first + 1, first, 3, 2000);
	for (unsigned step = 0; step < steps; step++) {
		loops_add(&text, first, 2 * ticks, 10);
		loops_add(&text, first + 1, ticks, 20);
	}
	for (unsigned i = 0; i < more; i++)
		loops_add(&text, first + 2 + i, 1, 1);
	loops_finish(&text);
	structures_share(&thread, &files, structures);
}

static void forget(void)
{
	memset(&job, 0, sizeof(job));
	memset(&other, 0, sizeof(other));
	memset(&files, 0, sizeof(files));
	steps = STEPS;
}

static void test_equal(void)
{
	const struct structure *one = &job.all[0];
	const struct structure_token *token = job.token;

	forget();
	run_process(5, 0x400000, 1, 1000, 0, &job);
	run_process(2, 0x900000, 4, 3000, 0, &other);
	structures_merge(&other, &job);
	ok(job.count == 1 && one->ranks == 2 && one->first_rank == 2 && !job.left_out,
			"equal texts at other addresses and with other numbers are one structure");
	ok(one->tokens == 3 && token[0].kind == LOOPS_LOOP && token[1].depth == 1 &&
					token[2].depth == 1,
			"it is a loop of two calls");
	ok(token[0].count == 2 * STEPS && token[0].least == STEPS && token[0].most == STEPS,
			"each process has all rounds");
	ok(one->iteration == 0 && one->iterations == STEPS, "the loop is the iteration");
	ok(one->calls == 4 * STEPS && !one->unknown && isinf(one->exact), "all calls are known");
	is_near(token[1].seconds[SLOT_BURST], STEPS * (2000 + 6000) * 1e-9, 1e-12,
			"times of both processes are added up");
	ok(fabs(token[2].rank_least[SLOT_BURST] - 1e-6) < 1e-12 &&
					fabs(token[2].rank_most[SLOT_BURST] - 3e-6) < 1e-12,
			"the least and the most mean of a process are kept");
	ok(token[1].prototype == 3 && token[2].prototype == 7,
			"each call has the prototype of the bursts before it, also across rounds");
	ok(job.paths == 2 && job.path[token[1].path].call == MPI_CALL_Send &&
					job.path[token[2].path].call == MPI_CALL_Recv,
			"both processes have the same paths");
}

static void test_order(void)
{
	static struct structures first, second;

	forget();
	run_process(0, 0x400000, 1, 1000, 0, &job);
	run_process(1, 0x500000, 1, 1000, 1, &other);
	first = job;
	structures_merge(&other, &first);
	second = other;
	structures_merge(&job, &second);
	ok(first.count == 2 && second.count == 2 && first.tokens == second.tokens &&
					first.paths == 3 && second.paths == 3,
			"two texts are two structures, in either order of merging");
	scratch = first;
	structures_merge(&second, &scratch);
	ok(scratch.count == 2 && scratch.all[0].ranks == 2 && scratch.all[1].ranks == 2 &&
					scratch.paths == 3,
			"merging finds the structures of the other order");
}

static void test_full(void)
{
	forget();
	for (uint32_t rank = 0; rank < STRUCTURES_MAX + 3; rank++) {
		memset(&other, 0, sizeof(other));
		run_process(rank, 0x400000, 1, 1000, rank, &other);
		structures_merge(&other, &job);
	}
	ok(job.count == STRUCTURES_MAX && job.left_out == 3,
			"structures without room are counted as left out");
	run_process(99, 0x400000, 1, 1000, 0, &job);
	is_int(job.left_out, 4, "a process finds no room in a full table");
	structures_share(&(struct structures_thread){ .rank = 100 }, &files, &job);
	is_int(job.left_out, 5, "a process without a structure is left out");
}

/* More ranks with other counts than there is room for. */
static void test_variants(void)
{
	const uint32_t ranks = STRUCTURES_VARIANTS_MAX + 88;
	uint32_t known = 0, without = 0;
	struct rank_set set;

	forget();
	for (uint32_t rank = 0; rank < ranks; rank++) {
		memset(&other, 0, sizeof(other));
		steps = 1 + rank;
		run_process(rank, 0x400000, 1, 1000, 0, &other);
		structures_merge(&other, &job);
	}
	ok(job.count == 1 && job.all[0].ranks == ranks && !job.left_out,
			"ranks with other numbers of steps have one structure, from one step on");
	for (uint32_t i = 0; i < job.variants; i++) {
		known += job.variant[i].count_bytes ? job.variant[i].ranks : 0;
		without += job.variant[i].count_bytes ? 0 : job.variant[i].ranks;
	}
	ok(known == STRUCTURES_VARIANTS_MAX - STRUCTURES_MAX && known + without == ranks,
			"those whose counts have no room are one variant");
	set = variants_ranks(&job, &job.variant[job.variants - 1]);
	ok(set.count == 1 && set.range[0].first == known && set.range[0].count == without,
			"it has its ranks");
	ok(job.token[job.all[0].first].least == 1 && job.token[job.all[0].first].most == ranks,
			"the range of the counts is that of all ranks");
	is_near(job.token[job.all[0].first].count, ranks * (ranks + 1) / 2, 0,
			"and so are the rounds");
	is_near(job.all[0].iterations_least, 1, 0, "also those of ranks without a loop");
}

static void test_skipped(void)
{
	struct module module = { 0x400000, 0x400000, 0x400000 + FILE_BYTES, "/bin/solver" };
	const struct structures_thread thread = { &text, &sites, 1, 0, &module, 1, { 0 } };

	forget();
	run_process(0, 0x400000, 1, 1000, 0, &other);
	loops_skip(&text, 500, 9000, 1000);
	loops_finish(&text);
	structures_share(&thread, &files, &job);
	ok(job.all[0].tokens == 4 && job.token[3].kind == LOOPS_HOLE && job.token[3].count == 500,
			"calls that were not observed are a token");
	is_int((long)job.all[0].unknown, 500, "and their number is known");
}

/* Structures without an iteration have the call that comes back, as the first rank which has one knows it. */
static void test_recurrence(void)
{
	const struct structure *structure;

	forget();
	steps = 1;
	run_process(7, 0x400000, 1, 1000, 3, &job);
	recurrence = (struct recurrence){ .symbol = 2,
		.likeness = 0.8,
		.rounds = 100,
		.calls = 5,
		.ticks = 1000,
		.time_share = 0.9 };
	memset(&other, 0, sizeof(other));
	run_process(5, 0x400000, 1, 1000, 0, &other);
	structures_merge(&other, &job);
	recurrence.symbol = 12;
	recurrence.rounds = 50;
	memset(&other, 0, sizeof(other));
	run_process(2, 0x500000, 11, 1000, 0, &other);
	structures_merge(&other, &job);
	ok(job.count == 2 && !job.all[0].recurrence.ranks,
			"a structure has no call that comes back");
	structure = &job.all[1];
	ok(structure->recurrence.ranks == 2 && structure->recurrence.first_rank == 2 &&
					structure->recurrence.rounds == 50,
			"another one has that of its first rank");
	is_int(job.path[structure->recurrence.path].call, MPI_CALL_Recv,
			"whose path is in the table");
	is_near(structure->recurrence.seconds, 1e-6, 1e-12, "and the time of a round in seconds");
	steps = 60;
	memset(&other, 0, sizeof(other));
	run_process(9, 0x400000, 1, 1000, 0, &other);
	ok(other.all[0].iteration != STRUCTURES_NONE && !other.all[0].recurrence.ranks,
			"none comes back beside an iteration");
	structures_merge(&other, &job);
	recurrence = (struct recurrence){ 0 };
}

int main(void)
{
	test_equal();
	test_order();
	test_full();
	test_variants();
	test_skipped();
	test_recurrence();
	return tap_done();
}
