/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/results/locations.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/spool/arguments_image.h"
#include "agent/spool/fold.h"
#include "sampling/clock.h"

static void locations_share(struct profile_total *total, const struct ledger *ledger,
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
	locations->structures = locations->structures_scratch = NULL;
	locations->arguments = locations->arguments_scratch = NULL;
	locations->fold = fold_sums(ledger_fold(ledger), plan, ledger_table(ledger));
	locations->fold_length = fold_sums_length(plan, ledger_table(ledger));
	if (modules && locations->total)
		locations_share(locations->total, ledger, threads, modules);
	locations->routes = locations->total ? &locations->total->routes : NULL;
	good = modules && locations->total && locations->scratch && locations->fold;
	free(modules);
	return good ? 0 : -ENOMEM;
}

/* Makes the tables of the arguments of calls. Returns 0 or -ENOMEM. */
static int make_arguments(struct locations *locations)
{
	locations->arguments = calloc(1, sizeof(*locations->arguments));
	locations->arguments_scratch = malloc(sizeof(*locations->arguments_scratch));
	return locations->arguments && locations->arguments_scratch ? 0 : -ENOMEM;
}

/* Adds the arguments of a thread's calls; NULL: they are not known. Returns 0 or -ENOMEM. */
static int share_arguments(struct locations *locations, const struct structures_thread *thread,
		struct call_arguments *own)
{
	uint8_t *image = own ? malloc(arguments_image_bound(own)) : NULL;

	if (own && !image)
		return -ENOMEM;
	argument_table_share(thread, image,
			image ? arguments_image_write(own, thread->sites, image) : 0,
			&locations->total->files, locations->arguments);
	free(image);
	return 0;
}

int locations_add_structure(struct locations *locations, const struct thread *threads,
		uint32_t rank, bool arguments)
{
	struct module *modules = malloc(MODULES_MAX * sizeof(*modules));
	struct structures_thread shared = { .ns_per_tick = clock_here.ns_per_tick,
		.rank = rank,
		.modules = modules };
	struct call_arguments *own = NULL;
	int error = arguments ? make_arguments(locations) : 0;

	locations->structures = calloc(1, sizeof(*locations->structures));
	locations->structures_scratch = malloc(sizeof(*locations->structures_scratch));
	for (; threads; threads = threads->next)
		/* if another thread ends the run, the main thread may still use its structure */
		if (threads->identity.main && threads->structure.finished) {
			shared.loops = threads->structure.loops;
			shared.sites = &threads->sites;
			own = threads->structure.arguments;
			shared.recurrence = recurrence_find(threads->structure.recurrences,
					shared.loops->calls);
		}
	if (modules && locations->total && locations->structures) {
		shared.count = modules_ever(modules, MODULES_MAX);
		structures_share(&shared, &locations->total->files, locations->structures);
		if (arguments && !error)
			error = share_arguments(locations, &shared, own);
	}
	free(modules);
	return modules && locations->structures && locations->structures_scratch ? error : -ENOMEM;
}

void locations_fini(struct locations *locations)
{
	free(locations->structures);
	free(locations->structures_scratch);
	free(locations->arguments);
	free(locations->arguments_scratch);
	free(locations->total);
	free(locations->scratch);
	free(locations->profile);
	free(locations->fold);
}

/* Merges the parts of all ranks on rank 0. part NULL: there are none. Returns 0 or -EIO. */
static int merge(const struct mpi_adapter *adapter, void *part, void *scratch, size_t bytes,
		mpi_merge merge_parts)
{
	if (!part)
		return 0;
	return adapter->reduce_start(part, scratch, bytes, merge_parts) || adapter->wait() ? -EIO :
											     0;
}

int locations_reduce(struct locations *locations, const struct mpi_adapter *adapter)
{
	if (merge(adapter, locations->total, locations->scratch, sizeof(*locations->total),
			    profile_merge) ||
			adapter->sum(locations->fold, locations->fold_length))
		return -EIO;
	if (merge(adapter, locations->structures, locations->structures_scratch,
			    sizeof(*locations->structures), structures_merge))
		return -EIO;
	return merge(adapter, locations->arguments, locations->arguments_scratch,
			sizeof(*locations->arguments), argument_table_merge);
}

/* Converts all places to addresses of this process. Returns the new number of its files. */
static unsigned restore(struct locations *locations, struct module *modules, unsigned own)
{
	struct place_modules here = { modules, own, own, 2 * MODULES_MAX };

	here.count = profile_restore(locations->total, modules, own, here.max, locations->profile);
	if (locations->structures)
		structures_restore(locations->structures, &locations->total->files, &here);
	if (locations->arguments)
		argument_table_restore(locations->arguments, &locations->total->files, &here);
	return here.count;
}

struct source *locations_source(struct locations *locations, const char *folder)
{
	struct module *modules = malloc(2 * MODULES_MAX * sizeof(*modules));
	struct source *source = NULL;

	if (modules) {
		unsigned count = modules_ever(modules, MODULES_MAX);

		locations->profile = calloc(1, sizeof(*locations->profile));
		if (locations->total && locations->profile)
			count = restore(locations, modules, count);
		source = source_open(folder, modules, count);
	}
	free(modules);
	return source;
}
