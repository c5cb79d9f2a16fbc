/* SPDX-License-Identifier: BSD-3-Clause */
/* The loaded object that holds an address. These functions enter the loader. */
#ifndef PHASEMUX_AGENT_LOADER_OBJECT_H
#define PHASEMUX_AGENT_LOADER_OBJECT_H

#include <stdbool.h>

struct object {
	void *library; /* for dlsym; the caller closes it */
	char soname[256];
	char path[512]; /* as the loader knows it; "" for the program */
};

/*
 * Opens the object again that holds an address, wherever it was found and however it was opened (RTLD_LOCAL, by a
 * RUNPATH). It then stays loaded. Returns false if there is none.
 */
bool object_open(const void *address, struct object *object);

#endif
