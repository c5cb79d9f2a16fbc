/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/symbols/name.h"

#include <stdbool.h>
#include <string.h>

#define CUT        "..."
#define CUT_LENGTH 3

/* A list of template arguments: name[begin] is the first character after "<", name[end] is ">". */
struct list {
	size_t begin, end;
};

/* Returns whether the bracket at `at` opens or closes arguments: "->", "<<" and "operator<" do not. */
static bool is_bracket(const char *name, size_t at)
{
	static const char operator_word[] = "operator";
	size_t word = sizeof(operator_word) - 1, begin = at;

	if (name[at] == '>' && at && name[at - 1] == '-')
		return false;
	while (begin && strchr("<>=-", name[begin - 1]))
		begin--;
	return begin < word || strncmp(name + begin - word, operator_word, word) != 0;
}

/* Finds the longest list that is in no other list and longer than the cut. Returns false if there is none. */
static bool find_longest(const char *name, struct list *longest)
{
	size_t begin = 0, depth = 0;
	bool found = false;

	for (size_t at = 0; name[at]; at++) {
		if ((name[at] != '<' && name[at] != '>') || !is_bracket(name, at))
			continue;
		if (name[at] == '<') {
			if (!depth++)
				begin = at + 1;
			continue;
		}
		if (!depth || --depth)
			continue;
		if (at - begin > CUT_LENGTH &&
				(!found || at - begin > longest->end - longest->begin)) {
			*longest = (struct list){ begin, at };
			found = true;
		}
	}
	return found;
}

/* Replaces name[begin] up to name[end] by "...". */
static void name_cut(char *name, size_t begin, size_t end)
{
	memcpy(name + begin, CUT, CUT_LENGTH);
	memmove(name + begin + CUT_LENGTH, name + end, strlen(name + end) + 1);
}

/* Cuts the arguments between the first and the last one. Returns false if that would not shorten the name. */
static bool cut_between(char *name, const struct list *list)
{
	size_t first = 0, last = 0, depth = 0;

	for (size_t at = list->begin; at < list->end; at++) {
		if (strchr("<([{", name[at]))
			depth++;
		else if (strchr(">)]}", name[at]) && depth)
			depth--;
		else if (name[at] == ',' && !depth) {
			first = first ? first : at;
			last = at;
		}
	}
	/* ", " stays on both sides of the cut */
	if (last <= first + 2 + CUT_LENGTH)
		return false;
	name_cut(name, first + 2, last);
	return true;
}

void name_shorten(char *name, size_t most)
{
	struct list list = { 0, 0 };
	size_t length;

	while (strlen(name) > most && find_longest(name, &list))
		if (!cut_between(name, &list))
			name_cut(name, list.begin, list.end);
	length = strlen(name);
	if (length > most)
		name_cut(name, (most - CUT_LENGTH) / 2,
				length - (most - CUT_LENGTH - (most - CUT_LENGTH) / 2));
}
