/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define SAVED_MIN   0.005 /* part of the wall time below which a single change is left out */
#define CHOSEN_MAX  12    /* single changes that are shown */
#define SPEED_TRIED 1.5   /* a usual step between two generations of processors */
#define CACHE_TRIED 2     /* if it was simulated */

double answers_saved(const struct answers *answers, const struct answer *answer)
{
	double middle = (answer->foreseen.least + answer->foreseen.most) / 2;

	return 1 - middle / answers->run->wall;
}

/* Returns whether a component is the other one, or a part of it. */
static bool is_within(const char *part, const char *component)
{
	size_t length = strlen(component);

	return strncasecmp(part, component, length) == 0 &&
			(part[length] == '/' || part[length] == '\0');
}

/* Returns whether no cycles are in two components that are asked for. Otherwise writes one line in `why`. */
static bool are_apart(const struct request *requests, size_t count, char *why, size_t why_size)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (i != k && requests[i].kind == REQUEST_COMPONENT &&
					requests[k].kind == REQUEST_COMPONENT &&
					is_within(requests[i].name, requests[k].name)) {
				snprintf(why, why_size,
						"component: '%s' is in '%s', and only one of them can be "
						"changed",
						requests[i].name, requests[k].name);
				return false;
			}
	return true;
}

/* Returns whether at most one cache is asked for, and no component beside it. Otherwise writes one line in `why`. */
static bool is_one_cache(const struct request *requests, size_t count, char *why, size_t why_size)
{
	size_t caches = 0, components = 0;

	for (size_t i = 0; i < count; i++) {
		caches += requests[i].kind == REQUEST_CACHE;
		components += requests[i].kind == REQUEST_COMPONENT;
	}
	if (!caches || (caches == 1 && !components))
		return true;
	snprintf(why, why_size,
			"cache: only one cache can be asked for, and no component beside it, because both change "
			"the same cycles");
	return false;
}

/* Answers some requests at once, without words. Returns false with one line in `why`. */
static bool answer_requests(struct answer *answer, const struct run_times *run,
		const struct request *requests, size_t count, char *why, size_t why_size)
{
	struct change change;

	if (!are_apart(requests, count, why, why_size) ||
			!is_one_cache(requests, count, why, why_size))
		return false;
	change_none(&change);
	answer->of_processor = true;
	for (size_t i = 0; i < count; i++) {
		if (!request_apply(&requests[i], run, &change, why, why_size))
			return false;
		answer->of_processor &= requests[i].kind == REQUEST_SPEED ||
				requests[i].kind == REQUEST_CACHE;
	}
	foresee(&answer->foreseen, run, &change);
	return true;
}

static bool answer_one(struct answer *answer, const struct run_times *run,
		const struct request *request, char *why, size_t why_size)
{
	if (!answer_requests(answer, run, request, 1, why, why_size))
		return false;
	answer->request = *request;
	request_words(request, run, answer->words);
	request_option(request, answer->option);
	answer->phase = request->phase;
	return true;
}

bool answers_of_requests(struct answers *answers, const struct run_times *run,
		const struct request *requests, size_t count, char *why, size_t why_size)
{
	struct answer *all;

	*answers = (struct answers){ .run = run };
	for (size_t i = 0; i < count && i < ANSWERS_MAX - 1; i++)
		if (!answer_one(&answers->answer[answers->count++], run, &requests[i], why,
				    why_size))
			return false;
	if (answers->count < 2)
		return true;
	all = &answers->answer[answers->count];
	snprintf(all->words, sizeof(all->words), "all of these");
	return answer_requests(all, run, requests, answers->count++, why, why_size);
}

/* ---- the single changes that bring most ---- */

/* Puts an answer to its place in the order, if it has one among the first CHOSEN_MAX. */
static void answers_insert(struct answers *answers, const struct answer *answer)
{
	double saved = answers_saved(answers, answer);
	size_t at = answers->count;

	if (!(saved >= SAVED_MIN)) {
		answers->left_out++;
		return;
	}
	if (at == CHOSEN_MAX) {
		at--;
		answers->left_out++;
		if (answers_saved(answers, &answers->answer[at]) >= saved)
			return;
	} else {
		answers->count++;
	}
	for (; at && answers_saved(answers, &answers->answer[at - 1]) < saved; at--)
		answers->answer[at] = answers->answer[at - 1];
	answers->answer[at] = *answer;
}

/* Tries a request, which this run may not be able to answer. */
static void try_request(struct answers *answers, const struct request *request)
{
	struct answer answer = { .phase = 0 };
	char why[1];

	if (answer_one(&answer, answers->run, request, why, sizeof(why)))
		answers_insert(answers, &answer);
}

static void try_component(void *data, const char *name)
{
	struct request request = { .kind = REQUEST_COMPONENT, .factor = 0.5 };

	snprintf(request.name, sizeof(request.name), "%s", name);
	try_request(data, &request);
}

void answers_of_run(struct answers *answers, const struct run_times *run)
{
	*answers = (struct answers){ .run = run, .chosen = true };
	for (size_t p = 0; p < run->phases; p++) {
		double id = report_get(run->phase[p].phase, "id");

		if (!phase_is_shown(run->phase[p].phase))
			continue;
		try_request(answers, &(struct request){ REQUEST_PHASE, id, 0.5, "" });
		if (run->phase[p].set == p)
			try_request(answers, &(struct request){ REQUEST_BALANCE_PHASE, id, 1, "" });
	}
	try_request(answers, &(struct request){ .kind = REQUEST_BALANCE, .factor = 1 });
	try_request(answers, &(struct request){ .kind = REQUEST_SPEED, .factor = SPEED_TRIED });
	try_request(answers, &(struct request){ .kind = REQUEST_COMMUNICATION, .factor = 0.5 });
	try_request(answers, &(struct request){ .kind = REQUEST_CACHE, .factor = CACHE_TRIED });
	change_components(run, try_component, answers);
}
