/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks meet in MPI_Init, before any of them has done anything that the others must know of. This is part
 * of the preload, so that a rank that cannot open the core can still say so. Otherwise the others would wait
 * for it for ever.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_RENDEZVOUS_H
#define PHASEMUX_AGENT_PRELOAD_RENDEZVOUS_H

#include <stdbool.h>

#include "agent/boundary/preload.h"

/*
 * Opens the adapter for the MPI to which the intercepted call of MPI_Init goes (`init`: the real one, of C or
 * Fortran). Fills preload->adapter, world and waited_ns; the adapter is NULL if there is none for this MPI, then each
 * rank is alone, and why_alone is filled instead. Returns 0;
 * -ENOTCONN if a rank of the job has no agent, and then stderr says so; -EIO if MPI refused a message. On an
 * error there is no adapter.
 */
int rendezvous_hold(struct preload *preload, const void *init);

/*
 * Tells the ranks that have a core, and are about to agree (agent/setup/agreement.h), that this rank has none.
 * Closes the adapter. Returns whether this rank is to say why.
 */
bool rendezvous_leave(struct preload *preload);

#endif
