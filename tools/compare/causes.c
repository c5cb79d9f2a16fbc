/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/causes.h"

#include <math.h>
#include <string.h>

void causes_add(struct causes *causes, const char *cause, const char *component, double seconds,
		double ci95)
{
	unsigned i = 0;

	if (!isfinite(seconds))
		return;
	while (i < causes->count &&
			(strcmp(causes->at[i].cause, cause) != 0 ||
					!causes->at[i].component != !component ||
					(component &&
							strcmp(causes->at[i].component,
									component) != 0)))
		i++;
	if (i == CAUSES_MAX)
		return;
	if (i == causes->count)
		causes->at[causes->count++] = (struct cause){ cause, component, 0, 0 };
	causes->at[i].seconds += seconds;
	causes->at[i].ci95 += ci95;
}

/* Adds a part to the causes of the phase and to all. */
static void add_to_both(struct causes *all, struct causes *own, const char *cause,
		const char *component, double seconds, double ci95)
{
	causes_add(all, cause, component, seconds, ci95);
	causes_add(own, cause, component, seconds, ci95);
}

/* Returns the seconds that a change of a factor by 1 makes: mean time over mean factor. */
static double weight_of(const struct difference *time, const struct difference *factor)
{
	return logarithmic_mean(time->before, time->after) /
			logarithmic_mean(factor->before, factor->after);
}

/* Adds the part of a factor. Returns its seconds. */
static double add_factor(struct causes *all, struct causes *own, const char *cause,
		const struct difference *time, const struct difference *factor)
{
	double weight = weight_of(time, factor);

	add_to_both(all, own, cause, NULL, weight * factor->change, weight * factor->ci95);
	return weight * factor->change;
}

/* Adds what the other factors leave of the difference. ci95: of this factor's part. */
static void add_rest(struct causes *all, struct causes *own, const char *cause,
		const struct difference *time, double others, double ci95)
{
	add_to_both(all, own, cause, NULL, time->change - others, ci95);
}

/* Adds the components of the CPI, and what is left of its change if some are not known. Returns their seconds. */
static double add_components(struct causes *all, struct causes *own, const struct difference *found,
		const struct difference *component, const struct component_names *names)
{
	const struct difference *cpi = &found[QUANTITY_CPI];
	double weight = weight_of(&found[QUANTITY_TIME], cpi), explained = 0;
	unsigned known = 0, unknown = 0;

	for (unsigned i = 0; i < names->count; i++) {
		if (names->at[i].outer)
			continue;
		if (!isfinite(component[i].change)) {
			unknown += isfinite(component[i].before) || isfinite(component[i].after);
			continue;
		}
		add_to_both(all, own, "component", names->at[i].name, weight * component[i].change,
				weight * component[i].ci95);
		explained += component[i].change;
		known++;
	}
	/* numbers of the report are rounded, so that a little is always left */
	if (known && (!unknown || fabs(cpi->change - explained) < 1e-6 * cpi->before))
		return weight * explained;
	add_to_both(all, own, "cpi", NULL, weight * (cpi->change - explained), weight * cpi->ci95);
	return weight * cpi->change;
}

static bool is_known(const struct difference *difference)
{
	return difference->before > 0 && difference->after > 0 &&
			isfinite(difference->before * difference->after);
}

json_t *causes_of_phase(struct causes *causes, bool on_both,
		const struct difference found[QUANTITIES], const struct difference *component,
		const struct component_names *names)
{
	const struct difference *time = &found[QUANTITY_TIME];
	struct causes own = { .count = 0 };
	double others;

	if (!on_both) {
		add_to_both(causes, &own, time->after > time->before ? "new" : "gone", NULL,
				time->change, time->ci95);
	} else if (is_known(time) && is_known(&found[QUANTITY_WORK]) &&
			is_known(&found[QUANTITY_CPI])) {
		const struct difference *cycle = &found[QUANTITY_CYCLE];

		others = add_factor(causes, &own, "work", time, &found[QUANTITY_WORK]);
		others += add_components(causes, &own, found, component, names);
		add_rest(causes, &own, "clock", time, others, weight_of(time, cycle) * cycle->ci95);
	} else if (is_known(time) && is_known(&found[QUANTITY_BURSTS])) {
		others = add_factor(causes, &own, "bursts", time, &found[QUANTITY_BURSTS]);
		add_rest(causes, &own, "duration", time, others, time->ci95);
	} else {
		add_to_both(causes, &own, "time", NULL, time->change, time->ci95);
	}
	return causes_json(&own);
}

json_t *causes_json(const struct causes *causes)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < causes->count; i++) {
		const struct cause *cause = &causes->at[i];

		json_array_append_new(array,
				json_pack("{s:s,s:s?,s:f,s:o,s:o}", "cause", cause->cause,
						"component", cause->component, "seconds",
						cause->seconds, "ci95",
						isfinite(cause->ci95) ? json_real(cause->ci95) :
									json_null(),
						"told_apart",
						isfinite(cause->ci95) ?
								json_boolean(fabs(cause->seconds) >
										cause->ci95) :
								json_null()));
	}
	return array;
}
