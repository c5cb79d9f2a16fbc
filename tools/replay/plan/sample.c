/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/sample.h"

#include <stdlib.h>

#include "multiplex/mix.h"

#define CALLS_LEAST 16    /* of a window: less would not show how rounds follow each other */
#define CALLS_FIRST 1e9   /* of a window that is tried first */
#define CALLS_STEP  3 / 4 /* from one to the next that is tried */

/* ---- the calls of a body ---- */

/* Returns the mean number of rounds that are gone through when a token is reached. */
static double mean_rounds(const struct sample *sample, const struct plan_counts *counts)
{
	double sum = 0, uses = 0;

	for (size_t i = 0; i < counts->runs; i++) {
		uint64_t rounds = counts->run[i].count;
		const struct sample_loop *loop = sample ? sample_find(sample, rounds) : NULL;

		if (loop)
			rounds -= loop->rounds - SAMPLE_WINDOWS * loop->window;
		sum += (double)rounds * (double)counts->run[i].uses;
		uses += (double)counts->run[i].uses;
	}
	return uses > 0 ? sum / uses : 0;
}

/* Returns how many calls a round of a loop, or a call, has. */
static double calls_of(const struct sample *sample, const struct plan_variant *variant,
		const struct plan_token *loop)
{
	double calls = loop->kind == PLAN_CALL;

	for (size_t i = 0; i < loop->length; i++)
		calls += mean_rounds(sample, &variant->counts[loop->body[i].number]) *
				calls_of(sample, variant, &loop->body[i]);
	return calls;
}

static double ranks_of(const struct plan_ranks *ranks)
{
	double sum = 0;

	for (size_t i = 0; i < ranks->count; i++)
		sum += (double)ranks->range[i].count;
	return sum;
}

double sample_calls(const struct sample *sample, const struct plan *plan)
{
	double calls = 0;

	for (size_t i = 0; i < plan->structures; i++)
		for (size_t j = 0; j < plan->structure[i].variants; j++) {
			const struct plan_variant *variant = &plan->structure[i].variant[j];

			calls += ranks_of(&variant->ranks) *
					calls_of(sample, variant, &plan->structure[i].text);
		}
	return calls;
}

/* ---- long loops ---- */

static bool is_long(uint64_t rounds, uint64_t window)
{
	return rounds / SAMPLE_WINDOWS > window;
}

/*
 * Adds the loops in a body that may be long for windows with a number of calls. sample->loop: NULL: they are only counted. Returns how
 * many calls a round of the body has.
 */
static double add_loops(struct sample *sample, const struct plan_variant *variant,
		const struct plan_token *body, double calls)
{
	double all = body->kind == PLAN_CALL;

	for (size_t i = 0; i < body->length; i++) {
		const struct plan_token *token = &body->body[i];
		const struct plan_counts *counts = &variant->counts[token->number];
		double of_round = add_loops(sample, variant, token, calls);
		uint64_t window =
				calls > of_round && of_round > 0 ? (uint64_t)(calls / of_round) : 1;

		all += of_round * mean_rounds(NULL, counts);
		for (size_t j = 0; j < counts->runs && of_round > 0; j++) {
			if (!is_long(counts->run[j].count, window))
				continue;
			if (sample->loop)
				sample->loop[sample->loops] =
						(struct sample_loop){ counts->run[j].count,
							window };
			sample->loops++;
		}
	}
	return all;
}

static void add_all_loops(struct sample *sample, const struct plan *plan, double calls)
{
	sample->loops = 0;
	for (size_t i = 0; i < plan->structures; i++)
		for (size_t j = 0; j < plan->structure[i].variants; j++)
			add_loops(sample, &plan->structure[i].variant[j], &plan->structure[i].text,
					calls);
}

static int compare_loops(const void *one, const void *other)
{
	const struct sample_loop *a = one, *b = other;

	return (a->rounds > b->rounds) - (a->rounds < b->rounds);
}

/* Makes one of loops whose numbers of rounds are nearly the same. */
static void join_loops(struct sample *sample)
{
	size_t left = 0, found = 0;

	for (size_t i = 0; i < sample->loops; i++) {
		struct sample_loop *last = left ? &sample->loop[left - 1] : NULL;

		if (!last || sample->loop[i].rounds > last->rounds + SAMPLE_NEAR)
			sample->loop[left++] = sample->loop[i];
		else if (sample->loop[i].window > last->window)
			last->window = sample->loop[i].window;
	}
	for (size_t i = 0; i < left; i++)
		if (is_long(sample->loop[i].rounds, sample->loop[i].window))
			sample->loop[found++] = sample->loop[i];
	sample->loops = found;
}

bool sample_init(struct sample *sample, const struct plan *plan, uint64_t calls, uint64_t seed)
{
	*sample = (struct sample){ .seed = seed };
	if (!calls)
		return true;
	add_all_loops(sample, plan, (double)calls);
	sample->loop = calloc(sample->loops + 1, sizeof(*sample->loop));
	if (!sample->loop)
		return false;
	add_all_loops(sample, plan, (double)calls);
	qsort(sample->loop, sample->loops, sizeof(*sample->loop), compare_loops);
	join_loops(sample);
	return true;
}

const struct sample_loop *sample_find(const struct sample *sample, uint64_t rounds)
{
	size_t first = 0, behind = sample->loops;
	const struct sample_loop *loop;

	while (first < behind) {
		size_t middle = (first + behind) / 2;

		if (sample->loop[middle].rounds <= rounds)
			first = middle + 1;
		else
			behind = middle;
	}
	loop = first ? &sample->loop[first - 1] : NULL;
	return loop && rounds - loop->rounds <= SAMPLE_NEAR ? loop : NULL;
}

void sample_fini(struct sample *sample)
{
	free(sample->loop);
}

uint64_t sample_choose(const struct plan *plan, double most)
{
	uint64_t calls = (uint64_t)CALLS_FIRST;
	struct sample sample;
	double left = sample_calls(NULL, plan);

	while (left > most) {
		bool shorter;

		if (!sample_init(&sample, plan, calls, 0))
			return 0;
		left = sample_calls(&sample, plan);
		shorter = sample.loops > 0;
		sample_fini(&sample);
		if (left <= most || calls <= CALLS_LEAST)
			return shorter ? calls : 0;
		calls = calls * CALLS_STEP;
	}
	return 0;
}

/* ---- windows ---- */

struct sample_window sample_window(const struct sample *sample, const struct sample_loop *loop,
		uint64_t rounds, unsigned n)
{
	uint64_t window = loop->window, middle = loop->rounds - 2 * window;
	uint64_t each = middle / SAMPLE_STRATA;
	uint64_t longer = middle % SAMPLE_STRATA; /* strata with one round more */
	uint64_t stratum = n - 1, length = each + (stratum < longer), state;

	if (n == 0)
		return (struct sample_window){ 0, window, 1 };
	if (n == SAMPLE_WINDOWS - 1)
		return (struct sample_window){ loop->rounds - window,
			window + rounds - loop->rounds, 1 };
	state = mix_bits(sample->seed) + mix_bits(loop->rounds + n * MIX_STEP);
	return (struct sample_window){ window + stratum * each +
				(stratum < longer ? stratum : longer) +
				(uint64_t)(mix_uniform(&state) * (double)(length - window + 1)),
		window, (double)length / (double)window };
}
