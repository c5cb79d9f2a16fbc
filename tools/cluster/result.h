/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a clustering, and the files that it is written to (thesis B.2, output). */
#ifndef PHASEMUX_TOOLS_CLUSTER_RESULT_H
#define PHASEMUX_TOOLS_CLUSTER_RESULT_H

#include "cluster/sequence/refine.h"
#include "cluster/sequence/score.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/selection.h"

struct result {
	const struct burst_table *table;
	const struct selection *selection;
	uint32_t clusters;
	uint32_t *label; /* of the chosen bursts: 0 noise, 1 the cluster that has the most time */
	struct score score;
	uint32_t *column; /* of the chosen bursts, in the aligned sequences */
	size_t columns;
	struct refinement tree; /* steps 0: not made by refinement */
	double seconds;         /* processor time of the clustering alone */
};

/*
 * Write files into the folder: bursts.csv; clusters.csv (counts, times, means of all metrics over
 * the bursts in which they were counted: thesis 7.2.2); scores.csv; sequences.csv and
 * sequences.fasta (the aligned sequences, `-` for a gap); tree.dot; a gnuplot script per pair of
 * metrics. Each returns 0 or -errno.
 */
int result_write_bursts(const struct result *result, const char *folder);
int result_write_clusters(const struct result *result, const char *folder);
int result_write_scores(const struct result *result, const char *folder);
int result_write_sequences(const struct result *result, const char *folder);
int result_write_tree(const struct result *result, const char *folder);
int result_write_plots(const struct result *result, const char *folder);

/*
 * Writes trace.prv, which is the file `trace` with cluster events around its bursts, and trace.pcf and
 * trace.row, into the folder. Returns 0 or -errno.
 */
int result_write_trace(const struct result *result, const char *trace, const char *folder);

#endif
