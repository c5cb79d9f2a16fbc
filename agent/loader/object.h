/* SPDX-License-Identifier: BSD-3-Clause */
/* The loaded object that holds an address. */
#ifndef PHASEMUX_AGENT_LOADER_OBJECT_H
#define PHASEMUX_AGENT_LOADER_OBJECT_H

#include <stdbool.h>

struct object {
	void *library; /* for dynamic_find; the caller closes it */
	char soname[256];
	char path[4096]; /* as the loader knows it; "" for the program */
};

/* Finds the object that holds an address, and does not open it. Returns false if there is none, or its path is too long. */
bool object_find(const void *address, struct object *object);

/*
 * Opens the object again that holds an address, wherever it was found and however it was opened (RTLD_LOCAL, by a
 * RUNPATH). It then stays loaded. This enters the loader. Returns false if there is none.
 */
bool object_open(const void *address, struct object *object);

#endif
