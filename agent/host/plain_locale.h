/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the C locale, so that numbers are written and read with a point in any locale of the program. */
#ifndef PHASEMUX_AGENT_HOST_PLAIN_LOCALE_H
#define PHASEMUX_AGENT_HOST_PLAIN_LOCALE_H

#include <locale.h>

struct plain_locale {
	locale_t plain, kept;
};

/* Sets the C locale for the calling thread until plain_locale_leave. Without memory the locale stays. */
struct plain_locale plain_locale_enter(void);
void plain_locale_leave(struct plain_locale *locale);

#endif
