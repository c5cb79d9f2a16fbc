/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/run.h"

#include <math.h>
#include <string.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define NORMAL 1.96 /* 97.5% quantile of the normal distribution */

static const struct measure unknown = { NAN, NAN };

static double zero_if_unknown(double value)
{
	return isfinite(value) ? value : 0;
}

const json_t *run_phase(const struct run *run, size_t i)
{
	return json_array_get(json_object_get(run->report, "phases"), i);
}

/* Returns the half-width of a mean duration: what the report has, and how much bursts vary. */
static double duration_error(const json_t *phase)
{
	double sd = zero_if_unknown(report_get_in(phase, "duration_seconds", "sd"));
	double bursts = fmax(report_get(phase, "bursts"), 1);

	return hypot(zero_if_unknown(report_get_in(phase, "duration_seconds", "ci95")),
			NORMAL * sd / sqrt(bursts));
}

struct measure run_phase_time(const struct run *run, const json_t *phase)
{
	double time = run->useful.value * report_get(phase, "time_share");
	double share = zero_if_unknown(report_get(phase, "time_share_ci95"));
	double varies = time * duration_error(phase) / phase_mean_seconds(phase);

	return (struct measure){ time, hypot(run->useful.value * share, zero_if_unknown(varies)) };
}

double run_phase_bursts(const struct run *run, const json_t *phase)
{
	return report_get(phase, "bursts") / run->threads;
}

/* Returns a time of the report without its efficiencies: in the bursts of the phases. */
static double seconds_in_phases(const struct run *run)
{
	double seconds = 0;

	for (size_t i = 0; i < run->count; i++) {
		const json_t *phase = run_phase(run, i);

		seconds += zero_if_unknown(report_get(phase, "bursts") * phase_mean_seconds(phase));
	}
	return seconds;
}

static double first_known(double one, double other)
{
	return isfinite(one) && one > 0 ? one : other;
}

void run_read(struct run *run, const char *path, const json_t *report)
{
	double wall = report_get(report, "wall_seconds");
	double parallel = report_get_in(report, "efficiency", "parallel");
	double balance = report_get_in(report, "efficiency", "load_balance");
	double compute = report_get(report, "compute_seconds"), longest;
	size_t count = json_array_size(json_object_get(report, "phases"));
	struct measure time = { 0, 0 };

	*run = (struct run){ .path = path, .report = report };
	run->count = count < RUN_PHASES_MAX ? count : RUN_PHASES_MAX;
	run->threads = first_known(report_get(report, "threads_mean"),
			first_known(report_get(report, "threads"),
					first_known(report_get(report, "ranks"), 1)));
	if (!isfinite(compute))
		compute = seconds_in_phases(run);
	run->useful.value = first_known(parallel * wall, compute / run->threads);
	longest = run->useful.value / balance;
	run->imbalance = (struct measure){ longest - run->useful.value, 0 };
	run->waiting = (struct measure){ wall - longest, 0 };
	for (size_t i = 0; i < run->count; i++)
		time = measure_add(time, run_phase_time(run, run_phase(run, i)));
	run->useful.ci95 = time.ci95;
	run->wall = (struct measure){ wall, time.ci95 };
}

/* ---- the components of the CPI ---- */

static bool is_outer(const json_t *component)
{
	return !json_integer_value(json_object_get(component, "level"));
}

/* Returns the number of a component, or -1 if the names do not have it. */
static int find_component(const struct component_names *names, const char *name, const char *outer)
{
	for (unsigned i = 0; i < names->count; i++) {
		const char *own = names->at[i].outer;

		if (strcmp(names->at[i].name, name) == 0 && !own == !outer &&
				(!own || strcmp(own, outer) == 0))
			return (int)i;
	}
	return -1;
}

void run_add_components(const struct run *run, struct component_names *names)
{
	for (size_t i = 0; i < run->count; i++) {
		const json_t *component;
		const char *outer = NULL;
		size_t k;

		json_array_foreach (json_object_get(run_phase(run, i), "cpi_breakdown"), k,
				component) {
			const char *name = report_get_text(component, "component");
			const char *within = is_outer(component) ? NULL : outer;

			if (!within)
				outer = name;
			if (find_component(names, name, within) >= 0 ||
					names->count == RUN_COMPONENTS_MAX)
				continue;
			names->at[names->count].name = name;
			names->at[names->count++].outer = within;
		}
	}
}

/* ---- the sums of a group ---- */

/* What is summed over the phases of a group. */
struct sums {
	unsigned phases;
	bool sliced; /* bursts of some phase are slices, which are as many as the time has periods */
	struct measure time, bursts, seconds, instructions, cycles;
	double cpi_error; /* of the phases' cycles, from the errors of their CPI */
	struct measure component[RUN_COMPONENTS_MAX]; /* cycles */
};

static struct measure scale(struct measure measure, double factor)
{
	return (struct measure){ measure.value * factor, measure.ci95 * factor };
}

/* Returns a counter's mean per burst, by its place among the counters. */
static struct measure counter_of(const json_t *phase, unsigned place)
{
	json_t *counters = json_object_get(phase, "counters"), *counter;
	void *at = json_object_iter(counters);

	for (; at && place; place--)
		at = json_object_iter_next(counters, at);
	counter = at ? json_object_iter_value(at) : NULL;
	return (struct measure){ report_get(counter, "mean"),
		zero_if_unknown(report_get(counter, "ci95")) };
}

/* Adds the components of a phase, in cycles. Those that it does not have remain not known. */
static void add_components(struct sums *sums, const json_t *phase,
		const struct component_names *names, double instructions)
{
	bool has[RUN_COMPONENTS_MAX] = { false };
	const char *outer = NULL;
	const json_t *component;
	size_t k;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), k, component) {
		const char *name = report_get_text(component, "component");
		const char *within = is_outer(component) ? NULL : outer;
		int i = find_component(names, name, within);
		struct measure cycles = { report_get(component, "cpi"),
			zero_if_unknown(report_get(component, "ci95")) };

		if (!within)
			outer = name;
		if (i < 0 || has[i] || !phase_component_known(component))
			continue;
		has[i] = true;
		sums->component[i] = measure_add(sums->component[i], scale(cycles, instructions));
	}
	for (unsigned i = 0; i < names->count; i++)
		if (!has[i])
			sums->component[i] = unknown;
}

static void add_phase(struct sums *sums, const struct run *run, const json_t *phase,
		const struct component_names *names)
{
	bool cycles_known = isfinite(phase_ipc(phase)) && phase_ipc(phase) > 0;
	struct measure cycles = cycles_known ? counter_of(phase, 0) : unknown;
	struct measure instructions = cycles_known ? counter_of(phase, 1) : unknown;
	struct measure bursts = { report_get(phase, "bursts"),
		zero_if_unknown(report_get(phase, "bursts_ci95")) };
	struct measure duration = { phase_mean_seconds(phase), duration_error(phase) };
	struct measure work = scale(instructions, bursts.value);

	/* the number of bursts is in the error of the work, but not in those of means per burst */
	sums->phases++;
	sums->sliced = sums->sliced || phase_is_sliced(phase);
	sums->time = measure_add(sums->time, run_phase_time(run, phase));
	sums->bursts = measure_add(sums->bursts, bursts);
	sums->seconds = measure_add(sums->seconds, scale(duration, bursts.value));
	sums->instructions = measure_add(sums->instructions, work);
	sums->cycles = measure_add(sums->cycles, scale(cycles, bursts.value));
	sums->cpi_error = hypot(sums->cpi_error,
			cycles.value * bursts.value *
					hypot(cycles.ci95 / cycles.value,
							instructions.ci95 / instructions.value));
	add_components(sums, phase, names, work.value);
}

void run_sum(const struct run *run, unsigned group, const struct component_names *names,
		struct run_values *values)
{
	struct sums sums = { .phases = 0 };
	double work, each;

	for (size_t i = 0; i < run->count; i++)
		if (run->group[i] == group)
			add_phase(&sums, run, run_phase(run, i), names);
	for (unsigned q = 0; q < QUANTITIES; q++)
		values->at[q] = unknown;
	values->at[QUANTITY_TIME] = sums.time;
	values->at[QUANTITY_BURSTS] = scale(sums.bursts, 1 / run->threads);
	for (unsigned i = 0; i < names->count; i++)
		values->component[i] = unknown;
	if (!sums.phases)
		return;
	work = sums.instructions.value;
	each = 1 / sums.bursts.value;
	values->at[QUANTITY_DURATION] = scale(sums.seconds, each);
	values->at[QUANTITY_INSTRUCTIONS] = scale(sums.instructions, each);
	values->at[QUANTITY_WORK] = (struct measure){ work / run->threads,
		hypot(sums.instructions.ci95, work * sums.bursts.ci95 / sums.bursts.value) /
				run->threads };
	values->at[QUANTITY_CPI] =
			(struct measure){ sums.cycles.value / work, sums.cpi_error / work };
	/* the time that the share says, so that work x CPI x cycle is the time */
	values->at[QUANTITY_CYCLE] = (struct measure){
		sums.time.value * run->threads / sums.cycles.value,
		sums.time.value * run->threads / sums.cycles.value *
				hypot(sums.seconds.ci95 / sums.seconds.value,
						sums.cycles.ci95 / sums.cycles.value),
	};
	if (sums.sliced)
		values->at[QUANTITY_BURSTS] = values->at[QUANTITY_DURATION] =
				values->at[QUANTITY_INSTRUCTIONS] = unknown;
	for (unsigned i = 0; i < names->count; i++)
		values->component[i] = scale(sums.component[i], 1 / work);
}
