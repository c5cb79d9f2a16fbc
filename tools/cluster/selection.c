/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/selection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cluster/filter.h"

static const char *const instructions_names[] = { "instructions", "PAPI_TOT_INS", "42000050",
	"ex_ret_instr", "INST_RETIRED", "INST_RETIRED:ANY", "INST_RETIRED.ANY",
	"RETIRED_INSTRUCTIONS", "INSTRUCTIONS_RETIRED", "PERF_COUNT_HW_INSTRUCTIONS",
	"PM_INST_CMPL", NULL };
static const char *const cycles_names[] = { "cycles", "PAPI_TOT_CYC", "42000059",
	"ls_not_halted_cyc", "CPU_CYCLES", "cpu-cycles", "CYCLES_NOT_IN_HALT", "CPU_CLK_UNHALTED",
	"CPU_CLK_UNHALTED:THREAD", "CPU_CLK_UNHALTED.THREAD", "UNHALTED_CORE_CYCLES",
	"PERF_COUNT_HW_CPU_CYCLES", "PM_CYC", NULL };

bool selection_is_instructions(const char *name)
{
	for (const char *const *usual = instructions_names; *usual; usual++)
		if (strcasecmp(name, *usual) == 0)
			return true;
	return false;
}

static int find_any(const struct burst_table *table, const char *const *names)
{
	for (; *names; names++)
		for (unsigned m = 0; m < table->metrics; m++)
			if (strcasecmp(table->name[m], *names) == 0)
				return (int)m;
	return -1;
}

static int derive_ipc(struct burst_table *table)
{
	int instructions = find_any(table, instructions_names);
	int cycles = find_any(table, cycles_names), ipc;

	if (instructions < 0 || cycles < 0)
		return -1;
	ipc = table_metric(table, "ipc");
	for (size_t i = 0; ipc >= 0 && i < table->count; i++) {
		double *values = table_values(table, i);

		values[ipc] = values[instructions] / values[cycles];
	}
	return ipc;
}

static int derive_duration(struct burst_table *table)
{
	int metric = table_metric(table, "duration");

	for (size_t i = 0; metric >= 0 && i < table->count; i++)
		table_values(table, i)[metric] =
				(double)(table->burst[i].end - table->burst[i].begin);
	return metric;
}

/* Returns the metric's number in the table; -1: there is none; -ENOMEM and -E2BIG like table_metric. */
static int find_metric(struct burst_table *table, const char *name)
{
	int found = table_find(table, name);

	if (found >= 0)
		return found;
	if (strcasecmp(name, "instructions") == 0)
		return find_any(table, instructions_names);
	if (strcasecmp(name, "cycles") == 0)
		return find_any(table, cycles_names);
	if (strcasecmp(name, "ipc") == 0)
		return derive_ipc(table);
	if (strcasecmp(name, "duration") == 0)
		return derive_duration(table);
	return find_any(table, (const char *const[]){ name, NULL });
}

static void list_metrics(const struct burst_table *table, const char *name, char *why, size_t size)
{
	size_t at = (size_t)snprintf(why, size, "there is no metric %.60s; there are", name);

	for (unsigned m = 0; m < table->metrics && at < size; m++)
		at += (size_t)snprintf(why + at, size - at, " %s", table->name[m]);
	if (at < size)
		snprintf(why + at, size - at, " duration");
}

static int add_metric(struct selection *selection, struct burst_table *table, char *item, char *why,
		size_t size)
{
	struct space *space = &selection->space;
	char *weight = strchr(item, '*'), *end = NULL;
	int metric;

	if (space->dims == SPACE_DIMS_MAX) {
		snprintf(why, size, "at most %d metrics", SPACE_DIMS_MAX);
		return -EINVAL;
	}
	space->weight[space->dims] = 1;
	if (weight) {
		*weight++ = 0;
		space->weight[space->dims] = strtod(weight, &end);
		if (end == weight || *end || !(space->weight[space->dims] > 0) ||
				!isfinite(space->weight[space->dims])) {
			snprintf(why, size, "%.60s: a weight is a number above 0", weight);
			return -EINVAL;
		}
	}
	space->logarithmic[space->dims] = strncmp(item, "log:", 4) == 0;
	item += space->logarithmic[space->dims] ? 4 : 0;
	metric = find_metric(table, item);
	if (metric == -ENOMEM)
		return metric;
	if (metric < 0) {
		list_metrics(table, item, why, size);
		return -EINVAL;
	}
	selection->metric[space->dims++] = (unsigned)metric;
	return 0;
}

int selection_metrics(struct selection *selection, struct burst_table *table, const char *list,
		char *why, size_t size)
{
	char *copy, *rest, *item;
	int failed = 0;

	selection->space = (struct space){ 0 };
	if (!list)
		list = find_metric(table, "ipc") >= 0 && find_metric(table, "instructions") >= 0 ?
				"log:instructions,ipc" :
				"log:duration";
	copy = rest = strdup(list);
	if (!copy)
		return -ENOMEM;
	while (!failed && (item = strsep(&rest, ",")))
		failed = add_metric(selection, table, item, why, size);
	free(copy);
	return failed;
}

int selection_shortest(struct selection *selection, const struct burst_table *table,
		const char *text, char *why, size_t size)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double value;

	if (strcmp(text, "auto") == 0)
		text = "99%";
	value = strtod(text, &end);
	selection->shortest = -1;
	if (end == text || !(value >= 0) || !isfinite(value))
		goto wrong;
	if (strcmp(end, "%") == 0 && value <= 100) {
		double *duration = malloc((table->count + 1) * sizeof(*duration));

		if (!duration)
			return -ENOMEM;
		for (size_t i = 0; i < table->count; i++)
			duration[i] = (double)(table->burst[i].end - table->burst[i].begin);
		selection->shortest = filter_shortest(duration, table->count, value / 100);
		free(duration);
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(end, units[i].unit) == 0 || (value == 0 && !*end))
			selection->shortest = value * units[i].ns;
	if (selection->shortest >= 0)
		return 0;
wrong:
	snprintf(why, size,
			"%.60s: a time as 50us, 1ms or 2s, a share of the time as 99%%, or auto",
			text);
	return -EINVAL;
}

static int need_marks(struct selection *selection, const struct burst_table *table)
{
	if (!selection->left_out)
		selection->left_out = calloc(table->count + 1, sizeof(*selection->left_out));
	return selection->left_out ? 0 : -ENOMEM;
}

int selection_range(struct selection *selection, const struct burst_table *table, const char *text,
		char *why, size_t size)
{
	char name[TABLE_METRIC_NAME_MAX], *end;
	const char *equals = strrchr(text, '=');
	double low = -INFINITY, high = INFINITY;
	int metric;

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(name) ||
			!strchr(equals, ':'))
		goto wrong;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	metric = table_find(table, name);
	if (metric < 0)
		metric = find_metric((struct burst_table *)table, name);
	if (metric < 0) {
		list_metrics(table, name, why, size);
		return -EINVAL;
	}
	if (equals[1] != ':') {
		low = strtod(equals + 1, &end);
		if (*end != ':')
			goto wrong;
	}
	equals = strchr(equals, ':');
	if (equals[1]) {
		high = strtod(equals + 1, &end);
		if (*end)
			goto wrong;
	}
	if (need_marks(selection, table))
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		double value = table_values(table, i)[metric];

		if (value < low || value > high)
			selection->left_out[i] = OUT_OF_RANGE;
	}
	return 0;
wrong:
	snprintf(why, size, "%.60s: a range as METRIC=LOW:HIGH, either may be left out", text);
	return -EINVAL;
}

static void gather_metrics(const struct selection *selection, const struct burst_table *table,
		size_t i, double *metrics)
{
	for (uint32_t dim = 0; dim < selection->space.dims; dim++)
		metrics[dim] = table_values(table, i)[selection->metric[dim]];
}

/* Marks bursts that are left out. The metrics of the others are in point[]. */
static void choose(struct selection *selection, const struct burst_table *table)
{
	struct space unit = selection->space;

	for (uint32_t dim = 0; dim < unit.dims; dim++) {
		unit.lowest[dim] = 0;
		unit.range[dim] = 1;
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct burst *burst = &table->burst[i];
		double duration = (double)(burst->end - burst->begin);
		double *metrics = selection->point + selection->count * unit.dims;
		double place[SPACE_DIMS_MAX];

		if (!i || burst->task != burst[-1].task || burst->thread != burst[-1].thread)
			selection->first[selection->sequences++] = selection->count;
		selection->time += duration;
		if (duration < selection->shortest) {
			selection->left_out[i] = TOO_SHORT;
		} else if (!selection->left_out[i]) {
			gather_metrics(selection, table, i, metrics);
			if (!space_place(&unit, metrics, place))
				selection->left_out[i] = MISSING;
		}
		if (selection->left_out[i])
			continue;
		selection->row[selection->count] = (uint32_t)i;
		selection->duration[selection->count++] = duration;
	}
	selection->first[selection->sequences] = selection->count;
}

int selection_make(struct selection *selection, const struct burst_table *table)
{
	struct space *space = &selection->space;

	selection->row = malloc((table->count + 1) * sizeof(*selection->row));
	selection->point = malloc((table->count + 1) * space->dims * sizeof(*selection->point));
	selection->duration = malloc((table->count + 1) * sizeof(*selection->duration));
	selection->first = malloc((table->count + 2) * sizeof(*selection->first));
	if (need_marks(selection, table) || !selection->row || !selection->point ||
			!selection->duration || !selection->first)
		return -ENOMEM;
	choose(selection, table);
	space_fit(space, selection->point, selection->count, false);
	for (size_t i = 0; i < selection->count; i++) {
		double metrics[SPACE_DIMS_MAX];

		gather_metrics(selection, table, selection->row[i], metrics);
		space_place(space, metrics, selection->point + i * space->dims);
	}
	return 0;
}

struct sequence_bursts selection_bursts(const struct selection *selection)
{
	return (struct sequence_bursts){
		.points = selection->point,
		.duration = selection->duration,
		.first = selection->first,
		.sequences = selection->sequences,
		.dims = selection->space.dims,
	};
}

void selection_fini(struct selection *selection)
{
	free(selection->left_out);
	free(selection->row);
	free(selection->point);
	free(selection->duration);
	free(selection->first);
	*selection = (struct selection){ 0 };
}
