/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the memory of a thread's structure (cluster/loops/loops.h). Prints lines of a name and a number.
 *
 *	folding replay <CALLS         folds calls from stdin: the 32-bit number of each call's path
 *	folding random CALLS PATHS    folds calls that a generator takes at random from PATHS paths
 *
 * The structure ends at a page that cannot be accessed, so that a write behind it kills the program. The pages that
 * were touched are counted by the kernel, and the bytes that malloc() has given meanwhile by the C library.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster/loops/loops.h"
#include "sampling/clock.h"

#define CALLS_START 65536 /* calls for which memory is taken at first */
#define ALIGNED     64    /* bytes */
#define TICKS       100   /* of each burst and each call */

static size_t page;
static char *memory; /* the pages of the structure */
static size_t pages;

/* Returns a structure of zeros whose last byte is at most ALIGNED - 1 bytes before a page without access. */
static struct loops *map_guarded(void)
{
	size_t used = (sizeof(struct loops) + ALIGNED - 1) / ALIGNED * ALIGNED;

	page = (size_t)sysconf(_SC_PAGESIZE);
	pages = (used + page - 1) / page;
	memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (memory == MAP_FAILED || mprotect(memory + pages * page, page, PROT_NONE)) {
		perror("folding");
		exit(1);
	}
	return (struct loops *)(memory + pages * page - used);
}

static double touched_bytes(void)
{
	unsigned char *present = calloc(pages, 1);
	size_t touched = 0;

	if (present && mincore(memory, pages * page, present) == 0)
		for (size_t i = 0; i < pages; i++)
			touched += present[i] & 1;
	free(present);
	return (double)(touched * page);
}

/* Returns all numbers from stdin. count: how many there are. */
static uint32_t *read_calls(size_t *count)
{
	size_t room = CALLS_START;
	uint32_t *symbol = malloc(room * sizeof(*symbol));

	*count = 0;
	while (symbol && !feof(stdin) && !ferror(stdin)) {
		uint32_t *more = symbol;

		if (*count == room)
			more = reallocarray(symbol, room *= 2, sizeof(*symbol));
		if (!more)
			break;
		symbol = more;
		*count += fread(symbol + *count, sizeof(*symbol), room - *count, stdin);
	}
	if (!symbol || !feof(stdin)) {
		perror("folding");
		exit(1);
	}
	return symbol;
}

static void replay(struct loops *loops, const uint32_t *symbol, size_t count)
{
	for (size_t i = 0; i < count; i++)
		loops_add(loops, symbol[i], TICKS, TICKS);
}

static void call_at_random(struct loops *loops, unsigned long calls, uint32_t paths)
{
	uint64_t state = 1;

	for (; calls; calls--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		loops_add(loops, (uint32_t)((state >> 33) % paths), TICKS, TICKS);
	}
}

int main(int argc, char **argv)
{
	struct loops *loops = map_guarded();
	size_t count = 0, given, more;
	bool replayed = argc > 1 && strcmp(argv[1], "replay") == 0;
	uint32_t *symbol = replayed ? read_calls(&count) : NULL;
	unsigned long paths = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned cells, most;
	uint64_t begin;
	double ns;

	given = mallinfo2().uordblks;
	loops_init(loops);
	begin = clock_monotonic();
	if (replayed)
		replay(loops, symbol, count);
	else if (argc > 3 && strcmp(argv[1], "random") == 0 && paths > 0 && paths < LOOPS_ANY)
		call_at_random(loops, strtoul(argv[2], NULL, 10), (uint32_t)paths);
	else
		return 2;
	ns = (double)(clock_monotonic() - begin);
	loops_finish(loops);
	more = mallinfo2().uordblks - given;
	most = loops->fresh - 1u;
	cells = LOOPS_CELLS - 1u - loops->free_count;
	printf("calls %llu\n", (unsigned long long)loops->calls);
	printf("calls_in_holes %llu\n", (unsigned long long)loops->unknown);
	printf("tokens %u\n", cells - loops->counts_cells);
	printf("text_bytes %zu\n", cells * sizeof(union loops_cell));
	printf("text_bytes_most %zu\n", most * sizeof(union loops_cell));
	printf("struct_bytes %zu\n", sizeof(struct loops));
	printf("touched_bytes %.0f\n", touched_bytes());
	printf("allocated_bytes %zu\n", more);
	if (loops->calls)
		printf("ns_of_a_call %.1f\n", ns / (double)loops->calls);
	free(symbol);
	return 0;
}
