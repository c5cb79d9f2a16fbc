/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the tree of call stacks: what it keeps, what it does without room, and what it makes of damaged memory. */
#include <stdlib.h>
#include <string.h>

#include "agent/stacks/stack_tree.h"
#include "tests/tap.h"

static struct stack_node nodes[STACK_TREE_NODES];

static unsigned used(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < STACK_TREE_NODES; i++)
		count += nodes[i].address != 0;
	return count;
}

static void test_stacks(void)
{
	static const uint64_t one[] = { 0x30, 0x20, 0x10 }, two[] = { 0x40, 0x20, 0x10 };
	uint64_t listed[STACK_FRAMES_MAX];
	uint16_t first, second, deeper, above;

	memset(nodes, 0, sizeof(nodes));
	first = stack_tree_add(nodes, STACK_TREE_NODES, one, 3, false);
	second = stack_tree_add(nodes, STACK_TREE_NODES, two, 3, false);
	ok(first >= STACK_FIRST && second >= STACK_FIRST && first != second,
			"two stacks have two numbers");
	is_int(used(), 4, "and share what they have in common");
	is_int(stack_tree_add(nodes, STACK_TREE_NODES, one, 3, false), first, "one has its number");
	is_int(stack_tree_list(nodes, STACK_TREE_NODES, second, listed, &above), 3,
			"a stack has its frames");
	ok(memcmp(listed, two, sizeof(two)) == 0 && above == STACK_NONE, "in their order");
	deeper = stack_tree_add(nodes, STACK_TREE_NODES, one, 3, true);
	ok(deeper != first, "one that goes on is another one");
	is_int(stack_tree_list(nodes, STACK_TREE_NODES, deeper, listed, &above), 3,
			"of its frames");
	is_int(above, STACK_DEEPER, "and says that it goes on");
	is_int(stack_tree_add(nodes, STACK_TREE_NODES, one, 0, false), STACK_NONE,
			"no frames are no stack");
	is_int(stack_tree_list(nodes, STACK_TREE_NODES, STACK_LOST, listed, &above), 0,
			"a lost stack has no frames");
	is_int(above, STACK_LOST, "and says so");
}

static void test_room(void)
{
	uint64_t frames[STACK_FRAMES_MAX], listed[STACK_FRAMES_MAX];
	unsigned kept = 0, lost = 0, wrong = 0;
	uint16_t above;

	memset(nodes, 0, sizeof(nodes));
	srand(1);
	for (int i = 0; i < 4000; i++) {
		unsigned count = 1 + (unsigned)rand() % STACK_FRAMES_MAX;
		uint16_t stack;

		for (unsigned k = 0; k < count; k++)
			frames[k] = 0x400000 + (uint64_t)rand() % 4096;
		stack = stack_tree_add(nodes, STACK_TREE_NODES, frames, count, false);
		if (stack == STACK_LOST) {
			lost++;
			continue;
		}
		kept++;
		wrong += stack_tree_list(nodes, STACK_TREE_NODES, stack, listed, &above) != count ||
				memcmp(listed, frames, count * sizeof(*frames)) != 0;
	}
	ok(kept > 50 && lost > 50, "a full tree loses stacks (%u kept, %u lost)", kept, lost);
	is_int(wrong, 0, "and those that it keeps are whole");
	ok(used() > STACK_TREE_NODES * 9 / 10, "it is full then (%u)", used());
}

static void test_damage(void)
{
	static const uint64_t one[] = { 0x30, 0x20, 0x10 };
	uint64_t listed[STACK_FRAMES_MAX];
	uint16_t stack, above;
	unsigned wrong = 0;

	memset(nodes, 0, sizeof(nodes));
	stack = stack_tree_add(nodes, STACK_TREE_NODES, one, 3, false);
	stack_tree_clean(nodes, STACK_TREE_NODES);
	is_int(stack_tree_list(nodes, STACK_TREE_NODES, stack, listed, &above), 3,
			"what is whole stays");
	nodes[nodes[stack].above].address = 0;
	stack_tree_clean(nodes, STACK_TREE_NODES);
	ok(!stack_tree_has(nodes, STACK_TREE_NODES, stack), "a node without the one above goes");
	nodes[5] = (struct stack_node){ .address = 1, .above = 6 };
	nodes[6] = (struct stack_node){ .address = 1, .above = 5 };
	nodes[7] = (struct stack_node){ .address = 1, .above = 60000 };
	nodes[8] = (struct stack_node){ .address = 1, .above = STACK_LOST };
	nodes[0] = (struct stack_node){ .address = 1 };
	stack_tree_clean(nodes, STACK_TREE_NODES);
	is_int(used(), 1, "circles and numbers of no node go");
	srand(2);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(nodes); i++)
			((unsigned char *)nodes)[i] = (unsigned char)(rand() % 3 ? 0 : rand());
		stack_tree_clean(nodes, STACK_TREE_NODES);
		for (unsigned i = 0; i < 65536; i++)
			wrong += stack_tree_has(nodes, STACK_TREE_NODES, (uint16_t)i) &&
					stack_tree_list(nodes, STACK_TREE_NODES, (uint16_t)i,
							listed, &above) > STACK_FRAMES_MAX;
	}
	is_int(wrong, 0, "every stack of what is left ends");
}

int main(void)
{
	test_stacks();
	test_room();
	test_damage();
	return tap_done();
}
