/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call stacks above sampled code, as a bounded tree: a node is a return address, and stands for the stack from
 * it to the outermost frame. Stacks with the same outer frames share these. A node stays where it is, so its number
 * tells a stack. A stack that finds no room is STACK_LOST.
 *
 * Plain data; zeros are an empty tree. A reader of memory that another process left may find any numbers in it:
 * call stack_tree_clean first. These functions are for one caller at a time. None allocates or makes a system call.
 */
#ifndef PHASEMUX_AGENT_STACKS_STACK_TREE_H
#define PHASEMUX_AGENT_STACKS_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_FRAMES_MAX 24   /* of a stack */
#define STACK_TREE_NODES 2048 /* of a process, and of all processes together */

/* Numbers of stacks without frames. */
enum {
	STACK_NONE,   /* the callers are not known */
	STACK_DEEPER, /* the callers are not known, because there are more frames than are kept */
	STACK_LOST,   /* no room for the stack */
	STACK_FIRST,  /* the first number of a node */
};

struct stack_node {
	uint64_t address; /* return address, or its place (agent/symbols/place_files.h); 0: the node is free */
	uint16_t above; /* number of the rest of the stack */
	uint16_t unused[3];
};

/*
 * Returns the number of the stack with these return addresses, innermost first, to which nodes are added if they are
 * missing. size: number of nodes of the tree, at most 65536. deeper: there are further frames above.
 */
uint16_t stack_tree_add(struct stack_node *nodes, uint32_t size, const uint64_t *addresses,
		unsigned frames, bool deeper);

/*
 * Fills the return addresses of a stack, innermost first, with room for STACK_FRAMES_MAX. Returns how many there are.
 * *above: STACK_NONE, STACK_DEEPER or STACK_LOST, which says why there are no more.
 */
unsigned stack_tree_list(const struct stack_node *nodes, uint32_t size, uint16_t stack,
		uint64_t *addresses, uint16_t *above);

/* Returns whether this is the number of a stack of the tree. */
bool stack_tree_has(const struct stack_node *nodes, uint32_t size, uint16_t stack);

/* Removes nodes that lead nowhere, because they were written partly, or by another program. */
void stack_tree_clean(struct stack_node *nodes, uint32_t size);

#endif
