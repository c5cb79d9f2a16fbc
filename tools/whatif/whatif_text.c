/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/whatif_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/text/statements.h"
#include "agent/whatif/sentences.h"

/* Columns of the table. */
#define WORDS_WIDTH 37
#define TIME_WIDTH  19
#define ERROR_WIDTH 11
#define SAVED_WIDTH 18
#define SPEED_WIDTH (REPORT_WIDTH - WORDS_WIDTH - TIME_WIDTH - 1 - ERROR_WIDTH - SAVED_WIDTH)

/* Prints wrapped what a function of sentences.h writes. before: in front of each line; indent: of its continuation. */
static void print_sentences(FILE *out, void (*write)(FILE *out, const struct answers *answers),
		const struct answers *answers, const char *before, int indent)
{
	char *text = NULL, *rest;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	write(lines, answers);
	if (fclose(lines) == 0 && text) {
		rest = text;
		for (char *line = strsep(&rest, "\n"); rest; line = strsep(&rest, "\n"))
			report_line(out, indent, "%s%s", before, line);
	}
	free(text);
}

static void print_row(FILE *out, const struct answers *answers, const struct answer *answer)
{
	struct sentences_row row;

	sentences_row(&row, answers, answer);
	/* long words have a line of their own */
	fprintf(out, "%-*s", WORDS_WIDTH, answer->words);
	if (strlen(answer->words) >= WORDS_WIDTH)
		fprintf(out, "\n%*s", WORDS_WIDTH, "");
	fprintf(out, "%*s %-*s%*s%*s\n", TIME_WIDTH, row.time, ERROR_WIDTH, row.error, SAVED_WIDTH,
			row.saved, SPEED_WIDTH, row.speedup);
}

static void print_table(FILE *out, const struct answers *answers)
{
	if (!answers->count)
		return;
	fprintf(out, "\n%-*s%*s %-*s%*s%*s\n", WORDS_WIDTH, "change", TIME_WIDTH, "wall time",
			ERROR_WIDTH, "", SAVED_WIDTH, "saved", SPEED_WIDTH, "speedup");
	for (size_t i = 0; i < answers->count; i++)
		print_row(out, answers, &answers->answer[i]);
	if (answers->left_out)
		fprintf(out, "%zu further change%s would bring less.\n", answers->left_out,
				answers->left_out == 1 ? "" : "s");
}

static void write_command(FILE *out, const struct answers *answers)
{
	fputs("phasemux whatif: ", out);
	statements_head[0].write(out, answers->run->report);
}

char *whatif_text(const struct answers *answers)
{
	const struct run_times *run = answers->run;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	print_sentences(out, write_command, answers, "", 4);
	fprintf(out, "  %.0f %s, %s\n\n", run->ranks, phase_rank_word(run->report, run->ranks),
			format_seconds(run->wall).text);
	print_sentences(out, sentences_answer, answers, "", 0);
	print_sentences(out, sentences_places, answers, "  ", 4);
	print_table(out, answers);
	fputc('\n', out);
	print_sentences(out, sentences_basis, answers, "", 2);
	fclose(out);
	report_make_plain(text);
	return text;
}
