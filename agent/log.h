/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent has to say while the program runs: single lines on stderr. */
#ifndef PHASEMUX_AGENT_LOG_H
#define PHASEMUX_AGENT_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Takes note of what stderr is. Before any of the others. */
void log_open(void);

/* The rank that the launcher told this process, before MPI knows; 0 where none did. */
int log_announced_rank(void);

/* Whether this process speaks for its job; until told, by the rank that the launcher announced. */
void log_speaker(bool speaks);
bool log_speaks(void);

/* "phasemux: ..." and a newline, in one write, if this process speaks for its job. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/*
 * Text to stderr, if that still is the file that it was at log_open; otherwise nowhere: when the
 * program has closed it, the descriptor may by now be any file of the program's.
 */
void log_text(const char *text, size_t length);

/*
 * Before the process is killed by its launcher: waits, 0.1 s at most, until who reads stderr, if that
 * is a pipe, has taken what was said. MPICH's launcher loses what it has not read when a rank aborts.
 */
void log_wait_read(void);

#endif
