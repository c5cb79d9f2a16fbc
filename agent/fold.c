#include "agent/fold.h"

#include <math.h>

#include "agent/memory.h"

#define ROWS_MAX 64 /* prototypes, of bursts or of slices, that have room */

/* From so many samples of an event on, a curve is shown of it. */
#define SAMPLES_MIN 8

enum kind {
	OF_BURSTS, /* x: place, y: share of the burst's count that was counted until there */
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
	struct cell cell[]; /* [row][event][bin] */
};

/* NULL: there are none. */
static const struct cell *cells_of(const struct fold *fold, unsigned prototype, enum kind kind,
		unsigned event)
{
	unsigned row = fold->row[prototype][kind];

	return row ? &fold->cell[((row - 1) * (size_t)fold->plan->events + event) * FOLD_BINS] : NULL;
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

static void add(struct fold *fold, unsigned prototype, enum kind kind, unsigned event, double place,
		double x, double y)
{
	unsigned bin = place > 0 ? (unsigned)(place * FOLD_BINS) : 0;
	struct cell *cell;

	if (!fold->row[prototype][kind] && fold->rows < ROWS_MAX)
		fold->row[prototype][kind] = (uint8_t)++fold->rows;
	cell = (struct cell *)cells_of(fold, prototype, kind, event);
	if (!cell)
		return;
	cell += bin < FOLD_BINS ? bin : FOLD_BINS - 1;
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
			add(fold, prototype, OF_BURSTS, of->event[i], place, place,
					(double)until[i] / (double)all[i]);
}

void fold_slice(struct fold *fold, unsigned prototype, unsigned group, double place, double ticks,
		const uint64_t *values)
{
	const struct plan_group *of = &fold->plan->group[group];

	for (unsigned i = 0; i < of->count; i++)
		add(fold, prototype, OF_SLICES, of->event[i], place, ticks, (double)values[i]);
}

/* ---- what it says ---- */

/* The phase's sums of one event. Returns the number of samples. */
static double sum(const struct fold *fold, const struct prototype_table *table, uint32_t phase,
		enum kind kind, unsigned event, struct cell all[FOLD_BINS])
{
	double samples = 0;

	for (unsigned bin = 0; bin < FOLD_BINS; bin++)
		all[bin] = (struct cell){ 0, 0, 0 };
	for (unsigned p = 0; p < table->count; p++) {
		const struct cell *cells = cells_of(fold, p, kind, event);

		for (unsigned bin = 0; bin < FOLD_BINS && cells && table->all[p].phase == phase; bin++) {
			all[bin].samples += cells[bin].samples;
			all[bin].x += cells[bin].x;
			all[bin].y += cells[bin].y;
			samples += (double)cells[bin].samples;
		}
	}
	return samples;
}

/* The curve through the bins' mean points, from (0, 0) to (1, 1), straight between them. */
static double curve(const struct cell *cells, double x)
{
	double x0 = 0, y0 = 0, x1 = 1, y1 = 1;

	for (unsigned bin = 0; bin < FOLD_BINS; bin++) {
		double at = (double)(cells[bin].x / cells[bin].samples);
		double y = (double)(cells[bin].y / cells[bin].samples);

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

static double rate(const struct cell *cells, enum kind kind, unsigned bin)
{
	double x = 0, y = 0;

	if (kind == OF_BURSTS)
		return (curve(cells, (bin + 1.0) / FOLD_BINS) - curve(cells, bin * 1.0 / FOLD_BINS)) *
		       FOLD_BINS;
	for (unsigned i = 0; i < FOLD_BINS; i++) {
		x += (double)cells[i].x;
		y += (double)cells[i].y;
	}
	return (double)cells[bin].y / (double)cells[bin].x / (y / x);
}

static json_t *rates(const struct cell *cells, enum kind kind)
{
	json_t *list = json_array();

	for (unsigned bin = 0; bin < FOLD_BINS; bin++) {
		double value = rate(cells, kind, bin);

		json_array_append_new(list, isfinite(value) ? json_real(value) : json_null());
	}
	return list;
}

json_t *fold_of_phase(const struct fold *fold, const struct counting *counting,
		const struct prototype_table *table, uint32_t phase)
{
	static const char *const names[KINDS] = { "bursts", "slices" };
	double most[KINDS] = { 0, 0 };
	struct cell cells[FOLD_BINS];
	json_t *counters;
	enum kind kind;

	if (!fold)
		return json_null();
	for (unsigned e = 0; e < fold->plan->events; e++)
		for (kind = OF_BURSTS; kind < KINDS; kind++)
			most[kind] = fmax(most[kind], sum(fold, table, phase, kind, e, cells));
	/* of each sort there are few or none, but for chance */
	kind = most[OF_SLICES] > most[OF_BURSTS] ? OF_SLICES : OF_BURSTS;
	if (most[kind] < SAMPLES_MIN)
		return json_null();
	counters = json_object();
	for (unsigned e = 0; e < fold->plan->events; e++)
		if (sum(fold, table, phase, kind, e, cells) >= SAMPLES_MIN)
			json_object_set_new(counters, counting->event[e].name, rates(cells, kind));
	return json_pack("{s:s,s:I,s:o}", "of", names[kind], "samples", (json_int_t)most[kind],
			"rates", counters);
}
