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

int sampled_init(struct sampled *sampled, const struct ledger *ledger, const struct plan *plan,
		const struct thread *threads)
{
	struct module *modules = malloc(MODULES_MAX * sizeof(*modules));
	bool good;

	sampled->total = calloc(1, sizeof(*sampled->total));
	sampled->scratch = malloc(sizeof(*sampled->scratch));
	sampled->profile = NULL;
	sampled->fold = fold_sums(ledger_fold(ledger), plan, ledger_table(ledger));
	sampled->fold_length = fold_sums_length(plan, ledger_table(ledger));
	if (modules && sampled->total)
		share(sampled->total, ledger, threads, modules);
	sampled->routes = sampled->total ? &sampled->total->routes : NULL;
	good = modules && sampled->total && sampled->scratch && sampled->fold;
	free(modules);
	return good ? 0 : -ENOMEM;
}

void sampled_fini(struct sampled *sampled)
{
	free(sampled->total);
	free(sampled->scratch);
	free(sampled->profile);
	free(sampled->fold);
}

int sampled_reduce(struct sampled *sampled, const struct mpi_adapter *adapter)
{
	if (adapter->reduce_start(sampled->total, sampled->scratch, sizeof(*sampled->total),
			    profile_merge) ||
			adapter->wait() || adapter->sum(sampled->fold, sampled->fold_length))
		return -EIO;
	return 0;
}

struct source *sampled_source(struct sampled *sampled, const char *folder)
{
	struct module *modules = malloc(2 * MODULES_MAX * sizeof(*modules));
	struct source *source = NULL;

	if (modules) {
		unsigned count = modules_ever(modules, MODULES_MAX);

		sampled->profile = calloc(1, sizeof(*sampled->profile));
		if (sampled->total && sampled->profile)
			count = profile_restore(sampled->total, modules, count, 2 * MODULES_MAX,
					sampled->profile);
		source = source_open(folder, modules, count);
	}
	free(modules);
	return source;
}
