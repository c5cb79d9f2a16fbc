/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves the agent's descriptors out of the range of numbers that programs use. */
#ifndef PHASEMUX_SAMPLING_DESCRIPTOR_H
#define PHASEMUX_SAMPLING_DESCRIPTOR_H

#include <stdbool.h>

#define DESCRIPTOR_LIFTED 512 /* the lowest number that the agent uses if the limit allows it */

/*
 * Moves a descriptor above the range that programs use, to the lowest free number from 512 on. If RLIMIT_NOFILE
 * allows few and the hard limit is higher, the number is above the limit, so that the program loses none. If
 * the limit is below 1024 and cannot be raised, the number is in its upper half. Returns the new descriptor,
 * which is CLOEXEC, or the given one if no higher one is free.
 *
 * The limit is raised for a moment to get above it. A process that another thread starts at that moment may
 * keep the raised limit.
 */
int descriptor_lift(int fd);

/* Returns the lowest number that is above the range that programs use, and that RLIMIT_NOFILE allows. */
int descriptor_lowest(void);

/*
 * Returns whether the program will not miss the descriptor: it is above the limit, or the limit allows three
 * times as many above it.
 */
bool descriptor_is_spare(int fd);

#endif
