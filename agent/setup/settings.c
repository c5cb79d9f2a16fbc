/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/setup/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling/emulated/core_model.h"

#define SAMPLE_HZ_MIN      10  /* even if samples are expensive, because fewer would tell nothing */
#define SAMPLE_HZ_AUTO     100 /* samples per second that `auto` takes at most */
#define SAMPLE_HZ_MAX      10000      /* samples per second that the user may ask for */
#define QUANTUM_BURSTS_MAX 1000000000 /* bursts of a quantum that the user may ask for */
#define REGION_BYTES_MIN   16384      /* of the trace of a region */
#define TOGGLE_NS_MIN      10e6
#define TOGGLE_NS_MAX      1e9 /* the kernel's rings have room for the samples of this time */

static const char *const metric_names[METRICS] = {
	[METRIC_INSTRUCTIONS] = "instructions",
	[METRIC_IPC] = "ipc",
	[METRIC_CYCLES] = "cycles",
	[METRIC_DURATION] = "duration",
	[METRIC_CALLPATH] = "callpath",
};

static bool is(const char *value, const char *word)
{
	return strcmp(value, word) == 0;
}

static bool parse_text(char text[SETTINGS_TEXT_MAX], const char *value)
{
	size_t length = strlen(value);

	if (length >= SETTINGS_TEXT_MAX)
		return false;
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)value[i]))
			return false;
	memcpy(text, value, length + 1);
	return true;
}

/* Reads a number >= 0. *end: the text after it, which the caller checks. Returns false if there is none. */
static bool parse_number(const char *value, double *number, char **end)
{
	if (!isdigit((unsigned char)*value) && *value != '.')
		return false;
	*number = strtod(value, end);
	return *end != value && isfinite(*number) && *number >= 0;
}

static bool parse_time(const char *value, double *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double number;
	char *end;

	if (!parse_number(value, &number, &end))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (is(end, units[i].unit)) {
			*ns = number * units[i].ns;
			return true;
		}
	return false;
}

static bool parse_whole(const char *value, unsigned long most, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*number = strtoul(value, &end, 10);
	return !*end && !errno && *number <= most;
}

static bool parse_scheme(struct settings *settings, const char *value)
{
	int kind = scheme_by_name(value);

	if (kind < 0)
		return false;
	settings->scheme = (enum scheme_kind)kind;
	return true;
}

static bool parse_group(struct settings *settings, const char *value)
{
	unsigned long group;

	if (!parse_whole(value, 1000, &group))
		return false;
	settings->group = (unsigned)group;
	return true;
}

static bool parse_events(struct settings *settings, const char *value)
{
	return *value && parse_text(settings->events, value);
}

static bool parse_quantum(struct settings *settings, const char *value)
{
	unsigned long bursts = 0;
	double ns = 0;

	if (!is(value, "auto")) {
		if (parse_whole(value, QUANTUM_BURSTS_MAX, &bursts)) {
			if (!bursts)
				return false;
		} else if (!parse_time(value, &ns) || ns < 1e3) {
			return false;
		}
	}
	settings->quantum_bursts = bursts;
	settings->quantum_ns = ns;
	return true;
}

static bool parse_budget(struct settings *settings, const char *value)
{
	double share;
	char *end;

	if (is(value, "none")) {
		settings->budget = INFINITY;
		return true;
	}
	if (!parse_number(value, &share, &end) || !is(end, "%") || share <= 0 || share > 100)
		return false;
	settings->budget = share / 100;
	return true;
}

static bool parse_burst_min(struct settings *settings, const char *value)
{
	double ns = -1;

	if (!is(value, "auto") && !parse_time(value, &ns))
		return false;
	settings->burst_min_ns = ns;
	return true;
}

/* Calls take for every word of a comma list. Returns false if a word is empty or take returns false. */
static bool each_word(const char *list, bool (*take)(void *data, const char *word, size_t length),
		void *data)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		if (!length || !take(data, list, length))
			return false;
		if (!list[length])
			return true;
		list += length + 1;
	}
}

static bool take_metric(void *data, const char *word, size_t length)
{
	struct settings *settings = data;
	enum metric metric = settings_metric(word, length);

	if (metric == METRICS || settings->metrics == SETTINGS_METRICS_MAX)
		return false;
	for (unsigned i = 0; i < settings->metrics; i++)
		if (settings->metric[i] == metric)
			return false;
	settings->metric[settings->metrics++] = metric;
	return true;
}

static bool parse_cluster_by(struct settings *settings, const char *value)
{
	settings->metrics = 0;
	return is(value, "auto") || each_word(value, take_metric, settings);
}

static bool parse_sample(struct settings *settings, const char *value)
{
	unsigned long hz = SAMPLE_HZ_AUTO;

	settings->fewer_samples = is(value, "auto");
	if (!settings->fewer_samples && !parse_whole(value, SAMPLE_HZ_MAX, &hz))
		return false;
	settings->sample_hz = (unsigned)hz;
	return true;
}

static bool parse_toggle(struct settings *settings, const char *value)
{
	double ns = 0;

	if (!is(value, "never") &&
			(!parse_time(value, &ns) || ns < TOGGLE_NS_MIN || ns > TOGGLE_NS_MAX))
		return false;
	settings->toggle_ns = ns;
	return true;
}

static bool parse_counters(struct settings *settings, const char *value)
{
	static const char *const names[] = { [COUNTERS_AUTO] = "auto",
		[COUNTERS_HARDWARE] = "hardware",
		[COUNTERS_EMULATED] = "emulated" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is(value, names[i])) {
			settings->counters = (enum counters)i;
			return true;
		}
	return false;
}

static bool parse_core(struct settings *settings, const char *value)
{
	if (core_spec_find(value) < 0)
		return false;
	snprintf(settings->core, sizeof(settings->core), "%s", value);
	return true;
}

static bool parse_trace(struct settings *settings, const char *value)
{
	settings->arguments = is(value, "calls");
	settings->structure = settings->arguments || is(value, "structure");
	return settings->structure || is(value, "off");
}

static bool parse_leads(struct settings *settings, const char *value)
{
	unsigned long leads = SETTINGS_LEADS_AUTO;
	const char *comma = strchr(value, ',');
	char number[8];

	if (comma && !is(comma, ",medoids") && !is(comma, ",farthest"))
		return false;
	snprintf(number, sizeof(number), "%.*s", comma ? (int)(comma - value) : 7, value);
	if (is(number, "all") && !comma)
		leads = SETTINGS_LEADS_ALL;
	else if (!is(number, "auto") &&
			(!parse_whole(number, SETTINGS_LEADS_MAX, &leads) || !leads))
		return false;
	settings->leads = (unsigned)leads;
	settings->leads_medoids = comma && is(comma, ",medoids");
	return true;
}

static bool parse_region(struct settings *settings, const char *value)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 } };
	unsigned long iterations = 0;
	double number;
	char *end;

	settings->region_iterations = settings->region_bytes = 0;
	if (is(value, "off"))
		return true;
	if (parse_whole(value, SETTINGS_REGION_ITERATIONS, &iterations)) {
		settings->region_iterations = (double)iterations;
		return iterations > 0;
	}
	if (!parse_number(value, &number, &end))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (is(end, units[i].unit))
			settings->region_bytes = number * units[i].bytes;
	return settings->region_bytes >= REGION_BYTES_MIN;
}

static bool parse_start(struct settings *settings, const char *value)
{
	settings->starts_paused = is(value, "paused");
	return settings->starts_paused || is(value, "counting");
}

static bool parse_threads(struct settings *settings, const char *value)
{
	unsigned long threads;

	if (!parse_whole(value, SETTINGS_THREADS, &threads) || !threads)
		return false;
	settings->threads = (unsigned)threads;
	return true;
}

static bool parse_output(struct settings *settings, const char *value)
{
	if (!*value || !parse_text(settings->output, value))
		return false;
	for (const char *at = value; (at = strchr(at, '%')); at += 2)
		if (!at[1] || !strchr("jph%", at[1]))
			return false;
	return true;
}

static bool parse_spool(struct settings *settings, const char *value)
{
	return parse_text(settings->spool, value) && (!*value || *value == '/');
}

static bool take_report(void *data, const char *word, size_t length)
{
	static const char *const names[] = { "text", "json", "csv", "bursts",
		"html" }; /* in the order of enum report */
	struct settings *settings = data;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0) {
			settings->report |= 1u << i;
			return true;
		}
	return false;
}

static bool parse_report(struct settings *settings, const char *value)
{
	settings->report = 0;
	return each_word(value, take_report, settings);
}

static bool parse_disable(struct settings *settings, const char *value)
{
	settings->disable = is(value, "1");
	return settings->disable || is(value, "0") || !*value;
}

const struct setting settings_table[] = {
	{ "scheme", "time-space, time, space, random, adaptive, none", "time-space",
			"which process counts which group when", parse_scheme },
	{ "group", "a whole number from 0", "0", "with scheme none: the one group to count",
			parse_group },
	{ "events", "auto, a model's name, a comma list of event names, @file", "auto",
			"what to count; auto is this processor's CPI model", parse_events },
	{ "counters", "auto, hardware, emulated", "auto",
			"emulated: in an emulated processor, much slower; hardware: no run without counters",
			parse_counters },
	{ "core", "out-of-order, in-order", "out-of-order",
			"the core model of the emulated processor", parse_core },
	{ "quantum", "auto, a number of bursts, a time of at least 1us (10ms)", "auto",
			"how long a group stays", parse_quantum },
	{ "budget", "a share of the time above 0% up to 100% (1%), none", "1%",
			"the most that phasemux may cost; none: read every burst", parse_budget },
	{ "burst_min", "auto, a time (50us)", "auto",
			"shorter bursts are summed apart; auto keeps at least 99% of the time",
			parse_burst_min },
	{ "cluster_by", "auto, a comma list of instructions, ipc, cycles, duration, callpath",
			"auto",
			"what tells bursts apart; auto: instructions, ipc (else duration), and callpath if it does",
			parse_cluster_by },
	{ "sample", "a whole number up to 10000, auto", "auto",
			"samples per second in long bursts, 0 for none (auto: 100, or what the budget has)",
			parse_sample },
	{ "trace", "off, structure, calls", "structure",
			"structure: keeps the loops of the program's calls; calls: and their arguments",
			parse_trace },
	{ "leads", "all, auto, a whole number from 1 to 8; ,farthest or ,medoids after the last two",
			"all",
			"ranks that read counters for others that repeat the same calls; not all: keeps loops too",
			parse_leads },
	{ "region", "off, a number of iterations (6), a size of at least 16KiB (1MiB)", "off",
			"records iterations call by call once phases are steady (phasemux region)",
			parse_region },
	{ "toggle", "never, a time from 10ms to 1s (200ms)", "never",
			"turns itself off and on, each for this time, and reports the measured slowdown",
			parse_toggle },
	{ "start", "counting, paused", "counting",
			"paused: until the program calls MPI_Pcontrol(1)", parse_start },
	{ "threads", "a whole number from 1 to 1024", "1024",
			"how many threads of a process are observed at a time; each takes some 0.2 MB",
			parse_threads },
	{ "output", "a folder; %j job, %p process, %h host", "phasemux.%j",
			"where the results go (without a job, %j is the process)", parse_output },
	{ "spool", "an absolute path", "", "node-local folder for crash-safe sums (/dev/shm, /tmp)",
			parse_spool },
	{ "report", "a comma list of text, json, html, csv, bursts", "text,json,html",
			"what is written at exit; text also goes to stderr", parse_report },
	{ "disable", "0, 1", "0", "1: do nothing", parse_disable },
};

const unsigned settings_count = sizeof(settings_table) / sizeof(*settings_table);

_Static_assert(sizeof(settings_table) / sizeof(*settings_table) <= SETTINGS_MAX,
		"tables of other files have room for all settings");

enum metric settings_metric(const char *name, size_t length)
{
	int metric = 0;

	while (metric < METRICS &&
			(strlen(metric_names[metric]) != length ||
					strncmp(metric_names[metric], name, length) != 0))
		metric++;
	return (enum metric)metric;
}

const char *settings_metric_name(enum metric metric)
{
	return metric_names[metric];
}

void settings_variable(const struct setting *setting, char *name, size_t size)
{
	snprintf(name, size, SETTINGS_PREFIX "%s", setting->name);
	for (char *at = name; *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

int settings_set(struct settings *settings, const struct setting *setting, const char *value,
		char *why, size_t why_size)
{
	char variable[64];
	struct settings trial = *settings;

	if (!setting->parse(&trial, value)) {
		settings_variable(setting, variable, sizeof(variable));
		snprintf(why, why_size, "invalid value %s=%.80s (expected: %s)", variable, value,
				setting->values);
		return -EINVAL;
	}
	*settings = trial;
	return 0;
}

double settings_sample_hz(const struct settings *settings, double share, double sample_ns)
{
	double paid = share * 1e9 / sample_ns;

	if (!settings->fewer_samples || !(sample_ns > 0) || !(settings->sample_hz > paid))
		return settings->sample_hz;
	return paid > SAMPLE_HZ_MIN ? paid : SAMPLE_HZ_MIN;
}

void settings_defaults(struct settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	for (unsigned i = 0; i < settings_count; i++)
		settings_table[i].parse(settings, settings_table[i].fallback);
}

int settings_read(struct settings *settings, char *(*look)(const char *name), char *why,
		size_t why_size)
{
	settings_defaults(settings);
	for (unsigned i = 0; i < settings_count; i++) {
		char variable[64];
		const char *value;
		int error;

		settings_variable(&settings_table[i], variable, sizeof(variable));
		value = look(variable);
		if (!value)
			continue;
		error = settings_set(settings, &settings_table[i], value, why, why_size);
		if (error)
			return error;
	}
	return 0;
}
