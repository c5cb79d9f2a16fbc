/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/caches/same_phases.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define AS_GOOD 0.9 /* part of the largest overlap of places that others have as well */

/* Returns whether two pairs are of the same calls, made at the same places on the same paths. */
static bool same_pair(const json_t *one, const json_t *other)
{
	static const char *const keys[] = { "from", "from_call", "from_path", "to", "to_call",
		"to_path" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json_t *a = json_object_get(one, keys[i]),
			     *b = json_object_get(other, keys[i]);

		if (a != b && !json_equal(a, b))
			return false;
	}
	return true;
}

double same_places(const json_t *phase, const json_t *other)
{
	const json_t *own = json_object_get(phase, "source"), *pair, *candidate;
	const json_t *theirs = json_object_get(other, "source");
	double all = 0, both = 0;
	size_t i, k;

	json_array_foreach (own, i, pair) {
		double share = report_get(pair, "share");
		bool found = false;

		json_array_foreach (theirs, k, candidate)
			found = found || same_pair(pair, candidate);
		all += share;
		both += found ? share : 0;
	}
	if (!json_array_size(own))
		return json_array_size(theirs) ? 0 : 1;
	return all > 0 ? both / all : 0;
}

double same_cycles(const json_t *phase)
{
	return report_get_in(json_object_get(phase, "counters"), "cycles", "mean");
}

/* Returns the largest part of the phase that lies at the places of one phase of the report. */
static double most_at_places(const json_t *report, const json_t *phase)
{
	const json_t *other;
	double most = 0;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, other)
		most = fmax(most, same_places(phase, other));
	return most;
}

/* Returns the mean of a number over the bursts of all phases that have at least this part of the phase's places. */
static double mean_at_places(const json_t *report, const json_t *phase, double part,
		double (*number)(const json_t *phase))
{
	const json_t *other;
	double sum = 0, bursts = 0;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, other) {
		double count = report_get(other, "bursts"), all = count * number(other);

		if (same_places(phase, other) < part || !isfinite(all))
			continue;
		sum += all;
		bursts += count;
	}
	return sum / bursts;
}

static double apart(double one, double other)
{
	return one > 0 && other > 0 ? fabs(log(one / other)) : 0;
}

int same_phase(const json_t *recorded, const json_t *emulated, const json_t *phase)
{
	double part = AS_GOOD * most_at_places(recorded, phase), nearest = INFINITY, seconds;
	double instructions = phase_instructions(phase);
	const json_t *other;
	int found = -1;
	size_t i;

	if (part < AS_GOOD * SAME_PLACES)
		return -1;
	/*
	 * The emulator stretches times, and the core model prices cycles unlike a processor: the bursts of the places take as long
	 * in the mean as in the first run, and cycles tell which of them are longer.
	 */
	seconds = same_cycles(phase) * mean_at_places(recorded, phase, part, phase_mean_seconds) /
			mean_at_places(emulated, phase, SAME_PLACES, same_cycles);
	json_array_foreach (json_object_get(recorded, "phases"), i, other) {
		double own = phase_instructions(other);
		double far = own > 0 ? apart(own, instructions) :
				       apart(phase_mean_seconds(other), seconds);

		if (same_places(phase, other) < part || far >= nearest)
			continue;
		nearest = far;
		found = (int)i;
	}
	return found;
}
