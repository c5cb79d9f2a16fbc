/* Descriptors that stay out of the program's way. */
#ifndef PHASEMUX_SAMPLING_DESCRIPTOR_H
#define PHASEMUX_SAMPLING_DESCRIPTOR_H

#include <stdbool.h>

#define DESCRIPTOR_LIFTED 512

/*
 * Moves a descriptor above the range that programs use: to the lowest free one from 512 on, or
 * from the upper half of what RLIMIT_NOFILE allows where that is less. Returns the new descriptor,
 * CLOEXEC, or the given one where no room is left up there.
 */
int descriptor_lift(int fd);

/* RLIMIT_NOFILE allows so many above it that the program will not miss this one: three times as many. */
bool descriptor_is_spare(int fd);

#endif
