/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define IDS_SHOWN   2    /* numbers of phases of one side that are named */
#define SHOWN_SHARE 0.01 /* of the computing time; smaller phases are in the JSON */

const struct words_row words_rows[] = {
	{ "bursts", "bursts of a thread", WORDS_COUNT },
	{ "duration_seconds", "mean duration", WORDS_SECONDS },
	{ "instructions_per_burst", "instructions of a burst", WORDS_COUNT },
	{ "nanoseconds_per_cycle", "time per cycle", WORDS_NANOSECONDS },
	{ "cpi", "CPI", WORDS_CPI },
	{ NULL, NULL, WORDS_COUNT },
};

static const struct {
	const char *cause, *name;
} causes[] = {
	{ "work", "work (instructions)" },
	{ "cpi", "CPI, not broken down" },
	{ "clock", "cycle time (clock, preemption)" },
	{ "bursts", "number of bursts" },
	{ "duration", "duration of bursts" },
	{ "time", "time in phases" },
	{ "new", "new phases" },
	{ "gone", "vanished phases" },
	{ "unclassified", "bursts in no phase" },
	{ "load balance", "unequal work (load balance)" },
	{ "communication", "communication, other waiting" },
};

/* Formats a number without its sign, which must not be -0. */
static struct words format(double value, enum words_unit unit)
{
	struct words words;

	switch (unit) {
	case WORDS_SECONDS:
		snprintf(words.text, sizeof(words.text), "%s", format_seconds(value).text);
		break;
	case WORDS_NANOSECONDS:
		snprintf(words.text, sizeof(words.text), "%.3f ns", value);
		break;
	case WORDS_CPI:
		snprintf(words.text, sizeof(words.text), "%.3f", value);
		break;
	default:
		snprintf(words.text, sizeof(words.text), "%s", format_count(value).text);
	}
	return words;
}

struct words words_value(double value, enum words_unit unit)
{
	return isfinite(value) ? format(value, unit) : (struct words){ "-" };
}

struct words words_time(const json_t *phase, const char *side)
{
	if (!json_array_size(json_object_get(phase, side)) &&
			!(report_get_in(phase, "seconds", side) > 0))
		return (struct words){ "-" };
	return words_value(report_get_in(phase, "seconds", side), WORDS_SECONDS);
}

struct words words_path(const json_t *run)
{
	const char *path = report_get_text(run, "path"), *name = strrchr(path, '/');
	struct words words;

	snprintf(words.text, sizeof(words.text), "%.*s",
			name && name > path && strcmp(name, "/report.json") == 0 ?
					(int)(name - path) :
					150,
			path);
	return words;
}

/* Formats the half-width of an interval, with two significant digits: "0.37 s". */
static struct words format_error(double ci95, enum words_unit unit)
{
	struct words words;

	if (unit == WORDS_CPI || unit == WORDS_NANOSECONDS)
		snprintf(words.text, sizeof(words.text), "%s%.3f%s", ci95 < 0.0005 ? "<" : "",
				fmax(ci95, 0.001), unit == WORDS_CPI ? "" : " ns");
	else if (unit == WORDS_SECONDS)
		snprintf(words.text, sizeof(words.text), "%s",
				format_half_width(1e9 * ci95, 1e9 * ci95, 1).text + strlen("+-"));
	else
		snprintf(words.text, sizeof(words.text), "%s",
				format_half_width(ci95, ci95, 0).text + strlen("+-"));
	return words;
}

/* Formats a value and the half-width of its interval in one unit: "3.45 +- 0.37 s". */
static struct words format_both(double value, double ci95, enum words_unit unit)
{
	struct words words;

	if (unit == WORDS_SECONDS)
		snprintf(words.text, sizeof(words.text), "%s",
				format_interval(1e9 * value, 1e9 * ci95, 1, 0).text);
	else if (unit == WORDS_COUNT)
		snprintf(words.text, sizeof(words.text), "%s",
				format_interval(value, ci95, 0, 0).text);
	else
		snprintf(words.text, sizeof(words.text), "%.3f +- %.40s", value,
				format_error(ci95, unit).text);
	return words;
}

/* Returns a change, and its share of `before` if that is a number. */
static struct words change_words(double change, double ci95, double before, enum words_unit unit)
{
	struct words words, value;
	char share[32] = "";

	if (!isfinite(change))
		return (struct words){ "not known" };
	if (ci95 == 0 && change == 0)
		return (struct words){ "no difference" };
	if (isfinite(ci95) && !(fabs(change) > ci95)) {
		snprintf(words.text, sizeof(words.text), "not told apart (+- %.40s)",
				format_error(ci95, unit).text);
		return words;
	}
	if (before > 0)
		snprintf(share, sizeof(share), " (%+.1f%%)", 100 * change / before);
	value = ci95 > 0 ? format_both(fabs(change), ci95, unit) : format(fabs(change), unit);
	snprintf(words.text, sizeof(words.text), "%c%.60s%s%s", change < 0 ? '-' : '+', value.text,
			ci95 > 0                       ? "" :
					isfinite(ci95) ? " exact" :
							 ", no interval",
			share);
	return words;
}

struct words words_change(const json_t *change, enum words_unit unit)
{
	return change_words(report_get(change, "difference"), report_get(change, "ci95"),
			report_get(change, "before"), unit);
}

struct words words_part(const json_t *cause)
{
	return change_words(report_get(cause, "seconds"), report_get(cause, "ci95"), NAN,
			WORDS_SECONDS);
}

struct words words_cause(const json_t *cause)
{
	const char *key = report_get_text(cause, "cause");
	struct words words;

	if (strcmp(key, "component") == 0) {
		snprintf(words.text, sizeof(words.text), "CPI: %.60s",
				report_get_text(cause, "component"));
		return words;
	}
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (strcmp(key, causes[i].cause) == 0)
			key = causes[i].name;
	snprintf(words.text, sizeof(words.text), "%.60s", key);
	return words;
}

struct words words_ids(const json_t *ids)
{
	size_t count = json_array_size(ids), used = 0;
	struct words words = { "" };

	for (size_t i = 0; i < count && i < IDS_SHOWN; i++) {
		snprintf(words.text + used, sizeof(words.text) - used, "%s%lld", i ? "+" : "",
				(long long)json_integer_value(json_array_get(ids, i)));
		used = strlen(words.text);
	}
	if (count > IDS_SHOWN)
		snprintf(words.text + used, sizeof(words.text) - used, " and %zu more",
				count - IDS_SHOWN);
	return words;
}

struct words words_verdict(const json_t *comparison)
{
	const json_t *wall = json_object_get(comparison, "wall_seconds");
	const json_t *told = json_object_get(wall, "told_apart");
	struct words words, change = words_change(wall, WORDS_SECONDS);
	bool slower = report_get(wall, "difference") > 0;
	size_t used;

	if (!isfinite(report_get(wall, "difference")))
		return (struct words){ "The wall times are not known." };
	if (json_is_false(told))
		snprintf(words.text, sizeof(words.text), "The wall time is %.90s.", change.text);
	else
		snprintf(words.text, sizeof(words.text), "The wall time is %s: %.90s.",
				slower ? "longer" : "shorter", change.text);
	used = strlen(words.text);
	if (slower && !json_is_false(told))
		snprintf(words.text + used, sizeof(words.text) - used, " This is %s %.3g%%.",
				json_is_true(json_object_get(comparison, "worse")) ?
						"worse by more than" :
						"within the threshold of",
				100 * report_get(comparison, "threshold"));
	return words;
}

const char *words_matched(const json_t *phase)
{
	if (strcmp(report_get_text(phase, "matched_by"), "behaviour") != 0)
		return "";
	return json_is_string(json_object_get(phase, "from")) ?
			"matched by its behaviour, because its place has changed" :
			"matched by its behaviour, because its place is not known";
}

bool words_part_is_shown(const json_t *cause)
{
	return json_is_true(json_object_get(cause, "told_apart")) &&
			strcmp(report_get_text(cause, "cause"), "time") != 0;
}

bool words_component_is_shown(const json_t *component)
{
	return !json_integer_value(json_object_get(component, "level")) ||
			json_is_true(json_object_get(component, "told_apart"));
}

bool words_is_shown(const json_t *comparison, const json_t *phase)
{
	const json_t *useful = json_object_get(comparison, "useful_seconds");
	const json_t *seconds = json_object_get(phase, "seconds");
	double all = fmax(report_get(useful, "before"), report_get(useful, "after"));
	double own = fmax(report_get(seconds, "before"), report_get(seconds, "after"));

	return !(own < SHOWN_SHARE * all);
}
