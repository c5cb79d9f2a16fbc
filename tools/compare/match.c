/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/match.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "cluster/track.h"

#define PAIRS_MAX  8    /* pairs of places of a phase that are compared */
#define SAME_PLACE 0.4  /* likeness of places from which they are the same */
#define MOVED      0.8  /* likeness of two places of one function in different lines */
#define OTHER_PATH 0.9  /* the same of one place that is called from elsewhere */
#define NEAR       0.3  /* decades in which behaviour may differ: a factor of 2 */
#define VERY_NEAR  0.08 /* decades, if the place has changed: a factor of 1.2 */

/* ---- places ---- */

static const char *text_of(const json_t *pair, const char *end, const char *suffix)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", end, suffix);
	return report_get_text(pair, key);
}

/* Returns whether two places without a function are in the same module: "module+0x1234". */
static bool same_module(const char *one, const char *other)
{
	size_t length = strcspn(one, "+:");

	return length == strcspn(other, "+:") && strncmp(one, other, length) == 0;
}

/* Returns whether the functions that lead to a place are the same. */
static bool same_path(const json_t *one, const json_t *other)
{
	size_t size = json_array_size(one);

	if (size != json_array_size(other))
		return false;
	for (size_t i = 0; i < size; i++)
		if (strcmp(report_get_text(json_array_get(one, i), "function"),
				    report_get_text(json_array_get(other, i), "function")) != 0)
			return false;
	return true;
}

/* Returns how alike one end of two pairs of places is, 0 .. 1. */
static double ends_alike(const json_t *one, const json_t *other, const char *end)
{
	const char *here = text_of(one, end, ""), *there = text_of(other, end, "");
	const char *function = text_of(one, end, "_function");
	char key[32];

	snprintf(key, sizeof(key), "%s_path", end);
	if (strcmp(text_of(one, end, "_call"), text_of(other, end, "_call")) != 0 ||
			strcmp(function, text_of(other, end, "_function")) != 0 ||
			(!*function && !same_module(here, there)))
		return 0;
	return (strcmp(here, there) == 0 ? 1 : MOVED) *
			(same_path(json_object_get(one, key), json_object_get(other, key)) ?
							1 :
							OTHER_PATH);
}

static const json_t *pair_of(const json_t *phase, size_t i)
{
	return i < PAIRS_MAX ? json_array_get(json_object_get(phase, "source"), i) : NULL;
}

static double share_of(const json_t *pair)
{
	double share = report_get(pair, "share");

	return share > 0 ? share : 0;
}

double match_places(const json_t *one, const json_t *other)
{
	double alike = 0, shares[2] = { 0 };
	const json_t *a, *b;

	for (size_t i = 0; (a = pair_of(one, i)); i++)
		shares[0] += share_of(a);
	for (size_t j = 0; (b = pair_of(other, j)); j++)
		shares[1] += share_of(b);
	if (!(shares[0] > 0) || !(shares[1] > 0))
		return -1;
	for (size_t i = 0; (a = pair_of(one, i)); i++) {
		double best = 0;

		for (size_t j = 0; (b = pair_of(other, j)); j++)
			best = fmax(best,
					ends_alike(a, b, "from") * ends_alike(a, b, "to") *
							fmin(share_of(a) / shares[0],
									share_of(b) / shares[1]));
		alike += best;
	}
	return fmin(alike, 1);
}

/* Returns whether the calls of the first places are the same, whatever functions make them. */
static bool same_calls(const json_t *one, const json_t *other)
{
	const json_t *a = pair_of(one, 0), *b = pair_of(other, 0);

	return !a || !b ||
			(strcmp(text_of(a, "from", "_call"), text_of(b, "from", "_call")) == 0 &&
					strcmp(text_of(a, "to", "_call"),
							text_of(b, "to", "_call")) == 0);
}

/* ---- behaviour ---- */

/* Returns how far apart two positive numbers are, in decades; 0 if one is not known. */
static double lengths_apart(double one, double other)
{
	return one > 0 && other > 0 ? fabs(log10(one / other)) : 0;
}

/* Returns how far apart the bursts of two phases are in length and IPC, in decades. */
static double phase_distance(const json_t *one, const json_t *other)
{
	double a = phase_instructions(one), b = phase_instructions(other);

	if (a > 0 && b > 0)
		return hypot(lengths_apart(a, b), lengths_apart(phase_ipc(one), phase_ipc(other)));
	return lengths_apart(phase_mean_seconds(one), phase_mean_seconds(other));
}

/* ---- matching ---- */

/* The phases of all runs are numbered in one row. head[]: another phase of the same group, itself at the end. */
struct forest {
	unsigned *head;
	bool *loose; /* matched by behaviour alone */
};

static unsigned root_of(const struct forest *forest, unsigned i)
{
	while (forest->head[i] != i)
		i = forest->head[i];
	return i;
}

static void forest_join(struct forest *forest, unsigned one, unsigned other, bool loose)
{
	forest->loose[one] |= loose;
	forest->head[root_of(forest, other)] = root_of(forest, one);
}

/* Two runs, and in which row each phase is numbered. */
struct two {
	const struct run *before, *after;
	unsigned first_before, first_after;
	int32_t old_of[RUN_PHASES_MAX]; /* of each phase after, -1: none yet */
	bool taken[RUN_PHASES_MAX];     /* of each phase before */
};

static double by_place(const struct two *two, const json_t *old, const json_t *new)
{
	double place = match_places(old, new), far = phase_distance(old, new);
	double number = lengths_apart(run_phase_bursts(two->before, old),
			run_phase_bursts(two->after, new));

	far = hypot(far, number / 2) / NEAR;
	if (place < 0)
		return far < 1 ? 0.3 / (1 + far * far) : 0;
	return place < SAME_PLACE ? 0 : place * (0.2 + 0.8 / (1 + far * far));
}

static double by_behaviour(const struct two *two, const json_t *old, const json_t *new)
{
	double far = phase_distance(old, new);

	(void)two;
	return far < VERY_NEAR && same_calls(old, new) ? 1 / (1 + far) : 0;
}

/* Pairs the phases that are not paired yet, one to one. `overlap` has room for all pairs. */
static void pair_up(struct two *two, struct forest *forest, double *overlap,
		double (*likeness)(const struct two *two, const json_t *old, const json_t *new),
		bool loose)
{
	size_t olds = two->before->count, news = two->after->count;
	int32_t match[RUN_PHASES_MAX];

	for (size_t i = 0; i < news; i++)
		for (size_t j = 0; j < olds; j++)
			overlap[i * olds + j] = two->old_of[i] >= 0 || two->taken[j] ?
					0 :
					likeness(two, run_phase(two->before, j),
							run_phase(two->after, i));
	track_match(overlap, news, olds, 0, match);
	for (size_t i = 0; i < news; i++) {
		if (match[i] < 0)
			continue;
		two->old_of[i] = match[i];
		two->taken[match[i]] = true;
		forest_join(forest, two->first_before + (unsigned)match[i],
				two->first_after + (unsigned)i,
				loose ||
						match_places(run_phase(two->before,
									     (size_t)match[i]),
								run_phase(two->after, i)) < 0);
	}
}

/* Returns the phase of the run that has the place of `phase` and is nearest to it, -1 if there is none. */
static int find_whole(const struct run *run, const json_t *phase)
{
	double best = NEAR;
	int found = -1;

	for (size_t i = 0; i < run->count; i++) {
		const json_t *other = run_phase(run, i);
		double far = phase_distance(other, phase);

		if (far < best && match_places(other, phase) >= SAME_PLACE) {
			best = far;
			found = (int)i;
		}
	}
	return found;
}

/* Adds phases that have no partner to that of which they are a part, because a run may split a phase. */
static void add_parts(struct two *two, struct forest *forest)
{
	for (size_t i = 0; i < two->after->count; i++) {
		int old = two->old_of[i] >= 0 ? -1 :
						find_whole(two->before, run_phase(two->after, i));

		if (old >= 0)
			forest_join(forest, two->first_before + (unsigned)old,
					two->first_after + (unsigned)i, false);
	}
	for (size_t j = 0; j < two->before->count; j++) {
		int new = two->taken[j] ? -1 : find_whole(two->after, run_phase(two->before, j));

		if (new >= 0)
			forest_join(forest, two->first_before + (unsigned)j,
					two->first_after + (unsigned)new, false);
	}
}

static int match_two(struct forest *forest, const struct run *runs, size_t before, size_t after)
{
	const struct run *old = &runs[before], *new = &runs[after];
	double *overlap = malloc((old->count * new->count + 1) * sizeof(*overlap));
	struct two two = { .before = old,
		.after = new,
		.first_before = (unsigned)before *RUN_PHASES_MAX,
		.first_after = (unsigned)after *RUN_PHASES_MAX };

	if (!overlap)
		return -ENOMEM;
	for (size_t i = 0; i < RUN_PHASES_MAX; i++)
		two.old_of[i] = -1;
	pair_up(&two, forest, overlap, by_place, false);
	pair_up(&two, forest, overlap, by_behaviour, true);
	add_parts(&two, forest);
	free(overlap);
	return 0;
}

/* Numbers the groups in the order of their first phases. Returns how many there are. */
static unsigned number_groups(struct run *runs, size_t count, const struct forest *forest,
		bool *by_behaviour)
{
	unsigned *number = calloc(count * RUN_PHASES_MAX + 1, sizeof(*number)), groups = 0;

	for (size_t r = 0; number && r < count; r++)
		for (size_t i = 0; i < runs[r].count; i++) {
			unsigned at = (unsigned)(r * RUN_PHASES_MAX + i);
			unsigned root = root_of(forest, at);

			if (!number[root])
				number[root] = ++groups;
			runs[r].group[i] = number[root] - 1;
			by_behaviour[number[root] - 1] |= forest->loose[at];
		}
	free(number);
	return groups;
}

int match_runs(struct run *runs, size_t count, size_t befores, struct match *match)
{
	size_t nodes = count * RUN_PHASES_MAX;
	struct forest forest = {
		.head = malloc((nodes + 1) * sizeof(*forest.head)),
		.loose = calloc(nodes + 1, sizeof(*forest.loose)),
	};
	int error = 0;

	*match = (struct match){ .by_behaviour = calloc(nodes + 1, sizeof(*match->by_behaviour)) };
	if (!forest.head || !forest.loose || !match->by_behaviour)
		error = -ENOMEM;
	for (unsigned i = 0; !error && i < nodes; i++)
		forest.head[i] = i;
	/* the first run of each side stands for the others */
	for (size_t r = 1; !error && r < count; r++)
		error = match_two(&forest, runs, r > befores ? befores : 0, r);
	if (!error) {
		match->groups = number_groups(runs, count, &forest, match->by_behaviour);
		error = match->groups || !count || !runs[0].count ? 0 : -ENOMEM;
	}
	free(forest.head);
	free(forest.loose);
	return error;
}

void match_fini(struct match *match)
{
	free(match->by_behaviour);
}
