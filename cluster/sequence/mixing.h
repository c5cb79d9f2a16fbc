/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the clusters that are parts of one phase, by the columns of the aligned sequences. Parts that exist
 * because of noise or imbalance are mixed in common columns; phases that follow each other are not.
 */
#ifndef PHASEMUX_CLUSTER_SEQUENCE_MIXING_H
#define PHASEMUX_CLUSTER_SEQUENCE_MIXING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mixing {
	const uint32_t *label; /* by burst: 0 noise, 1 .. clusters */
	uint32_t clusters;
	size_t columns;
	const size_t *column_begin; /* columns + 1, into by_column */
	const uint32_t *by_column;  /* numbers of the bursts, column after column */
	size_t widest;              /* largest number of bursts in a column */
	const bool *done;           /* by cluster: it is never joined to another that is done */
	bool (*may_join)(void *data, uint32_t a, uint32_t b); /* what else must hold */
	void *data;
};

/*
 * Joins clusters that are mixed, the most mixed first. into[clusters + 1] gets, by cluster, the
 * lowest number of the clusters that are joined with it (its own, if none). Returns 0 or -ENOMEM.
 */
int mixing_join(const struct mixing *mixing, uint32_t *into);

#endif
