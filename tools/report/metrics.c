/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENTS_MAX 32

struct component {
	const char *name;
	double cycles, all_cycles; /* cycles of the component, and all cycles of the phases that have it */
};

struct total {
	double compute, available; /* seconds, summed over threads */
	double instructions, cycles;
	unsigned components;
	struct component component[COMPONENTS_MAX];
};

static double get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_component(struct total *total, const char *name, double cycles, double of)
{
	unsigned i = 0;

	while (i < total->components && strcmp(total->component[i].name, name) != 0)
		i++;
	/* a phase that is too small to have this component is left out */
	if (i == COMPONENTS_MAX || !isfinite(cycles))
		return;
	if (i == total->components)
		total->component[total->components++] = (struct component){ .name = name };
	total->component[i].cycles += cycles;
	total->component[i].all_cycles += of;
}

/* In every model the first counter is cycles, and the second instructions. */
bool metrics_phase_counts(const json_t *phase, double *cycles, double *instructions)
{
	json_t *counters = json_object_get(phase, "counters");
	void *first = json_object_iter(counters);
	void *second = first ? json_object_iter_next(counters, first) : NULL;
	double bursts = get(phase, "bursts");

	if (!second || !isfinite(get(phase, "ipc")))
		return false;
	*cycles = bursts * get(json_object_iter_value(first), "mean");
	*instructions = bursts * get(json_object_iter_value(second), "mean");
	return isfinite(*cycles) && isfinite(*instructions);
}

static void add_phase(struct total *total, const json_t *phase)
{
	double cycles, instructions;
	const json_t *component;
	size_t i;

	if (!metrics_phase_counts(phase, &cycles, &instructions))
		return;
	total->cycles += cycles;
	total->instructions += instructions;
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		const char *name = json_string_value(json_object_get(component, "component"));

		if (name && get(component, "level") == 0)
			add_component(total, name, get(component, "cpi") * instructions, cycles);
	}
}

static void add_report(struct total *total, const json_t *report)
{
	double compute = get(report, "compute_seconds");
	double available = get(report, "wall_seconds") * get(report, "threads");
	const json_t *phase;
	size_t i;

	if (isfinite(compute) && isfinite(available)) {
		total->compute += compute;
		total->available += available;
	}
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		add_phase(total, phase);
}

static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n') {
			fputs("\\n", out);
			continue;
		}
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('"', out);
}

static void print_sample(FILE *out, const char *name, const json_t *job, const char *component,
		double value)
{
	static const char *const keys[][2] = { { "job", "id" }, { "partition", "partition" } };
	const char *comma = "";

	fprintf(out, "%s{", name);
	for (size_t i = 0; i < 2; i++) {
		const char *text = json_string_value(json_object_get(job, keys[i][1]));

		if (!text)
			continue;
		fputs(comma, out);
		print_label(out, keys[i][0], text);
		comma = ",";
	}
	if (component) {
		fputs(comma, out);
		print_label(out, "component", component);
	}
	fprintf(out, "} %.6g\n", value);
}

static void print_family(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help);
}

static void print_total(FILE *out, const json_t *job, const struct total *total)
{
	if (total->available > 0) {
		print_family(out, "phasemux_job_parallel_efficiency",
				"Share of the time that the job's threads computed.");
		print_sample(out, "phasemux_job_parallel_efficiency", job, NULL,
				total->compute / total->available);
	}
	if (total->cycles > 0) {
		print_family(out, "phasemux_job_ipc", "Instructions per cycle of the job.");
		print_sample(out, "phasemux_job_ipc", job, NULL,
				total->instructions / total->cycles);
	}
	if (total->components)
		print_family(out, "phasemux_job_cpi_share",
				"Part of the job's cycles that a component of its CPI takes.");
	for (unsigned i = 0; i < total->components && total->cycles > 0; i++)
		if (isfinite(total->component[i].cycles))
			print_sample(out, "phasemux_job_cpi_share", job, total->component[i].name,
					total->component[i].cycles / total->cycles);
	fputs("# EOF\n", out);
}

char *metrics_text(json_t *const reports[], size_t count)
{
	struct total total = { .compute = 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++)
		add_report(&total, reports[i]);
	print_total(out, count ? json_object_get(reports[0], "job") : NULL, &total);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
