/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the message of structures that is merged in MPI_Finalize (agent/structures/structures.h): its bytes, and the
 * time to merge two of them, as the least of many merges. Prints lines of a name and a number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/structures/structures.h"
#include "sampling/clock.h"

#define MERGES     1000
#define FILE_BYTES 0x100000
#define BASE       0x400000
#define SITE_BYTES 0x10
#define STEPS      20
#define VARIANTS   248 /* of each of two tables, which together are as many as there is room for */
#define BODY_CALLS (STRUCTURES_TOKENS_MAX / STRUCTURES_MAX - 1) /* the loop is a token, too */
#define TICKS      1000 /* of each burst and each call; a tick is a nanosecond */

static struct loops text;
static struct site_table sites;
static struct place_files files;
static struct structures empty, one, same, all, others, variants, more_variants, into;

/* Returns the number of the site of call `number`, which is made when it is new. */
static uint32_t site_of(unsigned number)
{
	sites.paths.path[number].address[0] = BASE + SITE_BYTES * (uintptr_t)number;
	sites.paths.path[number].frames = 1;
	sites.site[number].path = (uint16_t)number;
	if (sites.paths.count <= number)
		sites.paths.count = number + 1;
	if (sites.sites < number)
		sites.sites = number;
	return number;
}

/*
 * Adds the structure of a process: `steps` steps of as many different calls as find room in a table that is full of
 * such structures. The calls are those from `first` on, of as many as a table has room for.
 */
static void add_process(uint32_t rank, unsigned steps, unsigned first,
		struct structures *structures)
{
	const struct module module = { BASE, BASE, BASE + FILE_BYTES, "/bin/solver" };
	const struct structures_thread thread = { &text, &sites, 1, rank, &module, 1, { 0 } };

	memset(&text, 0, sizeof(text));
	memset(&sites, 0, sizeof(sites));
	loops_init(&text);
	for (unsigned step = 0; step < steps; step++)
		for (unsigned call = 0; call < BODY_CALLS; call++)
			loops_add(&text, site_of(1 + (first + call) % STRUCTURES_PATHS_MAX), TICKS,
					TICKS);
	loops_finish(&text);
	structures_share(&thread, &files, structures);
}

/* Fills a table: each process makes other calls, or makes them more often. */
static void fill(uint32_t rank, unsigned steps, struct structures *structures)
{
	for (unsigned i = 0; i < STRUCTURES_MAX; i++)
		add_process(rank + i, steps + i, i * STRUCTURES_PATHS_MAX / STRUCTURES_MAX,
				structures);
}

/* Makes a table of one structure, which `count` processes execute a different number of times. */
static void fill_variants(uint32_t rank, unsigned count, struct structures *structures)
{
	for (unsigned i = 0; i < count; i++) {
		memset(&into, 0, sizeof(into));
		add_process(rank + i, STEPS + rank + i, 0, &into);
		structures_merge(&into, structures);
	}
}

static void measure(const char *name, const struct structures *from, const struct structures *onto)
{
	double least = INFINITY;

	for (int i = 0; i < MERGES; i++) {
		uint64_t begin, ns;

		into = *onto;
		begin = clock_monotonic();
		structures_merge(from, &into);
		ns = clock_monotonic() - begin;
		least = (double)ns < least ? (double)ns : least;
	}
	printf("%s_us %.2f\n", name, least * 1e-3);
}

int main(void)
{
	add_process(0, STEPS, 0, &one);
	add_process(1, STEPS, 0, &same);
	fill(0, STEPS, &all);
	fill(STRUCTURES_MAX, STEPS, &others);
	fill_variants(0, VARIANTS, &variants);
	fill_variants(VARIANTS, VARIANTS, &more_variants);
	if (one.all[0].tokens != BODY_CALLS + 1 || all.count != STRUCTURES_MAX ||
			all.tokens != STRUCTURES_TOKENS_MAX || variants.variants != VARIANTS ||
			all.paths != STRUCTURES_PATHS_MAX) {
		fprintf(stderr, "merging: %u structures, %u tokens, %u paths\n", all.count,
				all.tokens, all.paths);
		return 1;
	}
	printf("message_bytes %zu\n", sizeof(struct structures));
	measure("empty", &empty, &empty);
	measure("one_equal", &same, &one);
	measure("one_new", &one, &empty);
	measure("full_equal", &others, &all);
	measure("full_new", &all, &empty);
	measure("variants", &more_variants, &variants);
	return 0;
}
