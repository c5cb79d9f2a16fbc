/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the agent's messages while the program runs, as single lines on stderr. */
#ifndef PHASEMUX_AGENT_HOST_LOG_H
#define PHASEMUX_AGENT_HOST_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Notes which file stderr is. Call before the other functions. */
void log_open(void);

/* Sets and returns whether this process prints for its job. Until it is set, the launcher's rank 0 does. */
void log_speaker(bool speaks);
bool log_speaks(void);

/* Prints "phasemux: ..." and a newline in one write, if this process prints for its job. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/*
 * Opens another descriptor of stderr, for the time when the program has put another file in its place. As long as it is
 * open, a reader of stderr meets no end, so each child of a fork must release it, too.
 */
void log_hold(void);
void log_release(void);

/*
 * When the process exits, opens another descriptor of stderr before the program closes it, as GNU programs do to learn
 * whether all was written. Only what registers later is called earlier, so call this when the program has begun.
 */
void log_hold_at_exit(void);

/*
 * Hands a text over (quiet.h), or writes it to the file that stderr was at log_open. If the program has closed stderr, its
 * descriptor may now be any file of the program. Then the text goes to the descriptor that is held, or to the file or the
 * terminal, which is opened again if the process is in the same session. If none of this is possible, the text is lost.
 *
 * If stderr is a pipe, a long text is written in parts of whole lines, each of which waits for at most 0.1 s until the
 * reader has read the one before. Open MPI 5's launcher puts the half of a line that it has read before what the program
 * prints on stdout.
 */
void log_text(const char *text, size_t length);

/*
 * Waits, at most 0.1 s, until the reader of stderr has read all, if stderr is a pipe. Call before the launcher
 * kills the process, because MPICH's launcher loses what it has not read when a rank aborts.
 */
void log_wait_read(void);

#endif
