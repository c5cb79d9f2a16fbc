/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that stay out of the program's way. */
#ifndef PHASEMUX_SAMPLING_DESCRIPTOR_H
#define PHASEMUX_SAMPLING_DESCRIPTOR_H

#include <stdbool.h>

#define DESCRIPTOR_LIFTED 512

/*
 * Moves a descriptor above the range that programs use, to the lowest free one from 512 on, and where
 * RLIMIT_NOFILE allows few, above these, if the hard limit is higher: the program can miss none. Where
 * it is not, from the upper half of what is allowed on. Returns the new descriptor, CLOEXEC, or the
 * given one where no room is left up there.
 *
 * To get above the limit, it is higher for a moment; a process that another thread starts just then
 * may keep it so.
 */
int descriptor_lift(int fd);

/* The lowest number that is above the range that programs use, and that RLIMIT_NOFILE allows. */
int descriptor_lowest(void);

/* The program will not miss it: it is above the limit, or the limit allows three times as many above it. */
bool descriptor_is_spare(int fd);

#endif
