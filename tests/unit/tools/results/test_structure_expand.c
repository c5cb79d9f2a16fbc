/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that the calls of random programs come out of a report as they were made: they are folded, shared between
 * ranks, written as JSON, and expanded again. A log of all calls is the peer.
 *
 * `test_structure_expand SEED JOBS` runs that many random jobs.
 */
#include <stdlib.h>

#include "agent/boundary/calls.h"
#include "agent/report/parts/structure.h"
#include "tests/random_calls.h"
#include "tests/tap.h"
#include "tools/results/structure_expand.h"
#include "tools/results/structure_tree.h"

#define RANKS    7
#define KINDS    3 /* programs that differ; rank r executes program r modulo KINDS */
#define LOG_MAX  60000
#define ALPHABET 40
#define SKIPPED  UINT16_MAX

static struct loops text;
static struct site_table sites;
static struct structures job, half, one;
static struct place_files files;

/* What the ranks did: the kind of each call, or that it was not observed. */
static struct {
	uint16_t call[LOG_MAX];
	unsigned count;
} logs[RANKS], *logged;

static void call(uint32_t kind)
{
	if (logged->count == LOG_MAX)
		return;
	logged->call[logged->count++] = (uint16_t)kind;
	loops_add(&text, 1 + kind, 100, 10);
}

static void skip_calls(unsigned number)
{
	if (number > LOG_MAX - logged->count)
		return;
	for (unsigned i = 0; i < number; i++)
		logged->call[logged->count++] = SKIPPED;
	loops_skip(&text, number, 100, 10);
}

/* own: what distinguishes the rank from others that execute this program; 0: nothing does. */
static void random_program(uint64_t seed, unsigned own)
{
	struct random_program program = draw_program(seed, ALPHABET);

	if (own) {
		random_state += own * 0x9e3779b97f4a7c15u;
		program.rounds = 1 + below(own % 2 ? 4 : 60);
	}
	for (unsigned round = 0; round < program.rounds && logged->count < LOG_MAX / 4; round++)
		random_round(&program);
}

/* ---- a job ---- */

static void start_rank(unsigned rank)
{
	logged = &logs[rank];
	logged->count = 0;
	memset(&text, 0, sizeof(text));
	loops_init(&text);
}

static void end_rank(unsigned rank)
{
	struct module module = { 0x400000, 0x400000, 0x500000, "/bin/program" };
	const struct structures_thread thread = { &text, &sites, 1, rank, &module, 1, { 0 } };

	loops_finish(&text);
	memset(&one, 0, sizeof(one));
	structures_share(&thread, &files, &one);
	structures_merge(&one, &job);
}

static void make_sites(void)
{
	for (unsigned kind = 0; kind < ALPHABET; kind++) {
		sites.site[1 + kind].call = (uint16_t)kind;
		sites.site[1 + kind].path = (uint16_t)(1 + kind);
		sites.paths.path[1 + kind].frames = 1;
		sites.paths.path[1 + kind].address[0] = 0x400100 + 16 * kind;
	}
	sites.paths.count = 1 + ALPHABET;
	sites.sites = ALPHABET;
}

/* Returns the part of a report that has the structures of the job. */
static json_t *report_of_job(void)
{
	static const struct prototype_table table = { .count = 0 };
	static const unsigned number[PROTOTYPES_MAX + 1];
	struct places *places = places_new(NULL, &job, NULL);
	json_t *report = json_pack("{s:o}", "structure",
			structure_json(&(struct structure_facts){ &job, NULL, &table, number,
						       NULL },
					places));

	places_free(places);
	return report;
}

/* ---- its calls ---- */

/*
 * Compares the lines of a rank with its log. Returns whether all are there up to the end, or up to a line that says
 * how many are missing.
 */
static bool is_true(unsigned rank, char *lines, unsigned *printed)
{
	char *rest = lines;
	unsigned at = 0, number;

	*printed = 0;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		if (sscanf(line, "# about %u", &number) == 1) {
			/* observed calls near others that were not may be among them */
			at += number;
			if (strstr(line, " more calls, "))
				return at == logs[rank].count && !*rest;
			continue;
		}
		if (at >= logs[rank].count || logs[rank].call[at] == SKIPPED ||
				strcmp(line, runtime_call_name(logs[rank].call[at])) != 0) {
			diag("call %u is \"%s\"", at, line);
			return false;
		}
		at++;
		++*printed;
	}
	return at == logs[rank].count;
}

static bool expands(const json_t *report, unsigned rank, unsigned *printed)
{
	char *lines = NULL, why[100] = "";
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	bool good = structure_expand(report, rank, out, why, sizeof(why));

	fclose(out);
	good = good && is_true(rank, lines, printed);
	free(lines);
	if (!good)
		diag("rank %u: %s", rank, *why ? why : "its calls differ");
	return good;
}

/* own: ranks that execute one program have other counts. */
static bool random_job(uint64_t seed, bool own)
{
	unsigned printed, right = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < RANKS; rank++) {
		/* the ranks are merged along a tree */
		if (rank == RANKS / 2) {
			half = job;
			memset(&job, 0, sizeof(job));
		}
		start_rank(rank);
		random_program(seed * KINDS + rank % KINDS, own ? rank + 1 : 0);
		end_rank(rank);
	}
	structures_merge(&half, &job);
	report = report_of_job();
	for (unsigned rank = 0; rank < RANKS; rank++)
		right += expands(report, rank, &printed);
	/* programs that differ much have more tokens than there is room for */
	if (own)
		right += job.left_out;
	json_decref(report);
	if (right < RANKS)
		diag("job %llu: %u of %u ranks are right", (unsigned long long)seed, right, RANKS);
	return right == RANKS && (own || job.count <= KINDS);
}

static void test_random(uint64_t first, unsigned jobs)
{
	unsigned right = 0;

	for (unsigned i = 0; i < jobs; i++)
		right += random_job(first + i, false);
	is_int(right, jobs, "the calls of each rank of random jobs are those that were made");
	right = 0;
	for (unsigned i = 0; i < jobs; i++)
		right += random_job(first + i, true);
	is_int(right, jobs, "also of ranks that differ in their counts");
}

/* A solver whose inner steps vary at each step, in another way in each rank. */
static void test_varying(void)
{
	unsigned printed = 0, right = 0, whole = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < RANKS; rank++) {
		start_rank(rank);
		for (unsigned step = 0; step < 1000; step++) {
			call(0);
			for (unsigned inner = 1 + below(9); inner; inner--)
				call(1);
			call(2);
		}
		end_rank(rank);
	}
	report = report_of_job();
	for (unsigned rank = 0; rank < RANKS; rank++) {
		right += expands(report, rank, &printed);
		whole += printed == logs[rank].count;
	}
	is_int(job.count, 1, "ranks whose counts vary in other ways have one structure");
	ok(right == RANKS && whole == RANKS, "with the counts of each rank");
	json_decref(report);
}

/* More counts than a process keeps. */
static void test_lost(void)
{
	unsigned printed = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	start_rank(0);
	for (unsigned step = 0; logged->count < LOG_MAX; step++) {
		call(0);
		for (unsigned inner = 1 + below(2); inner; inner--)
			call(1);
		call(2);
		for (unsigned inner = 1 + below(2); inner; inner--)
			call(3);
		call(4);
		for (unsigned inner = 1 + below(2); inner; inner--)
			call(5);
	}
	/* the text is exact up to here at most */
	text.exact = LOG_MAX / 2;
	end_rank(0);
	report = report_of_job();
	ok(expands(report, 0, &printed), "where counts were lost, it says so");
	is_int(printed, LOG_MAX / 2, "after the calls that are exact");
	json_decref(report);
}

/* More counts than a report has room for, in the last rank. */
static void test_no_room(void)
{
	unsigned printed = 0, whole = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < RANKS; rank++) {
		start_rank(rank);
		for (unsigned step = 0; step < 10500; step++) {
			call(0);
			for (unsigned inner = 1 + below(6); inner; inner--)
				call(1);
		}
		end_rank(rank);
	}
	report = report_of_job();
	for (unsigned rank = 0; rank < RANKS; rank++)
		if (expands(report, rank, &printed))
			whole += printed == logs[rank].count;
	ok(whole == RANKS - 1 && printed == 1,
			"counts that find no room in the report are missing from the first one on");
	json_decref(report);
}

/* More parts than a process keeps. */
static void test_full(void)
{
	unsigned printed = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	start_rank(0);
	while (logged->count < LOG_MAX)
		call(below(ALPHABET));
	end_rank(0);
	report = report_of_job();
	ok(expands(report, 0, &printed), "what has no room is a number of calls at its place");
	ok(printed > 0 && printed < LOG_MAX, "the last calls are there, %u of %u", printed,
			LOG_MAX);
	json_decref(report);
}

/* Returns whether the list of a rank has a line. */
static bool has_line(const json_t *report, long rank, const char *line)
{
	char *lines = NULL, why[100];
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	bool good = structure_expand(report, rank, out, why, sizeof(why));

	fclose(out);
	good = good && strstr(lines, line);
	free(lines);
	return good;
}

/* Ranks of which each one makes another number of calls that are not observed, at the same place. */
static void test_unobserved(void)
{
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < 2; rank++) {
		start_rank(rank);
		call(0);
		skip_calls(rank ? 300 : 100);
		for (unsigned i = 0; i < 40; i++)
			call(1 + i % 2);
		end_rank(rank);
	}
	report = report_of_job();
	is_int(job.count, 1, "ranks that skip other calls at the same place have one structure");
	ok(has_line(report, 0, "\n# about 100 calls, ") &&
					has_line(report, 1, "\n# about 300 calls, "),
			"with the number of each rank");
	json_decref(report);
}

/* A rank that executes a loop once, and the loop in it twice, in another way each time. */
static void test_once(void)
{
	unsigned printed, right = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < 2; rank++) {
		start_rank(rank);
		for (unsigned round = 0; round < (rank ? 1 : 20); round++) {
			call(0);
			for (unsigned inner = 0; inner < (rank ? 2 : 5); inner++) {
				call(1);
				for (unsigned i = 0; i < (rank ? 2 - inner : 3); i++)
					call(2);
			}
		}
		end_rank(rank);
	}
	report = report_of_job();
	for (unsigned rank = 0; rank < 2; rank++)
		right += expands(report, rank, &printed) && printed == logs[rank].count;
	ok(job.count == 1 && right == 2,
			"a loop that is executed once, with one that is executed twice");
	json_decref(report);
}

/* Ranks that do the same, but of each one other calls are not observed, also of those that do something else. */
static void test_gathered(void)
{
	unsigned printed, right = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < RANKS; rank++) {
		unsigned kind = rank % 2 * 20;

		start_rank(rank);
		random_state = 1000 + rank;
		call(kind);
		for (unsigned step = 0; step < 400; step++) {
			call(kind + 1);
			for (unsigned inner = 1 + below(5); inner; inner--) {
				call(kind + 2);
				call(kind + 3);
			}
			call(kind + 4);
			if (below(60) == 0)
				skip_calls(1 + below(100));
		}
		skip_calls(1 + rank);
		call(kind + 5);
		end_rank(rank);
	}
	report = report_of_job();
	is_int(job.count, 2, "ranks of which other calls were not observed have one structure");
	for (unsigned rank = 0; rank < RANKS; rank++)
		right += expands(report, rank, &printed) && printed > 400;
	is_int(right, RANKS, "each with its own calls, and the number of those that are not known");
	ok(json_is_true(json_object_get(
			   json_array_get(json_object_get(json_object_get(report, "structure"),
							  "structures"),
					   0),
			   "gathered")),
			"the report says so");
	json_decref(report);
}

/* A master, and workers of which each one gets another number of pieces of work, from one piece on. */
static void test_workers(void)
{
	unsigned printed, right = 0;
	json_t *report;

	memset(&job, 0, sizeof(job));
	for (unsigned rank = 0; rank < RANKS; rank++) {
		start_rank(rank);
		call(9);
		for (unsigned piece = 0; piece < (rank ? rank : 21); piece++) {
			call(rank ? 0 : 2);
			call(rank ? 1 : 3);
		}
		call(10);
		end_rank(rank);
	}
	report = report_of_job();
	is_int(job.count, 2, "workers with other numbers of pieces have one structure");
	for (unsigned rank = 0; rank < RANKS; rank++)
		right += expands(report, rank, &printed) && printed == logs[rank].count;
	is_int(right, RANKS, "each with its own calls");
	json_decref(report);
}

static void test_missing(void)
{
	json_t *report = json_pack("{s:n}", "structure");
	char why[100];

	ok(!structure_expand(report, 0, stdout, why, sizeof(why)) && strstr(why, "PHASEMUX_TRACE"),
			"without structures, it says how to get them");
	json_decref(report);
	memset(&job, 0, sizeof(job));
	start_rank(0);
	call(0);
	end_rank(0);
	report = report_of_job();
	ok(!structure_expand(report, 1, stdout, why, sizeof(why)) && strstr(why, "rank 1"),
			"a rank without a structure has no calls");
	json_decref(report);
}

int main(int argc, char **argv)
{
	make_sites();
	if (argc <= 2) {
		test_varying();
		test_lost();
		test_no_room();
		test_full();
		test_unobserved();
		test_once();
		test_gathered();
		test_workers();
		test_missing();
	}
	test_random(argc > 2 ? strtoull(argv[1], NULL, 10) : 1,
			argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 40);
	return tap_done();
}
