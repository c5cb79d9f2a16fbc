/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "cluster/density/dbscan.h"
#include "cluster/density/grid.h"
#include "cluster/density/kdtree.h"
#include "tests/random.h"
#include "tests/tap.h"

static double *random_points(size_t count, uint32_t dims)
{
	double *points = malloc(count * dims * sizeof(*points));

	/* blobs of different widths, some noise, and some repeated points */
	for (size_t i = 0; i < count; i++) {
		size_t blob = (size_t)(uniform() * 6);

		for (uint32_t dim = 0; dim < dims; dim++)
			points[i * dims + dim] = blob == 5 ?
					uniform() :
					(double)((blob * 7 + dim * 3) % 5) / 5 +
							uniform() * 0.02 * (double)(blob + 1);
		if (i % 10 == 9)
			memcpy(points + i * dims, points + (i - 1) * dims, dims * sizeof(*points));
	}
	return points;
}

static bool lower(const double *a, const double *b, uint32_t dims)
{
	for (uint32_t dim = 0; dim < dims; dim++)
		if (a[dim] != b[dim])
			return a[dim] < b[dim];
	return false;
}

/* Returns whether a border point prefers cluster a to cluster b. b 0: it has none yet. */
static bool before(const size_t *cores, const double *const *low, uint32_t a, uint32_t b,
		uint32_t dims)
{
	if (!b || cores[a] != cores[b])
		return !b || cores[a] > cores[b];
	return lower(low[a], low[b], dims);
}

/* Clusters by the definitions of DBSCAN, literally and in quadratic time. Returns the number of clusters. */
static int plain_dbscan(const double *points, size_t count, uint32_t dims, double eps,
		size_t min_points, uint32_t *label)
{
	bool *core = calloc(count, sizeof(*core)), changed;
	size_t *cores = calloc(count + 1, sizeof(*cores));
	const double **low = calloc(count + 1, sizeof(*low));
	uint32_t clusters = 0;

	for (size_t i = 0; i < count; i++) {
		size_t near = 0;

		for (size_t j = 0; j < count; j++)
			near += kdtree_distance2(points + i * dims, points + j * dims, dims) <=
					eps * eps;
		core[i] = near >= min_points;
		label[i] = 0;
	}
	for (size_t start = 0; start < count; start++) {
		if (!core[start] || label[start])
			continue;
		label[start] = ++clusters;
		do {
			changed = false;
			for (size_t i = 0; i < count; i++)
				for (size_t j = 0; core[i] && label[i] == clusters && j < count;
						j++)
					if (core[j] && !label[j] &&
							kdtree_distance2(points + i * dims,
									points + j * dims,
									dims) <= eps * eps) {
						label[j] = clusters;
						changed = true;
					}
		} while (changed);
	}
	/* a border point belongs to the largest of the clusters whose core points are near */
	for (size_t i = 0; i < count; i++)
		if (core[i]) {
			cores[label[i]]++;
			if (!low[label[i]] || lower(points + i * dims, low[label[i]], dims))
				low[label[i]] = points + i * dims;
		}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; !core[i] && j < count; j++)
			if (core[j] &&
					kdtree_distance2(points + i * dims, points + j * dims,
							dims) <= eps * eps &&
					before(cores, low, label[j], label[i], dims))
				label[i] = label[j];
	free(core);
	free(cores);
	free(low);
	return (int)clusters;
}

/* grid: all coordinates are multiples of it, so that many points are equal; 0: no grid */
static void test_against_definition(double grid)
{
	for (uint32_t dims = 1; dims <= SPACE_DIMS_MAX; dims++) {
		size_t count = 700;
		double *points = random_points(count, dims);
		uint32_t *label = malloc(count * sizeof(*label)),
			 *want = malloc(count * sizeof(*want));
		const double eps[] = { 0, 0.003, 0.01, 0.03, 0.1, 2 };
		bool same = true;

		for (size_t i = 0; grid > 0 && i < count * dims; i++)
			points[i] = round(points[i] / grid) * grid;
		for (size_t e = 0; e < sizeof(eps) / sizeof(*eps); e++)
			for (size_t min_points = 1; min_points <= 16; min_points *= 4) {
				int clusters = dbscan(points, count, dims, eps[e], min_points,
						label);

				same = same &&
						clusters ==
								plain_dbscan(points, count, dims,
										eps[e], min_points,
										want);
				same = same && !memcmp(label, want, count * sizeof(*label));
			}
		ok(same, "%u dimensions: as the definition says, for 18 settings%s", dims,
				grid > 0 ? ", many points equal" : "");
		free(points);
		free(label);
		free(want);
	}
}

/* Distances are Eps or the next larger ones: the points lie on a lattice whose spacing is exact. */
static void test_lattice(void)
{
	enum { COUNT = 700 };
	double *points = random_points(COUNT, 2);
	uint32_t label[COUNT], want[COUNT];
	bool same = true;

	for (size_t i = 0; i < 2 * COUNT; i++)
		points[i] = floor(points[i] * 48) / 64 - 3;
	for (int eps = 1; eps <= 4; eps++)
		for (int below = 0; below < 2; below++)
			for (size_t min_points = 1; min_points <= 16; min_points *= 2) {
				double radius = below ? nextafter(eps / 64.0, 0) : eps / 64.0;
				int clusters = dbscan(points, COUNT, 2, radius, min_points, label);

				same = same &&
						clusters ==
								plain_dbscan(points, COUNT, 2,
										radius, min_points,
										want);
				same = same && !memcmp(label, want, sizeof(label));
			}
	ok(same, "points at a distance of exactly Eps, and of hardly more");
	free(points);
}

/* A tree and a grid give the same answers, also when only some of the points are queried. */
static void test_within(void)
{
	enum { COUNT = GRID_POINTS + 500 };
	double *points = random_points(COUNT, 2);
	uint32_t *keep = malloc(COUNT * sizeof(*keep)), *label = malloc(COUNT * sizeof(*label));
	struct kdtree all, some = { 0 };
	bool same = true, none = true;
	size_t left;

	is_int(kdtree_init(&all, points, COUNT, 2), 0, "a tree of more points than a grid takes");
	for (int round = 0; round < 4; round++) {
		double *rest = malloc(2 * COUNT * sizeof(*rest));
		uint32_t *rest_label = malloc(COUNT * sizeof(*rest_label));

		for (size_t i = left = 0; i < COUNT; i++) {
			keep[i] = i % 4 >= (size_t)round;
			if (keep[i])
				memcpy(rest + 2 * left++, points + 2 * i, 2 * sizeof(*rest));
		}
		kdtree_filter(&some, &all, keep);
		same = same && some.count == left &&
				dbscan_within(&some, COUNT, 0.012, 6, label) ==
						plain_dbscan(rest, left, 2, 0.012, 6, rest_label);
		for (size_t i = 0, at = 0; i < COUNT; i++) {
			none = none && (keep[i] || !label[i]);
			same = same && (!keep[i] || label[i] == rest_label[at++]);
		}
		kdtree_fini(&some);
		free(rest);
		free(rest_label);
	}
	ok(same, "some of a tree's points are clustered as if they were all");
	ok(none, "and the others get no label");
	kdtree_fini(&all);
	free(points);
	free(keep);
	free(label);
}

static void test_order(void)
{
	enum { COUNT = 3000 };
	double *points = random_points(COUNT, 2), *reversed = malloc(COUNT * 2 * sizeof(*reversed));
	uint32_t *label = malloc(COUNT * sizeof(*label)), *other = malloc(COUNT * sizeof(*other));
	uint32_t partner[COUNT + 1] = { 0 };
	bool same = true;
	int clusters;

	for (size_t i = 0; i < COUNT; i++)
		memcpy(reversed + 2 * i, points + 2 * (COUNT - 1 - i), 2 * sizeof(*points));
	clusters = dbscan(points, COUNT, 2, 0.01, 5, label);
	same = clusters > 1 && clusters == dbscan(reversed, COUNT, 2, 0.01, 5, other);
	for (size_t i = 0; i < COUNT; i++) {
		uint32_t mate = other[COUNT - 1 - i];

		same = same && !label[i] == !mate;
		if (!partner[label[i]])
			partner[label[i]] = mate;
		same = same && partner[label[i]] == mate;
	}
	ok(same, "the same partition whatever the order");
	free(points);
	free(reversed);
	free(label);
	free(other);
}

static void test_shapes(void)
{
	/* a ring around a disc, and two parallel bars, which centroids cannot tell apart */
	enum { RING = 600, DISC = 300, BAR = 400, COUNT = RING + DISC + 2 * BAR };
	double *points = malloc(COUNT * 2 * sizeof(*points)), *at = points;
	uint32_t label[COUNT];
	bool whole = true;

	for (int i = 0; i < RING; i++, at += 2) {
		at[0] = 0.5 + 0.3 * cos(i * 6.283185307179586 / RING);
		at[1] = 0.5 + 0.3 * sin(i * 6.283185307179586 / RING);
	}
	for (int i = 0; i < DISC; i++, at += 2) {
		at[0] = 0.45 + 0.1 * uniform();
		at[1] = 0.45 + 0.1 * uniform();
	}
	for (int i = 0; i < 2 * BAR; i++, at += 2) {
		at[0] = (double)(i % BAR) / BAR;
		at[1] = i < BAR ? 0.9 : 0.95;
	}
	is_int(dbscan(points, COUNT, 2, 0.02, 4, label), 4, "ring, disc and two bars");
	for (int i = 0; i < COUNT; i++)
		whole = whole &&
				label[i] ==
						(i < RING ? 1u :
										i < RING + DISC ?
							    2u :
										i < RING + DISC + BAR ?
							    3u :
							    4u);
	ok(whole, "each of them whole");
	free(points);
}

static void test_degenerate(void)
{
	const double one[] = { 0.5, 0.5 };
	double same[2000];
	uint32_t label[1000] = { 9 };

	is_int(dbscan(one, 0, 2, 0.1, 1, label), 0, "no point, no cluster");
	is_int(dbscan(one, 1, 2, 0.1, 1, label), 1, "one point is a cluster of one");
	is_int(dbscan(one, 1, 2, 0.1, 2, label), 0, "or noise");
	is_int(label[0], 0, "and labelled so");
	for (size_t i = 0; i < 2000; i++)
		same[i] = 0.25;
	is_int(dbscan(same, 1000, 2, 0, 1000, label), 1, "equal points meet at eps 0");
	is_int(dbscan(one, 1, 2, NAN, 1, label), -EINVAL, "eps must be a number");
	is_int(dbscan(one, 1, 2, 0.1, 0, label), -EINVAL, "min_points must be positive");
	is_int(dbscan(one, 1, 9, 0.1, 1, label), -EINVAL, "at most 8 dimensions");
}

int main(void)
{
	test_against_definition(0);
	test_against_definition(0.004);
	test_lattice();
	test_within();
	test_order();
	test_shapes();
	test_degenerate();
	return tap_done();
}
