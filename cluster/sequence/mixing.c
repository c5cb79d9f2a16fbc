/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/sequence/mixing.h"

#include <errno.h>
#include <stdlib.h>

#include "cluster/density/components.h"
#include "cluster/density/sort.h"

#define SIMULTANEOUS 0.1 /* least share of the pairs that one phase has in common columns */

/* An entry of an open hash table of pairs of clusters. */
struct pair {
	uint32_t a, b; /* a < b; a 0: empty slot */
	double shared; /* number of pairs of bursts, one of each cluster, in one column */
};

struct pairs {
	struct pair *slot;
	size_t mask, used;
};

static int pairs_grow(struct pairs *pairs)
{
	struct pairs grown = { .mask = 2 * pairs->mask + 1 };

	if (!pairs->slot)
		grown.mask = 63;
	grown.slot = calloc(grown.mask + 1, sizeof(*grown.slot));
	if (!grown.slot)
		return -ENOMEM;
	for (size_t i = 0; pairs->slot && i <= pairs->mask; i++) {
		size_t at = (pairs->slot[i].a * 2654435761u + pairs->slot[i].b) & grown.mask;

		if (!pairs->slot[i].a)
			continue;
		while (grown.slot[at].a)
			at = (at + 1) & grown.mask;
		grown.slot[at] = pairs->slot[i];
	}
	grown.used = pairs->used;
	free(pairs->slot);
	*pairs = grown;
	return 0;
}

static int pairs_count(struct pairs *pairs, uint32_t a, uint32_t b, double shared)
{
	size_t at;

	if (2 * pairs->used >= pairs->mask && pairs_grow(pairs))
		return -ENOMEM;
	at = (a * 2654435761u + b) & pairs->mask;
	while (pairs->slot[at].a && (pairs->slot[at].a != a || pairs->slot[at].b != b))
		at = (at + 1) & pairs->mask;
	pairs->used += !pairs->slot[at].a;
	pairs->slot[at].a = a;
	pairs->slot[at].b = b;
	pairs->slot[at].shared += shared;
	return 0;
}

static int by_cluster(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the clusters of a column. Columns are mostly as short as the number of tasks. */
static void sort_clusters(uint32_t *cluster, size_t count)
{
	if (count > 32) {
		sort_items(cluster, count, sizeof(*cluster), by_cluster);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		uint32_t own = cluster[i];
		size_t at = i;

		for (; at && cluster[at - 1] > own; at--)
			cluster[at] = cluster[at - 1];
		cluster[at] = own;
	}
}

/* Number of bursts of one cluster, and of pairs of them in one column. */
struct tally {
	double bursts, pairs;
};

/* Counts the bursts of one column by cluster. here[] gets the clusters, times[] their numbers of bursts. */
static size_t count_column(const struct mixing *mixing, size_t column, uint32_t *here,
		uint32_t *times)
{
	size_t found = 0, distinct = 0;

	for (size_t i = mixing->column_begin[column]; i < mixing->column_begin[column + 1]; i++)
		if (mixing->label[mixing->by_column[i]])
			here[found++] = mixing->label[mixing->by_column[i]];
	sort_clusters(here, found);
	for (size_t i = 0; i < found; i++) {
		if (!i || here[i] != here[distinct - 1]) {
			times[distinct] = 0;
			here[distinct++] = here[i];
		}
		times[distinct - 1]++;
	}
	return distinct;
}

/* Fills tally (by cluster) and the pairs of clusters that share columns. */
static int count_pairs(const struct mixing *mixing, struct tally *tally, struct pairs *pairs)
{
	uint32_t *here = malloc((mixing->widest + 1) * sizeof(*here));
	uint32_t *times = malloc((mixing->widest + 1) * sizeof(*times));
	int error = here && times ? pairs_grow(pairs) : -ENOMEM;

	for (size_t c = 0; c < mixing->columns && !error; c++) {
		size_t distinct = count_column(mixing, c, here, times);

		for (size_t i = 0; i < distinct && !error; i++) {
			tally[here[i]].bursts += times[i];
			tally[here[i]].pairs += (double)times[i] * (times[i] - 1);
			for (size_t j = i + 1; j < distinct && !error; j++)
				error = pairs_count(pairs, here[i], here[j],
						(double)times[i] * times[j]);
		}
	}
	free(here);
	free(times);
	return error;
}

/*
 * Returns whether two clusters look like parts of one phase. If bursts of one phase were in either of them at
 * random, independently, `expected` pairs of one burst each would be in a common column. Two phases that follow
 * each other have hardly any such pairs.
 */
static bool simultaneous(const struct pair *pair, const struct tally *tally)
{
	double bursts = tally[pair->a].bursts + tally[pair->b].bursts;
	double pairs = tally[pair->a].pairs + tally[pair->b].pairs + 2 * pair->shared;
	double expected = tally[pair->a].bursts / bursts * (tally[pair->b].bursts / bursts) * pairs;

	return pair->shared >= SIMULTANEOUS * expected;
}

static int most_shared(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->shared != y->shared)
		return x->shared < y->shared ? 1 : -1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

/* Sets of clusters that are joined step by step. */
struct joining {
	struct pairs pairs;
	struct tally *tally; /* tally of each set, by its representative */
	uint32_t *into;
	bool *holds_done;
	size_t joins; /* pairs.slot[0 .. joins) may join, pairs.slot[joins .. used) may not */
};

/* Returns the pairs of bursts that two sets share: the sum over the pairs of their clusters. */
static double shared_by_sets(struct joining *joining, uint32_t a, uint32_t b)
{
	double shared = 0;

	for (size_t i = 0; i < joining->pairs.used; i++) {
		const struct pair *pair = &joining->pairs.slot[i];
		uint32_t x = components_find(joining->into, pair->a),
			 y = components_find(joining->into, pair->b);

		if ((x == a && y == b) || (x == b && y == a))
			shared += pair->shared;
	}
	return shared;
}

/* Moves all pairs to the front of the table. Pairs that may join come first, in order. */
static void sort_joins(const struct mixing *mixing, struct joining *joining)
{
	struct pairs *pairs = &joining->pairs;
	size_t found = 0;

	for (size_t at = 0; at <= pairs->mask; at++)
		if (pairs->slot[at].a)
			pairs->slot[found++] = pairs->slot[at];
	for (size_t at = 0; at < found; at++) {
		struct pair pair = pairs->slot[at];

		if (!mixing->may_join(mixing->data, pair.a, pair.b) ||
				!simultaneous(&pair, joining->tally))
			continue;
		pairs->slot[at] = pairs->slot[joining->joins];
		pairs->slot[joining->joins++] = pair;
	}
	sort_items(pairs->slot, joining->joins, sizeof(*pairs->slot), most_shared);
}

/*
 * Joins two sets, except if both are done, or the sets as a whole are not simultaneous. A few bursts between
 * two phases must not join them.
 */
static void join_sets(struct joining *joining, const struct pair *pair)
{
	uint32_t a = components_find(joining->into, pair->a),
		 b = components_find(joining->into, pair->b);
	struct pair sets = { .a = a < b ? a : b, .b = a < b ? b : a };

	if (a == b || (joining->holds_done[a] && joining->holds_done[b]))
		return;
	sets.shared = shared_by_sets(joining, a, b);
	if (!simultaneous(&sets, joining->tally))
		return;
	joining->into[sets.b] = sets.a;
	joining->holds_done[sets.a] = joining->holds_done[a] || joining->holds_done[b];
	joining->tally[sets.a].bursts += joining->tally[sets.b].bursts;
	joining->tally[sets.a].pairs += joining->tally[sets.b].pairs + 2 * sets.shared;
}

int mixing_join(const struct mixing *mixing, uint32_t *into)
{
	size_t room = mixing->clusters + 1;
	struct joining joining = { .into = into,
		.tally = calloc(room, sizeof(*joining.tally)),
		.holds_done = malloc(room * sizeof(*joining.holds_done)) };
	int error = joining.tally && joining.holds_done ?
			count_pairs(mixing, joining.tally, &joining.pairs) :
			-ENOMEM;

	for (uint32_t cluster = 0; cluster <= mixing->clusters; cluster++) {
		into[cluster] = cluster;
		if (!error)
			joining.holds_done[cluster] = mixing->done[cluster];
	}
	if (!error)
		sort_joins(mixing, &joining);
	for (size_t at = 0; !error && at < joining.joins; at++)
		join_sets(&joining, &joining.pairs.slot[at]);
	for (uint32_t cluster = 0; cluster <= mixing->clusters; cluster++)
		into[cluster] = components_find(into, cluster);
	free(joining.tally);
	free(joining.holds_done);
	free(joining.pairs.slot);
	return error;
}
