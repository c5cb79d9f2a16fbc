/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/sequence/align.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/sort.h"

#define BAND_MIN  16         /* columns on each side of the diagonal, at first */
#define CELLS_MAX (1u << 28) /* number of cells beyond which a band is not widened */
#define MISMATCH  1e-6       /* score of a mismatch, a little more than that of two gaps */

/* fill() computes with these values */
enum step { MATCH, GAP_IN_SEQUENCE, GAP_IN_PROFILE };

/* The number of times that a label occurs in a column. The entries of a column are linked. */
struct tally {
	uint32_t label, count, next; /* next: 0 ends the list */
};

/* The columns so far. They keep their numbers; order[] is their sequence. */
struct profile {
	size_t columns, room;
	uint32_t *order, *scratch;
	/* labels */
	const uint32_t *label;
	const double *weight;
	uint32_t *tallies; /* per column: its first tally */
	struct tally *tally;
	size_t tally_count, tally_room;
	/* points */
	const double *points;
	uint32_t dims;
	double *centre; /* per column: mean of its points */
	uint32_t *count;
};

/*
 * The profile in the columns' order, as the rows of one sequence read it. For labels: the places of each, and
 * how often it occurs there. For points: coordinate after coordinate, so that many columns are computed at
 * once.
 */
struct view {
	size_t labels; /* all labels that occur are below this number */
	size_t *begin; /* by label, into place and times */
	uint32_t *place;
	double *times;
	size_t columns, dims;
	double *centre; /* dims x columns */
	double *count;
};

struct band {
	size_t rows, columns; /* of the whole matrix, without the border */
	size_t half;
	uint8_t *step; /* rows x (2 * half + 1) */
	double *gain, *above, *here;
};

static bool grow(void **array, size_t count, size_t size)
{
	void *grown = realloc(*array, count * size);

	if (grown)
		*array = grown;
	return grown;
}

static bool profile_reserve(struct profile *profile, size_t columns)
{
	size_t room = profile->room ? profile->room : 256;

	if (columns <= profile->room)
		return true;
	while (room < columns)
		room *= 2;
	if (!grow((void **)&profile->order, room, sizeof(uint32_t)) ||
			!grow((void **)&profile->scratch, room, sizeof(uint32_t)))
		return false;
	if (profile->label ? !grow((void **)&profile->tallies, room, sizeof(uint32_t)) :
			     !grow((void **)&profile->centre, room * profile->dims,
					     sizeof(double)) ||
							!grow((void **)&profile->count, room,
									sizeof(uint32_t)))
		return false;
	profile->room = room;
	return true;
}

static void profile_fini(struct profile *profile)
{
	free(profile->order);
	free(profile->scratch);
	free(profile->tallies);
	free(profile->tally);
	free(profile->centre);
	free(profile->count);
}

static void view_fini(struct view *view)
{
	free(view->begin);
	free(view->place);
	free(view->times);
	free(view->centre);
	free(view->count);
}

/* Sorts the tallies by label, each label's by place. */
static int view_labels(struct view *view, const struct profile *profile)
{
	size_t *begin;

	/* tally[0] is none */
	for (size_t i = 1; i < profile->tally_count; i++)
		if (profile->tally[i].label >= view->labels)
			view->labels = profile->tally[i].label + 1;
	begin = calloc(view->labels + 2, sizeof(*begin));
	view->begin = begin;
	view->place = malloc((profile->tally_count + 1) * sizeof(*view->place));
	view->times = malloc((profile->tally_count + 1) * sizeof(*view->times));
	if (!begin || !view->place || !view->times)
		return -ENOMEM;
	/* begin[l + 1] runs from the start to the end of label l while it is filled */
	for (size_t i = 1; i < profile->tally_count; i++)
		begin[profile->tally[i].label + 2]++;
	for (size_t l = 2; l <= view->labels; l++)
		begin[l] += begin[l - 1];
	for (size_t at = 0; at < profile->columns; at++)
		for (uint32_t next = profile->tallies[profile->order[at]]; next;
				next = profile->tally[next].next) {
			size_t to = begin[profile->tally[next].label + 1]++;

			view->place[to] = (uint32_t)at;
			view->times[to] = profile->tally[next].count;
		}
	return 0;
}

static int view_points(struct view *view, const struct profile *profile)
{
	size_t columns = profile->columns, dims = profile->dims;

	view->columns = columns;
	view->dims = dims;
	view->centre = malloc((columns * dims + 1) * sizeof(*view->centre));
	view->count = malloc((columns + 1) * sizeof(*view->count));
	if (!view->centre || !view->count)
		return -ENOMEM;
	for (size_t at = 0; at < columns; at++) {
		view->count[at] = profile->count[profile->order[at]];
		for (size_t dim = 0; dim < dims; dim++)
			view->centre[dim * columns + at] =
					profile->centre[profile->order[at] * dims + dim];
	}
	return 0;
}

/* Fills gain with the score of a burst of this label in each of the columns at places [begin, end). */
static void gains_of_label(const struct view *view, uint32_t label, double weight, size_t begin,
		size_t end, double *gain)
{
	size_t low, high;

	for (size_t at = 0; at < end - begin; at++)
		gain[at] = MISMATCH * weight;
	if (label >= view->labels)
		return;
	low = view->begin[label];
	high = view->begin[label + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->place[middle] < begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < view->begin[label + 1] && view->place[low] < end; low++)
		gain[view->place[low] - begin] = weight * view->times[low];
}

/*
 * Returns how alike bursts are by the square of their distance. Within 0.15 they may well be of one phase. Up
 * to half of the space's width it is better to share a column than to have two.
 */
static inline double likeness(double distance2)
{
	double wide = 1 - distance2 / 0.25, narrow = 1 - distance2 / 0.0225;

	return 0.1 * wide + (narrow > 0 ? narrow : 0);
}

/*
 * Fills gain with the score of a point in each of the columns at places [begin, end). Like that of a label, it
 * is multiplied by the number of bursts in the column, so that full columns stay together.
 */
static void gains_of_point(const struct view *view, const double *point, size_t begin, size_t end,
		double *gain)
{
	const double *count = view->count + begin;
	size_t width = end - begin;

	for (size_t dim = 0; dim < view->dims; dim++) {
		const double *centre = view->centre + dim * view->columns + begin;
		double here = point[dim];

		for (size_t at = 0; at < width; at++)
			gain[at] = (dim ? gain[at] : 0) + (here - centre[at]) * (here - centre[at]);
	}
	for (size_t at = 0; at < width; at++)
		gain[at] = count[at] * likeness(gain[at]);
}

static void gains(const struct profile *profile, const struct view *view, size_t burst,
		size_t begin, size_t end, double *gain)
{
	if (profile->label)
		gains_of_label(view, profile->label[burst], profile->weight[profile->label[burst]],
				begin, end, gain);
	else
		gains_of_point(view, profile->points + burst * profile->dims, begin, end, gain);
}

/* Return the first column that a row's band covers, and the one after the last. */
static size_t band_begin(const struct band *band, size_t row)
{
	size_t middle = (size_t)((double)row * (double)band->columns / (double)band->rows);

	return middle > band->half ? middle - band->half : 0;
}

static size_t band_end(const struct band *band, size_t row)
{
	size_t end = (size_t)((double)row * (double)band->columns / (double)band->rows) +
			band->half + 1;

	return end < band->columns ? end : band->columns;
}

/*
 * Fills the matrix by Needleman and Wunsch within the band, with gaps that cost nothing. here[j] is the best
 * score of rows 0 .. row and columns 0 .. j - 1. Outside of the band, the best score at its border continues.
 */
static void fill(struct band *band, const struct profile *profile, const struct view *view,
		size_t first)
{
	size_t width = 2 * band->half + 1, last_end = 0;

	memset(band->above, 0, (band->columns + 1) * sizeof(*band->above));
	for (size_t row = 0; row < band->rows; row++) {
		size_t begin = band_begin(band, row), end = band_end(band, row);
		uint8_t *restrict step = band->step + row * width;
		const double *above = band->above + begin;
		double *restrict here = band->here + begin;
		double best, *swap;

		gains(profile, view, first + row, begin, end, band->gain);
		for (size_t j = last_end + 1; row && j <= end; j++)
			band->above[j] = band->above[last_end];
		best = here[0] = above[0];
		/* without branches, because they could not be predicted */
		for (size_t j = 0; j < end - begin; j++) {
			double match = above[j] + band->gain[j], up = above[j + 1];
			bool gap = up > best, matches;

			best = gap ? up : best;
			matches = match > best;
			best = matches ? match : best;
			here[j + 1] = best;
			step[j] = (uint8_t)((GAP_IN_SEQUENCE + gap) * !matches);
		}
		last_end = end;
		swap = band->above;
		band->above = band->here;
		band->here = swap;
	}
}

/*
 * Follows the best path backwards. place[row] gets the place in the order that the row matches, or the place
 * before which it is inserted, with its sign bit set. Returns whether the path touched the band's border.
 */
#define INSERTED (1u << 31)

static bool trace_back(const struct band *band, uint32_t *place)
{
	size_t width = 2 * band->half + 1, j = band->columns;
	bool leant = false;

	for (size_t row = band->rows; row-- > 0;) {
		size_t begin = band_begin(band, row), end = band_end(band, row);
		enum step how = GAP_IN_PROFILE;

		if (j > end) {
			leant = true;
			j = end;
		}
		while (j > begin &&
				(how = band->step[row * width + j - 1 - begin]) == GAP_IN_SEQUENCE)
			j--;
		if (j == begin) {
			how = GAP_IN_PROFILE;
			leant = leant || begin > 0;
		}
		if (how == MATCH)
			place[row] = (uint32_t)--j;
		else
			place[row] = (uint32_t)j | INSERTED;
	}
	return leant;
}

/* Finds the best places for bursts [first, first + rows) among the columns. */
static int align_sequence(const struct profile *profile, size_t first, size_t rows, uint32_t *place)
{
	struct band band = { .rows = rows, .columns = profile->columns };
	size_t apart = rows > band.columns ? rows - band.columns : band.columns - rows;
	struct view view = { 0 };
	int error = profile->label ? view_labels(&view, profile) : view_points(&view, profile);

	if (error)
		goto out;
	error = -ENOMEM;

	band.gain = malloc((band.columns + 1) * sizeof(*band.gain));
	band.above = malloc((band.columns + 1) * sizeof(*band.above));
	band.here = malloc((band.columns + 1) * sizeof(*band.here));
	if (!band.gain || !band.above || !band.here)
		goto out;
	for (band.half = BAND_MIN + apart;; band.half *= 2) {
		if (band.half > band.columns)
			band.half = band.columns;
		free(band.step);
		band.step = malloc(rows * (2 * band.half + 1));
		if (!band.step)
			goto out;
		fill(&band, profile, &view, first);
		if (!trace_back(&band, place) || band.half >= band.columns ||
				rows * (4 * band.half + 1) > CELLS_MAX)
			break;
	}
	error = 0;
out:
	free(band.gain);
	free(band.above);
	free(band.here);
	free(band.step);
	view_fini(&view);
	return error;
}

static int count_label(struct profile *profile, uint32_t column, uint32_t label)
{
	uint32_t next = profile->tallies[column];

	for (; next; next = profile->tally[next].next)
		if (profile->tally[next].label == label) {
			profile->tally[next].count++;
			return 0;
		}
	if (profile->tally_count == profile->tally_room) {
		size_t room = 2 * profile->tally_room + 256;

		if (!grow((void **)&profile->tally, room, sizeof(*profile->tally)))
			return -ENOMEM;
		profile->tally_room = room;
	}
	if (!profile->tally_count)
		profile->tally_count = 1; /* 0 ends lists */
	profile->tally[profile->tally_count] = (struct tally){ label, 1, profile->tallies[column] };
	profile->tallies[column] = (uint32_t)profile->tally_count++;
	return 0;
}

/* Adds a burst to a column. */
static int add_to_column(struct profile *profile, uint32_t column, size_t burst)
{
	const double *point = profile->points + burst * profile->dims;
	double *centre = profile->centre + (size_t)column * profile->dims;

	if (profile->label)
		return count_label(profile, column, profile->label[burst]);
	profile->count[column]++;
	for (uint32_t dim = 0; dim < profile->dims; dim++)
		centre[dim] += (point[dim] - centre[dim]) / profile->count[column];
	return 0;
}

static uint32_t new_column(struct profile *profile, uint32_t number)
{
	if (profile->label) {
		profile->tallies[number] = 0;
	} else {
		profile->count[number] = 0;
		memset(profile->centre + (size_t)number * profile->dims, 0,
				profile->dims * sizeof(double));
	}
	return number;
}

/* Puts the bursts into their columns, and makes columns for those that match none. */
static int insert_sequence(struct profile *profile, const uint32_t *place, size_t first,
		size_t rows, uint32_t *column)
{
	size_t taken = 0, written = 0, columns = profile->columns;
	uint32_t *order;
	int error = 0;

	if (!profile_reserve(profile, columns + rows))
		return -ENOMEM;
	for (size_t row = 0; row < rows && !error; row++) {
		size_t at = place[row] & ~INSERTED;

		while (taken < at)
			profile->scratch[written++] = profile->order[taken++];
		if (place[row] & INSERTED)
			column[first + row] = new_column(profile, (uint32_t)profile->columns++);
		else
			column[first + row] = profile->order[taken++];
		profile->scratch[written++] = column[first + row];
		error = add_to_column(profile, column[first + row], first + row);
	}
	while (taken < columns)
		profile->scratch[written++] = profile->order[taken++];
	order = profile->order;
	profile->order = profile->scratch;
	profile->scratch = order;
	return error;
}

/* Gives a sequence the columns of its twin, which has been aligned. */
static int copy_sequence(struct profile *profile, size_t twin, size_t first, size_t rows,
		uint32_t *column)
{
	int error = 0;

	for (size_t row = 0; row < rows && !error; row++) {
		column[first + row] = column[twin + row];
		error = add_to_column(profile, column[first + row], first + row);
	}
	return error;
}

struct turn {
	size_t first, rows;
	size_t twins; /* how many sequences are equal to it */
	const uint32_t *label;
};

static int by_content(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order;

	if (x->rows != y->rows)
		return x->rows < y->rows ? 1 : -1;
	order = x->label ? memcmp(x->label, y->label, x->rows * sizeof(*x->label)) : 0;
	if (order)
		return order;
	return x->first < y->first ? -1 : 1;
}

/* Orders the most frequent sequences first, because they make the frame for the others. */
static int by_twins(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->twins != y->twins)
		return x->twins < y->twins ? 1 : -1;
	return by_content(a, b);
}

static bool same_content(const struct turn *a, const struct turn *b)
{
	return a->label && a->rows == b->rows &&
			!memcmp(a->label, b->label, a->rows * sizeof(*a->label));
}

static struct turn *take_turns(const uint32_t *label, const size_t *first, size_t sequences)
{
	struct turn *turns = malloc((sequences + 1) * sizeof(*turns));

	if (!turns)
		return NULL;
	for (size_t s = 0; s < sequences; s++)
		turns[s] = (struct turn){ .first = first[s],
			.rows = first[s + 1] - first[s],
			.label = label ? label + first[s] : NULL };
	sort_items(turns, sequences, sizeof(*turns), by_content);
	for (size_t s = 0, end; s < sequences; s = end) {
		for (end = s + 1; end < sequences && same_content(&turns[s], &turns[end]);)
			end++;
		for (size_t t = s; t < end; t++)
			turns[t].twins = end - s;
	}
	sort_items(turns, sequences, sizeof(*turns), by_twins);
	return turns;
}

static int align(struct alignment *alignment, struct profile *profile, const size_t *first,
		size_t sequences)
{
	size_t bursts = first[sequences];
	uint32_t *place = malloc((bursts + 1) * sizeof(*place));
	struct turn *turns = take_turns(profile->label, first, sequences);
	int error = -ENOMEM;

	*alignment = (struct alignment){ .peers = sequences,
		.column = malloc((bursts + 1) * sizeof(uint32_t)) };
	if (!place || !turns || !alignment->column)
		goto out;
	error = 0;
	for (size_t s = 0; s < sequences && !error; s++) {
		if (!turns[s].rows)
			continue;
		if (s && same_content(&turns[s - 1], &turns[s])) {
			error = copy_sequence(profile, turns[s - 1].first, turns[s].first,
					turns[s].rows, alignment->column);
			continue;
		}
		error = align_sequence(profile, turns[s].first, turns[s].rows, place);
		if (!error)
			error = insert_sequence(profile, place, turns[s].first, turns[s].rows,
					alignment->column);
	}
	if (error)
		goto out;
	/* from the columns' numbers to their places */
	for (size_t at = 0; at < profile->columns; at++)
		profile->scratch[profile->order[at]] = (uint32_t)at;
	for (size_t i = 0; i < bursts; i++)
		alignment->column[i] = profile->scratch[alignment->column[i]];
	alignment->columns = profile->columns;
out:
	free(place);
	free(turns);
	profile_fini(profile);
	return error;
}

int align_labels(struct alignment *alignment, const uint32_t *label, const double *weight,
		const size_t *first, size_t sequences)
{
	struct profile profile = { .label = label, .weight = weight };

	return align(alignment, &profile, first, sequences);
}

int align_points(struct alignment *alignment, const double *points, uint32_t dims,
		const size_t *first, size_t sequences)
{
	struct profile profile = { .points = points, .dims = dims };

	return align(alignment, &profile, first, sequences);
}

void alignment_fini(struct alignment *alignment)
{
	free(alignment->column);
	*alignment = (struct alignment){ 0 };
}
