/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of the preload's names of MPI and OpenMP the process can see. Programs ask by weak symbols and by
 * dlsym whether there is an MPI or an OpenMP, and must be told what they are told without the agent. So a
 * name is visible only while another loaded object defines it, too.
 *
 * A hidden name has the value 0 in the preload's own symbol table, which the loader takes for no definition.
 * All names are visible while the loader binds what the program starts with, because the order in which it
 * does so puts the preload late. The constructor then hides what nothing else defines, and sets weak references
 * that were bound to it to 0, as they are without the agent.
 *
 * An object that comes later may bring an MPI, whose names must be visible before its users are bound. The
 * loader tells of it: nearly every object refers to __gmon_start__ (crti.o), which in the preload is an
 * indirect function from then on. The loader calls it as it binds the first of the new objects, when all of
 * them are in its list.
 */
#ifndef PHASEMUX_AGENT_VISIBLE_H
#define PHASEMUX_AGENT_VISIBLE_H

/* Call in the constructor, once. Where the symbol table cannot be changed, all names stay visible. */
void visible_start(void);

#endif
