/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/simulate.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/text/report_line.h"
#include "tools/progress.h"
#include "tools/replay/launch.h"
#include "tools/replay/prepare.h"
#include "tools/whatif/calibrate.h"

#define USUAL_LATENCY   2e-6
#define USUAL_BANDWIDTH 10e9
#define CHOSEN_SECONDS                                                                             \
	45. /* that simulations of changes may take which the user has not asked for */
#define FIRST_SEED 1
#define CALLS_MOST 30000 /* of all ranks, in one simulation: about a second */

/* A simulation with all that it needs while it runs. */
struct work {
	struct simulation *simulation;
	struct labels labels;
	char folder[PATH_MAX], plan_file[PATH_MAX + 16], log[PATH_MAX + 16];
	struct stops_times nominal, changed; /* of the ranks */
	bool has_times;                      /* of the ranks */
	double lasted;                       /* seconds that the last simulation took */
	size_t done, all;                    /* simulations */
};

/* Prints one line on stderr. Returns the exit code. */
static int refuse(const char *why, int code)
{
	fprintf(stderr, "phasemux: %s\n", why);
	return code;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- what is simulated ---- */

static bool changes_network(const struct simulate_request *request)
{
	return request->network.latency_times != 1 || request->network.bandwidth_times != 1 ||
			request->surface;
}

/* Returns the most ranks that a node of the run had. */
static long ranks_of_node(const struct run_times *run)
{
	const json_t *host,
			*hosts = json_object_get(json_object_get(run->report, "hosts"), "named");
	double most = 0;
	size_t i;

	json_array_foreach (hosts, i, host) {
		double ranks = report_get(host, "ranks");

		most = ranks > most ? ranks : most;
	}
	return most >= 1 && most <= run->ranks ? (long)most : (long)run->ranks;
}

/* Sets the machine as it was. Returns the exit code. */
static int set_platform(struct simulation *s)
{
	const struct simulate_network *network = &s->request->network;

	s->platform = (struct platform){
		.ranks = (long)s->run->ranks,
		.ranks_per_node = network->ranks_per_node ? (long)network->ranks_per_node :
							    ranks_of_node(s->run),
		.latency = network->latency > 0 ? network->latency : USUAL_LATENCY,
		.bandwidth = network->bandwidth > 0 ? network->bandwidth : USUAL_BANDWIDTH,
		.memory_latency = PLATFORM_MEMORY_LATENCY,
		.memory_bandwidth = PLATFORM_MEMORY_BANDWIDTH,
	};
	s->network_known = network->latency > 0;
	if (changes_network(s->request) && s->platform.ranks_per_node >= s->platform.ranks)
		return refuse("all ranks are on one node, where they do not use the network; --ranks-per-node has them on several",
				2);
	return 0;
}

/* Lists what the user has asked for. Returns the exit code. */
static int set_scenarios(struct simulation *s)
{
	const struct scenario_network network = { s->request->network.latency_times,
		s->request->network.bandwidth_times };
	char why[1024] = "";

	return scenarios_ask(&s->scenarios, s->run, s->request->requests, s->request->count,
			       network, why, sizeof(why)) ?
			0 :
			refuse(why, 2);
}

/* ---- the simulations ---- */

/* Simulates once. words: the change. times: NULL, or gets the times of the ranks. Returns the exit code. */
static int simulate_once(struct work *work, char **launcher, char **words, size_t seed,
		struct stops_times *times, double *seconds)
{
	const struct simulation *s = work->simulation;
	struct launch launch = {
		.folder = work->folder,
		.compiler = "smpicc",
		.launcher = launcher,
		.plan = work->plan_file,
		.copies = s->outcome.matching.copies > 0 ? s->outcome.copies : 0,
		.changes = words,
		.simulated = true,
		.window = s->window,
		.log = work->log,
		.seed = seed,
	};
	struct launch_result result;
	char why[2 * PATH_MAX];
	double start = now();

	if (!launch_run(&launch, &result, why, sizeof(why)))
		return refuse(why, 1);
	if (result.code || !result.has_ended || !(result.seconds > 0)) {
		snprintf(why, sizeof(why),
				"the simulation did not end by itself (exit code %d): %s",
				result.code, work->log);
		return refuse(why, 1);
	}
	*seconds = result.seconds;
	work->lasted = now() - start;
	work->done++;
	if (work->all)
		progress("simulating", fmin(0.999, (double)work->done / (double)work->all));
	if (times) {
		snprintf(why, sizeof(why), "%s/result", work->folder);
		work->has_times &= stops_add(times, why);
	}
	return 0;
}

/* Simulates a change with a number of trials, which differ in the lengths of bursts. Returns the exit code. */
static int simulate_change(struct work *work, const struct change *change,
		struct scenario_network network, struct stops_times *times, double *seconds,
		size_t trials)
{
	static struct platform_command command;
	struct platform platform = work->simulation->platform;
	char why[2 * PATH_MAX];
	char **words = scenario_factors(change, work->simulation->run, &work->labels, times);
	int code = words ? 0 : refuse("no memory", 1);

	platform.latency *= network.latency_times;
	platform.bandwidth *= network.bandwidth_times;
	if (!code && !platform_write(&platform, work->folder, &command, why, sizeof(why)))
		code = refuse(why, 1);
	for (size_t i = 0; !code && i < trials; i++)
		code = simulate_once(work, command.words, words, FIRST_SEED + i, times,
				&seconds[i]);
	free(words);
	return code;
}

static int simulate_nominal(struct work *work)
{
	struct simulation *s = work->simulation;
	struct change none;
	int code;

	change_none(&none);
	code = simulate_change(work, &none, (struct scenario_network){ 1, 1 },
			work->has_times ? &work->nominal : NULL, s->nominal.value, SCENARIO_TRIALS);
	trials_summarize(&s->nominal);
	return code;
}

static int simulate_scenario(struct work *work, struct scenario *scenario)
{
	struct simulation *s = work->simulation;
	int code;

	if (work->has_times)
		stops_clear(&work->changed);
	code = simulate_change(work, &scenario->change, scenario->network,
			work->has_times ? &work->changed : NULL, scenario->seconds.value,
			SCENARIO_TRIALS);
	for (unsigned i = 0; i < SCENARIO_TRIALS; i++)
		scenario->saved.value[i] = 1 - scenario->seconds.value[i] / s->nominal.value[i];
	trials_summarize(&scenario->seconds);
	trials_summarize(&scenario->saved);
	if (!code && work->has_times)
		scenario->stop = stops_find(&work->nominal, &work->changed,
				s->nominal.mean - scenario->seconds.mean);
	return code;
}

/* Simulates processors and networks that are faster, each with the same lengths of bursts. */
static int simulate_surface(struct work *work)
{
	struct simulation *s = work->simulation;
	int code = 0;

	for (size_t b = 0; b < SURFACE_STEPS; b++)
		for (size_t c = 0; !code && c < SURFACE_STEPS; c++) {
			struct change change;

			change_none(&change);
			change_speed(&change, s->run, surface_times(c));
			code = simulate_change(work, &change,
					(struct scenario_network){ 1, surface_times(b) }, NULL,
					&s->surface.seconds[b][c], 1);
		}
	s->surface.known = !code;
	return code;
}

/* Tries the changes that bring most, as many as there is time for. */
static void choose_scenarios(struct work *work)
{
	double count = CHOSEN_SECONDS / (SCENARIO_TRIALS * work->lasted);

	scenarios_choose(&work->simulation->scenarios, work->simulation->run,
			(size_t)fmax(1, fmin(ANSWERS_MAX, count)));
}

static int simulate_all(struct work *work)
{
	struct simulation *s = work->simulation;
	int code = simulate_nominal(work);

	if (!code && !s->scenarios.count && !s->request->surface)
		choose_scenarios(work);
	work->all = work->done + SCENARIO_TRIALS * s->scenarios.count +
			(s->request->surface ? SURFACE_STEPS * SURFACE_STEPS : 0);
	for (size_t i = 0; !code && i < s->scenarios.count; i++)
		code = simulate_scenario(work, &s->scenarios.all[i]);
	if (s->scenarios.chosen)
		scenarios_sort(&s->scenarios);
	if (!code && s->request->surface)
		code = simulate_surface(work);
	progress("simulating", 1);
	return code;
}

/* ---- the command ---- */

/* Leaves the JSON in the folder, and prints it, or the text. Returns the exit code. */
static int show(const struct work *work)
{
	const struct simulation *s = work->simulation;
	size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(17);
	json_t *object = simulation_json(s);
	char file[PATH_MAX + 32];
	int code = object ? 0 : refuse("no memory", 1);

	snprintf(file, sizeof(file), "%s/%s", work->folder, SIMULATE_FILE);
	if (!code && json_dump_file(object, file, flags)) {
		fprintf(stderr, "phasemux: %s: %s\n", file, strerror(errno));
		code = 1;
	}
	if (!code && !s->request->json)
		simulation_text(s, stdout);
	else if (!code)
		code = json_dumpf(object, stdout, flags) || putchar('\n') == EOF;
	json_decref(object);
	return code ? code : fflush(stdout) ? 1 : 0;
}

/* Takes what was measured of messages, except what the user has named. */
static void take_calibrated(struct work *work)
{
	struct simulation *s = work->simulation;
	struct calibrated found;

	s->memory_known = calibrate_read(work->folder, true, &found);
	if (s->memory_known) {
		s->platform.memory_latency = found.latency;
		s->platform.memory_bandwidth = found.bandwidth;
	}
	if (!s->network_known && calibrate_read(work->folder, false, &found)) {
		s->network_known = true;
		s->platform.latency = found.latency;
		s->platform.bandwidth = found.bandwidth;
	}
}

/*
 * Checks that the calls fit together when rounds are left out as in a simulation. *calls: gets their number.
 */
static bool fits_sampled(const struct simulation *s, size_t window, size_t seed, double *calls)
{
	static struct matching matching;
	unsigned copies = s->outcome.copies;
	char why[MATCHING_WHY_MAX];
	struct sample sample;
	bool fits = sample_init(&sample, s->plan, window, seed) &&
			matching_check(&matching, s->plan, &sample, &copies, why, sizeof(why)) ==
					0 &&
			copies == s->outcome.copies && matching.lost == 0;

	*calls = matching.calls;
	sample_fini(&sample);
	return fits;
}

/* Finds how much of a long run is simulated: all of it if the user wants that, or if its rounds do not fit together otherwise. */
static void choose_sample(struct simulation *s)
{
	bool whole = s->request->whole || s->outcome.matching.lost > 0;
	size_t window = whole ? 0 : sample_choose(s->plan, CALLS_MOST);
	double calls = 0;

	for (size_t i = 0; window && i < SCENARIO_TRIALS; i++)
		if (!fits_sampled(s, window, FIRST_SEED + i, &calls))
			window = 0;
	s->window = window;
	s->simulated = window ? calls : s->outcome.matching.calls;
}

/* Finds the folder, the plan, and memory for what is simulated. Returns the exit code. */
static int prepare_simulation(struct work *work, const char *path)
{
	struct simulation *s = work->simulation;
	int code = prepare_folder(s->request->output, path, work->folder, sizeof(work->folder));

	if (code)
		return code;
	take_calibrated(work);
	snprintf(work->plan_file, sizeof(work->plan_file), "%s/plan", work->folder);
	snprintf(work->log, sizeof(work->log), "%s/simulation.log", work->folder);
	code = prepare_plan(path, s->run->report, work->plan_file, &s->plan, &s->outcome);
	if (!code && !labels_read(&work->labels, s->run))
		code = refuse("no memory", 1);
	if (code)
		return code;
	choose_sample(s);
	work->has_times = stops_init(&work->nominal, (size_t)s->plan->ranks, s->plan->paths);
	work->has_times = stops_init(&work->changed, (size_t)s->plan->ranks, s->plan->paths) &&
			work->has_times;
	return 0;
}

int simulate_run(const char *path, const struct run_times *run,
		const struct simulate_request *request)
{
	static struct simulation s;
	struct work work = { .simulation = &s };
	int code;

	s.run = run;
	s.request = request;
	if (!launch_finds("smpicc") || !launch_finds("smpirun"))
		return refuse("--simulate needs SimGrid, whose commands smpicc and smpirun are not here (Debian: libsimgrid-dev); without --simulate, the answer is an estimate",
				1);
	progress_allow(true);
	code = set_platform(&s);
	if (!code)
		code = set_scenarios(&s);
	if (!code)
		code = prepare_simulation(&work, path);
	if (!code)
		code = simulate_all(&work);
	if (!code)
		code = show(&work);
	plan_free(s.plan);
	labels_fini(&work.labels);
	stops_fini(&work.nominal);
	stops_fini(&work.changed);
	return code;
}
