/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/plain_locale.h"

#include <stddef.h>

struct plain_locale plain_locale_enter(void)
{
	struct plain_locale locale = { .plain = newlocale(LC_ALL_MASK, "C", NULL) };

	if (locale.plain)
		locale.kept = uselocale(locale.plain);
	return locale;
}

void plain_locale_leave(struct plain_locale *locale)
{
	if (!locale->plain)
		return;
	uselocale(locale->kept);
	freelocale(locale->plain);
}
