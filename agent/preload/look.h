/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launcher that `phasemux run` became checks whether anything that it starts is observed, and says at its end
 * if nothing was, or if all that was observed has ended early. It has a file in memory, and puts the file's name
 * in /proc into the environment of what it starts. A process that is observed writes a byte to the file, and
 * another one once it has told what becomes of its report. Needs only libc.
 *
 * Nothing is said if processes may run on other hosts, because these are not seen.
 *
 * Some commands make a terminal for what they start, and record what appears there (script). The agent's lines and the
 * report are no part of that. Therefore a process hands them over in the file, and the launcher writes them to its own
 * stderr when it ends. Only a launcher that waits for what it starts takes them. If such launchers start each other, the
 * outermost one has the file.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_LOOK_H
#define PHASEMUX_AGENT_PRELOAD_LOOK_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the file unless a launcher above has one, and sets the environment. Call in the constructor of a launcher. */
void look_start(void);

/*
 * Notes that the command of `phasemux run` is observed itself, whatever it becomes by exec. Call in the
 * constructor.
 */
void look_seen_itself(void);

/* Notes that this process is observed, or will say why it is not. Call at most once. */
void look_seen(void);

/* Notes that there is a report of this process, or that a line has said why there is none. */
void look_told(void);

/*
 * Hands a text over to the launcher if this process' stderr is the terminal of a session that the launcher is not in, or
 * if it is a rank whose stderr the launcher of its MPI copies to such a terminal. Returns whether all of the text is
 * handed over. Any thread may call it.
 */
bool look_hand_over(const char *text, size_t length);

/*
 * Writes what was handed over. Says so if nothing was observed, or if processes were observed and none of them has called
 * look_told. Does nothing in processes other than the launcher. Call when the process ends.
 */
void look_end(void);

#endif
