/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregative Cluster Refinement (thesis 6.2, algorithm 1, with the improvements of 10.5.2): DBSCAN with ever
 * larger Eps, and at the end a merge by sequences. Each DBSCAN is only of the bursts whose clusters do not yet
 * follow the single program, multiple data pattern well enough.
 *
 * Differences from algorithm 1, and their reasons:
 * - Bursts are aligned once, by their positions in the space (align_points), and not again for each
 *   partition. Two clusters that share columns are parts of one phase, at any Eps that splits them.
 * - A larger Eps joins clusters only if they occur in common columns. Two phases that follow each other
 *   stay two, even if they are near. This prevents over-aggregation (10.5.2, first).
 * - A score slightly below 100% is enough (10.5.2, first). Bursts that a cluster misses are then classified:
 *   noise within Eps of a cluster that the other tasks execute in its column.
 * - Therefore Eps may grow far beyond the k-distance graph's range, and spread clusters do not stay noise
 *   (10.5.2, second).
 */
#ifndef PHASEMUX_CLUSTER_SEQUENCE_REFINE_H
#define PHASEMUX_CLUSTER_SEQUENCE_REFINE_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/sequence/align.h"

struct refine_settings {
	uint32_t steps;    /* number of steps N; 0: 10 */
	size_t min_points; /* 0: a quarter of the tasks, at least 2 */
	double target;     /* score at which a cluster is done; 0: 0.95 */
	/*
	 * Column of each burst, 0 .. columns - 1, if it is known which bursts correspond to each other; and the
	 * number of sequences that can be in one column. NULL: bursts are aligned by their positions in the
	 * space.
	 */
	const uint32_t *column;
	size_t columns, peers;
	/* Called before each step with its number and their total, if not NULL. */
	void (*progress)(void *data, unsigned step, unsigned steps);
	void *data;
};

struct refine_node {
	uint32_t step;    /* 0 .. steps - 1; steps: the final partition, merged by sequences */
	uint32_t cluster; /* in that step's partition; 0: noise */
	uint32_t parent;  /* number of its node in the next step; UINT32_MAX: none */
	size_t bursts;
	double duration;
	double score;
};

struct refinement {
	uint32_t clusters; /* of the final partition */
	uint32_t steps;
	double *eps;    /* Eps of each step */
	double *global; /* global score after each step, and after the merge: steps + 1 */
	struct refine_node *node;
	size_t nodes;
};

/*
 * Clusters bursts. Writes label[]: 0 noise, 1 .. clusters; cluster 1 has the most time. Scores in the tree are
 * by the alignment of points, except those of the final partition, which are by its labels (score_sequences).
 * With given columns, all are by these. settings may be NULL. Returns 0, -ENOMEM or -EINVAL. The caller frees
 * with refinement_fini, also after a failure.
 */
int refine(struct refinement *refinement, const struct sequence_bursts *bursts,
		const struct refine_settings *settings, uint32_t *label);

void refinement_fini(struct refinement *refinement);

#endif
