/* Where in the program an address is, for people. */
#ifndef PHASEMUX_AGENT_SOURCE_H
#define PHASEMUX_AGENT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * "function+0x12" where there is a dynamic symbol (C++ names in clear where the program has the
 * C++ runtime), "module+0x1234" otherwise. The address is one that a call returns to.
 */
void source_name(uintptr_t address, char *name, size_t size);

#endif
