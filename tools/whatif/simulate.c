/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/simulate.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/report/parts/document.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "agent/text/statements.h"
#include "agent/whatif/change.h"
#include "multiplex/estimate/student.h"
#include "tools/replay/launch.h"
#include "tools/replay/prepare.h"
#include "tools/whatif/platform.h"

#define SIMULATION_VERSION  1 /* of the JSON */
#define TRIALS              3 /* simulations with other lengths of bursts, as it was and with the change */
#define USUAL_LATENCY       2e-6
#define USUAL_BANDWIDTH     10e9
#define WORD_MAX            64  /* of a factor for the program that replays */
#define PROCESSOR_SHARE_MIN .95 /* of the computing time; less is said */

/* A value of each trial, as a mean with its 95% interval. */
struct trials {
	double value[TRIALS];
	double mean, ci95;
};

struct simulation {
	const struct run_times *run;
	const struct simulate_request *request;
	struct change change;
	struct platform platform, changed_platform;
	struct plan *plan;
	struct outcome outcome;
	char folder[PATH_MAX], plan_file[PATH_MAX + 16], log[PATH_MAX + 16];
	struct trials nominal, changed, saved;
};

static void summarize(struct trials *trials)
{
	double squares = 0;

	trials->mean = 0;
	for (unsigned i = 0; i < TRIALS; i++)
		trials->mean += trials->value[i] / TRIALS;
	for (unsigned i = 0; i < TRIALS; i++)
		squares += (trials->value[i] - trials->mean) * (trials->value[i] - trials->mean);
	trials->ci95 = student_quantile(TRIALS - 1) * sqrt(squares / (TRIALS - 1) / TRIALS);
}

/* Prints one line on stderr. Returns the exit code. */
static int refuse(const char *why, int code)
{
	fprintf(stderr, "phasemux: %s\n", why);
	return code;
}

/* ---- what is simulated ---- */

static bool changes_network(const struct simulate_network *network)
{
	return network->latency_times != 1 || network->bandwidth_times != 1;
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

/* Sets the two machines. Returns the exit code. */
static int set_platforms(struct simulation *s)
{
	const struct simulate_network *network = &s->request->network;

	s->platform = (struct platform){
		.ranks = (long)s->run->ranks,
		.ranks_per_node = network->ranks_per_node ? (long)network->ranks_per_node :
							    ranks_of_node(s->run),
		.latency = network->latency > 0 ? network->latency : USUAL_LATENCY,
		.bandwidth = network->bandwidth > 0 ? network->bandwidth : USUAL_BANDWIDTH,
	};
	s->changed_platform = s->platform;
	s->changed_platform.latency *= network->latency_times;
	s->changed_platform.bandwidth *= network->bandwidth_times;
	if (changes_network(network) && s->platform.ranks_per_node >= s->platform.ranks)
		return refuse("all ranks are on one node, where they do not use the network; --ranks-per-node has them on several",
				2);
	return 0;
}

static bool has_balance(const struct simulation *s)
{
	bool balanced = s->change.all_balanced;

	for (size_t p = 0; p < s->run->phases; p++)
		balanced |= s->change.balanced[p];
	return balanced;
}

/* Adds up the changes of the program. Returns the exit code. */
static int set_change(struct simulation *s)
{
	char why[1024] = "";

	change_none(&s->change);
	for (size_t i = 0; i < s->request->count; i++)
		if (!request_apply(&s->request->requests[i], s->run, &s->change, why, sizeof(why)))
			return refuse(why, 2);
	if (has_balance(s))
		return refuse("--balance is not simulated; without --simulate, it is estimated", 2);
	return 0;
}

/* Returns the factors for the program that replays, NULL at the end. The caller frees them and the words behind them. */
static char **factors_of(const struct simulation *s)
{
	size_t count = s->run->phases + 1;
	char **words = calloc(1, (count + 1) * sizeof(*words) + count * WORD_MAX);
	char *text = words ? (char *)(words + count + 1) : NULL;

	for (size_t i = 0; words && i < count; i++, text += WORD_MAX) {
		snprintf(text, WORD_MAX, "%ld=%.9g", (long)i - 1,
				i ? s->change.factor[i - 1] : s->change.rest);
		words[i] = text;
	}
	return words;
}

/* ---- the simulations ---- */

/* Simulates one machine with other lengths of bursts in each trial. changes: NULL for none. Returns the exit code. */
static int simulate_machine(const struct simulation *s, const struct platform *platform,
		char **changes, struct trials *trials)
{
	static struct platform_command command;
	struct launch launch = {
		.folder = s->folder,
		.compiler = "smpicc",
		.launcher = command.words,
		.plan = s->plan_file,
		.copies = s->outcome.matching.copies > 0 ? s->outcome.copies : 0,
		.changes = changes,
		.simulated = true,
		.log = s->log,
	};
	struct launch_result result;
	char why[2 * PATH_MAX];

	if (!platform_write(platform, s->folder, &command, why, sizeof(why)))
		return refuse(why, 1);
	for (unsigned i = 0; i < TRIALS; i++) {
		launch.seed = i + 1;
		if (!launch_run(&launch, &result, why, sizeof(why)))
			return refuse(why, 1);
		if (result.code || !result.has_ended || !(result.seconds > 0)) {
			snprintf(why, sizeof(why),
					"the simulation did not end by itself (exit code %d): %s",
					result.code, s->log);
			return refuse(why, 1);
		}
		trials->value[i] = result.seconds;
	}
	summarize(trials);
	return 0;
}

static bool has_change(const struct simulation *s)
{
	return s->request->count || changes_network(&s->request->network);
}

static int simulate_both(struct simulation *s)
{
	char **factors;
	int code = simulate_machine(s, &s->platform, NULL, &s->nominal);

	if (code || !has_change(s))
		return code;
	factors = factors_of(s);
	if (!factors)
		return refuse("no memory", 1);
	code = simulate_machine(s, &s->changed_platform, factors, &s->changed);
	free(factors);
	for (unsigned i = 0; !code && i < TRIALS; i++)
		s->saved.value[i] = 1 - s->changed.value[i] / s->nominal.value[i];
	summarize(&s->saved);
	return code;
}

/* ---- what is said ---- */

/* Writes all changes in words. */
static void write_changes(const struct simulation *s, FILE *out)
{
	const struct simulate_network *network = &s->request->network;
	const char *between = "";

	for (size_t i = 0; i < s->request->count; i++, between = ", and ") {
		char words[REQUEST_WORDS_MAX];

		request_words(&s->request->requests[i], s->run, words);
		fprintf(out, "%s%s", between, words);
	}
	if (network->latency_times != 1) {
		fprintf(out, "%s%g times the latency", between, network->latency_times);
		between = ", and ";
	}
	if (network->bandwidth_times != 1)
		fprintf(out, "%s%g times the bandwidth", between, network->bandwidth_times);
}

static char *changes_of(const struct simulation *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	write_changes(s, out);
	return fclose(out) ? NULL : text;
}

static void print_machine(const struct simulation *s, FILE *out)
{
	const struct platform *p = &s->platform;
	long nodes = (p->ranks + p->ranks_per_node - 1) / p->ranks_per_node;

	if (nodes == 1)
		report_line(out, 2,
				"The simulated machine (SimGrid) is one node, with a processor for each of the %ld ranks. Messages take at least %s, at %.3g GB/s.",
				p->ranks, format_seconds(PLATFORM_MEMORY_LATENCY).text,
				PLATFORM_MEMORY_BANDWIDTH * 1e-9);
	else
		report_line(out, 2,
				"The simulated machine (SimGrid) has %ld nodes with a processor for each of their %ld ranks. Messages between nodes take at least %s, at %.3g GB/s%s, and in a node %s, at %.3g GB/s.",
				nodes, p->ranks_per_node, format_seconds(p->latency).text,
				p->bandwidth * 1e-9,
				s->request->network.latency > 0 &&
								s->request->network.bandwidth > 0 ?
						"" :
						" (assumed: --network names another one)",
				format_seconds(PLATFORM_MEMORY_LATENCY).text,
				PLATFORM_MEMORY_BANDWIDTH * 1e-9);
}

/* Returns the part of the recorded time in phases in which ranks had a processor; 1 if the run did not count it. */
static double processor_share(const struct simulation *s)
{
	double with = 0, all = 0;

	for (size_t p = 0; p < s->run->phases && p < s->plan->phases; p++) {
		double seconds = s->run->phase[p].own.mean * s->run->phase[p].own.ranks;

		with += seconds * fmin(1, s->plan->phase[p].processor);
		all += seconds;
	}
	return all > 0 ? with / all : 1;
}

static void print_processors(const struct simulation *s, FILE *out)
{
	double share = processor_share(s);

	if (share < PROCESSOR_SHARE_MIN)
		report_line(out, 0,
				"In the recorded run, ranks had a processor in %s of their computing time. In the simulation each rank always has one.",
				format_percent(share).text);
}

static void print_change(const struct simulation *s, FILE *out)
{
	char *changes = changes_of(s);
	double saved = s->saved.mean;

	report_line(out, 0, "With %s, it takes %s +-%s: %s +-%s %s.",
			changes ? changes : "the change", format_seconds(s->changed.mean).text,
			format_seconds(s->changed.ci95).text, format_percent(fabs(saved)).text,
			format_percent(s->saved.ci95).text, saved >= 0 ? "less" : "more");
	free(changes);
}

static int print_text(const struct simulation *s, FILE *out)
{
	fputs("phasemux whatif: ", out);
	statements_head[0].write(out, s->run->report);
	fputc('\n', out);
	report_line(out, 0,
			"Simulated as it was, the run takes %s +-%s. It took %s, so this is %s off.",
			format_seconds(s->nominal.mean).text, format_seconds(s->nominal.ci95).text,
			format_seconds(s->outcome.recorded).text,
			format_percent(fabs(s->nominal.mean / s->outcome.recorded - 1)).text);
	print_processors(s, out);
	if (has_change(s))
		print_change(s, out);
	fputc('\n', out);
	print_machine(s, out);
	report_line(out, 2,
			"The half-widths are those of %d simulations in which the lengths of bursts were drawn otherwise.",
			TRIALS);
	outcome_calls_text(&s->outcome, "were simulated", out);
	return fflush(out) ? 1 : 0;
}

static json_t *trials_json(const struct trials *trials)
{
	return json_pack("{s:o,s:o}", "mean", document_number(trials->mean), "ci95",
			document_number(trials->ci95));
}

static int print_json(const struct simulation *s)
{
	char *changes = has_change(s) ? changes_of(s) : NULL;
	json_t *object = json_pack("{s:i,s:O?,s:o,s:o,s:o,s:o,s:o,s:o}", "phasemux_simulation",
			SIMULATION_VERSION, "command", json_object_get(s->run->report, "command"),
			"ranks", json_integer(s->platform.ranks), "ranks_per_node",
			json_integer(s->platform.ranks_per_node), "latency_seconds",
			document_number(s->platform.latency), "bytes_per_second",
			document_number(s->platform.bandwidth), "recorded_seconds",
			document_number(s->outcome.recorded), "simulated_seconds",
			trials_json(&s->nominal));
	bool dumped;

	object = document_set(object, "change", changes ? document_text(changes) : json_null());
	object = document_set(object, "changed_seconds",
			changes ? trials_json(&s->changed) : json_null());
	object = document_set(object, "saved_share",
			changes ? trials_json(&s->saved) : json_null());
	free(changes);
	dumped = object &&
			json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
	json_decref(object);
	if (!dumped)
		return refuse("no memory", 1);
	putchar('\n');
	return 0;
}

/* ---- the command ---- */

int simulate_run(const char *path, const struct run_times *run,
		const struct simulate_request *request)
{
	static struct simulation s;
	int code;

	s = (struct simulation){ .run = run, .request = request };
	if (!launch_finds("smpicc") || !launch_finds("smpirun"))
		return refuse("--simulate needs SimGrid, whose commands smpicc and smpirun are not here (Debian: libsimgrid-dev); without --simulate, the answer is an estimate",
				1);
	code = set_platforms(&s);
	if (!code)
		code = set_change(&s);
	if (!code)
		code = prepare_folder(request->output, path, s.folder, sizeof(s.folder));
	if (code)
		return code;
	snprintf(s.plan_file, sizeof(s.plan_file), "%s/plan", s.folder);
	snprintf(s.log, sizeof(s.log), "%s/simulation.log", s.folder);
	code = prepare_plan(path, run->report, s.plan_file, &s.plan, &s.outcome);
	if (!code)
		code = simulate_both(&s);
	if (!code)
		code = request->json ? print_json(&s) : print_text(&s, stdout);
	plan_free(s.plan);
	return code;
}
