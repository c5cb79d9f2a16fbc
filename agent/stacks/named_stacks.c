/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/stacks/named_stacks.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX    ((STACK_FRAMES_MAX + 1) * (SOURCE_PLACES_MAX + 1) + 1)
#define POSITION_SIZE (sizeof(((struct source_place *)0)->file) + 32)

/* What is known of the code at a node. Names take long to find, and stacks share nodes. */
struct node_names {
	bool looked;
	bool returns; /* a call can return there */
	bool keeps;   /* the function keeps a frame pointer */
	unsigned count;
	char *name[SOURCE_PLACES_MAX]; /* innermost first */
};

/* Names of a stack, innermost first. "": callers that are not known. */
struct frame_list {
	unsigned count;
	bool whole;
	const char *name[FRAMES_MAX];
};

bool named_stacks_init(struct named_stacks *stacks, struct source *source,
		const struct stack_node *nodes, unsigned max)
{
	*stacks = (struct named_stacks){ .source = source, .nodes = nodes, .max = max };
	stacks->stack = calloc(max, sizeof(*stacks->stack));
	stacks->names = calloc(STACK_TREE_NODES, sizeof(*stacks->names));
	return stacks->stack && stacks->names;
}

static void clear_stack(struct named_stack *stack)
{
	free(stack->frames);
	free(stack->line);
	*stack = (struct named_stack){ .frames = NULL };
}

void named_stacks_fini(struct named_stacks *stacks)
{
	for (unsigned i = 0; i < stacks->count; i++)
		clear_stack(&stacks->stack[i]);
	for (unsigned i = 0; i < STACK_TREE_NODES && stacks->names; i++)
		for (unsigned k = 0; k < stacks->names[i].count; k++)
			free(stacks->names[i].name[k]);
	free(stacks->stack);
	free(stacks->names);
	*stacks = (struct named_stacks){ .count = 0 };
}

/* ---- the frames of a stack ---- */

/* Returns the name of a function, or of the file if the function is not known. */
static const char *place_name(const struct source_place *place)
{
	return *place->function ? place->function : place->module;
}

/* Returns what is known of a node. Without memory its names are missing. */
static const struct node_names *look_at(struct named_stacks *stacks, uint16_t node)
{
	struct node_names *names = &stacks->names[node];
	uintptr_t address = (uintptr_t)stacks->nodes[node].address;
	struct source_place places[SOURCE_PLACES_MAX];
	unsigned count;

	if (names->looked)
		return names;
	names->looked = true;
	names->returns = source_is_return(stacks->source, address);
	if (!names->returns)
		return names;
	names->keeps = source_keeps_frame(stacks->source, address, true);
	count = source_find(stacks->source, address, places, SOURCE_PLACES_MAX);
	while (names->count < count &&
			(names->name[names->count] = strdup(place_name(&places[names->count]))))
		names->count++;
	return names;
}

static void push_name(struct frame_list *list, const char *name)
{
	/* callers that are not known are one gap */
	if (!*name && list->count && !*list->name[list->count - 1])
		return;
	if (list->count < FRAMES_MAX)
		list->name[list->count++] = name;
	/* the C library's code above the program's main function is not of interest */
	list->whole = strcmp(name, "main") == 0;
}

/*
 * Lists the frames above sampled code. keeps: the sampled function keeps a frame pointer. If a function keeps none, the
 * word that the kernel found is of a frame further out, so that the function's own caller is missing.
 */
static void list_callers(struct named_stacks *stacks, uint16_t stack, bool keeps,
		struct frame_list *list)
{
	while (stack >= STACK_FIRST && stack < STACK_TREE_NODES && !list->whole) {
		const struct node_names *names = look_at(stacks, stack);

		if (!names->returns)
			break;
		if (!keeps)
			push_name(list, "");
		for (unsigned i = 0; i < names->count && !list->whole; i++)
			push_name(list, names->name[i]);
		keeps = names->keeps;
		stack = stacks->nodes[stack].above;
	}
	if (!list->whole)
		push_name(list, "");
}

/* Returns the names of the list in the form of struct named_stack, which the caller frees, or NULL without memory. */
static char *join_names(const struct frame_list *list)
{
	size_t size = 1;
	char *text, *end;

	for (unsigned i = 0; i < list->count; i++)
		size += strlen(list->name[i]) + 1;
	text = malloc(size);
	end = text;
	for (unsigned i = list->count; text && i-- > 0;) {
		end = stpcpy(end, list->name[i]);
		*end++ = NAMED_STACK_END;
	}
	if (text)
		*end = '\0';
	return text;
}

/* ---- the table ---- */

static bool same_text(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Returns the stack with these texts, which it takes over, or frees them and returns NULL without room. */
static struct named_stack *find_stack(struct named_stacks *stacks, char *frames, char *line)
{
	struct named_stack *stack = stacks->stack, *end = stack + stacks->count;

	while (stack < end && (!same_text(stack->frames, frames) || !same_text(stack->line, line)))
		stack++;
	if (stack == end && stacks->count < stacks->max) {
		stacks->count++;
		*stack = (struct named_stack){ .frames = frames, .line = line };
		return stack;
	}
	free(frames);
	free(line);
	return stack < end ? stack : NULL;
}

bool named_stacks_add(struct named_stacks *stacks, uintptr_t address, uint16_t stack,
		uint32_t samples, const struct source_place *places, unsigned count)
{
	struct frame_list list = { .count = 0 };
	struct named_stack *into;
	char *frames, *line = NULL, position[POSITION_SIZE];

	for (unsigned i = 0; i < count && !list.whole; i++)
		push_name(&list, place_name(&places[i]));
	list_callers(stacks, stack, source_keeps_frame(stacks->source, address, false), &list);
	frames = join_names(&list);
	if (!frames)
		return false;
	if (*places[0].file && places[0].line) {
		source_position(&places[0], position, sizeof(position));
		line = strdup(position);
	}
	into = find_stack(stacks, frames, line);
	if (!into)
		return false;
	into->whole = list.whole;
	into->samples += samples;
	return true;
}

static int by_samples(const void *a, const void *b)
{
	const struct named_stack *x = a, *y = b;
	int order = (x->samples < y->samples) - (x->samples > y->samples);

	return order ? order : strcmp(x->frames, y->frames);
}

/* Removes the lines of the stacks from `first` on, and joins those that become equal to another one behind it. */
static void drop_lines(struct named_stacks *stacks, unsigned first)
{
	unsigned kept = first;

	for (unsigned i = first; i < stacks->count; i++) {
		struct named_stack *stack = &stacks->stack[i], *same;

		for (same = &stacks->stack[first]; same < &stacks->stack[kept]; same++)
			if (strcmp(same->frames, stack->frames) == 0)
				break;
		if (same < &stacks->stack[kept]) {
			same->samples += stack->samples;
			clear_stack(stack);
			continue;
		}
		free(stack->line);
		stack->line = NULL;
		stacks->stack[kept] = *stack;
		if (kept++ < i)
			*stack = (struct named_stack){ .frames = NULL };
	}
	stacks->count = kept;
}

void named_stacks_settle(struct named_stacks *stacks, unsigned shown)
{
	qsort(stacks->stack, stacks->count, sizeof(stacks->stack[0]), by_samples);
	if (stacks->count <= shown)
		return;
	drop_lines(stacks, shown / 2);
	qsort(stacks->stack, stacks->count, sizeof(stacks->stack[0]), by_samples);
}
