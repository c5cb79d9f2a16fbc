/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregative Cluster Refinement (thesis 6.2, algorithm 1, with the improvements of 10.5.2):
 * DBSCAN with ever larger Eps, each time on those bursts alone whose clusters do not yet follow the
 * single program, multiple data pattern well enough, and at the end a merge by sequences.
 *
 * What differs from algorithm 1, and why:
 * - Bursts are aligned once, by where they are in the space (align_points), and not again for each
 *   partition: two clusters that share columns are parts of one phase, whatever Eps split them.
 * - A larger Eps joins clusters only where they occur in the same columns. Two phases that follow
 *   each other stay two, however near they are: no over-aggregation (10.5.2, first).
 * - A score slightly below 100% is enough (10.5.2, first), and what a cluster misses is then
 *   classified: a noise burst within Eps of a cluster that the other tasks execute in its column.
 * - So Eps may grow far beyond the k-distance graph's range without harm, and spread clusters do not
 *   stay noise (10.5.2, second).
 */
#ifndef PHASEMUX_CLUSTER_REFINE_H
#define PHASEMUX_CLUSTER_REFINE_H

#include <stddef.h>
#include <stdint.h>

struct refine_settings {
	uint32_t steps;    /* N; 0: 10 */
	size_t min_points; /* 0: a quarter of the tasks, at least 2 */
	double target;     /* score at which a cluster is done; 0: 0.95 */
	/*
	 * Where it is known which bursts correspond to each other, by burst: 0 .. columns - 1, and how
	 * many sequences can meet in a column. NULL: bursts are aligned by where they are in the space.
	 */
	const uint32_t *column;
	size_t columns, peers;
	/* Called before each step with its number and their total; NULL: nobody looks. */
	void (*progress)(void *data, unsigned step, unsigned steps);
	void *data;
};

struct refine_node {
	uint32_t step;    /* 0 .. steps - 1; steps: the final partition, merged by sequences */
	uint32_t cluster; /* in that step's partition; 0: noise */
	uint32_t parent;  /* its node in the next step; UINT32_MAX: none */
	size_t bursts;
	double duration;
	double score;
};

struct refinement {
	uint32_t clusters; /* of the final partition */
	uint32_t steps;
	double *eps;    /* of each step */
	double *global; /* score after each step, and after the merge: steps + 1 */
	struct refine_node *node;
	size_t nodes;
};

/*
 * Bursts stand sequence after sequence (cluster/align.h has the layout of first[]), with their
 * points (row-major, finite) and durations (> 0, any unit). Writes label[]: 0 noise, 1 .. clusters,
 * cluster 1 holding the most time. Scores in the tree are by the alignment of points, but those of
 * the final partition by its labels (score_sequences); with given columns, all are by these.
 * settings may be NULL. 0, -ENOMEM or -EINVAL; the caller frees with refinement_fini, also after a
 * failure.
 */
int refine(struct refinement *refinement, const double *points, uint32_t dims,
		const double *duration, const size_t *first, size_t sequences,
		const struct refine_settings *settings, uint32_t *label);

void refinement_fini(struct refinement *refinement);

#endif
