/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/components.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum component_kind kind;
} kinds[] = {
	{ "retiring", COMPONENT_WORK },
	{ "base", COMPONENT_WORK },
	{ "completing", COMPONENT_WORK },
	{ "finishing", COMPONENT_WORK },
	{ "dispatching", COMPONENT_WORK },
	{ "not stalled, or not known", COMPONENT_UNEXPLAINED },
	{ "not explained", COMPONENT_UNEXPLAINED },
};

enum component_kind component_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(name, kinds[i].name) == 0)
			return kinds[i].kind;
	return COMPONENT_LOSS;
}
