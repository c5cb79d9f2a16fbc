/* SPDX-License-Identifier: BSD-3-Clause */
/* Where event.c looks names up. Internal to sampling/; one thread at a time, as event.h says. */
#ifndef PHASEMUX_SAMPLING_EVENT_SOURCES_H
#define PHASEMUX_SAMPLING_EVENT_SOURCES_H

#include <stddef.h>

#include "sampling/event.h"

/*
 * libpfm4: a bare name in this processor's table, or "table::EVENT:UMASK". Fills type and configs.
 * 0, -ENOENT, -ENOSYS (built without libpfm4, or it does not start); `why` says more.
 */
int event_from_libpfm(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size);

void event_each_libpfm(const struct processor *processor,
		void (*visit)(void *data, const char *name, const char *description), void *data);

/* Stops libpfm4, if it was started here. The next look-up starts it again. */
void event_stop_libpfm(void);

/*
 * A PAPI preset: the native event that stands for it on this machine, for event_from_libpfm.
 * 0, -ENOENT (PAPI does not have it here, or makes it of several events), -ENOSYS.
 */
int event_from_papi(char *native, size_t native_size, const char *name, char *why, size_t why_size);

void event_each_papi(void (*visit)(void *data, const char *name, const char *description),
		void *data);

#endif
