/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/expand.h"

#include <string.h>

void expand_start(struct expand *expand, const struct loops *loops)
{
	memset(expand, 0, sizeof(*expand));
	expand->loops = loops;
	expand->cell = loops->tokens ? loops->cell[0] : 0;
}

/* Goes to the token after the end of a body. Returns false at the end of the tokens. */
static bool leave_body(struct expand *expand)
{
	const struct loops *loops = expand->loops;

	if (!expand->depth) {
		if (++expand->place >= loops->tokens)
			return false;
		expand->cell = loops->cell[expand->place];
	} else if (--expand->level[expand->depth - 1].rounds) {
		expand->cell = arena_look(loops, expand->level[expand->depth - 1].cell)->first;
	} else {
		expand->depth--;
		expand->cell = arena_look(loops, expand->level[expand->depth].cell)->next;
	}
	return true;
}

static void enter_token(struct expand *expand)
{
	unsigned cell = expand->cell;
	const struct loops_token *token = arena_look(expand->loops, cell);
	struct counts_reader *reader = &expand->reader[cell];

	counts_next_run(expand->loops, token, reader, 1);
	expand->cell = token->next;
	if (token->kind == LOOPS_CALL) {
		expand->symbol = token->symbol;
		expand->left = reader->count;
	} else if (token->kind == LOOPS_HOLE) {
		expand->symbol = LOOPS_ANY;
		expand->left = token->slot.count;
	} else if (reader->count) {
		expand->level[expand->depth].cell = (uint16_t)cell;
		expand->level[expand->depth].rounds = reader->count;
		expand->depth++;
		expand->cell = token->first;
	}
}

bool expand_next(struct expand *expand, uint32_t *symbol)
{
	const struct loops *loops = expand->loops;

	if (expand->done >= loops->calls || expand->done >= loops->exact)
		return false;
	if (expand->done + loops->at >= loops->calls) {
		*symbol = loops->pending[expand->done + loops->at - loops->calls].symbol;
		expand->done++;
		return true;
	}
	while (!expand->left) {
		if (expand->cell)
			enter_token(expand);
		else if (!leave_body(expand))
			return false;
	}
	expand->left--;
	expand->done++;
	*symbol = expand->symbol;
	return true;
}

struct visitor {
	const struct loops *loops;
	bool (*visit)(const struct expand_token *token, void *data);
	void *data;
};

static bool visit_token(const struct visitor *visitor, unsigned cell, unsigned depth, uint64_t uses)
{
	const struct loops_token *token = arena_look(visitor->loops, cell);
	const struct expand_token visited = { token, depth, uses };

	if (!visitor->visit(&visited, visitor->data))
		return false;
	for (unsigned child = token->first; child; child = arena_look(visitor->loops, child)->next)
		if (!visit_token(visitor, child, depth + 1, token->slot.count))
			return false;
	return true;
}

void expand_tokens(const struct loops *loops, bool (*visit)(const struct expand_token *, void *),
		void *data)
{
	const struct visitor visitor = { loops, visit, data };

	for (unsigned place = 0; place < loops->tokens; place++)
		if (!visit_token(&visitor, loops->cell[place], 0, 1))
			return;
}
