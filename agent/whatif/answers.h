/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of `phasemux whatif`: what was asked, or the single changes that bring most, and the wall time of each. */
#ifndef PHASEMUX_AGENT_WHATIF_ANSWERS_H
#define PHASEMUX_AGENT_WHATIF_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/foresee.h"
#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"

#define ANSWERS_MAX 16 /* answers that are shown, and requests of one call */

struct answer {
	char words[REQUEST_WORDS_MAX], option[REQUEST_WORDS_MAX];
	struct request request; /* if it is one */
	double phase;           /* number of the phase that it changes; 0: none alone */
	bool of_processor;      /* the program itself is not changed */
	struct foreseen foreseen;
};

struct answers {
	const struct run_times *run;
	bool chosen; /* by phasemux, and not by the user: single changes by what they bring, the best one first */
	size_t count;
	size_t left_out; /* number of further changes, which bring less */
	struct answer answer[ANSWERS_MAX];
};

/* Answers each request, and if there are several, all of them at once as the last answer. Returns false with one line in `why`. */
bool answers_of_requests(struct answers *answers, const struct run_times *run,
		const struct request *requests, size_t count, char *why, size_t why_size);

/* Tries the single changes that make sense for this run. */
void answers_of_run(struct answers *answers, const struct run_times *run);

/* Returns the middle of the part of the wall time that an answer saves, from 0 to 1; below 0: it costs time. */
double answers_saved(const struct answers *answers, const struct answer *answer);

#endif
