/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/grid.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/components.h"

#define CELLS_PER_POINT 32
#define CELL_REACH                                                                                 \
	2 /* distance in cells, each way, beyond which no cell is within eps of a point */

/* Points, stored cell after cell, so that the cells of a part of a row are one range. */
struct grid {
	double radius2, cells_per_unit;
	double low[2];
	uint32_t columns, rows, count;
	uint32_t *begin;  /* by cell, and one more: its first point */
	uint32_t *cell;   /* of each point */
	uint32_t *index;  /* the caller's */
	double *point;    /* count x 2 */
	uint32_t *cores;  /* by point, and one more: how many of those before it are core */
	double *core;     /* cores x 2, in the order of `point` */
	uint32_t *parent; /* by core */
};

static bool within(const double *a, const double *b, double radius2)
{
	return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) <= radius2;
}

/* Chooses cells so small that points in one cell are within eps. Returns false if there would be too many. */
static bool choose_cells(struct grid *grid, const double *points, double eps)
{
	double high[2] = { points[0], points[1] }, columns, rows;

	grid->low[0] = points[0];
	grid->low[1] = points[1];
	for (uint32_t i = 0; i < grid->count; i++)
		for (int dim = 0; dim < 2; dim++) {
			double value = points[2 * i + dim];

			grid->low[dim] = value < grid->low[dim] ? value : grid->low[dim];
			high[dim] = value > high[dim] ? value : high[dim];
		}
	/* a little smaller than necessary, because of rounding */
	grid->cells_per_unit = sqrt(2) * (1 + 1e-9) / eps;
	columns = floor((high[0] - grid->low[0]) * grid->cells_per_unit) + 1;
	rows = floor((high[1] - grid->low[1]) * grid->cells_per_unit) + 1;
	if (!(columns * rows <= CELLS_PER_POINT * (double)grid->count + 1024))
		return false;
	grid->columns = (uint32_t)columns;
	grid->rows = (uint32_t)rows;
	return true;
}

static int allocate(struct grid *grid)
{
	size_t cells = (size_t)grid->columns * grid->rows, count = grid->count;

	/* one more than cells: while begin[] is filled, begin[c + 1] runs to the end of cell c */
	grid->begin = calloc(cells + 2, sizeof(*grid->begin));
	grid->cell = malloc(count * sizeof(*grid->cell));
	grid->index = malloc(count * sizeof(*grid->index));
	grid->point = malloc(2 * count * sizeof(*grid->point));
	grid->cores = malloc((count + 1) * sizeof(*grid->cores));
	grid->core = calloc(2 * count, sizeof(*grid->core)); /* GCC 11 would warn of malloc */
	grid->parent = malloc(count * sizeof(*grid->parent));
	return grid->begin && grid->cell && grid->index && grid->point && grid->cores &&
					grid->core && grid->parent ?
			0 :
			-ENOMEM;
}

static void grid_fini(struct grid *grid)
{
	free(grid->begin);
	free(grid->cell);
	free(grid->index);
	free(grid->point);
	free(grid->cores);
	free(grid->core);
	free(grid->parent);
}

static uint32_t cell_of(const struct grid *grid, const double *point)
{
	uint32_t column = (uint32_t)((point[0] - grid->low[0]) * grid->cells_per_unit);
	uint32_t row = (uint32_t)((point[1] - grid->low[1]) * grid->cells_per_unit);

	return row * grid->columns + column;
}

static void sort_points(struct grid *grid, const double *points, const uint32_t *index)
{
	size_t cells = (size_t)grid->columns * grid->rows;

	for (uint32_t i = 0; i < grid->count; i++)
		grid->begin[cell_of(grid, points + 2 * i) + 2]++;
	for (size_t c = 2; c <= cells; c++)
		grid->begin[c] += grid->begin[c - 1];
	for (uint32_t i = 0; i < grid->count; i++) {
		uint32_t cell = cell_of(grid, points + 2 * i);
		uint32_t to = grid->begin[cell + 1]++;

		grid->cell[to] = cell;
		grid->index[to] = index ? index[i] : i;
		memcpy(grid->point + 2 * to, points + 2 * i, 2 * sizeof(*points));
	}
}

/* A range of points, in the grid's order. */
struct range {
	uint32_t begin, end;
};

/*
 * Returns the points in the cells of the row `down` rows further, from column `left` to `right` relative to the
 * cell. The range is empty outside of the grid.
 */
static struct range near_cells(const struct grid *grid, uint32_t cell, int down, int left,
		int right)
{
	int64_t row = (int64_t)(cell / grid->columns) + down, column = cell % grid->columns;
	int64_t first = column + left, last = column + right;

	if (row < 0 || row >= grid->rows || first >= grid->columns || last < 0)
		return (struct range){ 0, 0 };
	first = first > 0 ? first : 0;
	last = last < grid->columns ? last : grid->columns - 1;
	return (struct range){ grid->begin[row * grid->columns + first],
		grid->begin[row * grid->columns + last + 1] };
}

/* Returns whether a point of a cell with few points is core. Its own row is searched first. */
static bool is_core(const struct grid *grid, uint32_t i, size_t min_points)
{
	static const int rows[2 * CELL_REACH + 1] = { 0, -1, 1, -2, 2 };
	size_t found = 0;

	for (int r = 0; r < 2 * CELL_REACH + 1 && found < min_points; r++) {
		struct range near =
				near_cells(grid, grid->cell[i], rows[r], -CELL_REACH, CELL_REACH);

		for (uint32_t j = near.begin; j < near.end; j++)
			found += within(grid->point + 2 * i, grid->point + 2 * j, grid->radius2);
	}
	return found >= min_points;
}

/* Finds the core points. Those of a cell are one component from the start. Returns their number. */
static uint32_t find_cores(struct grid *grid, size_t min_points)
{
	uint32_t cores = 0, first = 0;

	for (uint32_t i = 0; i < grid->count; i++) {
		uint32_t cell = grid->cell[i];

		if (i == grid->begin[cell])
			first = cores;
		grid->cores[i] = cores;
		if (grid->begin[cell + 1] - grid->begin[cell] < min_points &&
				!is_core(grid, i, min_points))
			continue;
		memcpy(grid->core + 2 * cores, grid->point + 2 * i, 2 * sizeof(*grid->point));
		grid->parent[cores++] = first;
	}
	grid->cores[grid->count] = cores;
	return cores;
}

/* Returns whether any core point of one range is within eps of any of the other. */
static bool ranges_touch(const struct grid *grid, uint32_t a, uint32_t a_end, uint32_t b,
		uint32_t b_end)
{
	for (; a < a_end; a++) {
		bool any = false;

		for (uint32_t j = b; j < b_end; j++)
			any |= within(grid->core + 2 * a, grid->core + 2 * j, grid->radius2);
		if (any)
			return true;
	}
	return false;
}

/* Unites the component of a cell's core points with those of the cells behind it. */
static void unite_cells(struct grid *grid, uint32_t cell)
{
	uint32_t own = grid->cores[grid->begin[cell]], own_end = grid->cores[grid->begin[cell + 1]];

	if (own == own_end)
		return;
	for (int down = 0; down <= CELL_REACH; down++) {
		struct range near =
				near_cells(grid, cell, down, down ? -CELL_REACH : 1, CELL_REACH);

		while (near.begin < near.end) {
			uint32_t next = grid->begin[grid->cell[near.begin] + 1];
			uint32_t other = grid->cores[near.begin], other_end = grid->cores[next];

			if (other < other_end &&
					components_find(grid->parent, own) !=
							components_find(grid->parent, other) &&
					ranges_touch(grid, own, own_end, other, other_end))
				components_unite(grid->parent, own, other);
			near.begin = next;
		}
	}
}

/* Returns the lowest rank of the components within eps of a point, or `none` if there is none. */
static uint32_t border_rank(const struct grid *grid, uint32_t i, uint32_t none)
{
	uint32_t best = none;

	for (int down = -CELL_REACH; down <= CELL_REACH; down++) {
		struct range near = near_cells(grid, grid->cell[i], down, -CELL_REACH, CELL_REACH);

		for (uint32_t j = grid->cores[near.begin]; j < grid->cores[near.end]; j++)
			if (grid->parent[j] < best &&
					within(grid->core + 2 * j, grid->point + 2 * i,
							grid->radius2))
				best = grid->parent[j];
	}
	return best;
}

static int label_points(struct grid *grid, uint32_t cores, size_t count, uint32_t *label)
{
	int components = components_rank(grid->parent, grid->core, cores, 2);
	uint32_t none = components < 0 ? 0 : (uint32_t)components;
	uint32_t *number = calloc(none + 1, sizeof(*number));

	if (components < 0 || !number) {
		free(number);
		return -ENOMEM;
	}
	memset(label, 0, count * sizeof(*label));
	for (uint32_t i = 0; i < grid->count; i++)
		if (grid->cores[i + 1] > grid->cores[i])
			label[grid->index[i]] = grid->parent[grid->cores[i]] + 1;
	components_number(label, count, number, none);
	for (uint32_t i = 0; i < grid->count; i++)
		if (grid->cores[i + 1] == grid->cores[i])
			label[grid->index[i]] = number[border_rank(grid, i, none)];
	free(number);
	return components;
}

int grid_dbscan(const struct grid_points *points, size_t count, double eps, size_t min_points,
		uint32_t *label)
{
	struct grid grid = { .radius2 = eps * eps, .count = (uint32_t)points->count };
	uint32_t cores;
	int result;

	if (!points->count || points->count > GRID_POINTS || !(eps > 0) ||
			!choose_cells(&grid, points->point, eps))
		return -ERANGE;
	result = allocate(&grid);
	if (!result) {
		sort_points(&grid, points->point, points->index);
		cores = find_cores(&grid, min_points);
		for (uint32_t i = 0; i < grid.count; i = grid.begin[grid.cell[i] + 1])
			unite_cells(&grid, grid.cell[i]);
		result = label_points(&grid, cores, count, label);
	}
	grid_fini(&grid);
	return result;
}
