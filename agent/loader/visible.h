/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hides those names of MPI and OpenMP in the preload that no other loaded object defines. Programs ask by weak
 * symbols and by dlsym whether there is an MPI or an OpenMP, and must get the answer that they get without the
 * agent.
 *
 * A hidden name has the value 0 in the preload's own symbol table, which the loader takes for no definition.
 * All names are visible while the loader binds what the program starts with, because it binds the preload late.
 * The constructor then hides the names that no other object defines. It sets weak references that were bound to
 * them to 0, as they are without the agent.
 *
 * An object that is loaded later may bring an MPI, whose names must be visible before its users are bound.
 * Nearly every object refers to __gmon_start__ (crti.o), which becomes an indirect function of the preload in
 * the constructor. The loader calls it when it binds the first of the new objects, and has all of them in its
 * list.
 */
#ifndef PHASEMUX_AGENT_LOADER_VISIBLE_H
#define PHASEMUX_AGENT_LOADER_VISIBLE_H

/*
 * Hides names as above. If the symbol table cannot be changed, all stay visible. Call once, in the constructor.
 */
void visible_start(void);

#endif
