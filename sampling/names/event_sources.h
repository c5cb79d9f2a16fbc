/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources in which event_names.c looks names up. Internal to sampling/; one thread at a time. */
#ifndef PHASEMUX_SAMPLING_NAMES_EVENT_SOURCES_H
#define PHASEMUX_SAMPLING_NAMES_EVENT_SOURCES_H

#include <stddef.h>

#include "sampling/event.h"
#include "sampling/processor.h"

/*
 * Looks a name up in libpfm4: a bare name in this processor's table, or "table::EVENT:UMASK". Fills type and
 * configs. Returns 0, -ENOENT, or -ENOSYS (built without libpfm4, or it does not start); `why` says more.
 */
int event_from_libpfm(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size);

/* Calls visit for each event of this processor that libpfm4 knows. */
void event_each_libpfm(const struct processor *processor,
		void (*visit)(void *data, const char *name, const char *description), void *data);

/* Stops libpfm4, if the agent started it. The next look-up starts it again. */
void event_stop_libpfm(void);

/*
 * Looks up the native event that stands for a PAPI preset on this machine, which event_from_libpfm can resolve.
 * Returns 0, -ENOENT (PAPI does not have it here, or makes it of several events), or -ENOSYS.
 */
int event_from_papi(char *native, size_t native_size, const char *name, char *why, size_t why_size);

/* Calls visit for each preset that PAPI knows. */
void event_each_papi(void (*visit)(void *data, const char *name, const char *description),
		void *data);

#endif
