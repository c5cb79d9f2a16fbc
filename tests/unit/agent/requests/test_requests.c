/* SPDX-License-Identifier: BSD-3-Clause */
/* Which request has ended, by its handle and its place. */
#include "agent/requests/requests.h"
#include "tests/tap.h"

#include <stdlib.h>

static struct requests requests;
static int place[4 * REQUESTS_MAX];

static void start(void)
{
	memset(&requests, 0, sizeof(requests));
}

/* Returns the number of the open request with a handle at a place, or 0. */
static long long taken(long handle, const int *at)
{
	struct request request = requests_take(&requests, handle, at);

	return request.open ? (long long)request.number : 0;
}

static void test_handles(void)
{
	start();
	requests_open(&requests, 100, &place[0]);
	requests_open(&requests, 200, &place[1]);
	requests_open(&requests, 300, &place[2]);
	is_int(taken(200, &place[1]), 2, "a request is known by its handle and place");
	is_int((long long)requests_distance(&requests, 2), 2, "it was opened two requests ago");
	is_int(taken(200, &place[1]), 0, "it ends once");
	ok(requests_take(&requests, 200, &place[1]).known, "that it has ended is known");
	ok(!requests_take(&requests, 400, &place[1]).known, "another handle is not known");
	is_int(taken(300, &place[7]), 3, "a handle is found at another place");
	requests_open(&requests, 200, &place[3]);
	is_int(taken(200, &place[3]), 4, "a handle is used again");
	is_int(taken(100, &place[0]), 1, "the oldest one is still open");
}

static void test_shared_handles(void)
{
	start();
	for (int i = 0; i < 40; i++)
		requests_open(&requests, 100, &place[i]);
	ok(!requests_take(&requests, 100, &place[50]).known,
			"of several open requests with one handle, none is known by the handle");
	is_int(taken(100, &place[5]), 6, "but by the place");
	is_int(taken(100, &place[39]), 40, "the newest one too");
	is_int(taken(100, &place[0]), 1, "and the oldest one");
	start();
	for (int i = 0; i < 5; i++)
		requests_open(&requests, 100, &place[0]);
	is_int(taken(100, &place[1]), 5,
			"requests at one place are gone when the next one is there");
}

/* A request that ended in MPI_Test, or was freed, ends without notice. */
static void test_reuse(void)
{
	start();
	requests_open(&requests, 100, &place[0]);
	requests_open(&requests, 100, &place[1]);
	is_int(taken(100, &place[1]), 2, "a handle that was used again without notice");
	requests_open(&requests, 200, &place[2]);
	requests_open(&requests, 300, &place[2]);
	is_int(taken(300, &place[2]), 4, "a place that was used again without notice");
	is_int(taken(200, &place[3]), 3, "whose earlier request was moved");
}

static void test_forgotten(void)
{
	start();
	requests_open(&requests, 100, &place[0]);
	requests_forget(&requests);
	requests_open(&requests, 200, &place[1]);
	ok(!requests_take(&requests, 100, &place[0]).known, "what was forgotten is not known");
	is_int(taken(200, &place[1]), 2, "what came later is, and has its number");
}

/* Requests in random order, beside a list of them: none is ever taken for another one. */
static void test_bound(void)
{
	static int of[4 * REQUESTS_MAX];
	unsigned open = 0, known = 0, wrong = 0;

	start();
	srand(1);
	for (int round = 0; round < 200000; round++) {
		int at = rand() % (4 * REQUESTS_MAX);

		/* handles that a hash spreads badly, and one that several have */
		long handle = at % 7 ? 64L * at + 4096 : 1;

		if (!of[at] && open < 3 * REQUESTS_MAX) {
			requests_open(&requests, handle, &place[at]);
			of[at] = (int)requests.opened;
			open++;
		} else if (of[at]) {
			struct request request = requests_take(&requests, handle, &place[at]);

			known += request.open;
			wrong += request.open && request.number != (uint64_t)of[at];
			of[at] = 0;
			open--;
		}
	}
	is_int(wrong, 0, "more requests than there is room for: none is taken for another one");
	ok(known > 1000, "and some are known (%u)", known);
}

/* Gathers the requests with these numbers, all of which are open. */
static struct request_set gathered(const int *numbers, int count)
{
	start();
	for (int i = 0; i < 80; i++)
		requests_open(&requests, i + 1, &place[i]);
	requests_gather(&requests);
	for (int i = 0; i < count; i++)
		requests_add(&requests,
				requests_take(&requests, numbers[i], &place[numbers[i] - 1]));
	return requests_gathered(&requests);
}

static void is_set(const int *numbers, int count, int oldest, int step, uint64_t bits)
{
	const struct request_set set = gathered(numbers, count);

	ok(set.count == (uint64_t)count && set.oldest == (uint64_t)oldest &&
					set.step == (uint64_t)step && set.bits == bits,
			"%d requests from %d on, %d apart", count, oldest, step);
}

static void test_sets(void)
{
	struct request_set set;

	is_set((int[]){ 3, 1, 2, 4 }, 4, 1, 1, 0);
	is_set((int[]){ 9, 3, 6, 12 }, 4, 3, 3, 0);
	is_set((int[]){ 5 }, 1, 5, 1, 0);
	is_set((int[]){ 1, 2, 4, 5 }, 4, 1, 0, 0x1b);
	is_set((int[]){ 1, 2, 7 }, 3, 1, 0, 0x43);
	is_set((int[]){ 1, 2, 53 }, 3, 1, 0, (UINT64_C(1) << 52) + 3);
	is_set((int[]){ 1, 2, 54 }, 3, 1, 0, 0);
	is_set(NULL, 0, 0, 1, 0);
	gathered((int[]){ 1, 2 }, 2);
	requests_add(&requests, (struct request){ .known = false });
	set = requests_gathered(&requests);
	ok(set.count == 3 && !set.oldest && !set.step, "if one is not known, only the number is");
}

int main(void)
{
	test_handles();
	test_shared_handles();
	test_reuse();
	test_forgotten();
	test_bound();
	test_sets();
	return tap_done();
}
