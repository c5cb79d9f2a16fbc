/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/caches/caches_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/whatif/caches.h"
#include "agent/whatif/run_times.h"
#include "tools/caches/same_phases.h"

/* The events of the model emulated-caches, by their places in core_sizes. */
static const char *const events[CORE_SIZES] = { "misses_half", "misses", "misses_2", "misses_4",
	"misses_8", "misses_16" };

#define OWN_SIZE 1 /* the place of the core model's own size in core_sizes */

/* What the second run counted in the phases that are one phase of the first run. Sums over their bursts. */
struct counted {
	double bursts, instructions, cycles;
	double misses[CORE_SIZES], errors[CORE_SIZES]; /* errors: half-widths */
	bool sliced;                                   /* bursts are slices */
};

/* The reports of two runs, and how the second one is read. */
struct pair {
	const json_t *recorded, *emulated;
	const struct core_spec *spec;
	unsigned base; /* the size as it is, in core_sizes */
};

uint64_t caches_bytes(const struct core_spec *spec, unsigned size)
{
	return core_cache_bytes(&spec->cache[core_last_level(spec) - 1]) * core_sizes[size].halves /
			2;
}

/* ---- the second run ---- */

static double counter_mean(const json_t *phase, const char *event, const char *key)
{
	return report_get_in(json_object_get(phase, "counters"), event, key);
}

static void add_phase(struct counted *counted, const json_t *phase)
{
	double bursts = report_get(phase, "bursts");

	counted->bursts += bursts;
	counted->instructions += bursts * counter_mean(phase, "instructions", "mean");
	counted->cycles += bursts * same_cycles(phase);
	counted->sliced |= phase_is_sliced(phase);
	for (unsigned i = 0; i < CORE_SIZES; i++) {
		double error = bursts * counter_mean(phase, events[i], "ci95");

		counted->misses[i] += bursts * counter_mean(phase, events[i], "mean");
		counted->errors[i] = hypot(counted->errors[i], isfinite(error) ? error : 0);
	}
}

/* Returns whether all of it was counted. */
static bool is_counted(const struct counted *counted)
{
	for (unsigned i = 0; i < CORE_SIZES; i++)
		if (!isfinite(counted->misses[i]))
			return false;
	return counted->instructions > 0 && counted->cycles > 0;
}

/*
 * Adds up the phases of the second run that are the one at `place` in the first report. If it has none, because it does not
 * divide the bursts of these places as the first one does, all bursts of the places count. Returns false if there are none.
 */
static bool count_phase(const struct pair *pair, int place, struct counted *counted)
{
	const json_t *phases = json_object_get(pair->emulated, "phases"), *phase;
	const json_t *recorded =
			json_array_get(json_object_get(pair->recorded, "phases"), (size_t)place);
	bool divided;
	size_t i;

	*counted = (struct counted){ .bursts = 0 };
	json_array_foreach (phases, i, phase)
		if (same_phase(pair->recorded, pair->emulated, phase) == place)
			add_phase(counted, phase);
	divided = counted->bursts > 0;
	json_array_foreach (phases, i, phase)
		if (!divided && same_places(phase, recorded) >= SAME_PLACES)
			add_phase(counted, phase);
	return is_counted(counted);
}

/* ---- the document ---- */

static json_t *interval(double mean, double error)
{
	return json_pack("{s:o,s:o}", "mean", document_number(mean), "ci95",
			document_number(error));
}

/* Returns the cycles that a miss costs more than a hit in the last cache. */
static double miss_cycles(const struct core_spec *spec)
{
	enum core_part hit = core_last_level(spec) == 3 ? CORE_L3 : CORE_L2;

	return ((double)spec->cost[CORE_MEMORY] - (double)spec->cost[hit]) / 100;
}

/* Returns the cycles with another size of the cache: only the number of misses is another one. */
static double cycles_at(const struct pair *pair, const struct counted *counted, unsigned size)
{
	double more = counted->misses[size] - counted->misses[OWN_SIZE];

	return counted->cycles + more * miss_cycles(pair->spec);
}

static json_t *size_json(const struct pair *pair, const struct counted *counted, unsigned size)
{
	double before = cycles_at(pair, counted, pair->base);
	double cycles = cycles_at(pair, counted, size);
	/* misses of two sizes are of the same bursts, so that their errors together are at most this */
	double error = size == pair->base ? 0 :
					    miss_cycles(pair->spec) *
					hypot(counted->errors[size], counted->errors[pair->base]);
	double thousands = counted->instructions / 1000;
	double times = (double)core_sizes[size].halves / core_sizes[pair->base].halves;
	json_t *object = json_pack("{s:f,s:I}", "times", times, "bytes",
			(json_int_t)caches_bytes(pair->spec, size));

	object = document_set(object, "misses_per_1000_instructions",
			interval(counted->misses[size] / thousands,
					counted->errors[size] / thousands));
	object = document_set(object, "cpi", document_number(cycles / counted->instructions));
	return document_set(object, "time_factor", interval(cycles / before, error / before));
}

/* Returns the instructions of a burst, or null if bursts are slices, or not counted. */
static json_t *instructions_json(double instructions, bool sliced)
{
	return sliced ? json_null() : document_number(instructions);
}

static json_t *phase_json(const struct pair *pair, const json_t *phase,
		const struct counted *counted)
{
	json_t *sizes = json_array(), *object;

	for (unsigned i = 0; i < CORE_SIZES; i++)
		sizes = document_append(sizes, size_json(pair, counted, i));
	object = json_pack("{s:O,s:o,s:s,s:o}", "id", json_object_get(phase, "id"), "time_share",
			document_number(report_get(phase, "time_share")), "matched",
			json_array_size(json_object_get(phase, "source")) ? "place" : "length",
			"recorded_cpi", document_number(report_get(phase, "cpi")));
	object = document_set(object, "recorded_instructions",
			instructions_json(phase_instructions(phase), phase_is_sliced(phase)));
	object = document_set(object, "bursts", document_number(counted->bursts));
	object = document_set(object, "instructions",
			instructions_json(counted->instructions / counted->bursts,
					counted->sliced));
	return document_set(object, "sizes", sizes);
}

/* The phases of the first run by their places in its report, those with more of the time first. */
struct order {
	double share;
	int place;
};

static int by_share(const void *one, const void *other)
{
	const struct order *a = one, *b = other;

	return a->share != b->share ? (a->share < b->share ? 1 : -1) : a->place - b->place;
}

/* Lists the phases with most of the time. missing: gets the numbers of those that the second run does not have. */
static json_t *phases_json(const struct pair *pair, json_t *missing)
{
	const json_t *phases = json_object_get(pair->recorded, "phases"), *phase;
	struct order order[RUN_TIMES_PHASES_MAX];
	json_t *list = json_array();
	size_t count = 0, i;

	json_array_foreach (phases, i, phase)
		if (count < RUN_TIMES_PHASES_MAX)
			order[count++] = (struct order){ report_get(phase, "time_share"), (int)i };
	qsort(order, count, sizeof(*order), by_share);
	for (i = 0; i < count && i < CACHES_PHASES_MAX; i++) {
		struct counted counted;

		phase = json_array_get(phases, (size_t)order[i].place);
		if (count_phase(pair, order[i].place, &counted))
			list = document_append(list, phase_json(pair, phase, &counted));
		else
			json_array_append(missing, json_object_get(phase, "id"));
	}
	return list;
}

/* Returns where --stop-after ended the second run, or null. */
static json_t *stopped_json(const json_t *emulated)
{
	json_t *stopped = json_object_get(json_object_get(emulated, "recovered"), "stopped");

	return stopped ? json_incref(stopped) : json_null();
}

static json_t *document_of(const struct pair *pair)
{
	json_t *missing = json_array(), *phases = phases_json(pair, missing), *object;

	object = json_pack("{s:i,s:O?,s:o,s:s,s:i,s:I}", "phasemux_caches", CACHES_VERSION,
			"command", json_object_get(pair->emulated, "command"), "recorded_seconds",
			document_number(report_get(pair->recorded, "wall_seconds")), "core",
			pair->spec->name, "level", (int)core_last_level(pair->spec), "bytes",
			(json_int_t)caches_bytes(pair->spec, pair->base));
	object = document_set(object, "stopped", stopped_json(pair->emulated));
	object = document_set(object, "phases", phases);
	return document_set(object, "missing", missing);
}

json_t *caches_document(const json_t *recorded, const json_t *emulated, int base, char *why,
		size_t why_size)
{
	const char *core = report_get_text(json_object_get(emulated, "emulated"), "core");
	int found = core_spec_find(core);
	struct pair pair = { recorded, emulated, core_spec_of(0),
		base < 0 ? OWN_SIZE : (unsigned)base };
	json_t *document;

	if (found < 0) {
		snprintf(why, why_size, "no rank of COMMAND ran in the emulator");
		return NULL;
	}
	pair.spec = core_spec_of((unsigned)found);
	document = document_of(&pair);
	if (!document)
		snprintf(why, why_size, "no memory");
	if (document && !json_array_size(json_object_get(document, "phases"))) {
		snprintf(why, why_size,
				"no phase of the result is in the run that was made with COMMAND; is it the same program?");
		json_decref(document);
		document = NULL;
	}
	return document;
}
