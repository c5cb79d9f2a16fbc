/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/locations.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/spool/fold.h"
#include "sampling/clock.h"

static void share(struct profile_total *total, const struct ledger *ledger,
		const struct thread *threads, struct module *modules)
{
	unsigned count = modules_ever(modules, MODULES_MAX);

	profile_share(ledger_profile(ledger), modules, count, total);
	for (; threads; threads = threads->next)
		routes_share(&threads->sites, clock_here.ns_per_tick, modules, count, &total->files,
				&total->routes);
}

int locations_init(struct locations *locations, const struct ledger *ledger,
		const struct plan *plan, const struct thread *threads)
{
	struct module *modules = malloc(MODULES_MAX * sizeof(*modules));
	bool good;

	locations->total = calloc(1, sizeof(*locations->total));
	locations->scratch = malloc(sizeof(*locations->scratch));
	locations->profile = NULL;
	locations->fold = fold_sums(ledger_fold(ledger), plan, ledger_table(ledger));
	locations->fold_length = fold_sums_length(plan, ledger_table(ledger));
	if (modules && locations->total)
		share(locations->total, ledger, threads, modules);
	locations->routes = locations->total ? &locations->total->routes : NULL;
	good = modules && locations->total && locations->scratch && locations->fold;
	free(modules);
	return good ? 0 : -ENOMEM;
}

void locations_fini(struct locations *locations)
{
	free(locations->total);
	free(locations->scratch);
	free(locations->profile);
	free(locations->fold);
}

int locations_reduce(struct locations *locations, const struct mpi_adapter *adapter)
{
	if (adapter->reduce_start(locations->total, locations->scratch, sizeof(*locations->total),
			    profile_merge) ||
			adapter->wait() || adapter->sum(locations->fold, locations->fold_length))
		return -EIO;
	return 0;
}

struct source *locations_source(struct locations *locations, const char *folder)
{
	struct module *modules = malloc(2 * MODULES_MAX * sizeof(*modules));
	struct source *source = NULL;

	if (modules) {
		unsigned count = modules_ever(modules, MODULES_MAX);

		locations->profile = calloc(1, sizeof(*locations->profile));
		if (locations->total && locations->profile)
			count = profile_restore(locations->total, modules, count, 2 * MODULES_MAX,
					locations->profile);
		source = source_open(folder, modules, count);
	}
	free(modules);
	return source;
}
