/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Cluster Sequence Score (thesis 5.3): how well a partition of bursts follows the single program,
 * multiple data pattern.
 *
 * Equations 5.1 to 5.5 use m and n loosely. By the thesis' text before them, a cluster's score is a mean over
 * the columns of the aligned sequences in which it appears, of the share of all tasks that execute it there.
 * The global score weighs the clusters' scores by their time.
 */
#ifndef PHASEMUX_CLUSTER_SEQUENCE_SCORE_H
#define PHASEMUX_CLUSTER_SEQUENCE_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/sequence/align.h"

struct score {
	uint32_t labels;     /* 0 (noise) .. labels - 1 */
	double global;       /* 0 .. 1 */
	double *cluster;     /* by label; 0 for one without bursts */
	double *time_share;  /* by label; they sum to 1 */
	size_t *appearances; /* by label: number of columns with it */
};

/*
 * Scores labels (0 is noise, and is scored like a cluster; label < labels) of `count` bursts that have been
 * aligned. duration[i] > 0 is the duration of each burst in any unit. Returns 0 or -ENOMEM. The caller frees
 * with score_fini, also after a failure.
 */
int score_columns(struct score *score, const uint32_t *label, uint32_t labels,
		const struct alignment *alignment, const double *duration, size_t count);

/*
 * Aligns the sequences by their labels, and scores the labels like score_columns. The points of the bursts are
 * not read. If `column` is not NULL, writes each burst's column there, and the number of columns to *columns.
 */
int score_sequences(struct score *score, const uint32_t *label, uint32_t labels,
		const struct sequence_bursts *bursts, uint32_t *column, size_t *columns);

void score_fini(struct score *score);

#endif
