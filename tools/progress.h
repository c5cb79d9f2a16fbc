/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on a terminal's stderr that shows the progress of long work. */
#ifndef PHASEMUX_TOOLS_PROGRESS_H
#define PHASEMUX_TOOLS_PROGRESS_H

#include <stdbool.h>

/* Shows progress from now on, if stderr is a terminal; at first it is not shown. */
void progress_allow(bool wanted);

/* Shows that `share` (0 .. 1) of the work is done; 1 removes the line. */
void progress(const char *what, double share);

#endif
