/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the phases are: between which calls (agent/routes.h), and what the kernel's samples say of them,
 * which is where they were (agent/profile.h), and how their counters evolve (agent/fold.h); of this process,
 * and then of all. At the end of a run.
 */
#ifndef PHASEMUX_AGENT_SAMPLED_H
#define PHASEMUX_AGENT_SAMPLED_H

#include "agent/ledger.h"
#include "agent/mpi_adapter.h"
#include "agent/source.h"
#include "agent/thread.h"

struct sampled {
	struct profile_total *total;
	struct profile_total *scratch;
	struct profile *profile; /* the total, by addresses of this process; sampled_source's */
	/* Those of the total: by addresses of this process after sampled_source. NULL without memory. */
	const struct routes *routes;
	double *fold; /* of fold_sums */
	size_t fold_length;
};

/*
 * Of this process, whose ledger is closed; threads: the list of all. 0 or -ENOMEM: then what there is stands
 * in it, and it can be given to sampled_source and sampled_fini.
 */
int sampled_init(struct sampled *sampled, const struct ledger *ledger, const struct plan *plan,
		const struct thread *threads);
void sampled_fini(struct sampled *sampled);

/* To rank 0, by all ranks together. 0 or -EIO. */
int sampled_reduce(struct sampled *sampled, const struct mpi_adapter *adapter);

/*
 * What names the addresses of this process, and those of the profile that it now makes (NULL without
 * memory); folder as in source_open. NULL without memory. Once.
 */
struct source *sampled_source(struct sampled *sampled, const char *folder);

#endif
