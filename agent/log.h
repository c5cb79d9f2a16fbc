/* What the agent has to say while the program runs: single lines on stderr. */
#ifndef PHASEMUX_AGENT_LOG_H
#define PHASEMUX_AGENT_LOG_H

#include <stdbool.h>

/* The rank that the launcher told this process, before MPI knows; 0 where none did. */
int log_announced_rank(void);

/* Whether this process speaks for its job; until told, by the rank that the launcher announced. */
void log_speaker(bool speaks);
bool log_speaks(void);

/* "phasemux: ..." and a newline, in one write, if this process speaks for its job. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

#endif
