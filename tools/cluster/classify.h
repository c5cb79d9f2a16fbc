/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses a part of the bursts to cluster, and classifies the others by the nearest prototype (online
 * structure detection, slides 12 and 13).
 */
#ifndef PHASEMUX_TOOLS_CLUSTER_CLASSIFY_H
#define PHASEMUX_TOOLS_CLUSTER_CLASSIFY_H

#include "tools/cluster/selection.h"

enum sample_by {
	SAMPLE_BY_TIME,  /* random bursts of all tasks */
	SAMPLE_BY_TASKS, /* all bursts of a few tasks, evenly chosen */
	SAMPLE_BY_BOTH,  /* half of each */
};

bool sample_by_name(const char *name, enum sample_by *how);
const char *sample_name(enum sample_by how);

/*
 * Makes a selection of about `bursts` of the chosen bursts of `all` (at least one), in its space. Each call
 * makes the same choice. row[] are indices into the chosen bursts of `all`. Returns 0 or -ENOMEM; call
 * selection_fini in any case.
 */
int sample_take(struct selection *sample, const struct selection *all, size_t bursts,
		enum sample_by how);

/*
 * Labels all chosen bursts from the labels of the sample: sampled bursts keep their own, others get that of the
 * nearest prototype, or 0 if none is near. Returns 0 or -ENOMEM.
 */
int classify_rest(const struct selection *all, const struct selection *sample,
		const uint32_t *sampled, uint32_t clusters, uint32_t *label);

#endif
