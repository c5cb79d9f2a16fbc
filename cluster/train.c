/* SPDX-License-Identifier: BSD-3-Clause */
/* prototypes_train, which makes the next generation of a table from a sample of bursts. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cluster/by_place.h"
#include "cluster/density/sort.h"
#include "cluster/prototypes.h"
#include "cluster/sample_clusters.h"
#include "cluster/track.h"

/* Distance that a phase reaches beyond the bursts that were sampled, in a space scaled to 0 .. 1. */
#define TRAIN_EPS 0.005

/* Largest share of the free prototypes for one generation, so that later ones have room. */
#define ROOM_SHARE 0.5

/* Largest difference of the lengths of parts of a place that count as one length, as a share of the length. */
#define LENGTHS_ALIKE 0.06

/*
 * Weight of a burst's vote when a prototype of any place is relabelled, if the burst's place has or gets
 * prototypes of its own. Such a prototype will not take these bursts any more.
 */
#define LEAVING_WEIGHT 1e-3

struct training {
	uint32_t dims;
	size_t count;
	double *point;    /* count x dims */
	double *duration; /* seconds */
	uint32_t *task;   /* numbered without gaps, in ascending order */
	uint32_t tasks;
	uint32_t *process; /* process of each burst's task */
	uint64_t *execution;
	uint32_t *place; /* 0 if it is not known */
	float *regular;
	uint32_t *own;      /* the place, if it has prototypes of its own */
	uint32_t *previous; /* phase in the previous generation */
	int *nearest;       /* prototype of the previous generation, moved with the space */
	uint32_t *label;    /* 0 noise, else 1 .. clusters */
	uint32_t *phase;    /* 1 .. clusters -> phase number; [0] unused */
	uint32_t clusters;
	double eps;
};

static void training_fini(struct training *training)
{
	free(training->point);
	free(training->duration);
	free(training->task);
	free(training->process);
	free(training->execution);
	free(training->place);
	free(training->regular);
	free(training->own);
	free(training->previous);
	free(training->nearest);
	free(training->label);
	free(training->phase);
}

static int by_task(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Numbers the tasks without gaps. */
static int number_tasks(struct training *training)
{
	uint32_t *known = malloc((training->count + 1) * sizeof(*known));

	if (!known)
		return -ENOMEM;
	memcpy(known, training->task, training->count * sizeof(*known));
	sort_items(known, training->count, sizeof(*known), by_task);
	for (size_t i = 0; i < training->count; i++)
		if (!i || known[i] != known[training->tasks - 1])
			known[training->tasks++] = known[i];
	for (size_t i = 0; i < training->count; i++) {
		const uint32_t *found = bsearch(&training->task[i], known, training->tasks,
				sizeof(*known), by_task);

		training->task[i] = (uint32_t)(found - known);
	}
	free(known);
	return 0;
}

/* Copies the bursts that have a place in the space. */
static int training_init(struct training *training, const struct training_sample *sample,
		const struct space *space)
{
	size_t room = sample->count ? sample->count : 1;

	training->dims = space->dims;
	training->point = malloc(room * space->dims * sizeof(double));
	training->duration = malloc(room * sizeof(double));
	training->task = malloc(room * sizeof(uint32_t));
	training->process = malloc(room * sizeof(uint32_t));
	training->execution = malloc(room * sizeof(uint64_t));
	training->label = malloc(room * sizeof(uint32_t));
	training->place = calloc(room, sizeof(uint32_t));
	training->regular = calloc(room, sizeof(float));
	training->own = calloc(room, sizeof(uint32_t));
	training->previous = calloc(room, sizeof(uint32_t));
	training->nearest = malloc(room * sizeof(int));
	if (!training->point || !training->duration || !training->task || !training->process ||
			!training->execution || !training->label || !training->place ||
			!training->regular || !training->own || !training->previous ||
			!training->nearest)
		return -ENOMEM;
	for (size_t i = 0; i < sample->count; i++) {
		if (!space_place(space, sample->metrics + i * space->dims,
				    training->point + training->count * space->dims))
			continue;
		training->task[training->count] = sample->task[i];
		training->process[training->count] = sample->task[i] /
				(sample->process_tasks ? sample->process_tasks : 1);
		if (sample->place) {
			training->place[training->count] = sample->place[i];
			training->regular[training->count] = sample->regular[i];
		}
		training->execution[training->count] = sample->execution[i];
		training->duration[training->count++] = sample->duration[i];
	}
	return number_tasks(training);
}

/* Fills near with the distance in the space of bursts that differ by LENGTHS_ALIKE, by dimension. */
static void find_near(const struct space *space, double *near)
{
	for (uint32_t dim = 0; dim < space->dims; dim++) {
		double highest = fabs(space->lowest[dim] + space->range[dim]);
		double apart = space->logarithmic[dim] ? log10(1 + LENGTHS_ALIKE) :
							 LENGTHS_ALIKE * highest;

		near[dim] = apart / space->range[dim] * space->weight[dim];
	}
}

/* Labels the points, and sets training->eps. */
static int find_clusters(struct training *training, const struct space *space, bool by_place)
{
	double near[SPACE_DIMS_MAX];
	struct sample_clusters sample = { training->dims, training->count, training->point,
		training->duration, training->task, training->tasks, training->execution,
		training->label, 0 };
	int error = sample_clusters_find(&sample);

	training->clusters = sample.clusters;
	training->eps = TRAIN_EPS;
	if (!error && by_place) {
		struct by_place split = { .dims = training->dims,
			.count = training->count,
			.point = training->point,
			.near = near,
			.duration = training->duration,
			.task = training->task,
			.tasks = training->tasks,
			.process = training->process,
			.place = training->place,
			.regular = training->regular,
			.previous = training->previous,
			.label = training->label,
			.clusters = training->clusters,
			.own = training->own };

		find_near(space, near);
		error = by_place_split(&split);
		training->clusters = split.clusters;
	}
	return error;
}

/*
 * Moves old prototypes with the grown ranges. Their radius shrinks by the factor nearest to 1 of all
 * dimensions.
 */
static void move_prototypes(struct prototype_table *table, const struct space *old)
{
	const struct space *new = &table->space;
	double most = 0;

	/* in a loop of its own, because gcc 12.2 for ARM64 crashes on this maximum within the next loop */
	for (uint32_t dim = 0; dim < new->dims; dim++)
		most = fmax(most, old->range[dim] / new->range[dim]);
	for (uint32_t p = 0; p < table->count; p++) {
		for (uint32_t dim = 0; dim < new->dims; dim++) {
			double value = old->lowest[dim] +
					table->all[p].point[dim] / old->weight[dim] *
							old->range[dim];

			table->all[p].point[dim] = (float)((value - new->lowest[dim]) /
					new->range[dim] * new->weight[dim]);
		}
		table->all[p].radius *= (float)most;
	}
}

static int nearest_to(const struct prototype_table *table, const struct training *training,
		size_t i)
{
	float point[SPACE_DIMS_MAX];

	for (uint32_t dim = 0; dim < training->dims; dim++)
		point[dim] = (float)training->point[i * training->dims + dim];
	return prototypes_nearest(table, point, training->place[i]);
}

/* Classifies the points by the old prototypes, which have moved with the space. */
static void classify_by_old(const struct prototype_table *table, struct training *training)
{
	for (size_t i = 0; i < training->count; i++) {
		training->nearest[i] = nearest_to(table, training, i);
		training->previous[i] = training->nearest[i] < 0 ?
				0 :
				table->all[training->nearest[i]].phase;
	}
}

/*
 * Lets the places that had prototypes of their own keep some, because no prototype of any place takes bursts of
 * such a place.
 */
static void keep_places(const struct prototype_table *table, struct training *training)
{
	for (size_t i = 0; i < training->count; i++)
		if (training->label[i] && prototypes_know_place(table, training->place[i]))
			training->own[i] = training->place[i];
}

/* Relabels old prototypes, and gives every cluster the number of the phase that it continues. */
static int continue_phases(struct prototype_table *table, struct training *training)
{
	const int *nearest = training->nearest;
	size_t news = training->clusters, olds = table->phases;
	double *overlap = calloc(news * olds + 1, sizeof(*overlap));
	double *votes = calloc((news + 1) * (table->count + 1), sizeof(*votes));
	int32_t *match = malloc((news + 1) * sizeof(*match));
	int error = -ENOMEM;

	training->phase = malloc((news + 1) * sizeof(*training->phase));
	if (!overlap || !votes || !match || !training->phase)
		goto out;
	for (size_t i = 0; i < training->count; i++) {
		bool leaving;

		if (nearest[i] < 0 || !training->label[i])
			continue;
		leaving = training->own[i] && !table->all[nearest[i]].place;
		overlap[(training->label[i] - 1) * olds + table->all[nearest[i]].phase - 1] +=
				training->duration[i];
		votes[(size_t)nearest[i] * (news + 1) + training->label[i]] +=
				training->duration[i] * (leaving ? LEAVING_WEIGHT : 1);
	}
	track_match(overlap, news, olds, 0, match);
	for (size_t i = 0; i < news; i++)
		training->phase[i + 1] = match[i] < 0 ? ++table->phases : (uint32_t)match[i] + 1;
	for (uint32_t p = 0; p < table->count; p++) {
		const double *vote = votes + (size_t)p * (news + 1);
		size_t best = 0;

		for (size_t i = 1; i <= news; i++)
			if (vote[i] > vote[best])
				best = i;
		if (best)
			table->all[p].phase = training->phase[best];
	}
	error = 0;
out:
	free(overlap);
	free(votes);
	free(match);
	return error;
}

/* Sets the share of the sample's time that has the phase of the previous generation. */
static void measure_stability(struct prototype_table *next, const struct prototype_table *previous,
		const struct training *training)
{
	double kept = 0, all = 0;

	for (size_t i = 0; i < training->count; i++) {
		uint32_t phase = training->label[i] ? training->phase[training->label[i]] : 0;
		uint32_t was = training->previous[i];

		all += training->duration[i];
		kept += was && was == phase ? training->duration[i] : 0;
	}
	next->kept = all > 0 ? (float)(kept / all) : 0;
	next->steady = next->kept >= PROTOTYPES_STEADY ? previous->steady + 1 : 0;
}

/* A part of a cluster: [begin, end) of an array of numbers. */
struct part {
	size_t begin, end;
};

/* Finds the widest side of the part's box, and its middle. Returns the squared diagonal. */
static double part_box(const struct training *training, const uint32_t *member, struct part part,
		uint32_t *widest, double *middle)
{
	double diagonal = 0, most = -1;

	for (uint32_t dim = 0; dim < training->dims; dim++) {
		double low = INFINITY, high = -INFINITY;

		for (size_t i = part.begin; i < part.end; i++) {
			double value = training->point[(size_t)member[i] * training->dims + dim];

			low = fmin(low, value);
			high = fmax(high, value);
		}
		diagonal += (high - low) * (high - low);
		if (high - low > most) {
			most = high - low;
			*widest = dim;
			*middle = low + (high - low) / 2;
		}
	}
	return diagonal;
}

/*
 * Halves the parts until each one's diagonal is at most `limit`, or there are more than `room`.
 * parts[] has room for room + 1. Returns the number of parts.
 */
static size_t split_parts(const struct training *training, uint32_t *member, double limit,
		struct part *parts, size_t count, size_t room)
{
	for (size_t at = 0; at < count && count <= room;) {
		uint32_t dim = 0;
		double middle = 0;
		size_t low = parts[at].begin, high = parts[at].end;

		if (part_box(training, member, parts[at], &dim, &middle) <= limit * limit) {
			at++;
			continue;
		}
		while (low < high) {
			if (training->point[(size_t)member[low] * training->dims + dim] <= middle) {
				low++;
			} else {
				uint32_t number = member[low];

				member[low] = member[--high];
				member[high] = number;
			}
		}
		parts[count++] = (struct part){ .begin = low, .end = parts[at].end };
		parts[at].end = low;
	}
	return count;
}

static void add_prototype(struct prototype_table *table, const struct training *training,
		const uint32_t *member, struct part part)
{
	struct prototype *p = &table->all[table->count++];
	double centre[SPACE_DIMS_MAX] = { 0 }, farthest = 0;

	for (size_t i = part.begin; i < part.end; i++)
		for (uint32_t dim = 0; dim < training->dims; dim++)
			centre[dim] += training->point[(size_t)member[i] * training->dims + dim] /
					(double)(part.end - part.begin);
	for (size_t i = part.begin; i < part.end; i++) {
		double distance = 0;

		for (uint32_t dim = 0; dim < training->dims; dim++) {
			double apart = training->point[(size_t)member[i] * training->dims + dim] -
					centre[dim];

			distance += apart * apart;
		}
		farthest = fmax(farthest, distance);
	}
	for (uint32_t dim = 0; dim < training->dims; dim++)
		p->point[dim] = (float)centre[dim];
	p->radius = (float)(sqrt(farthest) + training->eps);
	p->phase = training->phase[training->label[member[part.begin]]];
	p->place = training->own[member[part.begin]];
}

/* Returns whether a prototype takes the burst already: one of its phase, and of its place if that has some. */
static bool is_covered(const struct prototype_table *table, const struct training *training,
		size_t i)
{
	const struct prototype *nearest;

	if (training->nearest[i] < 0)
		return false;
	nearest = &table->all[training->nearest[i]];
	return nearest->phase == training->phase[training->label[i]] &&
			(!training->own[i] || nearest->place == training->own[i]);
}

/* A burst that no prototype takes yet. */
struct uncovered {
	uint32_t label, own, number;
};

static int by_label(const void *a, const void *b)
{
	const struct uncovered *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->own != y->own)
		return x->own < y->own ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * Lists the bursts that no prototype takes yet: member[] gets their numbers, and whole[] the parts of
 * one cluster and place, in order of the clusters. Returns how many parts there are, or -ENOMEM.
 */
static ssize_t find_uncovered(const struct prototype_table *table, const struct training *training,
		uint32_t *member, struct part *whole)
{
	struct uncovered *all = malloc((training->count + 1) * sizeof(*all));
	size_t count = 0, parts = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < training->count; i++)
		if (training->label[i] && !is_covered(table, training, i))
			all[count++] = (struct uncovered){ training->label[i], training->own[i],
				(uint32_t)i };
	sort_items(all, count, sizeof(*all), by_label);
	for (size_t i = 0; i < count; i++) {
		member[i] = all[i].number;
		if (!i || all[i].label != all[i - 1].label || all[i].own != all[i - 1].own)
			whole[parts++].begin = i;
		whole[parts - 1].end = i + 1;
	}
	free(all);
	return (ssize_t)parts;
}

/* Adds prototypes for the points that no prototype of their own phase covers. */
static int cover(struct prototype_table *table, const struct training *training)
{
	size_t room = PROTOTYPES_MAX - table->count, count = 0, wholes;
	uint32_t *member = malloc((training->count + 1) * sizeof(*member));
	struct part *whole = malloc((training->count + 1) * sizeof(*whole));
	struct part *parts = malloc((PROTOTYPES_MAX + 2 + training->count) * sizeof(*parts));
	ssize_t found = member && whole && parts ? find_uncovered(table, training, member, whole) :
						   -ENOMEM;

	/* parts are as small as the room allows; parts beyond the room stay unclassified */
	wholes = found > (ssize_t)room ? room : (size_t)(found > 0 ? found : 0);
	if (room * ROOM_SHARE > (double)wholes)
		room = (size_t)((double)room * ROOM_SHARE);
	for (double limit = 3 * training->eps; wholes; limit *= 1.3) {
		memcpy(parts, whole, wholes * sizeof(*whole));
		count = split_parts(training, member, limit, parts, wholes, room);
		if (count <= room)
			break;
	}
	for (size_t i = 0; i < count; i++)
		add_prototype(table, training, member, parts[i]);
	free(member);
	free(parts);
	free(whole);
	return found < 0 ? (int)found : 0;
}

int prototypes_describe(struct prototype_table *table, const double *points, size_t count,
		const uint32_t *label, uint32_t clusters, double eps)
{
	struct training training = { .dims = table->space.dims,
		.count = count,
		.point = (double *)points,
		.label = (uint32_t *)label,
		.own = calloc(count + 1, sizeof(*training.own)),
		.nearest = malloc((count + 1) * sizeof(*training.nearest)),
		.clusters = clusters,
		.eps = eps,
		.phase = malloc((clusters + 1) * sizeof(*training.phase)) };
	int error = -ENOMEM;

	if (training.phase && training.nearest && training.own) {
		for (uint32_t cluster = 0; cluster <= clusters; cluster++)
			training.phase[cluster] = cluster;
		for (size_t i = 0; i < count; i++)
			training.nearest[i] = -1;
		error = cover(table, &training);
	}
	if (!error) {
		table->phases = clusters;
		table->generation++;
		prototypes_index(table);
	}
	free(training.phase);
	free(training.own);
	free(training.nearest);
	return error;
}

int prototypes_train(const struct training_sample *sample, const struct prototype_table *previous,
		struct prototype_table *next)
{
	struct training training = { 0 };
	int error = -EINVAL;

	*next = *previous;
	if (!space_fit(&next->space, sample->metrics, sample->count, previous->generation > 0))
		return -EINVAL;
	space_widen(&next->space);
	move_prototypes(next, &previous->space);
	prototypes_index(next);
	error = training_init(&training, sample, &next->space);
	if (!error) {
		classify_by_old(next, &training);
		error = find_clusters(&training, &next->space, sample->place != NULL);
	}
	if (!error)
		keep_places(next, &training);
	if (!error)
		error = continue_phases(next, &training);
	if (!error)
		error = cover(next, &training);
	if (error) {
		*next = *previous;
	} else {
		measure_stability(next, previous, &training);
		prototypes_index(next);
		next->generation = previous->generation + 1;
	}
	training_fini(&training);
	return error;
}
