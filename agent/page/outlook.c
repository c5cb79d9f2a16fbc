/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/outlook.h"

#include <math.h>
#include <stdlib.h>

#include "agent/text/report_line.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/run_times.h"
#include "agent/whatif/sentences.h"

#define ROWS_MAX 5

bool page_has_outlook(const json_t *report)
{
	const json_t *phase = json_array_get(json_object_get(report, "phases"), 0);

	return json_is_object(json_object_get(report, "rank_times")) &&
			isfinite(report_get_in(phase, "rank_seconds", "most"));
}

static void write_row(struct page *page, const struct answers *answers, const struct answer *answer)
{
	struct sentences_row row;

	sentences_row(&row, answers, answer);
	page_markup(page, "<tr><th scope=\"row\">");
	page_text(page, answer->words);
	page_markup(page, "</th>");
	page_cell(page, "n", "%s", row.time);
	page_cell(page, "d", "%s", row.error);
	page_cell(page, "n", "%s", row.saved);
	page_cell(page, "n", "%s", row.speedup);
	page_markup(page, "</tr>\n");
}

static void write_table(struct page *page, const struct answers *answers)
{
	if (!answers->count)
		return;
	page_markup(page,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
			"changes\">\n<table class=\"breakdown rows\">\n<tr><th scope=\"col\">change</th><th scope=\"col\" "
			"class=\"n\">wall time</th><th scope=\"col\">interval</th><th scope=\"col\" "
			"class=\"n\">saved</th><th scope=\"col\" class=\"n\">speedup</th></tr>\n");
	for (size_t i = 0; i < answers->count && i < ROWS_MAX; i++)
		write_row(page, answers, &answers->answer[i]);
	page_markup(page, "</table>\n</div>\n");
}

static void write_answers(struct page *page, const struct answers *answers)
{
	sentences_answer(page->words, answers);
	sentences_places(page->words, answers);
	page_flush_lines(page, "<p>", "</p>");
	write_table(page, answers);
	sentences_basis(page->words, answers);
	page_flush_lines(page, "<p class=\"note\">", "</p>");
	page_markup(page,
			"<p class=\"note\">\"phasemux whatif\" answers more such questions about this "
			"result.</p>\n");
}

/* What the view computes, which is too large for the stack of a thread of the program. */
struct outlook {
	struct run_times run;
	struct answers answers;
};

void page_outlook(struct page *page)
{
	struct outlook *outlook = malloc(sizeof(*outlook));
	char why[256] = "no memory";

	if (!outlook || !run_times_read(&outlook->run, page->report, why, sizeof(why))) {
		fprintf(page->words, "Not known: %s.\n", why);
		page_flush_lines(page, "<p>", "</p>");
	} else {
		answers_of_run(&outlook->answers, &outlook->run);
		write_answers(page, &outlook->answers);
	}
	if (outlook)
		run_times_fini(&outlook->run);
	free(outlook);
}
