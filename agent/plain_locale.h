/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers are written and read with a point, whatever the program's locale is. */
#ifndef PHASEMUX_AGENT_PLAIN_LOCALE_H
#define PHASEMUX_AGENT_PLAIN_LOCALE_H

#include <locale.h>

struct plain_locale {
	locale_t plain, kept;
};

/* The calling thread is in the C locale from here to plain_locale_leave; without memory, as it was. */
struct plain_locale plain_locale_enter(void);
void plain_locale_leave(struct plain_locale *locale);

#endif
