/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on a terminal's stderr that shows how far long work is. */
#ifndef PHASEMUX_TOOLS_PROGRESS_H
#define PHASEMUX_TOOLS_PROGRESS_H

#include <stdbool.h>

/* Shows progress from now on, if stderr is a terminal; at first it is not shown. */
void progress_allow(bool wanted);

/* share: 0 .. 1; at 1 the line goes away. */
void progress(const char *what, double share);

#endif
