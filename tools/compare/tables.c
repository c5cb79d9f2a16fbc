/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/tables.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/track.h"
#include "tools/cluster/burst_table.h"
#include "tools/cluster/selection.h"

/* Phases are compared in decades of work (or time, if there are no counters), and of IPC. */
#define MARGIN       0.3 /* decades, which is a factor of 2 */
#define STEADY_SHARE 0.9 /* share of the time in matched phases that makes a step stable */

struct phase {
	unsigned id;
	double time_share, instructions, ipc, seconds; /* per burst; NAN: not known */
	double spread[2]; /* standard deviations, in decades, of work and IPC */
};

struct run {
	const char *path;
	struct phase *phase;
	size_t count;
};

static double number_in(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double instructions_in(const json_t *phase)
{
	const json_t *counters = json_object_get(phase, "counters"), *counter;
	const char *name;

	json_object_foreach ((json_t *)counters, name, counter)
		if (selection_is_instructions(name))
			return number_in(counter, "mean");
	return NAN;
}

static int load_report(struct run *run, const char *path)
{
	json_error_t error;
	json_t *report = json_load_file(path, 0, &error);
	const json_t *phases = json_object_get(report, "phases");

	if (!report || !json_is_array(phases)) {
		fprintf(stderr, "phasemux: %s: line %d: %s\n", path, report ? 1 : error.line,
				report ? "expected a report with phases" : error.text);
		json_decref(report);
		return 2;
	}
	run->count = json_array_size(phases);
	run->phase = calloc(run->count + 1, sizeof(*run->phase));
	for (size_t i = 0; run->phase && i < run->count; i++) {
		const json_t *phase = json_array_get(phases, i);
		const json_t *duration = json_object_get(phase, "duration_seconds");

		run->phase[i] = (struct phase){
			.id = (unsigned)json_integer_value(json_object_get(phase, "id")),
			.time_share = number_in(phase, "time_share"),
			.instructions = instructions_in(phase),
			.ipc = number_in(phase, "ipc"),
			.seconds = number_in(duration, "mean"),
		};
	}
	json_decref(report);
	return run->phase ? 0 : 1;
}

/* Sums over the bursts of a cluster, also of the logarithms of work and IPC. */
struct sums {
	double time, value[2], logarithm[2], square[2];
	size_t bursts;
};

static void add_burst(struct sums *sums, const struct burst *burst, const double value[2])
{
	double seconds = (double)(burst->end - burst->begin) * 1e-9;

	sums->bursts++;
	sums->time += seconds;
	for (int i = 0; i < 2; i++) {
		double logarithm = log10(value[i]);

		sums->value[i] += value[i];
		sums->logarithm[i] += logarithm;
		sums->square[i] += logarithm * logarithm;
	}
}

static void phase_summarise(struct phase *phase, const struct sums *sums, unsigned id, double time)
{
	double bursts = (double)sums->bursts;

	*phase = (struct phase){ .id = id,
		.time_share = sums->time / time,
		.instructions = sums->value[0] / bursts,
		.ipc = sums->value[1] / bursts,
		.seconds = sums->time / bursts };
	for (int i = 0; i < 2; i++) {
		double mean = sums->logarithm[i] / bursts;

		phase->spread[i] = sqrt(fmax(0, sums->square[i] / bursts - mean * mean));
	}
}

static int summarise_table(struct run *run, const struct burst_table *table,
		const struct selection *selection)
{
	uint32_t clusters = 0;
	struct sums *sums;
	double time = 0;

	for (size_t i = 0; i < table->count; i++)
		if (table->burst[i].cluster > clusters)
			clusters = table->burst[i].cluster;
	if (clusters > table->count)
		return 2;
	sums = calloc((size_t)clusters + 1, sizeof(*sums));
	run->phase = calloc((size_t)clusters + 1, sizeof(*run->phase));
	for (size_t i = 0; sums && i < table->count; i++) {
		const double *values = table_values(table, i);
		double value[2] = { NAN, NAN };

		for (uint32_t dim = 0; selection && dim < 2; dim++)
			value[dim] = values[selection->metric[dim]];
		time += (double)(table->burst[i].end - table->burst[i].begin) * 1e-9;
		add_burst(&sums[table->burst[i].cluster], &table->burst[i], value);
	}
	for (uint32_t cluster = 1; sums && run->phase && cluster <= clusters; cluster++)
		if (sums[cluster].bursts)
			phase_summarise(&run->phase[run->count++], &sums[cluster], cluster, time);
	free(sums);
	return run->phase && sums ? 0 : 1;
}

static int load_bursts(struct run *run, const char *path)
{
	struct selection selection = { 0 };
	struct burst_table table = { 0 };
	char why[512];
	int code = table_open(&table, path);
	bool counters;

	if (!code) {
		counters = !selection_metrics(&selection, &table, "instructions,ipc", why,
				sizeof(why));
		code = summarise_table(run, &table, counters ? &selection : NULL);
		if (code == 2 || (!code && !run->count)) {
			fprintf(stderr, "phasemux: %s: expected bursts with their cluster\n", path);
			code = 2;
		}
	}
	table_fini(&table);
	return code;
}

static int load_run(struct run *run, const char *path)
{
	char inside[PATH_MAX];
	const char *ending;
	struct stat status;

	*run = (struct run){ .path = path };
	if (stat(path, &status)) {
		fprintf(stderr, "phasemux: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (S_ISDIR(status.st_mode)) {
		snprintf(inside, sizeof(inside), "%s/report.json", path);
		if (access(inside, R_OK) == 0)
			return load_report(run, inside);
		snprintf(inside, sizeof(inside), "%s/bursts.csv", path);
		return load_bursts(run, inside);
	}
	ending = strrchr(path, '.');
	return ending && strcmp(ending, ".json") == 0 ? load_report(run, path) :
							load_bursts(run, path);
}

/* Returns whether all phases of all runs have instructions and IPC. */
static bool have_counters(const struct run *runs, size_t count)
{
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < runs[r].count; i++)
			if (!(runs[r].phase[i].instructions > 0) || !(runs[r].phase[i].ipc > 0))
				return false;
	return true;
}

/* Sets the phase's rectangle, two standard deviations to each side. Returns the number of dimensions. */
static uint32_t outline_of(const struct phase *phase, bool counters, struct outline *outline)
{
	double at[2] = { log10(counters ? phase->instructions : phase->seconds),
		log10(phase->ipc) };
	uint32_t dims = counters ? 2 : 1;

	*outline = (struct outline){ .time_share = phase->time_share };
	for (uint32_t dim = 0; dim < dims; dim++) {
		double side = counters ? 2 * phase->spread[dim] : 0;

		outline->low[dim] = at[dim] - side;
		outline->high[dim] = at[dim] + side;
	}
	return dims;
}

static void print_change(double before, double after)
{
	if (before > 0 && isfinite(after))
		printf(" %+9.1f%%", 100 * (after / before - 1));
	else
		printf(" %10s", "");
}

static void print_step(const struct run *before, const struct run *after, const int32_t *match)
{
	printf("%s -> %s\n%8s %8s %9s %9s %10s %10s %10s\n", before->path, after->path, "phase",
			"was", "time", "was", "work", "IPC", "duration");
	for (size_t i = 0; i < after->count; i++) {
		const struct phase *phase = &after->phase[i], *old;

		if (match[i] < 0) {
			printf("%8u %8s %8.2f%%\n", phase->id, "new", 100 * phase->time_share);
			continue;
		}
		old = &before->phase[match[i]];
		printf("%8u %8u %8.2f%% %8.2f%%", phase->id, old->id, 100 * phase->time_share,
				100 * old->time_share);
		print_change(old->instructions, phase->instructions);
		print_change(old->ipc, phase->ipc);
		print_change(old->seconds, phase->seconds);
		putchar('\n');
	}
	for (size_t j = 0; j < before->count; j++) {
		bool found = false;

		for (size_t i = 0; i < after->count; i++)
			found = found || match[i] == (int32_t)j;
		if (!found)
			printf("%8s %8u %9s %8.2f%%\n", "gone", before->phase[j].id, "",
					100 * before->phase[j].time_share);
	}
}

/* Returns the share of the time in phases that continue, which is the lower one of both runs. */
static double share_kept(const struct run *before, const struct run *after, const int32_t *match)
{
	double kept[2] = { 0 }, all[2] = { 0 };

	for (size_t i = 0; i < before->count; i++)
		all[0] += before->phase[i].time_share;
	for (size_t i = 0; i < after->count; i++) {
		all[1] += after->phase[i].time_share;
		if (match[i] < 0)
			continue;
		kept[0] += before->phase[match[i]].time_share;
		kept[1] += after->phase[i].time_share;
	}
	return all[0] > 0 && all[1] > 0 ? fmin(kept[0] / all[0], kept[1] / all[1]) : 0;
}

/* Matches and prints one step. Returns the share of the time in phases that continue, or -1. */
static double compare_step(const struct run *before, const struct run *after, bool counters)
{
	size_t pairs = before->count * after->count;
	double *likeness = malloc((pairs + 1) * sizeof(*likeness)), kept;
	int32_t *match = malloc((after->count + 1) * sizeof(*match));

	for (size_t pair = 0; likeness && pair < pairs; pair++) {
		struct outline new, old;
		uint32_t dims = outline_of(&after->phase[pair / before->count], counters, &new);

		outline_of(&before->phase[pair % before->count], counters, &old);
		likeness[pair] = track_likeness(&new, &old, dims, MARGIN);
	}
	if (likeness && match) {
		track_match(likeness, after->count, before->count, 0, match);
		print_step(before, after, match);
		kept = share_kept(before, after, match);
		printf("phases that go on hold %.2f%% of the time\n\n", 100 * kept);
	} else {
		fprintf(stderr, "phasemux: no memory\n");
		kept = -1;
	}
	free(likeness);
	free(match);
	return kept;
}

bool tables_has(const char *path)
{
	char inside[PATH_MAX];
	const char *ending = strrchr(path, '.');
	struct stat status;

	if (stat(path, &status))
		return false;
	if (!S_ISDIR(status.st_mode))
		return !ending || strcmp(ending, ".json") != 0;
	snprintf(inside, sizeof(inside), "%s/report.json", path);
	if (access(inside, R_OK) == 0)
		return false;
	snprintf(inside, sizeof(inside), "%s/bursts.csv", path);
	return access(inside, R_OK) == 0;
}

int tables_compare(char *const *paths, size_t count)
{
	struct run *runs = calloc(count + 1, sizeof(*runs));
	double *kept = calloc(count + 1, sizeof(*kept));
	int code = runs && kept ? 0 : 1;
	size_t loaded = 0;

	for (; !code && loaded < count; loaded++)
		code = load_run(&runs[loaded], paths[loaded]);
	for (size_t step = 0; !code && step + 1 < count; step++) {
		kept[step] = compare_step(&runs[step], &runs[step + 1], have_counters(runs, count));
		code = kept[step] < 0;
	}
	if (!code)
		printf("stable (at least %.0f%% of the time goes on) over the last %zu of %zu steps\n",
				100 * STEADY_SHARE, track_steady(kept, count - 1, STEADY_SHARE),
				count - 1);
	for (size_t r = 0; runs && r < loaded; r++)
		free(runs[r].phase);
	free(runs);
	free(kept);
	return code;
}
