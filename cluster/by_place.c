/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/by_place.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cluster/density/kdtree.h"
#include "cluster/density/sort.h"
#include "cluster/density/space.h"
#include "cluster/sequence/partition.h"

/*
 * Least share of all bursts that a place must have in a cluster to be considered, and least share of the
 * cluster to be split off. A place that is considered has prototypes of its own, so that it can be split off or
 * joined again without loss when more is known.
 */
#define OF_ALL     0.01
#define OF_CLUSTER 0.03

/* Share of their cluster's time from which bursts of the other places stay a phase. */
#define OF_REST 0.02

/*
 * Least regularity of a place that is split off, and its largest width as a multiple of its cluster's. The
 * _KEPT values are for places that are phases of their own already, so that phases do not come and go with the
 * sample.
 */
#define REGULAR      0.6
#define REGULAR_KEPT 0.4
#define TIGHT        0.5
#define TIGHT_KEPT   0.7

/*
 * Share of a place's bursts and of their time up to which a part is no phase of its own, but the tail of the
 * place's largest part: bursts that the machine disturbed.
 */
#define TAIL_SHARE  0.01
#define NOISE_REACH 0.15 /* largest distance of noise from its place, in a space of 0 .. 1 */

#define WIDTH_NARROW 0.02 /* width at which a cluster is tight enough, in a space of 0 .. 1 */
#define BURSTS_MIN   8    /* number of bursts from which a width is known */

/* Least time of other places of the cluster in the tasks that run a place, as a share of the place's time. */
#define COMPANY 0.1

/* A burst in the order of labels, then places. */
struct entry {
	uint32_t label, place, burst;
};

/* The bursts of one place in one cluster: [begin, end) of the entries. */
struct group {
	size_t begin, end;
	uint32_t place;
	double time;
	bool looked_at, large;
	bool apart;     /* becomes a cluster of its own, or (join_tail) joins its place's largest */
	size_t told;    /* number of bursts whose `regular` is known */
	double regular; /* sum over these */
};

struct splitter {
	struct by_place *sample;
	struct entry *entry;
	struct group *group;
	double *value;     /* scratch space for a coordinate of each burst */
	double *phase;     /* time by previous phase */
	struct home *home; /* clusters of the present place */
	struct task {
		uint32_t process;
		bool runs, near; /* the task, or a thread of its process, runs a place */
	} * task;
	uint32_t phases;   /* highest number of a previous phase */
	size_t entries;    /* number of bursts that are not noise */
	double total_time; /* of these bursts */
};

static int by_label(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->burst > y->burst) - (x->burst < y->burst);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Returns whether a group has a share of `time`, or of `bursts` bursts. The sample is drawn by time, so both
 * are equivalent, except that a few bursts that waited for a processor may have most of the time.
 */
static bool group_is_phase(const struct group *group, double share, double time, size_t bursts)
{
	return group->time >= share * time ||
			(double)(group->end - group->begin) >= share * (double)bursts;
}

/* Groups the entries [begin, end) of one cluster by place; returns how many groups there are. */
static size_t find_groups(struct splitter *splitter, size_t begin, size_t end)
{
	const struct by_place *sample = splitter->sample;
	size_t groups = 0;
	double time = 0;

	for (size_t i = begin; i < end; i++) {
		const struct entry *entry = &splitter->entry[i];
		struct group *group;

		if (i == begin || entry->place != entry[-1].place)
			splitter->group[groups++] =
					(struct group){ .begin = i, .place = entry->place };
		group = &splitter->group[groups - 1];
		group->end = i + 1;
		group->time += sample->duration[entry->burst];
		time += sample->duration[entry->burst];
		if (sample->regular[entry->burst] >= 0) {
			group->told++;
			group->regular += (double)sample->regular[entry->burst];
		}
	}
	for (size_t g = 0; g < groups; g++) {
		struct group *group = &splitter->group[g];

		group->looked_at = group->place &&
				group_is_phase(group, OF_ALL, splitter->total_time,
						splitter->entries);
		group->large = group->looked_at &&
				group_is_phase(group, OF_CLUSTER, time, end - begin);
	}
	return groups;
}

/* Returns the width of the middle four fifths of the entries [begin, end), over all dimensions. */
static double width_of(struct splitter *splitter, size_t begin, size_t end)
{
	const struct by_place *sample = splitter->sample;
	size_t count = end - begin, tenth = count / 10;
	double width = 0;

	for (uint32_t dim = 0; dim < sample->dims; dim++) {
		double across;

		for (size_t i = begin; i < end; i++)
			splitter->value[i - begin] =
					sample->point[(size_t)splitter->entry[i].burst *
									sample->dims +
							dim];
		sort_items(splitter->value, count, sizeof(*splitter->value), by_value);
		across = splitter->value[count - 1 - tenth] - splitter->value[tenth];
		width += across * across;
	}
	return sqrt(width);
}

/* Adds the time of a group's bursts to the phases that they have had; returns the largest's number. */
static uint32_t add_phases(struct splitter *splitter, const struct group *group)
{
	const struct by_place *sample = splitter->sample;
	uint32_t most = 0;

	for (size_t i = group->begin; i < group->end; i++) {
		uint32_t burst = splitter->entry[i].burst, phase = sample->previous[burst];

		splitter->phase[phase] += sample->duration[burst];
		if (phase && (!most || splitter->phase[phase] > splitter->phase[most]))
			most = phase;
	}
	return most;
}

/* Returns whether the group was a phase of its own until now: it is most of the phase's part of the cluster. */
static bool was_apart(struct splitter *splitter, size_t groups, const struct group *group)
{
	uint32_t phase;
	double own;

	for (uint32_t p = 0; p <= splitter->phases; p++)
		splitter->phase[p] = 0;
	phase = add_phases(splitter, group);
	own = splitter->phase[phase];
	if (!phase || own < group->time / 2)
		return false;
	for (size_t g = 0; g < groups; g++)
		if (&splitter->group[g] != group)
			add_phases(splitter, &splitter->group[g]);
	return splitter->phase[phase] - own <= own / 4;
}

static bool is_regular(const struct group *group, double least)
{
	return group->told && group->regular >= least * (double)group->told;
}

static bool is_tight(struct splitter *splitter, const struct group *group, double width,
		double most)
{
	return group->end - group->begin >= BURSTS_MIN && width >= WIDTH_NARROW &&
			width_of(splitter, group->begin, group->end) <= most * width;
}

/* Marks the tasks that run a group, and those whose process does. Tasks of one process are neighbours. */
static void mark_tasks(struct splitter *splitter, const struct group *group)
{
	const struct by_place *sample = splitter->sample;

	for (uint32_t task = 0; task < sample->tasks; task++)
		splitter->task[task].runs = splitter->task[task].near = false;
	for (size_t i = group->begin; i < group->end; i++)
		splitter->task[sample->task[splitter->entry[i].burst]].runs = true;
	for (uint32_t begin = 0, end; begin < sample->tasks; begin = end) {
		bool runs = false;

		for (end = begin; end < sample->tasks &&
				splitter->task[end].process == splitter->task[begin].process;
				end++)
			runs |= splitter->task[end].runs;
		for (uint32_t task = begin; task < end; task++)
			splitter->task[task].near = runs;
	}
}

/* Returns whether a group's processes run other places of the cluster, but in other threads. */
static bool is_of_other_threads(struct splitter *splitter, size_t groups, const struct group *group)
{
	const struct by_place *sample = splitter->sample;
	size_t begin = splitter->group[0].begin, end = splitter->group[groups - 1].end;
	double in_tasks = 0, in_processes = 0;

	mark_tasks(splitter, group);
	for (size_t i = begin; i < end; i++) {
		uint32_t burst = splitter->entry[i].burst;
		const struct task *task = &splitter->task[sample->task[burst]];

		if (i >= group->begin && i < group->end)
			continue;
		in_tasks += task->runs ? sample->duration[burst] : 0;
		in_processes += task->near ? sample->duration[burst] : 0;
	}
	return in_tasks < COMPANY * group->time && in_processes >= COMPANY * group->time;
}

/* Marks the groups that become phases of their own. Returns their number. */
static size_t judge_groups(struct splitter *splitter, size_t groups)
{
	size_t apart = 0, begin = splitter->group[0].begin, end = splitter->group[groups - 1].end;
	double width = width_of(splitter, begin, end);

	for (size_t g = 0; g < groups; g++) {
		struct group *group = &splitter->group[g];
		bool kept = group->large && was_apart(splitter, groups, group);

		group->apart = group->large &&
				(is_regular(group, kept ? REGULAR_KEPT : REGULAR) ||
						is_tight(splitter, group, width,
								kept ? TIGHT_KEPT : TIGHT)) &&
				!is_of_other_threads(splitter, groups, group);
		apart += group->apart;
	}
	return apart;
}

/* Gives the groups that are apart clusters of their own. The others keep the cluster's number. */
static void split_groups(struct splitter *splitter, size_t groups)
{
	struct by_place *sample = splitter->sample;
	double time = 0, rest = 0;
	size_t largest = groups;

	for (size_t g = 0; g < groups; g++) {
		const struct group *group = &splitter->group[g];

		time += group->time;
		rest += group->apart ? 0 : group->time;
		if (group->apart &&
				(largest == groups || group->time > splitter->group[largest].time))
			largest = g;
	}
	for (size_t g = 0; g < groups; g++) {
		const struct group *group = &splitter->group[g];

		if (!group->apart || (g == largest && rest < OF_REST * time))
			continue;
		sample->clusters++;
		for (size_t i = group->begin; i < group->end; i++)
			sample->label[splitter->entry[i].burst] = sample->clusters;
	}
}

static void split_cluster(struct splitter *splitter, size_t begin, size_t end)
{
	size_t groups = find_groups(splitter, begin, end);

	for (size_t g = 0; g < groups; g++)
		for (size_t i = splitter->group[g].begin;
				i < splitter->group[g].end && splitter->group[g].looked_at; i++)
			splitter->sample->own[splitter->entry[i].burst] = splitter->group[g].place;
	if (groups > 1 && judge_groups(splitter, groups))
		split_groups(splitter, groups);
}

static int by_code(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return (x->burst > y->burst) - (x->burst < y->burst);
}

/* A cluster that takes bursts of a place, and the box of the place's bursts in it. */
struct home {
	uint32_t label;
	double low[SPACE_DIMS_MAX], high[SPACE_DIMS_MAX];
};

static void find_home(const struct splitter *splitter, const struct group *group, struct home *home)
{
	const struct by_place *sample = splitter->sample;

	home->label = splitter->entry[group->begin].label;
	for (uint32_t dim = 0; dim < sample->dims; dim++) {
		home->low[dim] = INFINITY;
		home->high[dim] = -INFINITY;
	}
	for (size_t i = group->begin; i < group->end; i++)
		for (uint32_t dim = 0; dim < sample->dims; dim++) {
			double at = sample->point[(size_t)splitter->entry[i].burst * sample->dims +
					dim];

			home->low[dim] = fmin(home->low[dim], at);
			home->high[dim] = fmax(home->high[dim], at);
		}
}

/* Returns whether a part of a place is as long as the bursts of its home, or nearly. */
static bool is_alike(const struct by_place *sample, const struct home *home,
		const struct home *part)
{
	for (uint32_t dim = 0; dim < sample->dims; dim++)
		if (part->low[dim] - home->high[dim] > sample->near[dim] ||
				home->low[dim] - part->high[dim] > sample->near[dim])
			return false;
	return true;
}

/*
 * Adds the parts of a place that are alike to the home of its largest cluster, and repeats this with the grown
 * home. Density alone makes several clusters of a place of which few bursts were read.
 */
static void grow_home(struct splitter *splitter, size_t groups, struct home *home)
{
	const struct by_place *sample = splitter->sample;

	for (bool grown = true; grown;) {
		grown = false;
		for (size_t g = 0; g < groups; g++) {
			struct group *group = &splitter->group[g];
			struct home part;

			if (group->apart || !splitter->entry[group->begin].label)
				continue;
			find_home(splitter, group, &part);
			if (!is_alike(sample, home, &part))
				continue;
			group->apart = grown = true;
			for (uint32_t dim = 0; dim < sample->dims; dim++) {
				home->low[dim] = fmin(home->low[dim], part.low[dim]);
				home->high[dim] = fmax(home->high[dim], part.high[dim]);
			}
		}
	}
}

/* Groups the entries [begin, end) of one place by label. Returns the number of groups. */
static size_t find_parts(struct splitter *splitter, size_t begin, size_t end)
{
	struct group *group = splitter->group;
	size_t groups = 0;

	for (size_t i = begin; i < end; i++) {
		const struct entry *entry = &splitter->entry[i];

		if (i == begin || entry->label != entry[-1].label)
			group[groups++] = (struct group){ .begin = i };
		group[groups - 1].end = i + 1;
		group[groups - 1].time += splitter->sample->duration[entry->burst];
	}
	return groups;
}

/* Returns the largest part that is in a cluster, or NULL if all of the place's bursts are noise. */
static struct group *largest_part(const struct splitter *splitter, size_t groups)
{
	struct group *largest = NULL;

	for (size_t g = 0; g < groups; g++) {
		struct group *group = &splitter->group[g];

		if (splitter->entry[group->begin].label &&
				(!largest || group->time > largest->time))
			largest = group;
	}
	return largest;
}

/*
 * Returns whether some bursts of a place, whose entries are [begin, end), are to have prototypes of their own.
 */
static bool is_looked_at(const struct splitter *splitter, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (splitter->sample->own[splitter->entry[i].burst])
			return true;
	return false;
}

static bool is_noise(const struct splitter *splitter, const struct group *group)
{
	return !splitter->entry[group->begin].label;
}

/* Returns whether a part of a place is too little to be a phase, if the place has `bursts` bursts in `time`. */
static bool is_tail(const struct group *group, size_t bursts, double time)
{
	return (double)(group->end - group->begin) <= TAIL_SHARE * (double)bursts &&
			group->time <= TAIL_SHARE * time;
}

/*
 * Lists the homes of a place: the grown one of its largest part first, then those of the other parts
 * that are neither noise nor tails. Marks in `apart` the parts that the first one has grown by.
 */
static size_t find_homes(struct splitter *splitter, size_t groups, struct group *largest)
{
	size_t bursts = 0, homes = 1;
	double time = 0;

	for (size_t g = 0; g < groups; g++) {
		bursts += splitter->group[g].end - splitter->group[g].begin;
		time += splitter->group[g].time;
	}
	find_home(splitter, largest, &splitter->home[0]);
	largest->apart = true;
	grow_home(splitter, groups, &splitter->home[0]);
	for (size_t g = 0; g < groups; g++) {
		struct group *group = &splitter->group[g];

		group->large = !is_noise(splitter, group) && !is_tail(group, bursts, time);
		if (group->large && !group->apart)
			find_home(splitter, group, &splitter->home[homes++]);
	}
	return homes;
}

/* Returns the home that a burst is nearest to, and the squared distance to its box. */
static const struct home *nearest_home(const struct splitter *splitter, size_t homes,
		uint32_t burst, double *distance2)
{
	const struct by_place *sample = splitter->sample;
	const double *point = &sample->point[(size_t)burst * sample->dims];
	const struct home *nearest = NULL;

	for (size_t h = 0; h < homes; h++) {
		const struct home *home = &splitter->home[h];
		double distance = 0;

		for (uint32_t dim = 0; dim < sample->dims; dim++)
			distance += kdtree_outside2(home->low[dim], home->high[dim], point[dim]);
		if (nearest && distance >= *distance2)
			continue;
		nearest = home;
		*distance2 = distance;
	}
	return nearest;
}

/* Gives the bursts of a part of a place to the homes that they belong to, if they belong to any. */
static void join_part(struct splitter *splitter, const struct group *group, size_t homes)
{
	struct by_place *sample = splitter->sample;

	for (size_t i = group->begin; i < group->end; i++) {
		uint32_t burst = splitter->entry[i].burst;
		const struct home *home = &splitter->home[0];
		double distance2 = 0;

		if (!group->apart)
			home = nearest_home(splitter, homes, burst, &distance2);
		if (!is_noise(splitter, group) || distance2 <= NOISE_REACH * NOISE_REACH)
			sample->label[burst] = home->label;
	}
}

/*
 * Joins the parts of a place that are alike to its largest cluster. Joins the tails and the noise of the place
 * to the nearest clusters. The place's entries are [begin, end). If one part of the place has prototypes of its
 * own, all have, so that its bursts need none of any place.
 */
static void join_tail(struct splitter *splitter, size_t begin, size_t end)
{
	struct by_place *sample = splitter->sample;
	size_t groups = find_parts(splitter, begin, end), homes;
	struct group *largest = largest_part(splitter, groups);

	if (!largest || !is_looked_at(splitter, begin, end))
		return;
	homes = find_homes(splitter, groups, largest);
	for (size_t g = 0; g < groups; g++)
		if (splitter->group[g].apart || !splitter->group[g].large)
			join_part(splitter, &splitter->group[g], homes);
	for (size_t i = begin; i < end; i++)
		if (sample->label[splitter->entry[i].burst])
			sample->own[splitter->entry[i].burst] = splitter->entry[i].place;
}

static void join_tails(struct splitter *splitter)
{
	const struct by_place *sample = splitter->sample;

	for (uint32_t i = 0; i < sample->count; i++)
		splitter->entry[i] = (struct entry){ sample->label[i], sample->place[i], i };
	sort_items(splitter->entry, sample->count, sizeof(*splitter->entry), by_code);
	for (size_t begin = 0, end; begin < sample->count; begin = end) {
		uint32_t place = splitter->entry[begin].place;

		for (end = begin + 1; end < sample->count && splitter->entry[end].place == place;)
			end++;
		if (place)
			join_tail(splitter, begin, end);
	}
}

static int splitter_init(struct splitter *splitter)
{
	const struct by_place *sample = splitter->sample;
	size_t room = sample->count + 1;

	for (size_t i = 0; i < sample->count; i++)
		if (sample->previous[i] > splitter->phases)
			splitter->phases = sample->previous[i];
	splitter->entry = malloc(room * sizeof(*splitter->entry));
	splitter->group = malloc(room * sizeof(*splitter->group));
	splitter->value = malloc(room * sizeof(*splitter->value));
	splitter->phase = malloc((splitter->phases + 1) * sizeof(*splitter->phase));
	splitter->home = malloc(room * sizeof(*splitter->home));
	splitter->task = malloc((sample->tasks + 1) * sizeof(*splitter->task));
	if (!splitter->entry || !splitter->group || !splitter->value || !splitter->phase ||
			!splitter->home || !splitter->task)
		return -ENOMEM;
	for (size_t i = 0; i < sample->count; i++)
		splitter->task[sample->task[i]].process = sample->process[i];
	for (uint32_t i = 0; i < sample->count; i++) {
		sample->own[i] = 0;
		if (!sample->label[i])
			continue;
		splitter->entry[splitter->entries++] =
				(struct entry){ sample->label[i], sample->place[i], i };
		splitter->total_time += sample->duration[i];
	}
	sort_items(splitter->entry, splitter->entries, sizeof(*splitter->entry), by_label);
	return 0;
}

int by_place_split(struct by_place *sample)
{
	struct splitter splitter = { .sample = sample };
	int error = splitter_init(&splitter);

	for (size_t begin = 0, end; !error && begin < splitter.entries; begin = end) {
		for (end = begin + 1; end < splitter.entries &&
				splitter.entry[end].label == splitter.entry[begin].label;)
			end++;
		split_cluster(&splitter, begin, end);
	}
	if (!error)
		join_tails(&splitter);
	if (!error)
		error = partition_by_time(sample->label, sample->clusters, sample->duration,
				sample->count);
	if (error >= 0)
		sample->clusters = (uint32_t)error;
	free(splitter.entry);
	free(splitter.group);
	free(splitter.value);
	free(splitter.phase);
	free(splitter.home);
	free(splitter.task);
	return error < 0 ? error : 0;
}
