/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multiple alignment of the sequences of bursts that tasks execute (thesis 5.2): bursts that
 * correspond to each other get one column. The alphabet may have any size. The sequences of
 * an SPMD program are long and nearly equal. Therefore equal ones are aligned once, and the others within
 * a band around the diagonal, which is widened only if the best path touches its border.
 *
 * Sequences are stored one after the other in one array of bursts: sequence s is
 * [first[s], first[s + 1]), in order of time.
 */
#ifndef PHASEMUX_CLUSTER_SEQUENCE_ALIGN_H
#define PHASEMUX_CLUSTER_SEQUENCE_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/* Bursts, sequence after sequence. */
struct sequence_bursts {
	const double *points;   /* row-major, dims each, finite; NULL if they are not needed */
	const double *duration; /* > 0, any unit */
	const size_t *first;    /* sequences + 1 */
	size_t sequences;
	uint32_t dims;
};

struct alignment {
	size_t columns;
	size_t peers;     /* number of sequences that can be in one column */
	uint32_t *column; /* column of each burst, from 0; ascending within a sequence */
};

/*
 * Aligns sequences of labels. A match scores weight[label] (> 0, the label's share of the time; thesis 5.2) for
 * each sequence that has the label in the column. Returns 0 or -ENOMEM. The caller frees with alignment_fini,
 * also after a failure.
 */
int align_labels(struct alignment *alignment, const uint32_t *label, const double *weight,
		const size_t *first, size_t sequences);

/*
 * Aligns sequences of points (row-major, dims each). Bursts match better the nearer they are in the space, and
 * not at all beyond half of its width. Needs no clusters, so it can tell which clusters are parts of one phase.
 * Returns 0 or -ENOMEM. The caller frees with alignment_fini, also after a failure.
 */
int align_points(struct alignment *alignment, const double *points, uint32_t dims,
		const size_t *first, size_t sequences);

void alignment_fini(struct alignment *alignment);

#endif
