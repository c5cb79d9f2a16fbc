/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/sequence/refine.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/dbscan.h"
#include "cluster/density/epsilon.h"
#include "cluster/density/kdtree.h"
#include "cluster/sequence/mixing.h"
#include "cluster/sequence/partition.h"
#include "cluster/sequence/score.h"

#define PHASE_REACH    0.15 /* largest distance of the middles of parts of one phase */
#define PHASE_GAP      0.05 /* largest gap between parts of one phase */
#define STEPS          10   /* number of steps if none is given */
#define SCORE_DONE     0.95 /* score at which a cluster is done if none is given (10.5.2: below 100%) */
#define EPS_MIN        0.005
#define PLAIN_EPS      0.02 /* Eps for bursts that follow no pattern */
#define PLAIN_POINTS   10
#define SCORE_CREDIBLE 0.5 /* least score of a cluster made of noise at a large Eps */

struct refiner {
	const struct sequence_bursts *bursts;
	size_t count, min_points;
	size_t sequences; /* number of sequences that can be in one column */
	bool columns_given;
	double target;
	struct kdtree tree; /* of all points */
	struct alignment alignment;
	uint32_t *by_column;  /* numbers of the bursts, column after column */
	size_t *column_begin; /* columns + 1, into by_column */
	uint32_t *label;      /* the current partition: 0 noise, 1 .. clusters */
	uint32_t clusters;
	bool *done;         /* by cluster */
	struct score score; /* of the current partition */
	struct refinement *out;
	size_t node_room, level; /* level: first node of the last step */
};

static int score_now(struct refiner *refiner)
{
	score_fini(&refiner->score);
	return score_columns(&refiner->score, refiner->label, refiner->clusters + 1,
			&refiner->alignment, refiner->bursts->duration, refiner->count);
}

/* Adds the nodes of the current partition, as parents of the last level's by was[] -> label[]. */
static int add_level(struct refiner *refiner, uint32_t step, const uint32_t *was)
{
	struct refinement *out = refiner->out;
	size_t first = out->nodes, last = refiner->level;
	size_t need = first + refiner->clusters + 1;

	if (need > refiner->node_room) {
		struct refine_node *grown = realloc(out->node, 2 * need * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		out->node = grown;
		refiner->node_room = 2 * need;
	}
	for (uint32_t cluster = 0; cluster <= refiner->clusters; cluster++)
		out->node[out->nodes++] = (struct refine_node){ .step = step,
			.cluster = cluster,
			.parent = UINT32_MAX,
			.score = refiner->score.cluster[cluster] };
	for (size_t i = 0; i < refiner->count; i++) {
		struct refine_node *node = &out->node[first + refiner->label[i]];

		node->bursts++;
		node->duration += refiner->bursts->duration[i];
		if (was && was[i] && refiner->label[i])
			out->node[last + was[i]].parent = (uint32_t)(first + refiner->label[i]);
	}
	out->global[step] = refiner->score.global;
	refiner->level = first;
	return 0;
}

/* Renumbers the partition: cluster c becomes the one that into[c] represents. */
static int relabel(struct refiner *refiner, const uint32_t *into)
{
	uint32_t *number = calloc(refiner->clusters + 1, sizeof(*number)), numbers = 0;

	if (!number)
		return -ENOMEM;
	for (uint32_t cluster = 1; cluster <= refiner->clusters; cluster++) {
		uint32_t root = into[cluster];

		if (!number[root])
			number[root] = ++numbers;
		number[cluster] = number[root];
		/* number[cluster] <= cluster; joined clusters are not done, and scored again */
		refiner->done[number[cluster]] = root == cluster && refiner->done[cluster];
	}
	for (size_t i = 0; i < refiner->count; i++)
		refiner->label[i] = number[refiner->label[i]];
	refiner->clusters = numbers;
	free(number);
	return 0;
}

/* Returns the middle of each cluster, by cluster. */
static double *centres_of(const struct refiner *refiner)
{
	uint32_t dims = refiner->bursts->dims;
	double *centre = calloc((size_t)(refiner->clusters + 1) * dims, sizeof(*centre));
	size_t *bursts = calloc(refiner->clusters + 1, sizeof(*bursts));

	if (!centre || !bursts) {
		free(centre);
		centre = NULL;
	}
	for (size_t i = 0; centre && i < refiner->count; i++) {
		double *middle = centre + (size_t)refiner->label[i] * dims;

		bursts[refiner->label[i]]++;
		for (uint32_t dim = 0; dim < dims; dim++)
			middle[dim] += (refiner->bursts->points[i * dims + dim] - middle[dim]) /
					(double)bursts[refiner->label[i]];
	}
	free(bursts);
	return centre;
}

struct neighbours {
	const uint32_t *group;
	const double *centre;
	uint32_t dims;
};

/*
 * Returns whether two clusters may be one: in the same group (by cluster; 0: none) or, with `centre`, their
 * middles within reach.
 */
static bool may_join(void *data, uint32_t a, uint32_t b)
{
	const struct neighbours *near = data;
	size_t dims = near->dims;

	if (near->group[a] && near->group[a] == near->group[b])
		return true;
	return near->centre &&
			kdtree_distance2(near->centre + a * dims, near->centre + b * dims,
					near->dims) <= PHASE_REACH * PHASE_REACH;
}

/* Unites clusters that may join and are mixed in the columns. */
static int join_mixed(struct refiner *refiner, const uint32_t *group, const double *centre)
{
	struct neighbours near = { .group = group,
		.centre = centre,
		.dims = refiner->bursts->dims };
	struct mixing mixing = { .label = refiner->label,
		.clusters = refiner->clusters,
		.columns = refiner->alignment.columns,
		.column_begin = refiner->column_begin,
		.by_column = refiner->by_column,
		.widest = refiner->count,
		.done = refiner->done,
		.may_join = may_join,
		.data = &near };
	uint32_t *into = malloc((refiner->clusters + 1) * sizeof(*into));
	int error = into ? mixing_join(&mixing, into) : -ENOMEM;

	if (!error)
		error = relabel(refiner, into);
	free(into);
	return error;
}

/* The score that a group found by DBSCAN would have as a cluster, of its bursts that are in none yet. */
struct newcomer {
	uint32_t number; /* number of the cluster that it becomes; UINT32_MAX: none */
	uint32_t column; /* column seen last, from 1 */
	size_t hits, appearances;
};

/* Makes clusters of groups found by DBSCAN that have no cluster yet, if they are credible. */
static int found_clusters(struct refiner *refiner, const uint32_t *found, uint32_t groups, bool any)
{
	struct newcomer *newcomer = calloc(groups + 1, sizeof(*newcomer));
	uint32_t before = refiner->clusters;

	if (!newcomer)
		return -ENOMEM;
	for (size_t i = 0; i < refiner->count; i++) {
		uint32_t burst = refiner->by_column[i],
			 column = refiner->alignment.column[burst] + 1;
		struct newcomer *own = &newcomer[found[burst]];

		if (refiner->label[burst])
			own->number = UINT32_MAX;
		own->hits++;
		own->appearances += own->column != column;
		own->column = column;
	}
	for (size_t i = 0; i < refiner->count; i++) {
		struct newcomer *own = &newcomer[found[i]];

		if (!found[i] || refiner->label[i] || own->number == UINT32_MAX)
			continue;
		if (!own->number) {
			double most = (double)(own->appearances * refiner->sequences);
			bool credible = any || (double)own->hits >= SCORE_CREDIBLE * most;

			own->number = credible ? ++refiner->clusters : UINT32_MAX;
		}
		if (own->number != UINT32_MAX)
			refiner->label[i] = own->number;
	}
	for (uint32_t cluster = before + 1; cluster <= refiner->clusters; cluster++)
		refiner->done[cluster] = false;
	free(newcomer);
	return 0;
}

/* Returns whether another sequence executes the cluster in the burst's column. */
static bool in_column(const struct refiner *refiner, size_t burst, uint32_t cluster)
{
	uint32_t column = refiner->alignment.column[burst];

	for (size_t i = refiner->column_begin[column]; i < refiner->column_begin[column + 1]; i++)
		if (refiner->label[refiner->by_column[i]] == cluster)
			return true;
	return false;
}

/*
 * Gives noise to the cluster of the nearest burst within eps, if another sequence executes it in this column.
 */
static int absorb_noise(struct refiner *refiner, double eps)
{
	const struct sequence_bursts *bursts = refiner->bursts;
	uint32_t *taken = calloc(refiner->count + 1, sizeof(*taken));

	if (!taken)
		return -ENOMEM;
	for (size_t i = 0; i < refiner->count; i++) {
		int64_t nearest;

		if (refiner->label[i])
			continue;
		nearest = kdtree_nearest(&refiner->tree, bursts->points + i * bursts->dims,
				eps * eps, refiner->label);
		if (nearest >= 0 && in_column(refiner, i, refiner->label[nearest]))
			taken[i] = refiner->label[nearest];
	}
	for (size_t i = 0; i < refiner->count; i++)
		if (taken[i])
			refiner->label[i] = taken[i];
	free(taken);
	return 0;
}

/*
 * Runs DBSCAN on the bursts that are not done. Joins clusters in one group if they are simultaneous. Groups of
 * noise become clusters; with `credible` only if their score is credible.
 */
static int aggregate(struct refiner *refiner, double eps, size_t min_points, bool credible)
{
	uint32_t *open = malloc((refiner->count + 1) * sizeof(*open));
	uint32_t *found = malloc((refiner->count + 1) * sizeof(*found));
	uint32_t *group = calloc(refiner->count + 1, sizeof(*group));
	struct kdtree tree = { 0 };
	int groups, error = -ENOMEM;

	if (!open || !found || !group)
		goto out;
	for (size_t i = 0; i < refiner->count; i++)
		open[i] = !refiner->label[i] || !refiner->done[refiner->label[i]];
	error = kdtree_filter(&tree, &refiner->tree, open);
	if (error)
		goto out;
	groups = dbscan_within(&tree, refiner->count, eps, min_points, found);
	error = groups < 0 ? groups : 0;
	for (size_t i = 0; !error && i < refiner->count; i++)
		if (found[i])
			group[refiner->label[i]] = found[i];
	if (!error)
		error = found_clusters(refiner, found, (uint32_t)groups, !credible);
	group[0] = 0;
	if (!error)
		error = join_mixed(refiner, group, NULL);
out:
	kdtree_fini(&tree);
	free(open);
	free(found);
	free(group);
	return error;
}

static int mark_done(struct refiner *refiner, double target)
{
	int error = score_now(refiner);

	for (uint32_t cluster = 1; !error && cluster <= refiner->clusters; cluster++)
		refiner->done[cluster] =
				refiner->done[cluster] || refiner->score.cluster[cluster] >= target;
	return error;
}

/* Gives noise to the nearest burst's cluster of those that the other tasks execute in its column. */
static void absorb_by_sequence(struct refiner *refiner)
{
	const struct sequence_bursts *bursts = refiner->bursts;

	for (size_t i = 0; i < refiner->count; i++) {
		uint32_t column = refiner->alignment.column[i];
		double least = PHASE_REACH * PHASE_REACH;

		if (refiner->label[i])
			continue;
		for (size_t at = refiner->column_begin[column];
				at < refiner->column_begin[column + 1]; at++) {
			size_t mate = refiner->by_column[at];
			double distance = kdtree_distance2(bursts->points + i * bursts->dims,
					bursts->points + mate * bursts->dims, bursts->dims);

			if (refiner->label[mate] && distance <= least) {
				least = distance;
				refiner->label[i] = refiner->label[mate];
			}
		}
	}
}

static int sort_columns(struct refiner *refiner)
{
	size_t columns = refiner->alignment.columns;
	size_t *begin = calloc(columns + 2, sizeof(*begin));

	refiner->column_begin = begin;
	refiner->by_column = malloc((refiner->count + 1) * sizeof(*refiner->by_column));
	if (!begin || !refiner->by_column)
		return -ENOMEM;
	/* begin[c + 1] runs from the start to the end of column c while it is filled */
	for (size_t i = 0; i < refiner->count; i++)
		if (refiner->alignment.column[i] + 2 <= columns)
			begin[refiner->alignment.column[i] + 2]++;
	for (size_t c = 2; c <= columns; c++)
		begin[c] += begin[c - 1];
	for (size_t i = 0; i < refiner->count; i++)
		refiner->by_column[begin[refiner->alignment.column[i] + 1]++] = (uint32_t)i;
	return 0;
}

/* Chooses the Eps of each step (6.2.2), no finer than counters are exact and no wider than PHASE_REACH. */
static int choose_eps(struct refiner *refiner, struct refinement *out)
{
	double *distance = malloc((refiner->count + 1) * sizeof(*distance));
	size_t k = refiner->min_points > 1 ? refiner->min_points - 1 : 1;
	int found = distance ? 0 : -ENOMEM;

	if (!found && k < refiner->count)
		found = epsilon_distances(&refiner->tree, k, distance);
	if (found > 0)
		epsilon_range(distance, (size_t)found, out->steps, out->eps);
	/* a single task scores 1 at any Eps, because no other task distinguishes noise from phases */
	for (uint32_t step = 0; step < out->steps; step++)
		out->eps[step] = fmin(
				fmax(out->eps[step], refiner->sequences > 1 ? EPS_MIN : PLAIN_EPS),
				PHASE_REACH);
	free(distance);
	return found < 0 ? found : 0;
}

static int take_columns(struct alignment *alignment, const struct refine_settings *settings,
		size_t count)
{
	alignment->columns = settings->columns;
	alignment->peers = settings->peers;
	alignment->column = malloc((count + 1) * sizeof(*alignment->column));
	if (!alignment->column)
		return -ENOMEM;
	memcpy(alignment->column, settings->column, count * sizeof(*alignment->column));
	return 0;
}

static int refiner_init(struct refiner *refiner, const struct refine_settings *settings)
{
	const struct sequence_bursts *bursts = refiner->bursts;
	struct refinement *out = refiner->out;
	int error;

	out->steps = settings->steps ? settings->steps : STEPS;
	refiner->target = settings->target > 0 ? settings->target : SCORE_DONE;
	refiner->min_points = settings->min_points;
	if (!refiner->min_points && refiner->sequences > 1)
		refiner->min_points = refiner->sequences / 4 > 2 ? refiner->sequences / 4 : 2;
	else if (!refiner->min_points)
		refiner->min_points = refiner->count / 100 < PLAIN_POINTS ?
				2 + refiner->count / 100 :
				PLAIN_POINTS;
	out->eps = calloc(out->steps, sizeof(*out->eps));
	out->global = calloc(out->steps + 1, sizeof(*out->global));
	refiner->done = calloc(refiner->count + 1, sizeof(*refiner->done));
	if (!out->eps || !out->global || !refiner->done)
		return -ENOMEM;
	error = kdtree_init(&refiner->tree, bursts->points, refiner->count, bursts->dims);
	if (!error)
		error = choose_eps(refiner, out);
	if (!error && settings->column)
		error = take_columns(&refiner->alignment, settings, refiner->count);
	else if (!error)
		error = align_points(&refiner->alignment, bursts->points, bursts->dims,
				bursts->first, bursts->sequences);
	return error ? error : sort_columns(refiner);
}

static void refiner_fini(struct refiner *refiner)
{
	kdtree_fini(&refiner->tree);
	alignment_fini(&refiner->alignment);
	score_fini(&refiner->score);
	free(refiner->by_column);
	free(refiner->column_begin);
	free(refiner->done);
}

/* Runs one pass of algorithm 1's loop. */
static int refine_step(struct refiner *refiner, uint32_t step)
{
	double eps = refiner->out->eps[step];
	int error = aggregate(refiner, eps, refiner->min_points, eps > 2 * refiner->out->eps[0]);

	if (!error && step)
		error = absorb_noise(refiner, eps);
	return error ? error : mark_done(refiner, refiner->target);
}

/*
 * Clusters the bursts of clusters without a pattern again, by plain DBSCAN with its usual parameters (4.4).
 * Only density supports such clusters.
 */
static int settle_patternless(struct refiner *refiner)
{
	int error = mark_done(refiner, SCORE_CREDIBLE);

	for (size_t i = 0; i < refiner->count; i++)
		if (!refiner->done[refiner->label[i]])
			refiner->label[i] = 0;
	return error ? error :
		       aggregate(refiner, fmax(PLAIN_EPS, 2 * refiner->out->eps[0]),
				       refiner->min_points > PLAIN_POINTS ? refiner->min_points :
									    PLAIN_POINTS,
				       false);
}

/*
 * Does the work of algorithm 1's ProcessLastPartition: joins simultaneous clusters if they touch across a gap
 * or their middles are near.
 */
static int merge_by_sequences(struct refiner *refiner)
{
	uint32_t *found = malloc((refiner->count + 1) * sizeof(*found));
	uint32_t *group = calloc(refiner->clusters + 1, sizeof(*group));
	double *centre = centres_of(refiner);
	int error = -ENOMEM;

	if (found && group && centre)
		error = dbscan_within(&refiner->tree, refiner->count, PHASE_GAP, 1, found);
	for (size_t i = 0; error > 0 && i < refiner->count; i++)
		group[refiner->label[i]] = found[i];
	if (error >= 0) {
		group[0] = 0;
		error = join_mixed(refiner, group, centre);
	}
	free(found);
	free(group);
	free(centre);
	absorb_by_sequence(refiner);
	if (!error)
		error = settle_patternless(refiner);
	if (!error) {
		error = partition_by_time(refiner->label, refiner->clusters,
				refiner->bursts->duration, refiner->count);
		refiner->clusters = error < 0 ? 0 : (uint32_t)error;
	}
	if (error < 0)
		return error;
	if (refiner->columns_given)
		return score_now(refiner);
	/* the final partition is scored by its labels, as it would be by any other tool */
	score_fini(&refiner->score);
	return score_sequences(&refiner->score, refiner->label, refiner->clusters + 1,
			refiner->bursts, NULL, NULL);
}

int refine(struct refinement *refinement, const struct sequence_bursts *bursts,
		const struct refine_settings *settings, uint32_t *label)
{
	static const struct refine_settings defaults;
	size_t count = bursts->first[bursts->sequences];
	struct refiner refiner = { .bursts = bursts,
		.count = count,
		.sequences = bursts->sequences,
		.label = label,
		.out = refinement };
	uint32_t *was = malloc((count + 1) * sizeof(*was));
	int error;

	*refinement = (struct refinement){ 0 };
	if (!settings)
		settings = &defaults;
	if (settings->column) {
		refiner.columns_given = true;
		refiner.sequences = settings->peers;
	}
	memset(label, 0, count * sizeof(*label));
	error = was ? refiner_init(&refiner, settings) : -ENOMEM;
	for (uint32_t step = 0; !error && step <= refinement->steps; step++) {
		memcpy(was, label, count * sizeof(*was));
		if (settings->progress)
			settings->progress(settings->data, step, refinement->steps + 1);
		error = step < refinement->steps ? refine_step(&refiner, step) :
						   merge_by_sequences(&refiner);
		if (!error)
			error = add_level(&refiner, step, step ? was : NULL);
	}
	refinement->clusters = refiner.clusters;
	refiner_fini(&refiner);
	free(was);
	return error;
}

void refinement_fini(struct refinement *refinement)
{
	free(refinement->eps);
	free(refinement->global);
	free(refinement->node);
	*refinement = (struct refinement){ 0 };
}
