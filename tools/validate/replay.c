/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/validate/replay.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/sums.h"
#include "multiplex/mix.h"
#include "multiplex/scheme/adaptive.h"

struct replay {
	const struct replay_bursts *bursts;
	const struct replay_setup *setup;
	size_t count;
	size_t *order;     /* the bursts of phases, by task and begin */
	struct sums *sums; /* of all tasks */
	struct sums *own;  /* of one task, from which it learns */
	struct quantum *quantum;
	double *plain;     /* phases x events: total of the observed counts */
	double *observed;  /* phases x events: number of bursts in which the event was observed */
	bool *member;      /* of one phase */
	double *bursts_of; /* number of bursts, by phase */
};

/* The random choices of one trial. */
struct draw {
	uint64_t state;
	double offset;  /* seconds that are added to the bursts' start */
	uint64_t shift; /* number that is added to the places */
	uint8_t group[PLAN_GROUPS_MAX];
	struct scheme scheme;
};

static int by_task_and_begin(const void *a, const void *b, void *data)
{
	const struct replay_bursts *bursts = data;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (bursts->task[i] != bursts->task[j])
		return bursts->task[i] < bursts->task[j] ? -1 : 1;
	return (bursts->begin[i] > bursts->begin[j]) - (bursts->begin[i] < bursts->begin[j]);
}

static void draw_trial(const struct replay *replay, unsigned trial, struct draw *draw)
{
	const struct replay_setup *setup = replay->setup;
	unsigned groups = setup->plan.groups;

	memset(draw, 0, sizeof(*draw));
	draw->state = setup->seed;
	draw->state = mix_next(&draw->state) ^ trial;
	draw->offset = mix_uniform(&draw->state) * groups * setup->quantum;
	draw->shift = mix_next(&draw->state) % 4096;
	for (unsigned i = 0; i < groups; i++) {
		unsigned j = mix_next(&draw->state) % (i + 1);

		draw->group[i] = draw->group[j];
		draw->group[j] = i;
	}
	/* not permuted, because adaptive learns about groups by their numbers in the plan */
	for (unsigned i = 0; i < groups && setup->scheme == SCHEME_ADAPTIVE; i++)
		draw->group[i] = i;
	draw->scheme.kind = setup->scheme;
	draw->scheme.groups = groups;
	draw->scheme.seed = mix_next(&draw->state);
}

static void read_burst(struct replay *replay, size_t burst, unsigned group, double group_weight)
{
	const struct plan *plan = &replay->setup->plan;
	const uint64_t *row = &replay->bursts->values[burst * plan->events];
	unsigned phase = replay->bursts->phase[burst] - 1;
	uint64_t values[PLAN_GROUP_EVENTS_MAX];
	const struct quantum_burst read = {
		.group = group,
		.group_weight = group_weight,
		.weight = 1 / replay->setup->read,
		.seconds = replay->bursts->seconds[burst],
		.values = values,
	};

	for (unsigned i = 0; i < plan->group[group].count; i++) {
		size_t event = plan->group[group].event[i];

		values[i] = row[event];
		replay->plain[phase * plan->events + event] += row[event];
		replay->observed[phase * plan->events + event]++;
	}
	quantum_add(replay->quantum, phase, &read);
}

/* Replays one task's bursts, order[first .. last), in the order in which its process executed them. */
static void run_task(struct replay *replay, struct draw *draw, size_t first, size_t last)
{
	const struct replay_bursts *bursts = replay->bursts;
	const struct replay_setup *setup = replay->setup;
	uint64_t place = bursts->task[replay->order[first]] + draw->shift, now = UINT64_MAX;
	double group_weight = 1;
	unsigned group = 0, closed = 0, learn_at = 2 * setup->plan.groups;
	bool learns = setup->scheme == SCHEME_ADAPTIVE;
	struct sums *sums = learns ? replay->own : replay->sums;
	struct adaptive adaptive;

	if (learns)
		memset(sums_flat(sums), 0, sums_length(sums) * sizeof(double));
	adaptive_init(&adaptive, setup->plan.groups);
	draw->scheme.adaptive = &adaptive;
	for (size_t i = first; i < last; i++) {
		size_t burst = replay->order[i];
		uint64_t quantum = (bursts->begin[burst] + draw->offset) / setup->quantum;

		if (quantum != now && (i == first || setup->scheme != SCHEME_SPACE)) {
			quantum_close(replay->quantum, sums);
			if (learns && ++closed == learn_at) {
				adaptive_learn(&adaptive, sums, NULL);
				learn_at *= 2;
			}
			now = quantum;
			group = draw->group[scheme_group(&draw->scheme, place, quantum)];
			group_weight = scheme_weight(&draw->scheme, group);
		}
		if (setup->read >= 1 || mix_uniform(&draw->state) < setup->read)
			read_burst(replay, burst, group, group_weight);
	}
	quantum_close(replay->quantum, sums);
	for (size_t i = 0; learns && i < sums_length(replay->own); i++)
		sums_flat(replay->sums)[i] += sums_flat(replay->own)[i];
}

/* Returns the interval's half-width as a report states it. bursts: number of all bursts of the phase. */
static double stated_interval(const struct estimate *estimate, double bursts)
{
	return estimate->observed > 1 ? estimate_interval(estimate->mean, estimate->ci95,
							(double)estimate->observed >= bursts) :
					NAN;
}

static void judge_phase(struct replay *replay, unsigned phase, struct replay_cell *cells)
{
	const struct plan *plan = &replay->setup->plan;
	struct phase_estimate estimate;

	memset(replay->member, 0, replay->bursts->phases * sizeof(*replay->member));
	replay->member[phase] = true;
	estimate_phase(replay->sums, replay->member, NULL, &estimate);
	for (unsigned e = 0; e < plan->events; e++) {
		struct replay_cell *cell = &cells[phase * plan->events + e];
		const struct estimate *of = &estimate.event[e];
		double reference = replay_whole(cell->truth,
				cells[phase * plan->events + replay->setup->reference[e]].truth);
		double observed = replay->observed[phase * plan->events + e];
		double error = fabs(of->mean - cell->truth) / reference;
		double ci95 = stated_interval(of, replay->bursts_of[phase]);

		if (!of->observed || !(reference > 0))
			continue;
		cell->seen++;
		cell->error += error;
		cell->error_max = fmax(cell->error_max, error);
		cell->relative += fabs(of->mean - cell->truth) / cell->truth;
		cell->plain += fabs(replay->plain[phase * plan->events + e] / observed -
					       cell->truth) /
				reference;
		if (isfinite(ci95)) {
			cell->stated++;
			cell->width += ci95 / reference;
			cell->covered += fabs(of->mean - cell->truth) <= ci95 + 1e-9 * cell->truth;
		}
	}
}

static void run_trial(struct replay *replay, unsigned trial, struct replay_cell *cells)
{
	const struct replay_bursts *bursts = replay->bursts;
	size_t cell_count = (size_t)bursts->phases * replay->setup->plan.events;
	struct draw draw;

	draw_trial(replay, trial, &draw);
	memset(sums_flat(replay->sums), 0, sums_length(replay->sums) * sizeof(double));
	memset(replay->plain, 0, cell_count * sizeof(double));
	memset(replay->observed, 0, cell_count * sizeof(double));
	for (size_t first = 0, last; first < replay->count; first = last) {
		uint32_t task = bursts->task[replay->order[first]];

		for (last = first;
				last < replay->count && bursts->task[replay->order[last]] == task;)
			last++;
		run_task(replay, &draw, first, last);
	}
	for (unsigned phase = 0; phase < bursts->phases; phase++)
		judge_phase(replay, phase, cells);
}

/* Sets the truth of the cells from the counts of all bursts. */
static void find_truth(const struct replay *replay, struct replay_cell *cells)
{
	const struct replay_bursts *bursts = replay->bursts;
	unsigned events = replay->setup->plan.events;

	for (size_t i = 0; i < replay->count; i++) {
		size_t burst = replay->order[i];
		size_t phase = bursts->phase[burst] - 1;

		replay->bursts_of[phase]++;
		for (unsigned e = 0; e < events; e++)
			cells[phase * events + e].truth += bursts->values[burst * events + e];
	}
	for (unsigned phase = 0; phase < bursts->phases; phase++) {
		double count = replay->bursts_of[phase];
		struct replay_cell *row = &cells[phase * events];

		for (unsigned e = 0; e < events; e++)
			row[e].truth = count ? row[e].truth / count : NAN;
		for (unsigned e = 0; e < events; e++)
			row[e].relevance = row[e].truth / row[replay->setup->reference[e]].truth;
	}
}

static void replay_finish(struct replay *replay)
{
	free(replay->order);
	free(replay->plain);
	free(replay->observed);
	free(replay->member);
	free(replay->bursts_of);
	quantum_free(replay->quantum);
	sums_free(replay->sums);
	sums_free(replay->own);
}

static int replay_start(struct replay *replay)
{
	const struct replay_bursts *bursts = replay->bursts;
	size_t cell_count = (size_t)bursts->phases * replay->setup->plan.events;

	replay->order = calloc(bursts->count + 1, sizeof(*replay->order));
	replay->plain = calloc(cell_count + 1, sizeof(*replay->plain));
	replay->observed = calloc(cell_count + 1, sizeof(*replay->observed));
	replay->member = calloc(bursts->phases + 1, sizeof(*replay->member));
	replay->bursts_of = calloc(bursts->phases + 1, sizeof(*replay->bursts_of));
	replay->sums = sums_new(&replay->setup->plan, bursts->phases);
	replay->own = sums_new(&replay->setup->plan, bursts->phases);
	replay->quantum = replay->own ? quantum_new(replay->own) : NULL;
	if (!replay->order || !replay->plain || !replay->observed || !replay->member ||
			!replay->bursts_of || !replay->sums || !replay->quantum)
		return -ENOMEM;
	for (size_t i = 0; i < bursts->count; i++)
		if (bursts->phase[i] && bursts->phase[i] <= bursts->phases)
			replay->order[replay->count++] = i;
	qsort_r(replay->order, replay->count, sizeof(*replay->order), by_task_and_begin,
			(void *)bursts);
	return replay->count ? 0 : -EINVAL;
}

int replay_run(const struct replay_bursts *bursts, const struct replay_setup *setup,
		struct replay_cell *cells)
{
	struct replay replay = { .bursts = bursts, .setup = setup };
	size_t cell_count = (size_t)bursts->phases * setup->plan.events;
	int error;

	if (!(setup->read > 0) || !(setup->quantum > 0))
		return -EINVAL;
	error = replay_start(&replay);
	if (error)
		goto out;
	memset(cells, 0, cell_count * sizeof(*cells));
	find_truth(&replay, cells);
	for (unsigned trial = 0; trial < setup->trials; trial++) {
		run_trial(&replay, trial, cells);
		if (setup->progress)
			setup->progress(setup->data);
	}
	for (size_t i = 0; i < cell_count; i++) {
		cells[i].error /= cells[i].seen;
		cells[i].plain /= cells[i].seen;
		cells[i].relative /= cells[i].seen;
		cells[i].width /= cells[i].stated;
	}
out:
	replay_finish(&replay);
	return error;
}

void replay_add_cell(struct replay_sums *sums, const struct replay_cell *cell)
{
	if (!cell->seen)
		return;
	sums->seen += cell->seen;
	sums->stated += cell->stated;
	sums->covered += cell->covered;
	sums->error += cell->error * cell->seen;
	sums->error_max = fmax(sums->error_max, cell->error_max);
	sums->plain += cell->plain * cell->seen;
	if (cell->stated)
		sums->width += cell->width * cell->stated;
}

struct replay_summary replay_summary_of(const struct replay_sums *sums, double trials)
{
	return (struct replay_summary){
		.mean_weighted_error = sums->error / sums->seen,
		.max_weighted_error = sums->error_max,
		.plain_mean_weighted_error = sums->plain / sums->seen,
		.half_width = sums->width / sums->stated,
		.coverage = sums->covered / sums->stated,
		.stated = sums->stated / sums->seen,
		.observed = sums->seen / trials,
	};
}

void replay_summarise(const struct replay_cell *cells, unsigned phases, const struct plan *plan,
		unsigned trials, struct replay_summary *out)
{
	struct replay_sums sums = { .seen = 0 };

	for (unsigned phase = 0; phase < phases; phase++)
		for (unsigned e = plan->common; e < plan->events; e++)
			replay_add_cell(&sums, &cells[phase * plan->events + e]);
	*out = replay_summary_of(&sums, (double)phases * (plan->events - plan->common) * trials);
}
