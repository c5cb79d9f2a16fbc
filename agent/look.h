/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launcher that `phasemux run` became looks whether anything it starts is observed, and says at its end if
 * nothing was. It has a file in memory, whose name in /proc is in the environment of what it starts; a process
 * that is observed, or says itself why it is not, writes a byte to it. Needs libc alone.
 *
 * Nothing is said where processes may run on other hosts, for these are not seen.
 */
#ifndef PHASEMUX_AGENT_LOOK_H
#define PHASEMUX_AGENT_LOOK_H

/* Makes the file, and sets the environment. Call in the constructor of a launcher. */
void look_start(void);

/* Notes that the command of `phasemux run` is observed itself, whatever it becomes by exec. Call in the constructor. */
void look_seen_itself(void);

/* Notes that this process is observed, or has said why it is not. Call at most once. */
void look_seen(void);

/* Says that nothing was observed, if that is so. Call when the process ends; in others than the launcher it does nothing. */
void look_end(void);

#endif
