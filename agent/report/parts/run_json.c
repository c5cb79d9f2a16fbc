/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/run_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/report/parts/document.h"

json_t *run_command(const char *command, size_t bytes)
{
	json_t *words = json_array();

	for (size_t at = 0; at < bytes;) {
		size_t length = strnlen(command + at, bytes - at);
		json_t *text = json_stringn(command + at, length);

		/* not every file name is UTF-8 */
		words = document_append(words, text ? text : json_string("?"));
		at += length + 1;
	}
	return words;
}

json_t *run_programs(const struct programs *programs)
{
	json_t *list;

	if (!programs || programs->count + programs->others < 2)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < programs->count; i++) {
		const struct program *program = &programs->program[i];

		list = document_append(list,
				json_pack("{s:o,s:i,s:i,s:i}", "command",
						run_command(program->command,
								program->command_bytes),
						"ranks", (int)program->ranks, "first_rank",
						(int)program->first, "last_rank",
						(int)program->last));
	}
	if (programs->others)
		list = document_append(list,
				json_pack("{s:n,s:i,s:n,s:n}", "command", "ranks",
						(int)programs->others, "first_rank", "last_rank"));
	return list;
}

json_t *run_job(const struct job *job)
{
	if (!*job->id)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o}", "id", document_text(job->id), "step",
			*job->step ? document_text(job->step) : json_null(), "nodes",
			job->nodes ? json_integer(job->nodes) : json_null(), "partition",
			*job->partition ? document_text(job->partition) : json_null());
}

#define HOSTS_NAMED 64

json_t *run_hosts(const struct hosts *hosts)
{
	json_t *named;

	if (!hosts || !hosts->count)
		return json_null();
	named = json_array();
	for (uint32_t i = 0; i < hosts->count && i < HOSTS_NAMED; i++) {
		const struct host *host = &hosts->host[i];

		named = document_append(named,
				json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "host",
						document_text(host->name), "ranks",
						(int)host->ranks, "first_rank", (int)host->first,
						"useful_seconds",
						document_number(hosts_mean(host, HOST_USEFUL)),
						"useful_seconds_ci95",
						document_number(hosts_ci95(hosts, host,
								HOST_USEFUL)),
						"cycles_per_second",
						document_number(hosts_mean(host, HOST_HERTZ)),
						"cycles_per_second_ci95",
						document_number(hosts_ci95(hosts, host,
								HOST_HERTZ))));
	}
	return json_pack("{s:i,s:i,s:o}", "count", (int)hosts->count, "uncounted_ranks",
			(int)hosts->left_out, "named", named);
}

static json_t *rank_time(const struct rank_time *time)
{
	return json_pack("{s:o,s:o}", "useful_seconds", document_number(time->useful),
			"mpi_seconds", document_number(time->mpi));
}

json_t *run_rank_times(const struct rank_times *times, int ranks, double wall_seconds)
{
	json_t *list;

	if (!times)
		return json_null();
	list = json_array();
	if (rank_times_has_each(ranks)) {
		for (int rank = 0; rank < ranks; rank++)
			list = document_append(list, rank_time(&times->place[rank]));
		return json_pack("{s:o,s:n}", "each", list, "deciles");
	}
	for (int tenth = 0; tenth <= 10; tenth++) {
		struct rank_time time = rank_times_quantile(times, tenth / 10., wall_seconds);

		list = document_append(list, rank_time(&time));
	}
	return json_pack("{s:n,s:o}", "each", "deciles", list);
}

/* Returns the lower one of two times, and at least 0; NAN if one is not known. */
static double least(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : fmax(0, fmin(a, b));
}

json_t *run_phase_ranks(json_t *object, const struct phase_rank *of, bool counted,
		const struct run_seconds *seconds)
{
	static const struct phase_rank unknown = { .seconds = NAN, .most = NAN };
	double ranks, mean, instructions = NAN, ipc = NAN;
	bool known = of && of->ranks > 0;

	if (!known)
		of = &unknown;
	ranks = of->ranks;
	mean = of->seconds / ranks;
	/* the balance of a part of the ranks would not be that of the phase */
	if (known && counted && of->counted == of->ranks) {
		instructions = of->instructions / ranks / of->instructions_most;
		ipc = of->ipc / ranks / of->ipc_most;
	}
	object = document_set(object, "ranks", known ? json_integer(of->ranks) : json_null());
	object = document_set(object, "slowest_rank",
			known ? json_integer(of->slowest) : json_null());
	object = document_set(object, "rank_seconds",
			json_pack("{s:o,s:o}", "mean", document_number(mean), "most",
					document_number(of->most)));
	object = document_set(object, "load_balance", document_number(mean / of->most));
	object = document_set(object, "instructions_balance", document_number(instructions));
	object = document_set(object, "ipc_balance", document_number(ipc));
	return document_set(object, "imbalance_share",
			document_number(least(of->most - mean, seconds->waiting) / seconds->wall));
}

/* Returns the microseconds of a column in each bin, added up so that rounding does not change their sum. */
static json_t *timeline_column(const struct timeline_groups *groups,
		const struct timeline_group *group, unsigned column)
{
	json_t *list = json_array();
	double sum = 0, before = 0;

	for (uint32_t b = 0; b < groups->bins; b++) {
		sum += fmax((double)group->seconds[b][column] * 1e6, 0);
		list = document_append(list, json_integer((json_int_t)(round(sum) - before)));
		before = round(sum);
	}
	return list;
}

static json_t *timeline_phases(const struct run_timeline *timeline,
		const struct timeline_group *group)
{
	const struct timeline_labels *labels = timeline->labels;
	json_t *list = json_array();

	for (uint32_t i = 0; i < labels->phases; i++)
		if (timeline->number[labels->phase[i]])
			list = document_append(list,
					json_pack("{s:i,s:o}", "id",
							(int)timeline->number[labels->phase[i]],
							"microseconds",
							timeline_column(timeline->groups, group,
									i)));
	return list;
}

static json_t *timeline_group(const struct run_timeline *timeline,
		const struct timeline_group *group)
{
	const struct timeline_groups *groups = timeline->groups;

	return json_pack("{s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "ranks", (json_int_t)group->ranks,
			"lowest_rank", (json_int_t)group->lowest, "highest_rank",
			(json_int_t)group->highest, "threads",
			document_number((double)group->threads), "phases",
			timeline_phases(timeline, group), "other_computing_microseconds",
			timeline_column(groups, group, TIMELINE_OTHER), "calls_microseconds",
			timeline_column(groups, group, TIMELINE_IN_CALLS), "off_microseconds",
			timeline_column(groups, group, TIMELINE_OFF));
}

json_t *run_timeline(const struct run_timeline *timeline)
{
	const struct timeline_groups *groups = timeline->groups;
	json_t *list;

	if (!groups || !groups->count)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < groups->count; i++)
		list = document_append(list, timeline_group(timeline, &groups->group[i]));
	return json_pack("{s:o,s:o,s:I,s:o}", "seconds", document_number(timeline->seconds),
			"bin_seconds", document_number(groups->bin_seconds), "bins",
			(json_int_t)groups->bins, "groups", list);
}

#define DAY_SECONDS  86400
#define SECONDS_MAX  253402300800. /* from 1970 to the year 10000 */
#define ERA_DAYS     146097        /* days of 400 years */
#define DAYS_TO_1970 719468        /* from the 1st of March of the year 0 */

/*
 * Calculates the date itself, because gmtime_r() of the C library reads the system's time zones, allocates, and takes a
 * lock. Years begin in March here, so that the day of a leap year is their last one.
 */
static json_t *signature(uint64_t number)
{
	return json_sprintf("%016" PRIx64, number);
}

/* Returns a loop that has leads, and those of them that are known by their numbers. */
static json_t *led_shape(const struct vote *vote)
{
	uint32_t leads = vote_leads_count(vote);
	json_t *ranks = json_array();

	for (unsigned i = 0; i < vote->voters; i++)
		if (vote_leads(vote, vote->voter[i].rank))
			ranks = document_append(ranks, json_integer(vote->voter[i].rank));
	return json_pack("{s:I,s:o,s:o,s:o,s:o}", "ranks", (json_int_t)vote->ranks, "leads",
			leads ? json_integer(leads) : json_null(), "lead_ranks", ranks, "shape",
			signature(vote->kind.shape), "peers",
			vote->kind.peers ? signature(vote->kind.peers) : json_null());
}

static json_t *led_shapes(const struct votes *leads)
{
	json_t *list = json_array();

	for (unsigned i = 0; leads && i < leads->shapes; i++)
		list = document_append(list, led_shape(&leads->vote[i]));
	return list;
}

/* Returns how many leads were wanted, as the user writes it. */
static json_t *leads_setting(const struct votes *leads)
{
	char text[16];

	if (!leads)
		return json_null();
	snprintf(text, sizeof(text), "%u", leads->readers);
	return json_string(leads->readers ? text : "auto");
}

json_t *run_leads(const struct votes *leads, const struct votes *clusters,
		const struct totals *totals, double rank_seconds)
{
	if (!leads && !(totals->repeated_seconds > 0))
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "setting", leads_setting(leads),
			"shapes", led_shapes(leads), "clusters", led_shapes(clusters), "time_share",
			document_number(totals->repeated_seconds / rank_seconds), "spared_bursts",
			json_integer((json_int_t)totals->spared_bursts), "calls",
			json_integer((json_int_t)totals->repeated_calls), "left",
			json_integer((json_int_t)totals->left_loops), "checks",
			json_integer((json_int_t)totals->checks), "differing_checks",
			json_integer((json_int_t)totals->differing_checks));
}

json_t *run_date(double seconds)
{
	int64_t moment = seconds > 0 && seconds < SECONDS_MAX ? (int64_t)seconds : 0;
	int64_t days = moment / DAY_SECONDS + DAYS_TO_1970, second = moment % DAY_SECONDS;
	int64_t era = days / ERA_DAYS, day = days % ERA_DAYS;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365, month;
	char text[32];

	if (!moment)
		return json_null();
	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	year += 400 * era + (month >= 10);
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year,
			(int)(month < 10 ? month + 3 : month - 9), (int)day + 1,
			(int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
	return json_string(text);
}
