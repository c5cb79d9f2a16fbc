/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/estimate/student.h"

#define WORD_MAX         64    /* of a factor for the program that replays */
#define RANK_FACTORS_MAX 20000 /* so that the command line is not too long */
#define FACTOR_DIFFERS   1e-9

void trials_summarize(struct trials *trials)
{
	double squares = 0;

	trials->mean = 0;
	for (unsigned i = 0; i < SCENARIO_TRIALS; i++)
		trials->mean += trials->value[i] / SCENARIO_TRIALS;
	for (unsigned i = 0; i < SCENARIO_TRIALS; i++)
		squares += (trials->value[i] - trials->mean) * (trials->value[i] - trials->mean);
	trials->ci95 = student_quantile(SCENARIO_TRIALS - 1) *
			sqrt(squares / (SCENARIO_TRIALS - 1) / SCENARIO_TRIALS);
}

/* ---- the list ---- */

/* Returns a new scenario that changes nothing yet. */
static struct scenario *add_scenario(struct scenarios *scenarios)
{
	struct scenario *scenario = &scenarios->all[scenarios->count++];

	memset(scenario, 0, sizeof(*scenario));
	change_none(&scenario->change);
	scenario->network = (struct scenario_network){ 1, 1 };
	return scenario;
}

/* Adds words behind others. */
static void add_words(struct scenario *scenario, const char *words)
{
	size_t length = strlen(scenario->words);

	snprintf(scenario->words + length, sizeof(scenario->words) - length, "%s%s",
			length ? ", and " : "", words);
}

static bool add_request(struct scenario *scenario, const struct run_times *run,
		const struct request *request, char *why, size_t why_size)
{
	char words[REQUEST_WORDS_MAX];

	if (!request_apply(request, run, &scenario->change, why, why_size))
		return false;
	scenario->of_processor = request->kind == REQUEST_SPEED || request->kind == REQUEST_CACHE;
	request_words(request, run, words);
	add_words(scenario, words);
	request_option(request, words);
	snprintf(scenario->option, sizeof(scenario->option), "%s", words);
	return true;
}

/* Says in the words and the option of a scenario that `what` of its network ("latency") is changed. */
static void name_network(struct scenario *scenario, const char *what, double times)
{
	char words[REQUEST_WORDS_MAX];

	snprintf(words, sizeof(words), "%g times the %s", times, what);
	add_words(scenario, words);
	snprintf(scenario->option, sizeof(scenario->option), "--%s %g", what, times);
}

static void add_latency(struct scenario *scenario, double times)
{
	scenario->network.latency_times = times;
	name_network(scenario, "latency", times);
}

static void add_bandwidth(struct scenario *scenario, double times)
{
	scenario->network.bandwidth_times = times;
	name_network(scenario, "bandwidth", times);
}

/* Adds all changes as one scenario. */
static void ask_all(struct scenarios *scenarios, const struct run_times *run,
		const struct request *requests, size_t count, struct scenario_network network)
{
	struct scenario *all = add_scenario(scenarios);
	char why[1];

	for (size_t i = 0; i < count; i++)
		add_request(all, run, &requests[i], why, sizeof(why));
	if (network.latency_times != 1)
		add_latency(all, network.latency_times);
	if (network.bandwidth_times != 1)
		add_bandwidth(all, network.bandwidth_times);
	all->option[0] = 0;
}

bool scenarios_ask(struct scenarios *scenarios, const struct run_times *run,
		const struct request *requests, size_t count, struct scenario_network network,
		char *why, size_t why_size)
{
	static struct answers answers;

	for (size_t i = 0; i < count; i++)
		if (requests[i].kind == REQUEST_COMMUNICATION) {
			snprintf(why, why_size,
					"communication: it has no factor in a simulation, which sends the "
					"messages; --latency and --bandwidth change the network, and without "
					"--simulate the answer is an estimate");
			return false;
		}
	/* requests that exclude each other */
	if (count && !answers_of_requests(&answers, run, requests, count, why, why_size))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_request(add_scenario(scenarios), run, &requests[i], why, why_size))
			return false;
	if (network.latency_times != 1)
		add_latency(add_scenario(scenarios), network.latency_times);
	if (network.bandwidth_times != 1)
		add_bandwidth(add_scenario(scenarios), network.bandwidth_times);
	if (scenarios->count > 1)
		ask_all(scenarios, run, requests, count, network);
	return true;
}

void scenarios_choose(struct scenarios *scenarios, const struct run_times *run, size_t most)
{
	static struct answers answers;
	char why[1];

	answers_of_run(&answers, run);
	scenarios->chosen = true;
	scenarios->left_out = answers.left_out;
	for (size_t i = 0, added = 0; i < answers.count; i++)
		if (answers.answer[i].request.kind == REQUEST_COMMUNICATION)
			continue; /* the messages are simulated */
		else if (added++ >= most)
			scenarios->left_out++;
		else if (!add_request(add_scenario(scenarios), run, &answers.answer[i].request, why,
					 sizeof(why)))
			scenarios->count--;
}

static int compare_saved(const void *one, const void *other)
{
	double a = ((const struct scenario *)one)->saved.mean;
	double b = ((const struct scenario *)other)->saved.mean;

	return (a < b) - (a > b);
}

void scenarios_sort(struct scenarios *scenarios)
{
	qsort(scenarios->all, scenarios->count, sizeof(*scenarios->all), compare_saved);
}

/* ---- for the program that replays ---- */

/* Returns the set in which the bursts that the structure has in a phase are balanced, or -1. */
static long set_of(const struct change *change, const struct run_times *run,
		const struct labels *labels, size_t phase)
{
	size_t own = labels_main(labels, phase);

	return change->all_balanced || change->balanced[own] ? (long)run->phase[own].set : -1;
}

/* Words for the program that replays. */
struct factors {
	char **words;
	size_t count, room;
};

/* Adds a word. sign: between the place and the number. */
static void add_factor(struct factors *factors, long place, const char *sign, double number)
{
	if (factors->count < factors->room)
		snprintf(factors->words[factors->count++], WORD_MAX, "%ld%s%.9g", place, sign,
				number);
}

/* Adds the factor of each rank in which it is another one. */
static void add_rank_factors(struct factors *factors, const struct change *change,
		const struct run_times *run, const struct labels *labels, size_t phase)
{
	double usual = labels_factor(labels, phase, change->factor);

	for (size_t row = 0; row < run->rows; row++) {
		double factor = labels_rank_factor(labels, run, row, phase, change->factor);
		char sign[WORD_MAX / 2];

		if (fabs(factor - usual) < FACTOR_DIFFERS)
			continue;
		snprintf(sign, sizeof(sign), ",%.0f=", run->rank[row]);
		add_factor(factors, (long)phase, sign, factor);
	}
}

char **scenario_factors(const struct change *change, const struct run_times *run,
		const struct labels *labels, bool times)
{
	/* of more ranks the report has only deciles, or the command line would be too long */
	bool has_ranks = !run->deciles && run->rows * run->phases <= RANK_FACTORS_MAX;
	struct factors factors = {
		.room = 3 + run->phases * (2 + (has_ranks ? run->rows : 0)),
	};
	char *text;

	factors.words = calloc(1, (factors.room + 1) * (sizeof(*factors.words) + WORD_MAX));
	if (!factors.words)
		return NULL;
	text = (char *)(factors.words + factors.room + 1);
	for (size_t i = 0; i < factors.room; i++)
		factors.words[i] = text + i * WORD_MAX;
	if (times)
		snprintf(factors.words[factors.count++], WORD_MAX, "times");
	add_factor(&factors, -1, "=", change->rest);
	/* the bursts in no phase are a set of their own */
	if (change->all_balanced)
		add_factor(&factors, -1, "@", (double)run->phases);
	for (size_t p = 0; p < run->phases; p++) {
		long set = set_of(change, run, labels, p);

		add_factor(&factors, (long)p, "=", labels_factor(labels, p, change->factor));
		if (has_ranks)
			add_rank_factors(&factors, change, run, labels, p);
		if (set >= 0)
			add_factor(&factors, (long)p, "@", (double)set);
	}
	factors.words[factors.count] = NULL;
	return factors.words;
}
