/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that a smaller budget gives fewer reads, but no wrong results. The counters of made-up programs are
 * known, and go through call sites, reads at random, sums and estimates as in the agent. Estimates and totals
 * stay unbiased, and the intervals hold the truth as often as they say. This is also true if one site starts
 * two behaviours, or changes its behaviour halfway. PHASEMUX_TRIALS: number of trials of each.
 */
#include <math.h>
#include <stdlib.h>

#include "agent/spool/totals.h"
#include "agent/thread/site.h"
#include "multiplex/estimate/estimate.h"
#include "multiplex/mix.h"
#include "multiplex/scheme/preference.h"
#include "multiplex/scheme/scheme.h"
#include "tests/tap.h"

#define READ_NS    5000. /* cost of a read, as expensive as in a virtual machine */
#define QUANTUM_NS 25e6

enum { CYCLES, INSTRUCTIONS, BRANCHES, MISSES, WALKS, EVENTS };
enum { TASKS = 8, PHASES = 2 };

static struct preference_scratch scratch;

static const struct plan plan = {
	.events = EVENTS,
	.common = 2,
	.groups = 3,
	.group = { { 3, { CYCLES, INSTRUCTIONS, BRANCHES } },
			{ 3, { CYCLES, INSTRUCTIONS, MISSES } },
			{ 3, { CYCLES, INSTRUCTIONS, WALKS } } },
};

/* The relation of phases and call sites. */
enum program { OWN_SITES, ONE_SITE, HALFWAY, ALIKE, RARE };

static const char *const program_name[] = { "a site for each behaviour",
	"two behaviours at one site", "a site that changes its behaviour halfway",
	"two behaviours of one length at one site",
	"at one site, a long burst after every 19 short ones" };

/* The smaller the budget, the longer a program must run for the same knowledge. */
struct setup {
	double budget;
	int bursts; /* number for each task */
	enum program program;
};

struct truth {
	double bursts, seconds, sum[EVENTS];
};

struct trial {
	struct truth truth[PHASES];
	struct phase_estimate estimate[PHASES];
	/* read bursts, and unread ones placed by call site and length */
	double bursts[PHASES], seconds[PHASES];
	double bursts_ci95[PHASES], seconds_ci95[PHASES];
	/* mean relative interval of events that are not common; factor by which a budget is said to widen it */
	double width, widened;
	double spent; /* share of the time that reads take */
};

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static uint64_t positive(double value)
{
	return value > 0 ? (uint64_t)value : 0;
}

/* Makes a burst of the phase. values: receives its counts. Returns its length in ns. */
static double make_burst(enum program program, unsigned phase, uint64_t values[EVENTS],
		uint64_t *state)
{
	static const double size_of[][PHASES] = { [ALIKE] = { 2e6, 3e6 }, [RARE] = { 5e6, 4e5 } },
			    usual_size[] = { 2e6, 4e5 };
	static const double cpi_of[][PHASES] = { { 1.3, .8 }, { 1.3, .9 } };
	double size = program < ALIKE ? usual_size[phase] : size_of[program][phase];
	double instructions = size * (1 + .05 * normal(state));
	double cycles = instructions * cpi_of[program == ALIKE][phase] * (1 + .05 * normal(state));
	double misses = .002 * size * (1 + .3 * normal(state));

	if (mix_uniform(state) < .01)
		misses *= 5;
	values[CYCLES] = positive(cycles);
	values[INSTRUCTIONS] = positive(instructions);
	values[BRANCHES] = positive(.1 * instructions * (1 + .02 * normal(state)));
	values[MISSES] = positive(misses);
	values[WALKS] = positive(.001 * size * (1 + .2 * normal(state)));
	return cycles / 3;
}

static unsigned phase_of(enum program program, int i, int bursts, uint64_t *state)
{
	if (program == HALFWAY && i % 2)
		return i >= bursts / 2;
	if (program == RARE)
		return i % 20 != 19;
	return program == ONE_SITE || program == ALIKE ? mix_uniform(state) < .5 : (unsigned)i % 2;
}

static void add_truth(struct truth *truth, const uint64_t *values, double ns)
{
	truth->bursts++;
	truth->seconds += ns * 1e-9;
	for (unsigned e = 0; e < EVENTS; e++)
		truth->sum[e] += (double)values[e];
}

/* Runs one task: does with its bursts what the hooks, the ring and the ledger do. */
static void run_task(const struct setup *setup, unsigned task, struct sums *sums,
		struct totals *totals, struct trial *trial, uint64_t *state)
{
	enum program program = setup->program;
	double pay = isfinite(setup->budget) ? setup->budget * .7 / (2 * READ_NS) : 1e18;
	struct scheme scheme = { .kind = SCHEME_TIME_SPACE, .groups = plan.groups };
	static struct site_table sites;
	struct quantum *quantum = quantum_new(sums);
	struct account account = { .calls = 0 };
	uint64_t number = 0;
	double now = 0, quantum_end = 0, reads = 0;
	uint32_t label[PHASES] = { 1, 2 };
	float factor[PROTOTYPES_MAX];

	memset(&sites, 0, sizeof(sites));
	for (int i = 0; i < setup->bursts; i++) {
		unsigned phase = phase_of(program, i, setup->bursts, state);
		uint32_t path = program == OWN_SITES ? phase : program == HALFWAY ? i & 1u : 0;
		uint32_t from = site_find(&sites, path, 0);
		struct span *span = &sites.span[span_find(&sites, from, site_find(&sites, 7, 1))];
		struct span_length *length;
		double chance;
		uint64_t all[EVENTS], seen[PLAN_GROUP_EVENTS_MAX];
		double ns = make_burst(program, phase, all, state);
		unsigned group = scheme_group(&scheme, task, number);

		/* as after a round */
		if (i % (setup->bursts / 8) == setup->bursts / 8 - 1 && isfinite(setup->budget)) {
			preference_learn(sums, label, factor, &scratch);
			site_prefer(&sites, sites.spans, factor);
		}
		length = &sites.length[span_length(&sites, span, (uint64_t)ns)];
		chance = site_chance(&sites.site[from], pay, 1);
		add_truth(&trial->truth[phase], all, ns);
		account.bursts++;
		account.ticks += ns;
		if (chance >= 1 || mix_uniform(state) < chance) {
			double weight = chance >= 1 ? 1 : 1 / chance;

			if (now >= quantum_end) {
				quantum_close(quantum, sums);
				group = scheme_group(&scheme, task, ++number);
				quantum_end = now + QUANTUM_NS;
			}
			for (unsigned k = 0; k < plan.group[group].count; k++)
				seen[k] = all[plan.group[group].event[k]];
			quantum_add(quantum, phase,
					&(struct quantum_burst){ group, 1, weight, ns * 1e-9, seen,
							false, 0 });
			span_note(length, phase, weight, ns);
			reads += 2;
		} else {
			span_add_unread(length, 1, (uint64_t)ns);
		}
		site_learn(&sites.site[from], (uint64_t)ns);
		now += ns;
	}
	quantum_close(quantum, sums);
	quantum_free(quantum);
	totals_add(totals, &account, &sites, label, PHASES, &(struct totals_clock){ 1, 0, 0 });
	trial->spent += reads * READ_NS / now / TASKS;
}

static void run_trial(const struct setup *setup, uint64_t seed, struct trial *trial)
{
	struct sums *sums = sums_new(&plan, PHASES);
	struct totals totals;
	uint64_t state = seed;

	memset(trial, 0, sizeof(*trial));
	memset(&totals, 0, sizeof(totals));
	for (unsigned task = 0; task < TASKS; task++)
		run_task(setup, task, sums, &totals, trial, &state);
	for (unsigned phase = 0; phase < PHASES; phase++) {
		const struct tally *placed = &totals.unread.prototype[phase];
		const struct tally_error *error = &totals.unread.phase[phase];
		struct phase_unread unread = { placed->bursts, placed->seconds, error->bursts2,
			error->bursts_seconds, error->seconds2 };
		bool member[PHASES] = { false };

		member[phase] = true;
		estimate_phase(sums, member, &unread, &trial->estimate[phase]);
		trial->bursts_ci95[phase] = 1.96 * sqrt(error->bursts2);
		trial->seconds_ci95[phase] = 1.96 * sqrt(error->seconds2);
		trial->widened += trial->estimate[phase].widened / PHASES;
		for (unsigned e = plan.common; e < EVENTS; e++)
			trial->width += trial->estimate[phase].event[e].ci95 /
					trial->estimate[phase].event[e].mean;
		trial->bursts[phase] = (double)trial->estimate[phase].read +
				totals.unread.prototype[phase].bursts;
		trial->seconds[phase] = trial->estimate[phase].seconds +
				totals.unread.prototype[phase].seconds;
	}
	sums_free(sums);
}

/* The relative errors of many trials. */
struct bias {
	double n, sum, squares;
};

static void bias_add(struct bias *bias, double error)
{
	bias->n++;
	bias->sum += error;
	bias->squares += error * error;
}

/*
 * Returns whether the mean error is within four of its standard errors of 0, or under half a per cent. Unread
 * bursts are placed by a ratio of two estimates, which is only nearly unbiased.
 */
static bool unbiased(const struct bias *bias)
{
	double mean = bias->sum / bias->n;
	double variance = bias->squares / bias->n - mean * mean;

	return fabs(mean) < .005 || fabs(mean) < 4 * sqrt(variance / bias->n);
}

static void check(const struct setup *setup, unsigned trials)
{
	double budget = setup->budget;
	struct bias shares = { 0 }, bursts = { 0 }, means[EVENTS] = { { 0 } };
	unsigned known = 0, covered = 0, biased = 0, placed = 0, placed_covered = 0;
	double spent = 0, slack;
	char name[128];

	snprintf(name, sizeof(name), "budget %g%%, %s", 100 * budget, program_name[setup->program]);
	for (unsigned t = 0; t < trials; t++) {
		static struct trial trial;
		double all = 0;

		run_trial(setup, 1000 + t, &trial);
		spent += trial.spent / trials;
		all = trial.truth[0].seconds + trial.truth[1].seconds;
		bias_add(&shares, (trial.seconds[0] - trial.truth[0].seconds) / all);
		bias_add(&bursts, trial.bursts[0] / trial.truth[0].bursts - 1);
		for (unsigned i = 0; i < PHASES; i++) {
			placed += 2;
			placed_covered += fabs(trial.bursts[i] - trial.truth[i].bursts) <=
					trial.bursts_ci95[i] + .5;
			placed_covered += fabs(trial.seconds[i] - trial.truth[i].seconds) <=
					trial.seconds_ci95[i] + 1e-9 * trial.truth[i].bursts;
		}
		for (unsigned i = 0; i < PHASES * EVENTS; i++) {
			const struct truth *truth = &trial.truth[i / EVENTS];
			const struct estimate *e = &trial.estimate[i / EVENTS].event[i % EVENTS];
			double mean = truth->sum[i % EVENTS] / truth->bursts;

			if (e->observed)
				bias_add(&means[i % EVENTS], e->mean / mean - 1);
			if (!isfinite(e->ci95))
				continue;
			/* common events are known exactly if every burst is read */
			if (!isfinite(budget) && i % EVENTS < plan.common)
				continue;
			known++;
			covered += fabs(e->mean - mean) <= e->ci95;
		}
	}
	ok(unbiased(&shares), "%s: shares of the time are unbiased", name);
	ok(unbiased(&bursts), "numbers of bursts are unbiased");
	for (unsigned e = 0; e < EVENTS; e++)
		biased += !unbiased(&means[e]);
	is_int(biased, 0, "the mean of every counter is unbiased");
	ok(known > trials * PHASES * (EVENTS - plan.common) * 9 / 10, "intervals are known (%u)",
			known);
	/* uncertainty of the share after this number of intervals */
	slack = 2 * sqrt(.98 * .02 / known);
	ok(placed_covered >= (.90 - 2 * slack) * placed,
			"intervals of numbers and times hold the truth in %.1f%%",
			100. * placed_covered / placed);
	ok(covered >= (.90 - slack) * known && covered <= (.98 + slack) * known,
			"and cover the truth in %.1f%%", 100. * covered / known);
	if (isfinite(budget))
		ok(spent <= budget, "the reads cost %.3f%% of the time", 100 * spent);
}

/* Two phases take the same time, and the phase that varies gets the reads. */
static void test_preference(void)
{
	struct sums *sums = sums_new(&plan, PHASES);
	struct quantum *quantum = quantum_new(sums);
	uint32_t label[PHASES] = { 1, 2 };
	float factor[PROTOTYPES_MAX];
	uint64_t state = 5;

	for (int q = 0; q < 90; q++) {
		for (int i = 0; i < 20; i++) {
			double noise = i % 2 ? .5 * normal(&state) : .01 * normal(&state);
			uint64_t value = positive(1e6 * (1 + noise)),
				 values[3] = { value, value, value };

			quantum_add(quantum, i % 2,
					&(struct quantum_burst){ (unsigned)q % 3, 1, 4, 1e-3,
							values, false, 0 });
		}
		quantum_close(quantum, sums);
	}
	preference_learn(sums, label, factor, &scratch);
	ok(factor[1] > 1.4f && factor[0] < .6f, "the phase that varies is read more (%g and %g)",
			(double)factor[1], (double)factor[0]);
	ok(fabsf(factor[0] + factor[1] - 2) < 1e-3f, "from the same budget");
	label[1] = 1;
	preference_learn(sums, label, factor, &scratch);
	ok(fabsf(factor[0] - 1) < 1e-3f && fabsf(factor[1] - 1) < 1e-3f,
			"what is one phase is read alike");
	quantum_free(quantum);
	sums_free(sums);
}

/* Compares the width of intervals with a budget and with every burst read. */
static void test_cost(void)
{
	struct setup setup = { .01, 2000, OWN_SITES }, none = { INFINITY, 2000, OWN_SITES };
	double claimed = 0, width = 0, least = 0;
	static struct trial trial;

	for (unsigned t = 0; t < 20; t++) {
		run_trial(&setup, 1000 + t, &trial);
		claimed += trial.widened / 20;
		width += trial.width;
		run_trial(&none, 1000 + t, &trial);
		least += trial.width;
	}
	ok(claimed > .75 * width / least && claimed < 1.33 * width / least,
			"intervals are %.2f times as wide, and said to be %.2f", width / least,
			claimed);
	run_trial(&none, 1, &trial);
	ok(fabs(trial.widened - 1) < 1e-9, "where every burst is read, it costs nothing");
}

int main(void)
{
	static const struct {
		double budget;
		int bursts;
	} budgets[] = { { .01, 2000 }, { .001, 20000 }, { INFINITY, 2000 } };
	const char *more = getenv("PHASEMUX_TRIALS");
	unsigned trials = more ? (unsigned)strtoul(more, NULL, 10) : 40;

	for (unsigned b = 0; b < sizeof(budgets) / sizeof(*budgets); b++)
		for (enum program program = OWN_SITES; program <= RARE; program++)
			check(&(struct setup){ budgets[b].budget, budgets[b].bursts, program },
					trials);
	test_preference();
	test_cost();
	return tap_done();
}
