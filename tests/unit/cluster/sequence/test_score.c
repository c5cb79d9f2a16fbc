/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "cluster/sequence/align.h"
#include "cluster/sequence/partition.h"
#include "cluster/sequence/score.h"
#include "tests/tap.h"

/*
 * Two tasks, four columns:
 * task 0: 1 2 1 -
 * task 1: 1 2 - 3
 * Cluster 1 is in columns 0 (both) and 2 (one): (1 + 1/2) / 2 = 0.75. Cluster 2 scores 1, and cluster 3 scores
 * 0.5. Durations are 1, except 4 for cluster 2, so the shares are 3/12, 8/12, 1/12. The global score is (3 x
 * 0.75 + 8 + 0.5) / 12.
 */
static void test_by_hand(void)
{
	const uint32_t label[] = { 1, 2, 1, 1, 2, 3 };
	uint32_t column[] = { 0, 1, 2, 0, 1, 3 };
	const struct alignment alignment = { .columns = 4, .peers = 2, .column = column };
	const double duration[] = { 1, 4, 1, 1, 4, 1 };
	struct score score;

	is_int(score_columns(&score, label, 4, &alignment, duration, 6), 0, "a small matrix");
	is_near(score.cluster[1], 0.75, 1e-12, "5.1: mean share where it appears");
	is_near(score.cluster[2], 1, 1e-12, "a perfect cluster");
	is_near(score.cluster[3], 0.5, 1e-12, "a cluster of one task of two");
	is_near(score.cluster[0], 0, 0, "no noise, no score");
	is_int((long long)score.appearances[1], 2, "5.4: appearances");
	is_near(score.global, (3 * 0.75 + 8 + 0.5) / 12, 1e-12, "5.6: weighted by time");
	score_fini(&score);
}

/* Aligns sequences written as text. Returns them with their gaps, one line each. */
static const char *aligned(const char *const *text, size_t sequences, const double *weight)
{
	static char out[1024];
	uint32_t label[256];
	size_t first[16] = { 0 }, at = 0;
	struct alignment alignment;

	for (size_t s = 0; s < sequences; s++) {
		for (const char *c = text[s]; *c; c++)
			label[first[s]++] = (uint32_t)(*c - 'a');
		first[s + 1] = first[s];
	}
	memmove(first + 1, first, sequences * sizeof(*first));
	first[0] = 0;
	if (align_labels(&alignment, label, weight, first, sequences))
		return "no memory";
	for (size_t s = 0; s < sequences; s++) {
		memset(out + at, '-', alignment.columns);
		for (size_t i = first[s]; i < first[s + 1]; i++)
			out[at + alignment.column[i]] = (char)('a' + label[i]);
		at += alignment.columns;
		out[at++] = s + 1 < sequences ? '\n' : 0;
	}
	alignment_fini(&alignment);
	return out;
}

static void test_alignment(void)
{
	const double weight[26] = { 0.5, 0.3, 0.1, 0.05, 0.04, 0.01 };
	const char *const same[] = { "abcabc", "abcabc", "abcabc" };
	const char *const missing[] = { "abcabc", "abcabc", "abbc" };
	const char *const dear[] = { "ab", "ab", "ba" };
	const char *const empty[] = { "", "ab" };

	is_str(aligned(same, 3, weight), "abcabc\nabcabc\nabcabc", "equal sequences");
	is_str(aligned(missing, 3, weight), "abcabc\nabcabc\nab--bc", "gaps for what is missing");
	is_str(aligned(dear, 3, weight), "-ab\n-ab\nba-", "what holds more time is matched first");
	is_str(aligned(empty, 2, weight), "--\nab", "a task without bursts is all gaps");
}

/* One sequence is long, and the other one has 200 more bursts at its start, so the band must widen. */
static void test_band(void)
{
	enum { LONG = 5000, MORE = 900 };
	uint32_t *label = malloc((2 * LONG + MORE) * sizeof(*label)), state = 1;
	size_t first[] = { 0, LONG, 2 * LONG + MORE }, matched = 0;
	double weight[64];
	struct alignment alignment;

	for (size_t i = 0; i < 64; i++)
		weight[i] = 1.0 / 64;
	for (size_t i = 0; i < LONG; i++) {
		state = state * 1664525 + 1013904223;
		label[i] = state >> 27;
		label[LONG + MORE + i] = label[i];
	}
	for (size_t i = 0; i < MORE; i++)
		label[LONG + i] = 32 + (uint32_t)(i % 32);
	is_int(align_labels(&alignment, label, weight, first, 2), 0, "a shift by 900 of 5,000");
	for (size_t i = 0; i < LONG; i++)
		matched += alignment.column[i] == alignment.column[LONG + MORE + i];
	is_int((long long)matched, LONG, "every burst finds its partner");
	is_int((long long)alignment.columns, LONG + MORE, "in no more columns than needed");
	alignment_fini(&alignment);
	free(label);
}

static void test_partition(void)
{
	uint32_t label[] = { 5, 5, 2, 0, 2, 9 };
	const double duration[] = { 1, 1, 3, 9, 3, 2 }, points[] = { 0, 2, 5, 9, 5, 1 };
	const uint32_t a[] = { 1, 1, 1, 2, 2, 2 }, b[] = { 1, 1, 2, 2, 3, 3 };

	is_int(partition_by_time(label, 9, duration, 6), 3, "three clusters have bursts");
	ok(label[2] == 1 && label[0] == 2 && label[5] == 3 && label[3] == 0,
			"the most time first; of equal ones, the first to come");
	/* pairs: cells 2 of 1 each; rows 2 x 3, columns 3 x 1; (2 - 18/15) / (4.5 - 18/15) */
	is_near(partition_agreement(a, b, 6), 0.8 / 3.3, 1e-12, "adjusted Rand index by hand");
	is_near(partition_agreement(a, a, 6), 1, 1e-12, "of a partition with itself");
	/* cluster 2 at 0 and 2: variance 1 for 2 of 10 units of time, and 0 for the others */
	is_near(partition_spread(label, 3, points, 1, duration, 6), 0.2, 1e-12, "spread");
}

int main(void)
{
	test_by_hand();
	test_alignment();
	test_band();
	test_partition();
	return tap_done();
}
