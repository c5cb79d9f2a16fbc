/* SPDX-License-Identifier: BSD-3-Clause */
/* The intercepted calls of threads, which the loader finds by their names. */
#ifndef PHASEMUX_AGENT_PRELOAD_WRAP_THREADS_H
#define PHASEMUX_AGENT_PRELOAD_WRAP_THREADS_H

/* Finds the real calls of threads among what the program started with. Call in the constructor. */
void wrap_threads_start(void);

#endif
