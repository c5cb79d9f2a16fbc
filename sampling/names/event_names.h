/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events by name: libpfm4's ("ex_ret_instr", "amd64_fam19h_zen4::EX_RET_INSTR", also of processors
 * that libpfm4 does not recognise here), PAPI presets ("PAPI_TOT_INS") if PAPI knows them, raw
 * codes ("r1000001a0"), and the kernel's software events ("task-clock").
 */
#ifndef PHASEMUX_SAMPLING_NAMES_EVENT_NAMES_H
#define PHASEMUX_SAMPLING_NAMES_EVENT_NAMES_H

#include <stddef.h>

#include "sampling/event.h"
#include "sampling/processor.h"

/*
 * Resolves a name for this processor. Returns 0 or -errno: -ENOENT: no such event here; -ENOSYS: it needs a
 * library that is not there; -EINVAL: not a name. On failure `why` says what was wrong and what is allowed,
 * in one line. Do not call between bursts, because it loads tables. One thread at a time.
 */
int event_resolve(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size);

/* Calls visit for each event of this processor whose name contains pattern (any case; "" all). */
void event_each(const struct processor *processor, const char *pattern,
		void (*visit)(void *data, const char *name, const char *description), void *data);

/* Returns the name of libpfm4's table for this processor, its own or the nearest, or NULL if there is none. */
const char *event_table_name(const struct processor *processor);

/*
 * Releases the tables. Call when all names are resolved. libpfm4 is then as it was before, because the program
 * may use it too.
 */
void event_done(void);

#endif
