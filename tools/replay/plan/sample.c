/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/sample.h"

#include <stdlib.h>

#include "multiplex/mix.h"

#define WINDOW_MIN  8       /* rounds; less would not show how rounds follow each other */
#define WINDOW_MAX  1048576 /* at first, when the length is sought */
#define WINDOW_STEP 3 / 4   /* from a length to the next one that is tried */

static bool is_long(uint64_t rounds, uint64_t window)
{
	return window && rounds > SAMPLE_WINDOWS * window + SAMPLE_NEAR;
}

/* ---- the numbers of rounds ---- */

static int compare_rounds(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* Returns how many long loops a plan has. list: NULL, or gets their numbers of rounds. */
static size_t list_rounds(const struct plan *plan, uint64_t window, uint64_t *list)
{
	size_t found = 0;

	for (size_t i = 0; i < plan->structures; i++)
		for (size_t j = 0; j < plan->structure[i].variants; j++)
			for (size_t k = 0; k < plan->structure[i].tokens; k++) {
				const struct plan_counts *counts =
						&plan->structure[i].variant[j].counts[k];

				for (size_t l = 0; l < counts->runs; l++) {
					if (!is_long(counts->run[l].count, window))
						continue;
					if (list)
						list[found] = counts->run[l].count;
					found++;
				}
			}
	return found;
}

bool sample_init(struct sample *sample, const struct plan *plan, uint64_t window, uint64_t seed)
{
	size_t found = list_rounds(plan, window, NULL);

	*sample = (struct sample){ .window = window, .seed = seed };
	sample->rounds = calloc(found + 1, sizeof(*sample->rounds));
	if (!sample->rounds)
		return false;
	list_rounds(plan, window, sample->rounds);
	qsort(sample->rounds, found, sizeof(*sample->rounds), compare_rounds);
	for (size_t i = 0; i < found; i++)
		if (!sample->loops ||
				sample->rounds[i] > sample->rounds[sample->loops - 1] + SAMPLE_NEAR)
			sample->rounds[sample->loops++] = sample->rounds[i];
	return true;
}

/* Returns the least number of rounds that is taken for that of the same loop. */
static uint64_t common_rounds(const struct sample *sample, uint64_t rounds)
{
	size_t first = 0, behind = sample->loops;

	while (first < behind) {
		size_t middle = (first + behind) / 2;

		if (sample->rounds[middle] <= rounds)
			first = middle + 1;
		else
			behind = middle;
	}
	return first ? sample->rounds[first - 1] : rounds;
}

/* ---- the windows ---- */

bool sample_is_long(const struct sample *sample, uint64_t rounds)
{
	return is_long(rounds, sample->window);
}

struct sample_window sample_window(const struct sample *sample, uint64_t rounds, unsigned n)
{
	uint64_t common = common_rounds(sample, rounds), window = sample->window;
	uint64_t middle = common - 2 * window, each = middle / SAMPLE_STRATA;
	uint64_t longer = middle % SAMPLE_STRATA; /* strata with one round more */
	uint64_t stratum = n - 1, length = each + (stratum < longer), state;

	if (n == 0)
		return (struct sample_window){ 0, window, 1 };
	if (n == SAMPLE_WINDOWS - 1)
		return (struct sample_window){ common - window, window + rounds - common, 1 };
	state = mix_bits(sample->seed) + mix_bits(common + n * MIX_STEP);
	return (struct sample_window){ window + stratum * each +
				(stratum < longer ? stratum : longer) +
				(uint64_t)(mix_uniform(&state) * (double)(length - window + 1)),
		window, (double)length / (double)window };
}

void sample_fini(struct sample *sample)
{
	free(sample->rounds);
}

/* ---- the length of a window ---- */

/* Returns how often the calls of a body are gone through if the body is itself `uses` times. */
static double calls_of(const struct plan_variant *variant, const struct plan_token *loop,
		double uses, uint64_t window)
{
	double calls = 0;

	for (size_t i = 0; i < loop->length; i++) {
		const struct plan_token *token = &loop->body[i];
		const struct plan_counts *counts = &variant->counts[token->number];
		double sum = 0, all = 0;

		for (size_t j = 0; j < counts->runs; j++) {
			uint64_t count = counts->run[j].count;

			if (is_long(count, window))
				count = SAMPLE_WINDOWS * window;
			sum += (double)count * (double)counts->run[j].uses;
			all += (double)counts->run[j].uses;
		}
		if (!(all > 0) || token->kind == PLAN_HOLE)
			continue;
		calls += token->kind == PLAN_LOOP ?
				calls_of(variant, token, uses * sum / all, window) :
				uses * sum / all;
	}
	return calls;
}

static double ranks_of(const struct plan_ranks *ranks)
{
	double sum = 0;

	for (size_t i = 0; i < ranks->count; i++)
		sum += (double)ranks->range[i].count;
	return sum;
}

double sample_calls(const struct plan *plan, uint64_t window)
{
	double calls = 0;

	for (size_t i = 0; i < plan->structures; i++)
		for (size_t j = 0; j < plan->structure[i].variants; j++) {
			const struct plan_variant *variant = &plan->structure[i].variant[j];

			calls += ranks_of(&variant->ranks) *
					calls_of(variant, &plan->structure[i].text, 1, window);
		}
	return calls;
}

uint64_t sample_choose(const struct plan *plan, double most)
{
	uint64_t window = WINDOW_MAX;

	if (sample_calls(plan, 0) <= most)
		return 0;
	while (window > WINDOW_MIN && sample_calls(plan, window) > most)
		window = window * WINDOW_STEP;
	window = window > WINDOW_MIN ? window : WINDOW_MIN;
	return list_rounds(plan, window, NULL) ? window : 0;
}
