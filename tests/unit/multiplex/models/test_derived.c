/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the intervals of values that a model derives from the counters: components of the CPI, shares and
 * rates. They hold the truth as often as they say, and are no wider than necessary. This is also true if
 * counters of one group vary together, and if cycles and instructions are estimates themselves.
 */
#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/mix.h"
#include "multiplex/models/model.h"
#include "multiplex/scheme/scheme.h"
#include "tests/tap.h"

enum { TASKS = 8, BURSTS = 250, PROGRAMS = 6, TRIALS = 40, COUNTERS = 5 };
enum { RESULTS_MAX = MODEL_COMPONENTS_MAX + MODEL_METRICS_MAX };

/* Counts of one burst, from which the model's events are calculated. */
struct work {
	double cycles, instructions, ops, mispredicts, misses, empty;
};

struct program {
	struct work burst[TASKS * BURSTS];
};

/* The results of the model: the components of the CPI, then the metrics. */
struct results {
	unsigned count;
	const char *name[RESULTS_MAX];
	double value[RESULTS_MAX], ci95[RESULTS_MAX];
	struct cpi_component component[MODEL_COMPONENTS_MAX];
	struct model_metric metric[MODEL_METRICS_MAX];
};

struct tally {
	unsigned stated, covered;
	double error, width;
};

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static struct work make_burst(unsigned task, uint64_t *state)
{
	struct work work;

	work.instructions = 1e6 * (1 + .02 * task) * (1 + .05 * normal(state));
	work.ops = 1.1 * work.instructions * (1 + .01 * normal(state));
	work.mispredicts = .004 * work.instructions * fmax(0, 1 + .2 * normal(state));
	work.misses = .002 * work.instructions * fmax(0, 1 + .3 * normal(state));
	work.empty = .15 * work.instructions * (1 + .1 * normal(state));
	work.cycles = (work.ops + work.empty) / 8 + 20 * work.mispredicts + 100 * work.misses;
	return work;
}

static double dispatched(const struct work *work)
{
	return work->ops + 60 * work->mispredicts;
}

static double count_of(const char *event, const struct work *work)
{
	double front_end = work->empty + 100 * work->mispredicts;
	const struct {
		const char *name;
		double value;
	} counts[] = {
		{ "ls_not_halted_cyc", work->cycles },
		{ "ex_ret_instr", work->instructions },
		{ "de_src_op_disp.all", dispatched(work) },
		{ "ex_ret_ops", work->ops },
		{ "ex_ret_ucode_ops", .01 * work->ops },
		{ "de_no_dispatch_per_slot.no_ops_from_frontend", front_end },
		{ "de_no_dispatch_per_cycle.no_ops_from_frontend", front_end / 10 },
		{ "de_no_dispatch_per_slot.backend_stalls",
				8 * work->cycles - dispatched(work) - front_end },
		{ "ex_no_retire.not_complete", 90 * work->misses + .02 * work->ops },
		{ "ex_no_retire.load_not_complete", 80 * work->misses },
		{ "ex_no_retire.other", .05 * work->ops },
		{ "ex_ret_brn_misp", work->mispredicts },
		{ "bp_redirects.resync", work->mispredicts / 50 },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (strcmp(event, counts[i].name) == 0)
			return counts[i].value;
	return 3 * work->misses + .1 * work->instructions;
}

static void make_counts(const struct model *model, const struct plan_group *group,
		const struct work *work, uint64_t *values)
{
	for (unsigned i = 0; i < group->count; i++)
		values[i] = (uint64_t)count_of(model_event(model, group->event[i])->name, work);
}

static void derive(const struct model *model, const struct phase_estimate *estimate,
		struct results *out)
{
	unsigned components = model_breakdown(model, estimate, out->component);
	unsigned metrics = model_metrics(model, estimate, out->metric);

	out->count = 0;
	for (unsigned i = 0; i < components; i++) {
		out->name[out->count] = out->component[i].name;
		out->value[out->count] = out->component[i].cpi;
		out->ci95[out->count++] = out->component[i].ci95;
	}
	for (unsigned i = 0; i < metrics; i++) {
		out->name[out->count] = out->metric[i].name;
		out->value[out->count] = out->metric[i].value;
		out->ci95[out->count++] = out->metric[i].ci95;
	}
}

/* Calculates the results as if every burst had been counted with every group. */
static void find_truth(const struct model *model, const struct program *program,
		struct results *out)
{
	struct phase_estimate all = { .bursts = TASKS * BURSTS };

	for (unsigned e = 0; e < model_events(model); e++) {
		all.event[e].observed = TASKS * BURSTS;
		for (unsigned i = 0; i < TASKS * BURSTS; i++)
			all.event[e].mean += floor(count_of(model_event(model, e)->name,
							     &program->burst[i])) /
					(TASKS * BURSTS);
	}
	all.duration.observed = TASKS * BURSTS;
	for (unsigned i = 0; i < TASKS * BURSTS; i++)
		all.duration.mean += program->burst[i].cycles * 1e-9 / (TASKS * BURSTS);
	derive(model, &all, out);
}

static void run_trial(const struct model *model, const struct plan *plan,
		const struct program *program, double read, uint64_t seed, struct results *out)
{
	struct sums *sums = sums_new(plan, 1);
	struct quantum *quantum = quantum_new(sums);
	struct scheme scheme = { .kind = SCHEME_RANDOM, .groups = plan->groups, .seed = seed };
	struct phase_estimate estimate;
	uint64_t state = seed, values[PLAN_GROUP_EVENTS_MAX];
	bool member = true;

	for (unsigned i = 0; i < TASKS * BURSTS; i++) {
		const struct work *work = &program->burst[i];
		unsigned group = scheme_group(&scheme, i / BURSTS, i % BURSTS / 2);

		if (i % BURSTS % 2 == 0)
			quantum_close(quantum, sums);
		if (read < 1 && mix_uniform(&state) >= read)
			continue;
		make_counts(model, &plan->group[group], work, values);
		quantum_add(quantum, 0,
				&(struct quantum_burst){ group, 1, 1 / read, work->cycles * 1e-9,
						values, false, 0 });
	}
	quantum_close(quantum, sums);
	estimate_phase(sums, &member, NULL, &estimate);
	derive(model, &estimate, out);
	quantum_free(quantum);
	sums_free(sums);
}

static void check(const struct model *model, double read)
{
	static struct program program;
	struct tally tally[RESULTS_MAX] = { { 0 } };
	struct results truth, found;
	unsigned stated = 0, covered = 0;
	uint64_t state = 7;
	double width = 0;
	struct plan plan;

	model_pack(model, COUNTERS, &plan);
	for (unsigned p = 0; p < PROGRAMS; p++) {
		for (unsigned i = 0; i < TASKS * BURSTS; i++)
			program.burst[i] = make_burst(i / BURSTS, &state);
		find_truth(model, &program, &truth);
		for (unsigned t = 0; t < TRIALS; t++) {
			run_trial(model, &plan, &program, read, mix_next(&state), &found);
			for (unsigned i = 0; i < truth.count; i++) {
				double error = fabs(found.value[i] - truth.value[i]);

				/* known from every burst, as the clock is if all bursts are read */
				if (!isfinite(found.ci95[i]) ||
						found.ci95[i] < 1e-6 * truth.value[i])
					continue;
				tally[i].stated++;
				tally[i].covered += error <= found.ci95[i];
				tally[i].error += error;
				tally[i].width += found.ci95[i];
			}
		}
	}
	for (unsigned i = 0; i < truth.count; i++) {
		/* the clock does not vary here */
		if (!tally[i].stated || tally[i].error < 1e-6 * truth.value[i] * tally[i].stated)
			continue;
		stated += tally[i].stated;
		covered += tally[i].covered;
		width = fmax(width, tally[i].width / tally[i].error);
		diag("%-28s %.6f error %.6f +- %.6f (%.1f x) covered %.1f%%", truth.name[i],
				truth.value[i], tally[i].error / tally[i].stated,
				tally[i].width / tally[i].stated, tally[i].width / tally[i].error,
				100. * tally[i].covered / tally[i].stated);
	}
	ok(covered >= .90 * stated && covered <= .998 * stated,
			"%g read: %.1f%% of %u intervals of derived values hold the truth", read,
			100. * covered / stated, stated);
	ok(width <= 10, "the widest is %.1f times its error", width);
}

int main(void)
{
	struct model *model = model_load("zen5", NULL, 0);

	check(model, 1);
	check(model, .2);
	model_free(model);
	return tap_done();
}
