/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks meet in MPI_Init, before any of them has done anything that the others must know of.
 * Part of the preload, so that a rank that cannot open the core is still there to say so: alone,
 * the others would wait for it for ever.
 */
#ifndef PHASEMUX_AGENT_MEETING_H
#define PHASEMUX_AGENT_MEETING_H

#include <stdbool.h>

#include "agent/preload.h"

/*
 * Opens the adapter for the MPI library that this process has loaded. Where this rank has no core (`has_core`),
 * it tells the others so, which find it out when they agree (agent/agreement.h). Fills preload->adapter, world
 * and waited_ns; the adapter is NULL where there is none for this MPI: then each rank is alone. *speaks: this
 * rank is the one to say why not. 0; -ENOENT: this rank has no core; -EIO: MPI refused. On an error the adapter
 * is closed.
 */
int meeting_hold(struct preload *preload, bool has_core, bool *speaks);

#endif
