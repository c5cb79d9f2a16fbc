/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/fold.h"

#include <math.h>
#include <stdlib.h>

#include "agent/host/memory.h"

#define ROWS_MAX 64 /* maximum number of pairs of a prototype and a kind */

/* Number of samples of an event from which its curve is shown. */
#define SAMPLES_MIN 8

enum kind {
	OF_BURSTS, /* x: place, y: share of the burst's count up to this place */
	OF_SLICES, /* x: ticks, y: count */
	KINDS,
};

struct cell {
	float samples, x, y;
};

struct fold {
	const struct plan *plan;
	size_t bytes;
	unsigned rows;
	uint8_t row[PROTOTYPES_MAX][KINDS]; /* from 1; 0: none */
	struct cell cell[];                 /* [row][event][bin] */
};

/* Returns the cells of the bins, or NULL if there are none. */
static const struct cell *cells_of(const struct fold *fold, unsigned prototype, enum kind kind,
		unsigned event)
{
	unsigned row = fold->row[prototype][kind];

	return row ? &fold->cell[((row - 1) * (size_t)fold->plan->events + event) * FOLD_BINS] :
		     NULL;
}

struct fold *fold_new(const struct plan *plan)
{
	size_t bytes = sizeof(struct fold) +
			(size_t)ROWS_MAX * plan->events * FOLD_BINS * sizeof(struct cell);
	struct fold *fold = memory_map(bytes);

	if (!fold)
		return NULL;
	fold->plan = plan;
	fold->bytes = bytes;
	return fold;
}

void fold_free(struct fold *fold)
{
	if (fold)
		memory_unmap(fold, fold->bytes);
}

size_t fold_bytes(const struct fold *fold)
{
	return memory_resident(fold, fold->bytes);
}

/* Returns the cells of the bins, and gives them a row if there is one left; else NULL. */
static struct cell *take_cells(struct fold *fold, unsigned prototype, enum kind kind,
		unsigned event)
{
	if (!fold->row[prototype][kind] && fold->rows < ROWS_MAX)
		fold->row[prototype][kind] = (uint8_t)++fold->rows;
	return (struct cell *)cells_of(fold, prototype, kind, event);
}

/* Adds a sample at a place, 0 to 1, of its burst. cells: those of the bins, or NULL. */
static void add_sample(struct cell *cells, double place, double x, double y)
{
	unsigned bin = place > 0 ? (unsigned)(place * FOLD_BINS) : 0;
	struct cell *cell;

	if (!cells)
		return;
	cell = &cells[bin < FOLD_BINS ? bin : FOLD_BINS - 1];
	cell->samples++;
	cell->x += (float)x;
	cell->y += (float)y;
}

void fold_sample(struct fold *fold, unsigned prototype, unsigned group, double place,
		const uint64_t *until, const uint64_t *all)
{
	const struct plan_group *of = &fold->plan->group[group];

	for (unsigned i = 0; i < of->count; i++)
		if (all[i] && until[i] <= all[i])
			add_sample(take_cells(fold, prototype, OF_BURSTS, of->event[i]), place,
					place, (double)until[i] / (double)all[i]);
}

void fold_slice(struct fold *fold, unsigned prototype, unsigned group, double place, double ticks,
		const uint64_t *values)
{
	const struct plan_group *of = &fold->plan->group[group];

	for (unsigned i = 0; i < of->count; i++)
		add_sample(take_cells(fold, prototype, OF_SLICES, of->event[i]), place, ticks,
				(double)values[i]);
}

/* ---- over processes ---- */

/* Sum over processes, of a phase, kind, event and place. */
struct sum {
	double samples, x, y;
};

static unsigned phases_of(const struct prototype_table *table)
{
	return table->phases < FOLD_PHASES ? table->phases : FOLD_PHASES;
}

static size_t row_of(const struct plan *plan, uint32_t phase, enum kind kind, unsigned event)
{
	return (((size_t)(phase - 1) * KINDS + kind) * plan->events + event) * FOLD_BINS;
}

size_t fold_sums_length(const struct plan *plan, const struct prototype_table *table)
{
	return (size_t)phases_of(table) * KINDS * plan->events * FOLD_BINS *
			(sizeof(struct sum) / sizeof(double));
}

double *fold_sums(const struct fold *fold, const struct plan *plan,
		const struct prototype_table *table)
{
	double *flat = calloc(fold_sums_length(plan, table) + 1, sizeof(*flat));
	struct sum *sums = (struct sum *)flat;

	for (unsigned p = 0; sums && fold && p < table->count; p++) {
		uint32_t phase = table->all[p].phase;

		for (unsigned row = 0; row < KINDS * plan->events && phase && phase <= FOLD_PHASES;
				row++) {
			enum kind kind = row / plan->events;
			unsigned event = row % plan->events;
			const struct cell *cells = cells_of(fold, p, kind, event);
			struct sum *into = &sums[row_of(plan, phase, kind, event)];

			for (unsigned bin = 0; cells && bin < FOLD_BINS; bin++) {
				into[bin].samples += (double)cells[bin].samples;
				into[bin].x += (double)cells[bin].x;
				into[bin].y += (double)cells[bin].y;
			}
		}
	}
	return flat;
}

static double samples_in(const struct sum sums[FOLD_BINS])
{
	double samples = 0;

	for (unsigned bin = 0; bin < FOLD_BINS; bin++)
		samples += sums[bin].samples;
	return samples;
}

/* Returns the value at x of the line through the bins' mean points, from (0, 0) to (1, 1). */
static double curve(const struct sum *cells, double x)
{
	double x0 = 0, y0 = 0, x1 = 1, y1 = 1;

	for (unsigned bin = 0; bin < FOLD_BINS; bin++) {
		double at = cells[bin].x / cells[bin].samples;
		double y = cells[bin].y / cells[bin].samples;

		if (!(cells[bin].samples > 0))
			continue;
		if (at > x) {
			x1 = at;
			y1 = y;
			break;
		}
		x0 = at;
		y0 = y;
	}
	return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
}

static double rate(const struct sum *cells, enum kind kind, unsigned bin)
{
	double x = 0, y = 0;

	if (kind == OF_BURSTS)
		return (curve(cells, (bin + 1.0) / FOLD_BINS) -
				       curve(cells, bin * 1.0 / FOLD_BINS)) *
				FOLD_BINS;
	for (unsigned i = 0; i < FOLD_BINS; i++) {
		x += cells[i].x;
		y += cells[i].y;
	}
	return cells[bin].y / cells[bin].x / (y / x);
}

bool fold_summarize(const double *sums, const struct plan *plan, uint32_t phase,
		struct fold_summary *summary)
{
	static const char *const names[KINDS] = { "bursts", "slices" };
	const struct sum *all = (const struct sum *)sums;
	double most[KINDS] = { 0, 0 };
	enum kind kind;

	if (!sums || phase > FOLD_PHASES)
		return false;
	for (unsigned e = 0; e < plan->events; e++)
		for (kind = OF_BURSTS; kind < KINDS; kind++)
			most[kind] = fmax(most[kind],
					samples_in(&all[row_of(plan, phase, kind, e)]));
	kind = most[OF_SLICES] > most[OF_BURSTS] ? OF_SLICES : OF_BURSTS;
	*summary = (struct fold_summary){ .kind = kind,
		.kind_name = names[kind],
		.samples = most[kind] };
	return most[kind] >= SAMPLES_MIN;
}

bool fold_rates(const double *sums, const struct plan *plan, uint32_t phase, unsigned kind,
		unsigned event, double rates[FOLD_BINS])
{
	const struct sum *cells = &((const struct sum *)sums)[row_of(plan, phase, kind, event)];

	if (samples_in(cells) < SAMPLES_MIN)
		return false;
	for (unsigned bin = 0; bin < FOLD_BINS; bin++)
		rates[bin] = rate(cells, kind, bin);
	return true;
}
