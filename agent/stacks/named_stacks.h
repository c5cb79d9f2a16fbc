/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stacks of samples for people: by the names of their functions, from the outermost to the sampled one, with the
 * sampled line. Stacks with the same names are one. Where a caller is not known, because code keeps no frame pointer,
 * the stack says so. One thread uses this at the end of a run.
 */
#ifndef PHASEMUX_AGENT_STACKS_NAMED_STACKS_H
#define PHASEMUX_AGENT_STACKS_NAMED_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/stacks/stack_tree.h"
#include "agent/symbols/source.h"

struct named_stack {
	/*
	 * Names, outermost first, each ended by NAMED_STACK_END. An empty name stands for at least one caller that is not
	 * known, or for any number of them if it is the first one.
	 */
	char *frames;
	char *line; /* file and line that was sampled; NULL: not known, or several */
	bool whole; /* the stack begins at the start of the program */
	uint64_t samples;
};

#define NAMED_STACK_END '\n'

struct named_stacks {
	struct source *source;
	const struct stack_node *nodes; /* STACK_TREE_NODES of them */
	struct node_names *names;       /* of each node */
	unsigned count, max;
	struct named_stack *stack;
};

/* Begins with no stacks, with room for `max` different ones. Returns false without memory. */
bool named_stacks_init(struct named_stacks *stacks, struct source *source,
		const struct stack_node *nodes, unsigned max);
void named_stacks_fini(struct named_stacks *stacks);

/*
 * Adds samples at an address, of which `places` are the names, innermost first (source_find), below the callers of a
 * stack. Returns false without room or memory.
 */
bool named_stacks_add(struct named_stacks *stacks, uintptr_t address, uint16_t stack,
		uint32_t samples, const struct source_place *places, unsigned count);

/*
 * Sorts the stacks, most samples first. If there are more than `shown`, those behind the first half of them lose their
 * line, and those with the same names become one.
 */
void named_stacks_settle(struct named_stacks *stacks, unsigned shown);

#endif
