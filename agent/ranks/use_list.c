/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/use_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/array.h"

void use_list_fini(struct use_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->process[i].use);
		free(list->process[i].iterations);
	}
	free(list->process);
	*list = (struct use_list){ 0 };
}

int use_list_add(struct use_list *list, uint32_t rank, const struct rank_use *use,
		unsigned prototypes)
{
	struct use_of_process *all, *process;
	size_t bytes = prototypes * sizeof(use->use[0]);

	all = array_with_room(list->process, &list->room, list->count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	list->process = all;
	process = &all[list->count];
	*process = (struct use_of_process){ rank, prototypes, malloc(bytes ? bytes : 1), NULL };
	if (!process->use)
		return -ENOMEM;
	process->iterations = rank_iterations_copy(use->iterations);
	memcpy(process->use, use->use, bytes);
	list->count++;
	return 0;
}

static void by_phase(const struct use_of_process *process, const struct phase_labels *labels,
		struct rank_use *phases)
{
	struct rank_use use = { 0 };

	memcpy(use.use, process->use, process->prototypes * sizeof(use.use[0]));
	rank_use_by_phase(&use, labels, phases);
}

void use_list_ranks(const struct use_list *list, const struct phase_labels *labels,
		struct phase_ranks *ranks)
{
	double most[PROTOTYPES_MAX] = { 0 };
	struct iteration_spreads spreads;
	struct rank_use phases;

	*ranks = (struct phase_ranks){ .phases = labels->phases };
	for (size_t i = 0; i < list->count; i++) {
		by_phase(&list->process[i], labels, &phases);
		rank_use_most(&phases, most);
	}
	for (size_t i = 0; i < list->count; i++) {
		by_phase(&list->process[i], labels, &phases);
		iteration_spreads_of(list->process[i].iterations, labels->phase, &spreads);
		phase_ranks_add(ranks, labels->phases, list->process[i].rank, &phases, most,
				&spreads);
	}
}

void use_list_sets(const struct use_list *list, const struct phase_labels *labels, uint32_t all,
		const struct routes *routes, struct phase_ranks *ranks, struct phase_sets *sets)
{
	struct phase_labels of_sets;

	use_list_ranks(list, labels, ranks);
	phase_sets_find(sets, labels, ranks, all, routes);
	phase_sets_label(sets, labels, &of_sets);
	use_list_ranks(list, &of_sets, &sets->ranks);
}
