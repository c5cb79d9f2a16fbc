/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/sentences.h"

#include <math.h>
#include <stdbool.h>

#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/place.h"
#include "agent/text/report_line.h"
#include "agent/whatif/caches.h"

/* Both times of an answer are shown as one if they differ by less than this part of the wall time. */
#define SAME 0.005

/* Part of the wall time below which a half-width is not shown. */
#define ERROR_SHOWN 1e-4

#define UNCHANGED_SHOWN 0.01 /* part of the wall time */
#define OUTSIDE_SHOWN   0.1  /* part of the computing time */

/* Returns whether an answer has two times that are worth being told apart. */
static bool is_range(const struct answers *answers, const struct answer *answer)
{
	return answer->foreseen.most - answer->foreseen.least > SAME * answers->run->wall;
}

static double middle(const struct answer *answer)
{
	return (answer->foreseen.least + answer->foreseen.most) / 2;
}

/* ---- the answer ---- */

/* Writes "35.0% less", "5.0% more" or "the same time". */
static void write_saved(FILE *out, const struct answers *answers, double seconds)
{
	double saved = 1 - seconds / answers->run->wall;

	if (fabs(saved) < 0.0005)
		fputs("the same time", out);
	else
		fprintf(out, "%s %s", format_percent(fabs(saved)).text,
				saved > 0 ? "less" : "more");
}

/* Writes the words of all requests of the user, "A, B and C". */
static void write_asked(FILE *out, const struct answers *answers)
{
	size_t asked = answers->count > 1 ? answers->count - 1 : 1;

	for (size_t i = 0; i < asked; i++)
		fprintf(out, "%s%s",
				!i                            ? "" :
						i + 1 < asked ? ", " :
								" and ",
				answers->answer[i].words);
}

/* Writes what both times of a range save: "25.0% to 35.0% less", or with what one of them costs. */
static void write_saved_range(FILE *out, const struct answers *answers,
		const struct foreseen *foreseen)
{
	double wall = answers->run->wall;

	if (foreseen->most < wall) {
		fprintf(out, "%s to ", format_percent(1 - foreseen->most / wall).text);
		write_saved(out, answers, foreseen->least);
	} else if (foreseen->least > wall) {
		fprintf(out, "%s to ", format_percent(foreseen->least / wall - 1).text);
		write_saved(out, answers, foreseen->most);
	} else {
		write_saved(out, answers, foreseen->least);
		fputs(" to ", out);
		write_saved(out, answers, foreseen->most);
	}
}

static void write_times(FILE *out, const struct answers *answers, const struct answer *answer)
{
	const struct foreseen *foreseen = &answer->foreseen;
	struct format_text wall = format_seconds(answers->run->wall);

	if (is_range(answers, answer)) {
		fprintf(out, "the run would take between %s and %s instead of %s: ",
				format_seconds(foreseen->least).text,
				format_seconds(foreseen->most).text, wall.text);
		write_saved_range(out, answers, foreseen);
	} else {
		fprintf(out, "the run would take about %s instead of %s: ",
				format_seconds(middle(answer)).text, wall.text);
		write_saved(out, answers, middle(answer));
	}
	fputs(".", out);
}

/* Writes the time below which the run cannot be, whatever its messages cost. */
static void write_bound(FILE *out, const struct run_times *run, const struct foreseen *foreseen)
{
	fprintf(out, " It cannot take less than %s, which ", format_seconds(foreseen->bound).text);
	if (run->deciles || foreseen->equal)
		fprintf(out, "%s %s", foreseen->equal ? "each" : "a",
				phase_rank_word(run->report, 1));
	else
		fprintf(out, "%s %.0f", phase_rank_word(run->report, 1), run->rank[foreseen->row]);
	fputs(" then computes.", out);
}

/* Returns the answer that the text begins with: all that was asked, or the change of the program that brings most. */
static const struct answer *headline(const struct answers *answers)
{
	if (!answers->chosen)
		return &answers->answer[answers->count - 1];
	for (size_t i = 0; i < answers->count; i++)
		if (!answers->answer[i].of_processor)
			return &answers->answer[i];
	return NULL;
}

void sentences_answer(FILE *out, const struct answers *answers)
{
	const struct answer *answer = headline(answers);

	if (!answer) {
		fputs("No change of a single phase shortens the run by 0.5% or more.\n", out);
		return;
	}
	if (answers->chosen) {
		fprintf(out, "One single change of the program brings most: with %s, ",
				answer->words);
	} else {
		fputs("With ", out);
		write_asked(out, answers);
		fputs(", ", out);
	}
	write_times(out, answers, answer);
	if (answers->run->ranks >= 2)
		write_bound(out, answers->run, &answer->foreseen);
	fputc('\n', out);
}

/* Writes how large a phase is and where most of it lies. */
static void write_place(FILE *out, const struct run_times *run, double id)
{
	int at = run_times_find(run, id);
	const json_t *phase = at >= 0 ? run->phase[at].phase : NULL;
	const json_t *pair = json_array_get(json_object_get(phase, "source"), 0);

	if (!phase)
		return;
	fprintf(out, "Phase %.0f is %s of the computing time", id,
			format_percent(report_get(phase, "time_share")).text);
	if (pair && place_known(pair))
		fprintf(out, ", from %s to %s", place_end(pair, "from", PLACE_NAME_MAX).text,
				place_end(pair, "to", PLACE_NAME_MAX).text);
	fputs(".\n", out);
}

void sentences_places(FILE *out, const struct answers *answers)
{
	const struct answer *first = headline(answers);

	for (size_t i = 0; first && i < answers->count; i++) {
		const struct answer *answer = &answers->answer[i];

		if (answer->phase > 0 && (!answers->chosen || answer == first))
			write_place(out, answers->run, answer->phase);
	}
}

/* ---- the numbers ---- */

/* Returns the part of the wall time that is saved, in percent. 0 has no sign. */
static double saved_percent(const struct answers *answers, double seconds)
{
	double saved = 100 * (1 - seconds / answers->run->wall);

	return fabs(saved) < 0.05 ? 0 : saved;
}

void sentences_row(struct sentences_row *row, const struct answers *answers,
		const struct answer *answer)
{
	const struct foreseen *foreseen = &answer->foreseen;
	double wall = answers->run->wall;
	bool range = is_range(answers, answer);
	double least = range ? foreseen->least : middle(answer);
	double most = range ? foreseen->most : middle(answer);
	double error = foreseen->error < ERROR_SHOWN * wall ? 0 : foreseen->error;

	snprintf(row->error, sizeof(row->error), "%s",
			format_half_width(1e9 * error, 1e9 * most, 1).text);
	snprintf(row->time, sizeof(row->time), "%s", format_seconds(least).text);
	snprintf(row->saved, sizeof(row->saved), "%.1f%%", saved_percent(answers, most));
	snprintf(row->speedup, sizeof(row->speedup), "%.2f", wall / most);
	if (!range)
		return;
	snprintf(row->time, sizeof(row->time), "%s to %s", format_seconds(least).text,
			format_seconds(most).text);
	snprintf(row->saved, sizeof(row->saved), "%.1f%% to %.1f%%", saved_percent(answers, most),
			saved_percent(answers, least));
	snprintf(row->speedup, sizeof(row->speedup), "%.2f to %.2f", wall / most, wall / least);
}

/* ---- what the answers rest on ---- */

/* Returns whether an answer is about the time of communication, also together with other changes. */
static bool is_of_communication(const struct answer *answer)
{
	return answer->foreseen.communication != 1;
}

/* Returns whether some answer has two times that do not come from those of communication. */
static bool has_range(const struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (!is_of_communication(&answers->answer[i]) &&
				is_range(answers, &answers->answer[i]))
			return true;
	return false;
}

static void write_range(FILE *out, const struct answers *answers)
{
	if (!has_range(answers))
		return;
	if (answers->run->threads > 1)
		fputs("Two times: the report does not say how the threads of a rank share a phase. The run "
		      "takes the longer one if all of them execute it alike.\n",
				out);
	else
		fputs("Two times: one is that of ranks that wait for the slowest one after each phase, the "
		      "other that of ranks that wait for each other only at the end.\n",
				out);
}

static bool has_communication(const struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (is_of_communication(&answers->answer[i]))
			return true;
	return false;
}

/* Writes what is known of the time of communication, if its change is shown. */
static void write_communication(FILE *out, const struct answers *answers)
{
	const struct communication *time = &answers->run->communication;
	struct format_text least = format_seconds(time->least), most = format_seconds(time->most);
	const char *rank = phase_rank_word(answers->run->report, 1);

	if (!has_communication(answers))
		return;
	if (time->most - time->least <= SAME * answers->run->wall)
		fprintf(out, "Communication takes about %s: no %s is in calls for less.\n",
				most.text, rank);
	else if (time->least > 0)
		fprintf(out,
				"Communication takes %s to %s: no %s is in calls for less than %s, up to %s of "
				"which may be waiting for slow bursts of others.\n",
				least.text, most.text, rank, most.text,
				format_seconds(time->most - time->least).text);
	else
		fprintf(out,
				"Communication takes at most %s: no %s is in calls for less, and all of it may "
				"be waiting for slow bursts of others.\n",
				most.text, rank);
}

static bool has_cache(const struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->answer[i].request.kind == REQUEST_CACHE)
			return true;
	return false;
}

/* Writes where the times with another cache are from, and of how much of the computing time they are not known. */
static void write_caches(FILE *out, const struct answers *answers)
{
	const struct run_times *run = answers->run;
	struct caches_factor factor;
	double unknown = 1;

	if (!has_cache(answers))
		return;
	for (size_t p = 0; p < run->phases; p++)
		if (caches_find(run->caches, report_get(run->phase[p].phase, "id"), 1, &factor))
			unknown -= report_get(run->phase[p].phase, "time_share");
	fprintf(out,
			"How phases respond to the cache was simulated with the core model %s by phasemux "
			"simulate, and is that of no real processor.\n",
			report_get_text(run->caches, "core"));
	if (unknown >= UNCHANGED_SHOWN)
		fprintf(out, "%s of the computing time was not simulated, and takes as long as now.\n",
				format_percent(unknown).text);
}

/* Writes what no change of a phase shortens. */
static void write_unchanged(FILE *out, const struct run_times *run)
{
	double unchanged = foresee_unchanged(run);
	double outside = 1;

	for (size_t p = 0; p < run->phases; p++)
		outside -= report_get(run->phase[p].phase, "time_share");
	if (unchanged >= UNCHANGED_SHOWN * run->wall)
		fprintf(out,
				"No change of a phase shortens the other %s of the run (%s): messages, and "
				"waiting that the times in phases do not explain.\n",
				format_seconds(unchanged).text,
				format_percent(unchanged / run->wall).text);
	if (outside >= OUTSIDE_SHOWN)
		fprintf(out, "%s of the computing time is in no phase.\n",
				format_percent(outside).text);
}

static void write_recovered(FILE *out, const struct run_times *run)
{
	if (json_is_object(json_object_get(run->report, "recovered")))
		fputs("The run did not end by itself: all times are of the part that was recorded.\n",
				out);
	if (run->missing)
		fprintf(out, "%zu of %.0f ranks left their times. The others are taken to be like them.\n",
				run->rows, run->ranks);
}

void sentences_basis(FILE *out, const struct answers *answers)
{
	const struct run_times *run = answers->run;

	fprintf(out, "These times are estimates from the report %s, and not measured",
			has_cache(answers) ? "and from simulated caches" : "alone");
	if (run->ranks >= 2)
		fprintf(out,
				": messages take as long as now%s, and waiting shrinks only if it comes from "
				"different times of ranks in a phase",
				has_communication(answers) ? " if communication is not changed" :
							     "");
	fputs(".\n", out);
	write_range(out, answers);
	write_communication(out, answers);
	write_caches(out, answers);
	write_unchanged(out, run);
	write_recovered(out, run);
}
