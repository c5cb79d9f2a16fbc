/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clustering a part of the bursts, and classifying the rest by the nearest prototype (online
 * structure detection, slides 12 and 13).
 */
#ifndef PHASEMUX_TOOLS_CLASSIFY_H
#define PHASEMUX_TOOLS_CLASSIFY_H

#include "tools/selection.h"

enum sample_by {
	SAMPLE_BY_TIME,  /* random bursts of all tasks */
	SAMPLE_BY_TASKS, /* all bursts of a few tasks, evenly chosen */
	SAMPLE_BY_BOTH,  /* half of each */
};

bool sample_by_name(const char *name, enum sample_by *how);
const char *sample_name(enum sample_by how);

/*
 * A selection of about `bursts` of all's chosen bursts (at least one), in the same space; the same
 * each time. row[] are numbers of all's chosen ones. 0 or -ENOMEM; selection_fini in any case.
 */
int sample_take(struct selection *sample, const struct selection *all, size_t bursts,
		enum sample_by how);

/*
 * From the labels of the sample to those of all chosen bursts: their own where they were sampled,
 * else the nearest prototype's; 0 where there is none near. 0 or -ENOMEM.
 */
int classify_rest(const struct selection *all, const struct selection *sample,
		const uint32_t *sampled, uint32_t clusters, uint32_t *label);

#endif
