/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of samples, because the ring lies in the program's memory, and the program may write to it by
 * mistake. An input is what is in the ring. Its stacks are added to a tree and to a profile.
 */
#include <unistd.h>

#include "agent/stacks/stack_tree.h"
#include "sampling/overflow.h"
#include "tests/fuzz/fuzz.h"

#define RING_BYTES 4096

static struct stack_node nodes[STACK_TREE_NODES];

/* Adds a stack to the tree, and reads it again. */
static void keep(const struct overflow_stack *stack)
{
	uint64_t listed[STACK_FRAMES_MAX];
	uint16_t number, above;

	if (stack->callers > OVERFLOW_CALLERS_MAX)
		abort();
	for (unsigned i = 0; i < stack->callers; i++)
		if (!stack->caller[i])
			return;
	number = stack_tree_add(nodes, STACK_TREE_NODES, stack->caller, stack->callers,
			stack->deeper);
	if (number >= STACK_FIRST &&
			(stack_tree_list(nodes, STACK_TREE_NODES, number, listed, &above) !=
							stack->callers ||
					memcmp(listed, stack->caller,
							stack->callers * sizeof(*listed)) != 0))
		abort();
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), head = size < RING_BYTES ? size : RING_BYTES;
	/* of its exact size, so that a sanitizer sees what is read behind it */
	unsigned char *map = calloc(1, page + RING_BYTES);
	struct overflow overflow = { .page = (void *)map, .bytes = page + RING_BYTES };
	unsigned samples = 0, with_callers = 0;
	struct overflow_sample sample;
	struct overflow_stack stack;

	if (!map)
		abort();
	memcpy(map + page, data, head);
	/* without callers, records have another size */
	overflow_count(&overflow, head, 0, UINT64_MAX, 100);
	overflow.stacks = true;
	overflow_count(&overflow, head, 0, UINT64_MAX, 100);
	while (overflow_peek(&overflow, head, &sample)) {
		if (sample.count > GROUP_EVENTS_MAX)
			abort();
		overflow_callers(&overflow, &stack);
		keep(&stack);
		with_callers += stack.callers > 0;
		overflow_take(&overflow);
		if (++samples > RING_BYTES)
			abort();
	}
	free(map);
	return with_callers;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

/* Samples with 0 to `seed` callers, and a record of lost ones. */
static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	size_t size = 0;

	if (seed >= 4)
		return 0;
	for (unsigned i = 0; i <= 8 * seed + 1; i++) {
		uint64_t words[64] = { 0, 7, 0x1111, 2000, 2, 10, 20, 2 + i, PERF_CONTEXT_USER,
			0x1111 };
		size_t count = 10 + i;
		struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
			.size = (uint16_t)(count * sizeof(*words)) };

		for (unsigned k = 0; k < i; k++)
			words[10 + k] = 0x400000 + (i + k) % 5;
		memcpy(words, &header, sizeof(header));
		if (size + header.size > RING_BYTES - 24)
			break;
		memcpy(data + size, words, header.size);
		size += header.size;
	}
	memcpy(data + size, &(struct perf_event_header){ .type = PERF_RECORD_LOST, .size = 24 },
			sizeof(struct perf_event_header));
	return size + 24;
}
