/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/dbscan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/components.h"
#include "cluster/density/grid.h"

/* Core points, in the order of a tree of their own, united to components. */
struct components {
	const struct kdtree *tree;
	uint32_t *parent; /* in the tree's order */
	bool *whole;      /* by node: it is known to be one component by itself */
	double radius2;
};

static double boxes_far(const struct kdtree *tree, uint32_t a, uint32_t b)
{
	const double *low_a = kdtree_low(tree, a), *high_a = kdtree_high(tree, a);
	const double *low_b = kdtree_low(tree, b), *high_b = kdtree_high(tree, b);
	double sum = 0;

	for (uint32_t dim = 0; dim < tree->dims; dim++) {
		double up = high_a[dim] - low_b[dim], down = high_b[dim] - low_a[dim];
		double out = up > down ? up : down;

		sum += out * out;
	}
	return sum;
}

/* Returns whether the first of two nodes is the one to split. They are not both leaves. */
static bool split_first(const struct kdtree_node *a, const struct kdtree_node *b)
{
	return a->child && (!b->child || a->diagonal >= b->diagonal);
}

/* Returns whether any point of one node is within the radius of any of the other. */
static bool nodes_touch(const struct components *all, uint32_t a, uint32_t b)
{
	const struct kdtree *tree = all->tree;
	const struct kdtree_node *one = &tree->node[a], *other = &tree->node[b];

	if (kdtree_boxes_distance2(tree, a, b) > all->radius2)
		return false;
	if (boxes_far(tree, a, b) <= all->radius2)
		return true;
	if (!one->child && !other->child) {
		for (uint32_t i = one->begin; i < one->end; i++)
			for (uint32_t j = other->begin; j < other->end; j++)
				if (kdtree_distance2(kdtree_at(tree, i), kdtree_at(tree, j),
						    tree->dims) <= all->radius2)
					return true;
		return false;
	}
	if (split_first(one, other))
		return nodes_touch(all, one->child, b) || nodes_touch(all, one->child + 1, b);
	return nodes_touch(all, a, other->child) || nodes_touch(all, a, other->child + 1);
}

/* Unites a point with those at [begin, end) of a leaf that are within the radius. */
static void unite_near(struct components *all, uint32_t i, uint32_t begin, uint32_t end)
{
	const struct kdtree *tree = all->tree;
	const double *point = kdtree_at(tree, i);
	uint32_t near[KDTREE_LEAF], found, next;

	for (; begin < end; begin = next) {
		/* gathered first without branches, which could not be predicted; equal points fill any leaf */
		next = end - begin < KDTREE_LEAF ? end : begin + KDTREE_LEAF;
		found = 0;
		for (uint32_t j = begin; j < next; j++) {
			near[found] = j;
			found += kdtree_distance2(point, kdtree_at(tree, j), tree->dims) <=
					all->radius2;
		}
		for (uint32_t n = 0; n < found; n++)
			components_unite(all->parent, i, near[n]);
	}
}

/* Unites a point with a leaf that is one component by itself, if one point of the leaf is within the radius. */
static void unite_with_whole(struct components *all, uint32_t i, const struct kdtree_node *leaf)
{
	const struct kdtree *tree = all->tree;
	const double *point = kdtree_at(tree, i);

	if (components_find(all->parent, i) == components_find(all->parent, leaf->begin))
		return;
	for (uint32_t j = leaf->begin; j < leaf->end; j++)
		if (kdtree_distance2(point, kdtree_at(tree, j), tree->dims) <= all->radius2) {
			components_unite(all->parent, i, j);
			return;
		}
}

static void unite_leaves(struct components *all, uint32_t a, uint32_t b)
{
	const struct kdtree *tree = all->tree;
	const struct kdtree_node *one = &tree->node[a], *other = &tree->node[b];

	if (all->whole[a]) {
		unite_leaves(all, b, a);
		return;
	}
	for (uint32_t i = one->begin; i < one->end; i++) {
		if (kdtree_box_distance2(tree, b, kdtree_at(tree, i)) > all->radius2)
			continue;
		if (all->whole[b])
			unite_with_whole(all, i, other);
		else
			unite_near(all, i, other->begin, other->end);
	}
}

/* Returns whether a node is no wider than the radius, and therefore one component by itself. */
static bool compact(const struct components *all, const struct kdtree_node *node)
{
	return node->diagonal <= all->radius2;
}

/* Unites points of two nodes that are within the radius. Each node has been united within itself. */
static void unite_across(struct components *all, uint32_t a, uint32_t b)
{
	const struct kdtree_node *one = &all->tree->node[a], *other = &all->tree->node[b];

	if (all->whole[a] && all->whole[b]) {
		if (components_find(all->parent, one->begin) !=
						components_find(all->parent, other->begin) &&
				nodes_touch(all, a, b))
			components_unite(all->parent, one->begin, other->begin);
	} else if (kdtree_boxes_distance2(all->tree, a, b) > all->radius2) {
		return;
	} else if (!one->child && !other->child) {
		unite_leaves(all, a, b);
	} else if (split_first(one, other)) {
		unite_across(all, one->child, b);
		unite_across(all, one->child + 1, b);
	} else {
		unite_across(all, a, other->child);
		unite_across(all, a, other->child + 1);
	}
}

static void unite_within(struct components *all, uint32_t number)
{
	const struct kdtree_node *node = &all->tree->node[number];
	uint32_t root;

	if (compact(all, node)) {
		for (uint32_t i = node->begin + 1; i < node->end; i++)
			all->parent[i] = node->begin;
		all->whole[number] = true;
	} else if (node->child) {
		unite_within(all, node->child);
		unite_within(all, node->child + 1);
		unite_across(all, node->child, node->child + 1);
		all->whole[number] = all->whole[node->child] && all->whole[node->child + 1] &&
				components_find(all->parent, node->begin) ==
						components_find(all->parent, node->end - 1);
	} else {
		for (uint32_t i = node->begin; i < node->end; i++)
			unite_near(all, i, i + 1, node->end);
		root = components_find(all->parent, node->begin);
		all->whole[number] = true;
		for (uint32_t i = node->begin + 1; i < node->end; i++)
			all->whole[number] = all->whole[number] &&
					components_find(all->parent, i) == root;
	}
}

/* Returns whether a point of a leaf is core. If the leaf is large enough, its points alone may tell. */
static bool core_in_leaf(const struct kdtree *tree, const struct kdtree_node *leaf, uint32_t i,
		double radius2, size_t min_points)
{
	const double *point = kdtree_at(tree, i);
	uint32_t end = leaf->end - leaf->begin < min_points ? leaf->begin : leaf->end;
	size_t found = 0;

	for (uint32_t j = leaf->begin; j < end && found < min_points; j++)
		found += kdtree_distance2(point, kdtree_at(tree, j), tree->dims) <= radius2;
	return found >= min_points || kdtree_count(tree, point, radius2, min_points) >= min_points;
}

/* Sets is_core[] of the tree's points, by the caller's index. Returns the number of core points. */
static size_t find_cores(const struct kdtree *tree, double radius2, size_t min_points,
		uint32_t *is_core)
{
	size_t cores = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		is_core[tree->index[i]] = 0;
	for (uint32_t number = 0; number < tree->nodes; number++) {
		const struct kdtree_node *node = &tree->node[number];
		bool all = node->end - node->begin >= min_points && node->diagonal <= radius2;

		if (!all && node->child)
			continue;
		for (uint32_t i = node->begin; i < node->end; i++) {
			uint32_t *core = &is_core[tree->index[i]];

			if (*core)
				continue;
			*core = all || core_in_leaf(tree, node, i, radius2, min_points);
			cores += *core;
		}
	}
	return cores;
}

/* Returns the lowest rank of the components within the radius of a point, or `none` if there is none. */
static uint32_t border_rank(const struct components *all, const double *point, uint32_t none)
{
	const struct kdtree *tree = all->tree;
	uint32_t stack[64], depth = 0, best = none;

	if (tree->count)
		stack[depth++] = 0;
	while (depth) {
		uint32_t number = stack[--depth];
		const struct kdtree_node *node = &tree->node[number];

		if (kdtree_box_distance2(tree, number, point) > all->radius2 ||
				(compact(all, node) && all->parent[node->begin] >= best))
			continue;
		if (node->child) {
			stack[depth++] = node->child + 1;
			stack[depth++] = node->child;
			continue;
		}
		for (uint32_t i = node->begin; i < node->end; i++)
			if (all->parent[i] < best &&
					kdtree_distance2(kdtree_at(tree, i), point, tree->dims) <=
							all->radius2)
				best = all->parent[i];
	}
	return best;
}

/*
 * Turns components into labels of the tree's points. label[] says at first which points are core. Returns the
 * number of clusters, or -ENOMEM.
 */
static int number_clusters(struct components *all, const struct kdtree *tree, size_t count,
		uint32_t *label)
{
	int components = components_rank(all->parent, all->tree->point, all->tree->count,
			tree->dims);
	uint32_t none = components < 0 ? 0 : (uint32_t)components;
	uint32_t *number = calloc(none + 1, sizeof(*number));

	if (components < 0 || !number) {
		free(number);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < all->tree->count; i++)
		label[all->tree->index[i]] = all->parent[i] + 1;
	components_number(label, count, number, none);
	for (uint32_t i = 0; i < tree->count && all->tree != tree; i++)
		if (!label[tree->index[i]])
			label[tree->index[i]] = number[border_rank(all, kdtree_at(tree, i), none)];
	free(number);
	return components;
}

int dbscan_within(const struct kdtree *tree, size_t count, double eps, size_t min_points,
		uint32_t *label)
{
	struct components all = { .tree = tree, .radius2 = eps * eps };
	struct kdtree core_tree = { 0 };
	size_t cores;
	int result = 0;

	if (!(eps >= 0) || !min_points)
		return -EINVAL;
	if (tree->dims == 2) {
		const struct grid_points points = { tree->point, tree->index, tree->count };

		result = grid_dbscan(&points, count, eps, min_points, label);
		if (result != -ERANGE)
			return result;
		result = 0;
	}
	memset(label, 0, count * sizeof(*label));
	cores = find_cores(tree, all.radius2, min_points, label);
	if (!cores)
		return 0;
	if (cores < tree->count) {
		result = kdtree_filter(&core_tree, tree, label);
		all.tree = &core_tree;
	}
	if (result)
		goto out;
	all.parent = malloc(cores * sizeof(*all.parent));
	all.whole = calloc(all.tree->nodes, sizeof(*all.whole));
	result = -ENOMEM;
	if (!all.parent || !all.whole)
		goto out;
	for (uint32_t i = 0; i < cores; i++)
		all.parent[i] = i;
	unite_within(&all, 0);
	result = number_clusters(&all, tree, count, label);
out:
	kdtree_fini(&core_tree);
	free(all.parent);
	free(all.whole);
	return result;
}

int dbscan(const double *points, size_t count, uint32_t dims, double eps, size_t min_points,
		uint32_t *label)
{
	const struct grid_points all = { points, NULL, count };
	struct kdtree tree;
	int result = dims == 2 && min_points ? grid_dbscan(&all, count, eps, min_points, label) :
					       -ERANGE;

	if (result != -ERANGE)
		return result;
	result = kdtree_init(&tree, points, count, dims);
	if (!result)
		result = dbscan_within(&tree, count, eps, min_points, label);
	kdtree_fini(&tree);
	return result;
}
