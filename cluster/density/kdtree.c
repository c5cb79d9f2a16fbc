/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/kdtree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 9 /* number of points whose median is the first try to split a node */

static void swap_points(struct kdtree *tree, uint32_t i, uint32_t j)
{
	uint32_t index = tree->index[i];

	tree->index[i] = tree->index[j];
	tree->index[j] = index;
	for (uint32_t dim = 0; dim < tree->dims; dim++) {
		double value = tree->point[(size_t)i * tree->dims + dim];

		tree->point[(size_t)i * tree->dims + dim] =
				tree->point[(size_t)j * tree->dims + dim];
		tree->point[(size_t)j * tree->dims + dim] = value;
	}
}

static double coordinate(const struct kdtree *tree, uint32_t i, uint32_t dim)
{
	return tree->point[(size_t)i * tree->dims + dim];
}

static double middle_of(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * Puts points below the pivot along dim before those above it; points equal to it go to either side. Returns
 * the begin of the second part. *other is set to one after it if the pivot is between both parts, else equal to
 * it.
 */
static uint32_t divide(struct kdtree *tree, uint32_t begin, uint32_t end, uint32_t dim,
		double pivot, uint32_t *other)
{
	uint32_t i = begin, j = end - 1;

	for (;;) {
		while (coordinate(tree, i, dim) < pivot)
			i++;
		while (coordinate(tree, j, dim) > pivot)
			j--;
		if (i >= j)
			break;
		swap_points(tree, i++, j--);
	}
	/* if both stopped at one point, it is the pivot, in its place */
	*other = i == j ? i + 1 : i;
	return i;
}

/*
 * Puts the point of rank `middle` along dim in its place, and smaller ones before it. The pivot is the median
 * of three at places that move with the range, so that sorted input costs no more.
 */
static void select_middle(struct kdtree *tree, uint32_t begin, uint32_t end, uint32_t middle,
		uint32_t dim)
{
	while (end - begin > 1) {
		uint32_t span = end - begin, i, j;
		double pivot = middle_of(coordinate(tree, begin + span / 4, dim),
				coordinate(tree, begin + span / 2, dim),
				coordinate(tree, begin + span - 1 - span / 4, dim));

		i = divide(tree, begin, end, dim, pivot, &j);
		if (middle < i)
			end = i;
		else if (middle >= j)
			begin = j;
		else
			return;
	}
}

/*
 * Splits a range nearly into halves: in one pass with the median of a few points, or with the exact median if
 * the first one is not in the middle third. Returns the begin of the second half.
 */
static uint32_t halve(struct kdtree *tree, uint32_t begin, uint32_t end, uint32_t dim)
{
	uint32_t span = end - begin, middle = begin + span / 2, other, at;
	double sample[SAMPLE];

	for (uint32_t i = 0; i < SAMPLE; i++) {
		double value = coordinate(tree, begin + (uint32_t)((uint64_t)span * i / SAMPLE),
				dim);
		uint32_t place = i;

		for (; place && sample[place - 1] > value; place--)
			sample[place] = sample[place - 1];
		sample[place] = value;
	}
	at = divide(tree, begin, end, dim, sample[SAMPLE / 2], &other);
	if (at - begin < (span + 2) / 3 || end - at < (span + 2) / 3) {
		select_middle(tree, begin, end, middle, dim);
		return middle;
	}
	return at;
}

static void fit_box(struct kdtree *tree, uint32_t number)
{
	struct kdtree_node *node = &tree->node[number];
	double *box = tree->box + (size_t)number * 2 * tree->dims;

	node->diagonal = 0;
	for (uint32_t dim = 0; dim < tree->dims; dim++) {
		double low = coordinate(tree, node->begin, dim), high = low;

		for (uint32_t i = node->begin + 1; i < node->end; i++) {
			double value = coordinate(tree, i, dim);

			low = value < low ? value : low;
			high = value > high ? value : high;
		}
		box[dim] = low;
		box[tree->dims + dim] = high;
		node->diagonal += (high - low) * (high - low);
	}
}

/*
 * Splits a node. Children are appended after their parent, so one pass over the growing array builds the tree.
 */
static void split_node(struct kdtree *tree, uint32_t number)
{
	struct kdtree_node *node = &tree->node[number];
	const double *low = kdtree_low(tree, number), *high = kdtree_high(tree, number);
	uint32_t widest = 0, middle;

	fit_box(tree, number);
	if (node->end - node->begin <= KDTREE_LEAF || node->diagonal == 0)
		return;
	for (uint32_t dim = 1; dim < tree->dims; dim++)
		if (high[dim] - low[dim] > high[widest] - low[widest])
			widest = dim;
	middle = halve(tree, node->begin, node->end, widest);
	node->child = tree->nodes;
	tree->node[tree->nodes++] = (struct kdtree_node){ .begin = node->begin, .end = middle };
	tree->node[tree->nodes++] = (struct kdtree_node){ .begin = middle, .end = node->end };
}

static int allocate(struct kdtree *tree, size_t nodes)
{
	size_t count = tree->count, dims = tree->dims;

	tree->point = malloc((count * dims + 1) * sizeof(*tree->point));
	tree->index = malloc((count + 1) * sizeof(*tree->index));
	tree->node = malloc(nodes * sizeof(*tree->node));
	tree->box = malloc(nodes * 2 * dims * sizeof(*tree->box));
	if (tree->point && tree->index && tree->node && tree->box)
		return 0;
	kdtree_fini(tree);
	return -ENOMEM;
}

int kdtree_init(struct kdtree *tree, const double *points, size_t count, uint32_t dims)
{
	*tree = (struct kdtree){ .dims = dims, .count = (uint32_t)count };
	if (dims < 1 || dims > SPACE_DIMS_MAX || count > INT32_MAX)
		return -EINVAL;
	if (!count)
		return 0;
	/* splitting stops at or below KDTREE_LEAF, so a leaf holds more than a third of that */
	if (allocate(tree, 6 * (count / KDTREE_LEAF) + 3))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		tree->index[i] = (uint32_t)i;
	memcpy(tree->point, points, count * dims * sizeof(*points));
	tree->node[0] = (struct kdtree_node){ .end = tree->count };
	tree->nodes = 1;
	for (uint32_t number = 0; number < tree->nodes; number++)
		split_node(tree, number);
	return 0;
}

/* Copies the points to keep. before[] gets the number of kept points before each place of `all`. */
static void keep_points(struct kdtree *tree, const struct kdtree *all, const uint32_t *keep,
		uint32_t *before)
{
	uint32_t kept = 0, dims = all->dims;

	for (uint32_t i = 0; i < all->count; i++) {
		before[i] = kept;
		if (!keep[all->index[i]])
			continue;
		tree->index[kept] = all->index[i];
		for (uint32_t dim = 0; dim < dims; dim++)
			tree->point[(size_t)kept * dims + dim] = all->point[(size_t)i * dims + dim];
		kept++;
	}
	before[all->count] = kept;
}

/* Makes the box around the children's boxes. */
static void join_boxes(struct kdtree *tree, uint32_t number)
{
	struct kdtree_node *node = &tree->node[number];
	double *box = tree->box + (size_t)number * 2 * tree->dims;
	const double *low = kdtree_low(tree, node->child), *other = low + 2 * tree->dims;

	node->diagonal = 0;
	for (uint32_t dim = 0; dim < tree->dims; dim++) {
		uint32_t high = tree->dims + dim;

		box[dim] = low[dim] < other[dim] ? low[dim] : other[dim];
		box[high] = low[high] > other[high] ? low[high] : other[high];
		node->diagonal += (box[high] - box[dim]) * (box[high] - box[dim]);
	}
}

/* Makes a node from one of `all`, whose number is in its `child` until then. */
static void keep_node(struct kdtree *tree, const struct kdtree *all, uint32_t number,
		const uint32_t *before)
{
	struct kdtree_node *node = &tree->node[number];
	const struct kdtree_node *from = &all->node[node->child];

	node->begin = before[from->begin];
	node->end = before[from->end];
	node->child = 0;
	if (node->end - node->begin <= KDTREE_LEAF)
		return;
	while (from->child) {
		uint32_t middle = before[all->node[from->child].end];

		if (middle > node->begin && middle < node->end) {
			node->child = tree->nodes;
			tree->node[tree->nodes++].child = from->child;
			tree->node[tree->nodes++].child = from->child + 1;
			return;
		}
		from = &all->node[from->child + (middle == node->begin)];
	}
}

int kdtree_filter(struct kdtree *tree, const struct kdtree *all, const uint32_t *keep)
{
	uint32_t *before = malloc((all->count + 1) * sizeof(*before));
	int error = -ENOMEM;

	*tree = (struct kdtree){ .dims = all->dims, .count = all->count };
	if (!before || allocate(tree, all->nodes + 1))
		goto out;
	keep_points(tree, all, keep, before);
	tree->count = before[all->count];
	if (tree->count)
		tree->node[tree->nodes++].child = 0;
	for (uint32_t number = 0; number < tree->nodes; number++)
		keep_node(tree, all, number, before);
	for (uint32_t number = tree->nodes; number-- > 0;) {
		if (tree->node[number].child)
			join_boxes(tree, number);
		else
			fit_box(tree, number);
	}
	error = 0;
out:
	free(before);
	return error;
}

void kdtree_fini(struct kdtree *tree)
{
	free(tree->point);
	free(tree->index);
	free(tree->node);
	free(tree->box);
	*tree = (struct kdtree){ .dims = tree->dims };
}

/* Returns the squared distance from the point to the farthest place in the node's box. */
static double box_far(const struct kdtree *tree, uint32_t number, const double *point)
{
	const double *low = kdtree_low(tree, number), *high = kdtree_high(tree, number);
	double sum = 0;

	for (uint32_t dim = 0; dim < tree->dims; dim++) {
		double below = point[dim] - low[dim], above = high[dim] - point[dim];
		double out = below > above ? below : above;

		sum += out * out;
	}
	return sum;
}

size_t kdtree_count(const struct kdtree *tree, const double *point, double radius2, size_t enough)
{
	uint32_t stack[64], depth = 0;
	size_t found = 0;

	if (tree->count)
		stack[depth++] = 0;
	while (depth && found < enough) {
		uint32_t number = stack[--depth];
		const struct kdtree_node *node = &tree->node[number];

		if (kdtree_box_distance2(tree, number, point) > radius2)
			continue;
		if (box_far(tree, number, point) <= radius2) {
			found += node->end - node->begin;
		} else if (node->child) {
			stack[depth++] = node->child + 1;
			stack[depth++] = node->child;
		} else {
			for (uint32_t i = node->begin; i < node->end; i++)
				found += kdtree_distance2(kdtree_at(tree, i), point, tree->dims) <=
						radius2;
		}
	}
	return found < enough ? found : enough;
}

/* Pushes both children, so that the nearer one is taken first. */
static uint32_t push_children(const struct kdtree *tree, const struct kdtree_node *node,
		const double *point, uint32_t *stack, uint32_t depth)
{
	uint32_t second = kdtree_box_distance2(tree, node->child, point) <=
			kdtree_box_distance2(tree, node->child + 1, point);

	stack[depth++] = node->child + second;
	stack[depth++] = node->child + !second;
	return depth;
}

static int compare_points(const double *a, const double *b, uint32_t dims)
{
	for (uint32_t dim = 0; dim < dims; dim++)
		if (a[dim] != b[dim])
			return a[dim] < b[dim] ? -1 : 1;
	return 0;
}

int64_t kdtree_nearest(const struct kdtree *tree, const double *point, double radius2,
		const uint32_t *label)
{
	uint32_t stack[64], depth = 0;
	double least = radius2;
	int64_t best = -1;

	if (tree->count)
		stack[depth++] = 0;
	while (depth) {
		uint32_t number = stack[--depth];
		const struct kdtree_node *node = &tree->node[number];

		if (kdtree_box_distance2(tree, number, point) > least)
			continue;
		if (node->child) {
			depth = push_children(tree, node, point, stack, depth);
			continue;
		}
		for (uint32_t i = node->begin; i < node->end; i++) {
			const double *other = kdtree_at(tree, i);
			double distance = kdtree_distance2(other, point, tree->dims);

			if (distance > least || (label && !label[tree->index[i]]))
				continue;
			if (best >= 0 && distance == least &&
					compare_points(other, kdtree_at(tree, (uint32_t)best),
							tree->dims) >= 0)
				continue;
			least = distance;
			best = i;
		}
	}
	return best < 0 ? -1 : (int64_t)tree->index[best];
}

/* Replaces the largest of the k values of the heap by a smaller one. */
static void heap_replace(double *heap, size_t k, double value)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= k)
			break;
		if (child + 1 < k && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= value)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = value;
}

/*
 * Offers a leaf's points to those whose k-th distance they may shorten. Returns the largest k-th distance after
 * that.
 */
static double offer_leaf(const struct kdtree *tree, uint32_t leaf, const uint32_t *at,
		uint32_t points, size_t k, double *heap)
{
	const struct kdtree_node *node = &tree->node[leaf];
	double largest = 0;

	for (uint32_t p = 0; p < points; p++) {
		const double *point = kdtree_at(tree, at[p]);
		double *own = heap + p * k;

		if (kdtree_box_distance2(tree, leaf, point) < own[0])
			for (uint32_t i = node->begin; i < node->end; i++) {
				double distance = kdtree_distance2(kdtree_at(tree, i), point,
						tree->dims);

				if (distance < own[0])
					heap_replace(own, k, distance);
			}
		largest = own[0] > largest ? own[0] : largest;
	}
	return largest;
}

void kdtree_kth(const struct kdtree *tree, uint32_t leaf, const uint32_t *at, uint32_t points,
		size_t k, double *heap)
{
	uint32_t stack[64], depth = 0;
	double largest;

	for (size_t i = 0; i < points * k; i++)
		heap[i] = INFINITY;
	largest = offer_leaf(tree, leaf, at, points, k, heap);
	stack[depth++] = 0;
	while (depth) {
		uint32_t number = stack[--depth], child = tree->node[number].child, second;

		if (number == leaf || kdtree_boxes_distance2(tree, leaf, number) >= largest)
			continue;
		if (!child) {
			largest = offer_leaf(tree, number, at, points, k, heap);
			continue;
		}
		/* the nearer one is taken first */
		second = kdtree_boxes_distance2(tree, leaf, child) <=
				kdtree_boxes_distance2(tree, leaf, child + 1);
		stack[depth++] = child + second;
		stack[depth++] = child + !second;
	}
}
