/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/whatif/caches.h"

#define NAMES_MAX 600

/* What is known of each kind. The order is that of enum request_kind. */
static const struct {
	const char *option, *allowed;
} kinds[] = {
	{ "phase", "NUMBER=FACTOR, with a factor from 0 to 1000: 3=0.5 is half the time of phase 3" },
	{ "balance", "nothing, or the number of a phase" },
	{ "balance", "nothing, or the number of a phase" },
	{ "component", "NAME=FACTOR, with a factor from 0 to 1000: 'back end=0.5' is half of its cycles" },
	{ "cpu", "how many times as fast the processor is, from 0.001 to 1000" },
	{ "communication", "a factor from 0 to 1000: 0.5 is half the time" },
	{ "cache", "how many times as large the last cache is, one of the sizes that phasemux simulate has tried: 2" },
};

const char *request_allowed(enum request_kind kind)
{
	return kinds[kind].allowed;
}

/* ---- reading ---- */

/* Reads a number from `least` to REQUEST_FACTOR_MAX that is the whole text. */
static bool read_number(const char *text, double least, double *value)
{
	char *end;

	/* strtod() also takes blanks, names and hexadecimal numbers */
	if (strspn(text, "0123456789.eE-+") != strlen(text))
		return false;
	*value = strtod(text, &end);
	return end != text && !*end && *value >= least && *value <= REQUEST_FACTOR_MAX;
}

static bool read_phase(const char *text, double *phase)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10 &&
			(*phase = strtod(text, NULL)) >= 1;
}

bool request_read(struct request *request, enum request_kind kind, const char *text)
{
	const char *sign = text ? strrchr(text, '=') : NULL;
	size_t length = sign ? (size_t)(sign - text) : 0;

	*request = (struct request){ .kind = kind, .factor = 1 };
	switch (kind) {
	case REQUEST_BALANCE:
		return true;
	case REQUEST_BALANCE_PHASE:
		return read_phase(text, &request->phase);
	case REQUEST_SPEED:
	case REQUEST_CACHE:
		return read_number(text, 1 / REQUEST_FACTOR_MAX, &request->factor);
	case REQUEST_COMMUNICATION:
		return read_number(text, 0, &request->factor);
	default:
		break;
	}
	if (!length || length >= sizeof(request->name) ||
			!read_number(sign + 1, 0, &request->factor))
		return false;
	snprintf(request->name, sizeof(request->name), "%.*s", (int)length, text);
	return kind == REQUEST_COMPONENT || read_phase(request->name, &request->phase);
}

/* ---- what this run allows ---- */

static bool refuse_phase(const struct request *request, const struct run_times *run, char *why,
		size_t why_size)
{
	char list[NAMES_MAX] = "";
	size_t length = 0;

	for (size_t p = 0; p < run->phases && length < sizeof(list) - 16; p++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%.0f",
				p ? ", " : "", report_get(run->phase[p].phase, "id"));
	snprintf(why, why_size, "there is no phase %.0f; the phases of this result: %s",
			request->phase, list);
	return false;
}

/* Returns the place of the requested phase, or -1 with one line in `why`. */
static int find_phase(const struct request *request, const struct run_times *run, char *why,
		size_t why_size)
{
	int phase = run_times_find(run, request->phase);

	if (phase < 0)
		refuse_phase(request, run, why, why_size);
	return phase;
}

/* Returns whether work can be distributed anew. phase: its place; -1: all phases. */
static bool can_balance(const struct run_times *run, int phase, char *why, size_t why_size)
{
	if (run->threads > 1)
		snprintf(why, why_size,
				"balance: ranks have several threads, and the report does not say how these "
				"share a phase");
	else if (run->ranks < 2)
		snprintf(why, why_size, "balance: the run has only one %s",
				phase_rank_word(run->report, 1));
	else if (phase >= 0 && run->phase[phase].all.ranks < 2)
		snprintf(why, why_size,
				"balance: only %s %.0f executes phase %.0f; --balance without a number "
				"shares all computing",
				phase_rank_word(run->report, 1), run->phase[phase].all.slowest,
				report_get(run->phase[phase].phase, "id"));
	else
		return true;
	return false;
}

/* Returns whether the report says how long ranks communicate. */
static bool has_communication(const struct run_times *run, char *why, size_t why_size)
{
	if (run->ranks < 2)
		snprintf(why, why_size, "communication: the run has only one %s",
				phase_rank_word(run->report, 1));
	else if (run->communication.most <= 0)
		snprintf(why, why_size,
				"communication: this result does not say how long ranks were in calls");
	else
		return true;
	return false;
}

static void add_name(void *data, const char *name)
{
	char *list = data;
	size_t length = strlen(list);

	snprintf(list + length, NAMES_MAX - length, "%s%s", length ? ", " : "", name);
}

static bool refuse_component(const struct request *request, const struct run_times *run, char *why,
		size_t why_size)
{
	char list[NAMES_MAX] = "";
	const char *reason = report_get_text(run->report, "without_counters");

	change_components(run, add_name, list);
	if (*list)
		snprintf(why, why_size, "there is no component '%s'; those of this result: %s",
				request->name, list);
	else
		snprintf(why, why_size,
				"component: this result has no breakdown of the cycles per instruction "
				"(model %s)%s%s",
				report_get_text(run->report, "model"),
				*reason != '?' ? "; no hardware counters: " : "",
				*reason != '?' ? reason : "");
	return false;
}

static bool refuse_cache(const struct request *request, const struct run_times *run, char *why,
		size_t why_size)
{
	char list[NAMES_MAX];

	caches_list_times(run->caches, list, sizeof(list));
	if (run->caches)
		snprintf(why, why_size,
				"no last cache %g times as large was simulated, but others: %s times",
				request->factor, list);
	else
		snprintf(why, why_size,
				"no other caches were simulated for this result; phasemux simulate DIR -- COMMAND does that");
	return false;
}

bool request_apply(const struct request *request, const struct run_times *run,
		struct change *change, char *why, size_t why_size)
{
	int phase = -1;

	if (request->kind == REQUEST_PHASE || request->kind == REQUEST_BALANCE_PHASE) {
		phase = find_phase(request, run, why, why_size);
		if (phase < 0)
			return false;
	}
	switch (request->kind) {
	case REQUEST_PHASE:
		change_phase(change, (size_t)phase, request->factor);
		return true;
	case REQUEST_BALANCE:
		change->all_balanced = true;
		return can_balance(run, -1, why, why_size);
	case REQUEST_BALANCE_PHASE:
		change_balance(change, run, (size_t)phase);
		return can_balance(run, phase, why, why_size);
	case REQUEST_COMPONENT:
		return change_component(change, run, request->name, request->factor) ||
				refuse_component(request, run, why, why_size);
	case REQUEST_SPEED:
		change_speed(change, run, request->factor);
		return true;
	case REQUEST_COMMUNICATION:
		change->communication *= request->factor;
		return has_communication(run, why, why_size);
	case REQUEST_CACHE:
		return change_cache(change, run, request->factor) ||
				refuse_cache(request, run, why, why_size);
	}
	return false;
}

/* ---- words ---- */

/* Writes by what something is multiplied: "half its time", "0.25 times its time". */
static void write_times(char *words, size_t size, double factor, const char *what)
{
	if (factor == 0.5)
		snprintf(words, size, "half its %s", what);
	else
		snprintf(words, size, "%g times its %s", factor, what);
}

void request_words(const struct request *request, const struct run_times *run,
		char words[REQUEST_WORDS_MAX])
{
	const json_t *phase = NULL;
	char times[48];
	FILE *out;
	int place;

	write_times(times, sizeof(times), request->factor,
			request->kind == REQUEST_COMPONENT ? "cycles" : "time");
	switch (request->kind) {
	case REQUEST_PHASE:
		snprintf(words, REQUEST_WORDS_MAX, "phase %.0f in %s", request->phase, times);
		return;
	case REQUEST_COMPONENT:
		snprintf(words, REQUEST_WORDS_MAX, "%s in %s", request->name, times);
		return;
	case REQUEST_BALANCE:
		snprintf(words, REQUEST_WORDS_MAX, "all computing balanced between %s",
				phase_rank_word(run->report, 2));
		return;
	case REQUEST_SPEED:
		snprintf(words, REQUEST_WORDS_MAX, "a processor %g times as fast", request->factor);
		return;
	case REQUEST_COMMUNICATION:
		snprintf(words, REQUEST_WORDS_MAX, "communication in %s", times);
		return;
	case REQUEST_CACHE:
		snprintf(words, REQUEST_WORDS_MAX, "a last cache %g times as large",
				request->factor);
		return;
	case REQUEST_BALANCE_PHASE:
		break;
	}
	place = run_times_find(run, request->phase);
	if (place >= 0)
		phase = run->phase[run->phase[place].set].phase;
	out = fmemopen(words, REQUEST_WORDS_MAX, "w");
	if (!out)
		return;
	phase_write_names(out, phase_together(phase) ? phase_together(phase) : phase);
	fputs(" balanced", out);
	fclose(out);
	words[REQUEST_WORDS_MAX - 1] = '\0';
}

void request_option(const struct request *request, char option[REQUEST_WORDS_MAX])
{
	const char *name = kinds[request->kind].option;
	bool quoted = strcspn(request->name, " ") < strlen(request->name);

	switch (request->kind) {
	case REQUEST_PHASE:
		snprintf(option, REQUEST_WORDS_MAX, "--%s %.0f=%g", name, request->phase,
				request->factor);
		break;
	case REQUEST_COMPONENT:
		snprintf(option, REQUEST_WORDS_MAX, "--%s %s%s=%g%s", name, quoted ? "'" : "",
				request->name, request->factor, quoted ? "'" : "");
		break;
	case REQUEST_BALANCE:
		snprintf(option, REQUEST_WORDS_MAX, "--%s", name);
		break;
	case REQUEST_BALANCE_PHASE:
		snprintf(option, REQUEST_WORDS_MAX, "--%s=%.0f", name, request->phase);
		break;
	case REQUEST_SPEED:
	case REQUEST_COMMUNICATION:
	case REQUEST_CACHE:
		snprintf(option, REQUEST_WORDS_MAX, "--%s %g", name, request->factor);
		break;
	}
}
