/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/sequence/score.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a label without time, so that it is aligned if that costs nothing. */
#define WEIGHT_MIN 1e-4

/* Returns the numbers of the bursts, column by column. */
static uint32_t *sort_by_column(const uint32_t *column, size_t columns, size_t count)
{
	size_t *begin = calloc(columns + 1, sizeof(*begin));
	uint32_t *sorted = malloc((count + 1) * sizeof(*sorted));

	if (begin && sorted) {
		for (size_t i = 0; i < count; i++)
			begin[column[i] + 1]++;
		for (size_t c = 0; c < columns; c++)
			begin[c + 1] += begin[c];
		for (size_t i = 0; i < count; i++)
			sorted[begin[column[i]]++] = (uint32_t)i;
	} else {
		free(sorted);
		sorted = NULL;
	}
	free(begin);
	return sorted;
}

static int score_init(struct score *score, uint32_t labels, const uint32_t *label,
		const double *duration, size_t count)
{
	double total = 0;

	*score = (struct score){
		.labels = labels,
		.cluster = calloc(labels + 1, sizeof(double)),
		.time_share = calloc(labels + 1, sizeof(double)),
		.appearances = calloc(labels + 1, sizeof(size_t)),
	};
	if (!score->cluster || !score->time_share || !score->appearances)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		score->time_share[label[i]] += duration[i];
		total += duration[i];
	}
	for (uint32_t l = 0; l < labels && total > 0; l++)
		score->time_share[l] /= total;
	return 0;
}

int score_columns(struct score *score, const uint32_t *label, uint32_t labels,
		const struct alignment *alignment, const double *duration, size_t count)
{
	const uint32_t *column = alignment->column;
	int error = score_init(score, labels, label, duration, count);
	uint32_t *sorted = sort_by_column(column, alignment->columns, count);
	uint32_t *last = calloc(labels + 1, sizeof(*last)); /* column seen last, from 1 */

	if (!sorted || !last)
		error = -ENOMEM;
	for (size_t i = 0; i < count && !error; i++) {
		uint32_t l = label[sorted[i]], c = column[sorted[i]] + 1;

		score->cluster[l]++; /* hits, until they are divided below */
		score->appearances[l] += last[l] != c;
		last[l] = c;
	}
	for (uint32_t l = 0; l < labels && !error; l++) {
		if (!score->appearances[l])
			continue;
		score->cluster[l] /= (double)score->appearances[l] * (double)alignment->peers;
		score->global += score->cluster[l] * score->time_share[l];
	}
	free(sorted);
	free(last);
	return error;
}

int score_sequences(struct score *score, const uint32_t *label, uint32_t labels,
		const struct sequence_bursts *bursts, uint32_t *column, size_t *columns)
{
	struct alignment alignment = { 0 };
	size_t count = bursts->first[bursts->sequences];
	int error = score_init(score, labels, label, bursts->duration, count);

	if (error)
		return error;
	for (uint32_t l = 0; l < labels; l++)
		if (score->time_share[l] < WEIGHT_MIN)
			score->time_share[l] = WEIGHT_MIN;
	error = align_labels(&alignment, label, score->time_share, bursts->first,
			bursts->sequences);
	score_fini(score);
	if (!error)
		error = score_columns(score, label, labels, &alignment, bursts->duration, count);
	if (!error && column) {
		memcpy(column, alignment.column, count * sizeof(*column));
		*columns = alignment.columns;
	}
	alignment_fini(&alignment);
	return error;
}

void score_fini(struct score *score)
{
	free(score->cluster);
	free(score->time_share);
	free(score->appearances);
	*score = (struct score){ 0 };
}
