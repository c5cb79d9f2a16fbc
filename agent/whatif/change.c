/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/change.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/whatif/caches.h"

#define COMPONENTS_MAX 64

void change_none(struct change *change)
{
	*change = (struct change){ .rest = 1, .communication = 1 };
	for (size_t p = 0; p < RUN_TIMES_PHASES_MAX; p++)
		change->factor[p] = change->speed[p] = 1;
}

/* Makes the factor of a phase that of both kinds of changes together. */
static void set_factor(struct change *change, size_t phase)
{
	change->factor[phase] = change->speed[phase] * fmax(0, 1 - change->cycles[phase]);
	change->error[phase] = change->speed[phase] * change->cycles_error[phase];
}

void change_phase(struct change *change, size_t phase, double factor)
{
	change->speed[phase] *= factor;
	set_factor(change, phase);
}

void change_balance(struct change *change, const struct run_times *run, size_t phase)
{
	for (size_t p = 0; p < run->phases; p++)
		if (run->phase[p].set == run->phase[phase].set)
			change->balanced[p] = true;
}

void change_speed(struct change *change, const struct run_times *run, double speed)
{
	for (size_t p = 0; p < run->phases; p++)
		change_phase(change, p, 1 / speed);
	change->rest /= speed;
}

/* ---- components of the CPI ---- */

/* Names a component, or after it one of its parts. outer: the last component that was named. */
static void name_component(char *name, const char **outer, const json_t *component)
{
	const char *own = report_get_text(component, "component");

	if (report_get(component, "level") > 0 && *outer) {
		snprintf(name, CHANGE_NAME_MAX, "%.60s/%.60s", *outer, own);
		return;
	}
	*outer = own;
	snprintf(name, CHANGE_NAME_MAX, "%.60s", own);
}

/* Returns the component of a phase with this name if its value is known, or NULL. */
static const json_t *find_component(const json_t *phase, const char *name)
{
	const json_t *component;
	const char *outer = NULL;
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		char own[CHANGE_NAME_MAX];

		name_component(own, &outer, component);
		if (strcasecmp(own, name) == 0)
			return phase_component_known(component) ? component : NULL;
	}
	return NULL;
}

size_t change_component(struct change *change, const struct run_times *run, const char *name,
		double factor)
{
	size_t count = 0;

	for (size_t p = 0; p < run->phases; p++) {
		const json_t *phase = run->phase[p].phase;
		const json_t *component = find_component(phase, name);
		double cpi = report_get(phase, "cpi");
		double part = report_get(component, "cpi") / cpi;
		double error = report_get(component, "ci95") / cpi;

		if (!isfinite(part) || cpi <= 0)
			continue;
		part = fmin(fmax(part, 0), 1);
		change->cycles[p] += (1 - factor) * part;
		if (isfinite(error))
			change->cycles_error[p] =
					hypot(change->cycles_error[p], (1 - factor) * error);
		set_factor(change, p);
		count++;
	}
	return count;
}

size_t change_cache(struct change *change, const struct run_times *run, double times)
{
	size_t count = 0;

	for (size_t p = 0; p < run->phases; p++) {
		struct caches_factor factor;

		if (!caches_find(run->caches, report_get(run->phase[p].phase, "id"), times,
				    &factor))
			continue;
		change->cycles[p] += 1 - factor.value;
		change->cycles_error[p] = hypot(change->cycles_error[p], factor.error);
		set_factor(change, p);
		count++;
	}
	return count;
}

void change_components(const struct run_times *run, void (*visit)(void *data, const char *name),
		void *data)
{
	static char seen[COMPONENTS_MAX][CHANGE_NAME_MAX];
	size_t count = 0;

	for (size_t p = 0; p < run->phases; p++) {
		const json_t *phase = run->phase[p].phase, *component;
		const char *outer = NULL;
		size_t i, k;

		json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
			char name[CHANGE_NAME_MAX];

			name_component(name, &outer, component);
			for (k = 0; k < count && strcasecmp(seen[k], name) != 0; k++)
				;
			if (k < count || count == COMPONENTS_MAX ||
					!phase_component_known(component))
				continue;
			strcpy(seen[count++], name);
			visit(data, name);
		}
	}
}
