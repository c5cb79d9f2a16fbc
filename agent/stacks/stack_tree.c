/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/stacks/stack_tree.h"

#include <stddef.h>

#include "agent/host/hash.h"

#define PROBES 16 /* nodes in a row among which one has its place */

/* Returns the number of the node with this address below `above`, which is made if it is missing; STACK_LOST without room. */
static uint16_t find_node(struct stack_node *nodes, uint32_t size, uint64_t address, uint16_t above)
{
	uint64_t hash = hash_spread(address ^ (uint64_t)above << 47);
	uint32_t at = (uint32_t)(hash >> 32) % size;

	for (unsigned i = 0; i < PROBES; i++, at++) {
		struct stack_node *node;

		if (at < STACK_FIRST || at >= size)
			at = STACK_FIRST;
		node = &nodes[at];
		if (node->address == address && node->above == above)
			return (uint16_t)at;
		if (node->address)
			continue;
		/* the address comes last, because it makes the node valid for who reads what a killed process left */
		node->above = above;
		__atomic_store_n(&node->address, address, __ATOMIC_RELEASE);
		return (uint16_t)at;
	}
	return STACK_LOST;
}

uint16_t stack_tree_add(struct stack_node *nodes, uint32_t size, const uint64_t *addresses,
		unsigned frames, bool deeper)
{
	uint16_t stack = deeper ? STACK_DEEPER : STACK_NONE;

	for (unsigned i = frames; i-- > 0 && stack != STACK_LOST;)
		stack = find_node(nodes, size, addresses[i], stack);
	return stack;
}

unsigned stack_tree_list(const struct stack_node *nodes, uint32_t size, uint16_t stack,
		uint64_t *addresses, uint16_t *above)
{
	unsigned frames = 0;

	for (; stack >= STACK_FIRST && stack < size && frames < STACK_FRAMES_MAX;
			stack = nodes[stack].above)
		addresses[frames++] = nodes[stack].address;
	*above = stack < STACK_FIRST ? stack : STACK_NONE;
	return frames;
}

bool stack_tree_has(const struct stack_node *nodes, uint32_t size, uint16_t stack)
{
	return stack < STACK_FIRST || (stack < size && nodes[stack].address);
}

/* Returns whether the nodes from this one on are valid and end within the largest number of frames. */
static bool leads_out(const struct stack_node *nodes, uint32_t size, uint16_t stack)
{
	for (unsigned i = 0; i <= STACK_FRAMES_MAX; i++) {
		if (stack < STACK_FIRST)
			return stack != STACK_LOST;
		if (stack >= size || !nodes[stack].address)
			return false;
		stack = nodes[stack].above;
	}
	return false;
}

void stack_tree_clean(struct stack_node *nodes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (i < STACK_FIRST || !leads_out(nodes, size, (uint16_t)i))
			nodes[i] = (struct stack_node){ .address = 0 };
}
