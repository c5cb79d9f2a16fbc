/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the phases are, at the end of a run. This is: between which calls they are (agent/spool/routes.h), at
 * which addresses the kernel's samples found them (agent/spool/profile.h), and how their counters evolve
 * (agent/spool/fold.h). It is known for this process, and then for all processes.
 */
#ifndef PHASEMUX_AGENT_RESULTS_LOCATIONS_H
#define PHASEMUX_AGENT_RESULTS_LOCATIONS_H

#include <stdbool.h>

#include "agent/ledger/ledger.h"
#include "agent/mpi/mpi_adapter.h"
#include "agent/structures/argument_table.h"
#include "agent/structures/structures.h"
#include "agent/symbols/source.h"
#include "agent/thread/thread.h"

struct locations {
	struct profile_total *total;
	struct profile_total *scratch;
	struct profile *profile; /* the total, by addresses of this process; locations_source makes it */
	/* routes of the total, with addresses of this process after locations_source; NULL: no memory */
	const struct routes *routes;
	struct structures *structures; /* NULL: the structure is not kept, or there is no memory */
	struct structures *structures_scratch;
	struct argument_table *
			arguments; /* NULL: the arguments of calls are not kept, or there is no memory */
	struct argument_table *arguments_scratch;
	double *fold; /* result of fold_sums */
	size_t fold_length;
};

/*
 * Fills locations with the data of this process, whose ledger is closed. threads: list of all threads. Returns
 * 0 or -ENOMEM. Even then locations has a part of the data, and can be given to locations_source and
 * locations_fini.
 */
int locations_init(struct locations *locations, const struct ledger *ledger,
		const struct plan *plan, const struct thread *threads);
/*
 * Adds the structure of the calls of this process, whose rank is given, and (arguments) their arguments. Call after
 * locations_init, on all ranks or on none. Returns 0 or -ENOMEM.
 */
int locations_add_structure(struct locations *locations, const struct thread *threads,
		uint32_t rank, bool arguments);

void locations_fini(struct locations *locations);

/* Adds up the data of all ranks on rank 0. All ranks call it together. Returns 0 or -EIO. */
int locations_reduce(struct locations *locations, const struct mpi_adapter *adapter);

/*
 * Makes locations->profile (NULL: no memory). Returns a source that names the addresses of this process and of
 * the profile, or NULL if there is no memory. folder: as in source_open. Call only once.
 */
struct source *locations_source(struct locations *locations, const char *folder);

#endif
