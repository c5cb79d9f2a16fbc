/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes from within the program, which must not notice if that fails. A write to a pipe without a reader
 * raises SIGPIPE, and one past the limit on file sizes SIGXFSZ; either would end the program. The signal is
 * blocked in the calling thread for the write, and taken back if the write raised it. Any thread of the process
 * may call these functions. None of them is a cancellation point.
 */
#ifndef PHASEMUX_AGENT_HOST_QUIET_H
#define PHASEMUX_AGENT_HOST_QUIET_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all `length` bytes. Returns 0 or -errno, and then a part may have been written. */
int quiet_write(int fd, const char *bytes, size_t length);

/*
 * Sets a function that may take texts instead of stderr, and returns whether it has. Call before other threads use
 * these functions.
 */
void quiet_set_taker(bool (*take)(const char *text, size_t length));

/* Hands a text to that function. Returns whether it has taken all of it; false if there is none. */
bool quiet_hand_over(const char *text, size_t length);

/* Returns whether half of the limit on file sizes, if it holds for this file, has room for this many bytes more. */
bool quiet_has_room(int fd, size_t length);

/*
 * Writes text to `fd`, a descriptor of stderr. If it is a file and file sizes are limited, half of the limit is left to
 * the program, and the text is written as a whole or not at all.
 */
void quiet_tell(int fd, const char *text, size_t length);

/* Hands a line of at most 1,023 bytes over, or writes it to stderr like quiet_tell. The format ends with the newline. */
__attribute__((format(printf, 1, 2))) void quiet_say(const char *format, ...);

#endif
