/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory apart from the program's heap: what it returns, and that freed memory is used again. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/own_heap.h"
#include "tests/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#define MANY 1000

#define NEAR (1u << 20)

/* Returns whether `at` lies behind `place`, and near it. */
static bool is_near_to(const void *at, uintptr_t place)
{
	return (uintptr_t)at - place < NEAR;
}

static bool is_all(const unsigned char *at, int value, size_t bytes)
{
	while (bytes && at[bytes - 1] == value)
		bytes--;
	return !bytes;
}

static void *elsewhere(void *unused)
{
	(void)unused;
	return malloc(100);
}

/* Pieces may be far from the program's heap, but never overlap, and keep their contents. */
static void test_pieces(void)
{
	unsigned char *piece[MANY], *grown;
	volatile size_t half = SIZE_MAX / 2; /* volatile, against a warning */
	void *volatile refused = NULL; /* Clang leaves a call out whose result is only compared */
	bool aligned = true, kept = true;
	size_t bytes;

	own_heap_begin();
	for (unsigned i = 0; i < MANY; i++) {
		bytes = i * 7 % 300;
		piece[i] = i % 2 ? malloc(bytes) : calloc(1, bytes);
		aligned = aligned && piece[i] && (uintptr_t)piece[i] % _Alignof(max_align_t) == 0;
		kept = kept && (i % 2 || is_all(piece[i], 0, bytes));
		memset(piece[i], (int)(i % 256), bytes);
	}
	for (unsigned i = 0; i < MANY; i++)
		kept = kept && is_all(piece[i], (int)(i % 256), i * 7 % 300);
	ok(aligned, "each piece can hold anything");
	ok(kept, "and overlaps no other piece");
	grown = realloc(piece[3], 100000);
	ok(grown && is_all(grown, 3, 21), "a piece that grows keeps what was in it");
	piece[3] = grown;
#ifdef SANITIZED
	(void)half;
	(void)refused;
	skip("a size that no number holds is refused", "a sanitizer ends the process");
#else
	refused = calloc(half, 3);
	ok(!refused, "a size that no number holds is refused");
#endif
	for (unsigned i = 0; i < MANY; i++)
		free(piece[i]);
	own_heap_end();
}

/* Trainings allocate and free thousands of pieces, but touch only as much memory as they hold at once. */
static void test_reuse(void)
{
	/* volatile, because the compiler would remove accesses that have no effect */
	unsigned char *volatile a, *volatile b, *volatile c;
	uintptr_t first, last;

	own_heap_begin();
	a = malloc(1000);
	b = malloc(1000);
	c = malloc(1000);
	first = (uintptr_t)a;
	last = (uintptr_t)c;
	memset(a, 1, 1000);
	memset(c, 3, 1000);
	free(b);
	b = malloc(500);
	memset(b, 2, 500);
	ok(is_all(a, 1, 1000) && is_all(c, 3, 1000),
			"a piece that is freed before others overwrites none of them");
	free(b);
	free(c);
	b = malloc(2000);
	free(a);
	c = malloc(10);
#ifdef SANITIZED
	(void)first;
	(void)last;
	skip("what is freed is used again", "a sanitizer looks after the memory");
#else
	ok((uintptr_t)b < last, "memory is used again when all behind it is freed");
	free(b);
	free(c);
	b = malloc(3000);
	c = NULL;
	ok((uintptr_t)b == first, "in any order of freeing");
#endif
	free(b);
	free(c);
	own_heap_end();
}

static void test_apart(void)
{
	unsigned char *programs = malloc(100), *again, *kept;
	uintptr_t heap = (uintptr_t)programs, own;
	void *of_other = NULL;
	pthread_t thread;

	own_heap_begin();
	again = malloc(100);
	own = (uintptr_t)again;
	free(again);
	pthread_create(&thread, NULL, elsewhere, NULL);
	pthread_join(thread, &of_other);
	programs = realloc(programs, 200);
	own_heap_end();
	own_heap_begin();
	again = calloc(1, 100);
	kept = malloc(100);
	memset(kept, 1, 100);
#ifdef SANITIZED
	(void)heap;
	(void)own;
	(void)is_near_to;
	skip("own memory lies apart", "a sanitizer looks after the memory");
#else
	ok((uintptr_t)again == own, "memory is used again when all of it was freed");
	ok(!is_near_to(again, heap) && is_near_to(kept, own),
			"own memory is apart from the program's heap");
	ok(is_near_to(programs, heap), "a piece of the program's heap stays there");
	ok(!is_near_to(of_other, own), "another thread allocates in the program's heap");
#endif
	free(again);
	own_heap_end();
	own_heap_begin();
	again = malloc(100);
	own_heap_end();
	ok(again != kept && is_all(kept, 1, 100), "a piece that was not freed stays");
	free(again);
	kept = realloc(kept, 1000);
	ok(kept && is_all(kept, 1, 100), "and can grow, and be freed, later");
	free(kept);
	free(programs);
	free(of_other);
}

int main(void)
{
	test_pieces();
	test_reuse();
	test_apart();
	return tap_done();
}
