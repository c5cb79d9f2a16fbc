/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/own_heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_BYTES ((size_t)64 << 20) /* of addresses; only touched pages take memory */
#define ALIGNMENT  _Alignof(max_align_t)

/* The linker sets these names. It defines the first four only if it was told to wrap them. */
__attribute__((weak)) void *__real_malloc(size_t bytes);
__attribute__((weak)) void *__real_calloc(size_t count, size_t bytes);
__attribute__((weak)) void *__real_realloc(void *at, size_t bytes);
__attribute__((weak)) void __real_free(void *at);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes);
void __wrap_free(void *at);

static struct {
	unsigned char *base;   /* mapped when first needed; NULL: not mapped */
	size_t used, last;     /* offsets of the end and of the start of the last piece */
	size_t touched;        /* largest `used`: bytes that take memory */
	_Atomic size_t pieces; /* number of pieces that are not freed */
	_Atomic bool begun;
	pthread_t owner;
} heap;

/* Header before each piece. */
struct header {
	_Alignas(max_align_t) size_t bytes;
	uint32_t before; /* offset of the piece before it */
	bool is_free;
};

_Static_assert(HEAP_BYTES <= UINT32_MAX, "offsets are of 32 bits");

static bool is_inside(const void *at)
{
	return heap.base && (uintptr_t)at - (uintptr_t)heap.base < HEAP_BYTES;
}

static bool is_mine(void)
{
	/* pairs with the release in own_heap_begin, which publishes the owner */
	return atomic_load_explicit(&heap.begun, memory_order_acquire) &&
			pthread_equal(heap.owner, pthread_self());
}

void own_heap_begin(void)
{
	void *base;

	if (!__real_malloc)
		return;
	if (!heap.base) {
		base = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (base == MAP_FAILED)
			return;
		heap.base = base;
	}
	heap.owner = pthread_self();
	atomic_store_explicit(&heap.begun, true, memory_order_release);
}

void own_heap_end(void)
{
	if (!is_mine())
		return;
	atomic_store_explicit(&heap.begun, false, memory_order_relaxed);
	if (atomic_load_explicit(&heap.pieces, memory_order_relaxed))
		return;
	if (madvise(heap.base, heap.touched, MADV_DONTNEED) == 0)
		heap.touched = 0;
	heap.used = heap.last = 0;
}

static struct header *last_piece(void)
{
	return (struct header *)(heap.base + heap.last);
}

/* Returns a piece, or NULL if there is no room here. Only its first *used bytes may be other than 0. */
static void *take_piece(size_t bytes, size_t *used)
{
	struct header *header;
	size_t whole;

	if (!is_mine() || bytes > HEAP_BYTES)
		return NULL;
	whole = sizeof(*header) + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (whole > HEAP_BYTES - heap.used)
		return NULL;
	header = (struct header *)(heap.base + heap.used);
	*used = heap.touched > heap.used + sizeof(*header) ?
			heap.touched - heap.used - sizeof(*header) :
			0;
	*header = (struct header){ .bytes = bytes, .before = (uint32_t)heap.last };
	heap.last = heap.used;
	heap.used += whole;
	heap.touched = heap.used > heap.touched ? heap.used : heap.touched;
	atomic_fetch_add_explicit(&heap.pieces, 1, memory_order_relaxed);
	return header + 1;
}

void *__wrap_malloc(size_t bytes)
{
	size_t used;
	void *at = take_piece(bytes, &used);

	return at ? at : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	size_t whole, used;
	void *at = __builtin_mul_overflow(count, bytes, &whole) ? NULL : take_piece(whole, &used);

	if (!at)
		return __real_calloc(count, bytes);
	/* bytes that were never touched are 0, and writing zeros there would take memory */
	return memset(at, 0, whole < used ? whole : used);
}

void *__wrap_realloc(void *at, size_t bytes)
{
	size_t before;
	void *moved;

	if (at && !is_inside(at))
		return __real_realloc(at, bytes);
	moved = __wrap_malloc(bytes);
	if (at && moved) {
		before = ((struct header *)at - 1)->bytes;
		memcpy(moved, at, before < bytes ? before : bytes);
		__wrap_free(at);
	}
	return moved;
}

/*
 * Frees a piece. Its room is used again when no piece in use follows it, as mostly the last piece is freed
 * first.
 */
static void give_back(struct header *header)
{
	header->is_free = true;
	while (heap.used && last_piece()->is_free) {
		heap.used = heap.last;
		heap.last = last_piece()->before;
	}
}

void __wrap_free(void *at)
{
	if (!is_inside(at)) {
		__real_free(at);
		return;
	}
	if (is_mine())
		give_back((struct header *)at - 1);
	atomic_fetch_sub_explicit(&heap.pieces, 1, memory_order_relaxed);
}
