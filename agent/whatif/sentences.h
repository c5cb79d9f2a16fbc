/* SPDX-License-Identifier: BSD-3-Clause */
/* The words and numbers of answers, which every view of them shows. Each line ends with a new line, and is not wrapped. */
#ifndef PHASEMUX_AGENT_WHATIF_SENTENCES_H
#define PHASEMUX_AGENT_WHATIF_SENTENCES_H

#include <stdio.h>

#include "agent/whatif/answers.h"

/* The numbers of an answer, as texts. Each is one number, or two with "to" between them. */
struct sentences_row {
	char time[96], saved[96], speedup[96];
	char error[48]; /* half-width of the interval, "": not known, or negligible */
};

void sentences_row(struct sentences_row *row, const struct answers *answers,
		const struct answer *answer);

/* Writes the sentence that answers the question. */
void sentences_answer(FILE *out, const struct answers *answers);

/* Writes where the phases lie that this sentence names. */
void sentences_places(FILE *out, const struct answers *answers);

/* Writes what the answers rest on, and what they leave out. */
void sentences_basis(FILE *out, const struct answers *answers);

#endif
