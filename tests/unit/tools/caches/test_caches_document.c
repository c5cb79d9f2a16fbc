/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is made of two runs: which phases are the same ones, and how long they take with other caches. */
#include <math.h>
#include <stdlib.h>

#include "agent/text/report_line.h"
#include "agent/whatif/caches.h"
#include "tests/tap.h"
#include "tools/caches/caches_document.h"

#define INSTRUCTIONS 1000000
#define CYCLES       2000000
#define MISS         64 /* cycles that a miss of out-of-order costs more than a hit */

static json_t *place(const char *function)
{
	json_t *pair = json_pack("[{s:s,s:s,s:s,s:s,s:s,s:s,s:f}]", "from", function, "from_call",
			"MPI_Barrier", "from_function", function, "to", function, "to_call",
			"MPI_Barrier", "to_function", function, "share", 1.);

	if (!pair)
		abort();
	return pair;
}

static json_t *counter(double mean, double error)
{
	return json_pack("{s:f,s:f}", "mean", mean, "ci95", error);
}

/* A phase of the first run, without counters. */
static json_t *recorded_phase(int id, const char *function, double share)
{
	json_t *phase = json_pack("{s:i,s:f,s:i,s:n,s:n,s:{s:f},s:{},s:o}", "id", id, "time_share",
			share, "bursts", 100, "ipc", "cpi", "duration_seconds", "mean", share,
			"counters", "source", place(function));

	if (!phase)
		abort();
	return phase;
}

/* A phase of the second run, whose misses halve with each size. */
static json_t *emulated_phase(int id, const char *function, double misses)
{
	json_t *phase = json_pack("{s:i,s:f,s:i,s:f,s:f,s:{s:f},s:o}", "id", id, "time_share", .5,
			"bursts", 10, "ipc", .5, "cpi", 2., "duration_seconds", "mean", 1.,
			"source", place(function));
	json_t *counters = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "cycles",
			counter(CYCLES, 0), "instructions", counter(INSTRUCTIONS, 0), "misses_half",
			counter(2 * misses, 0), "misses", counter(misses, 30), "misses_2",
			counter(misses / 2, 40), "misses_4", counter(misses / 4, 0), "misses_8",
			counter(misses / 8, 0), "misses_16", counter(misses / 16, 0));

	if (!phase || json_object_set_new(phase, "counters", counters))
		abort();
	return phase;
}

static json_t *report_of(json_t *phases)
{
	json_t *report = json_pack("{s:i,s:[s],s:i,s:f,s:f,s:{s:f,s:f},s:{s:s},s:o}", "phasemux", 1,
			"command", "program", "ranks", 2, "threads_mean", 2., "wall_seconds", 10.,
			"efficiency", "parallel", .9, "load_balance", 1., "emulated", "core",
			"out-of-order", "phases", phases);

	if (!report)
		abort();
	return report;
}

static const json_t *find_phase(const json_t *document, int id)
{
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(document, "phases"), i, phase)
		if (report_get(phase, "id") == id)
			return phase;
	return NULL;
}

static double factor_at(const json_t *document, int id, double times)
{
	struct caches_factor factor;

	return caches_find(document, id, times, &factor) ? factor.value : NAN;
}

static bool near(double one, double other)
{
	return fabs(one - other) < 1e-9;
}

static void test_document(const json_t *recorded, const json_t *emulated)
{
	char why[256] = "", list[64];
	json_t *document = caches_document(recorded, emulated, -1, why, sizeof(why));
	struct caches_factor factor;
	const json_t *size;

	ok(document != NULL, "a document is made: %s", why);
	is_int((long long)report_get(document, "bytes"), 2 << 20, "the cache is that of the model");
	ok(near(factor_at(document, 1, 2), 1 - 500. * MISS / CYCLES),
			"half of 1000 misses save what they cost");
	ok(near(factor_at(document, 1, .5), 1 + 1000. * MISS / CYCLES), "twice as many cost it");
	ok(near(factor_at(document, 2, 16), 1 - 15000. * 15 / 16 * MISS / CYCLES),
			"the other phase is found by its place, though the numbers differ");
	ok(near(factor_at(document, 1, 1), 1), "the size as it is changes nothing");
	ok(caches_find(document, 1, 2, &factor) && near(factor.error, 50. * MISS / CYCLES),
			"the intervals of both sizes are in that of the factor");
	ok(!caches_find(document, 3, 2, &factor) &&
					json_array_size(json_object_get(document, "missing")) == 1,
			"a phase that the second run does not have is named as missing");
	size = json_array_get(json_object_get(find_phase(document, 1), "sizes"), 2);
	ok(near(report_get_in(size, "misses_per_1000_instructions", "mean"), .5),
			"500 misses of a million instructions are 0.5 of 1000");
	caches_list_times(document, list, sizeof(list));
	ok(strcmp(list, "0.5, 2, 4, 8, 16") == 0, "sizes: %s", list);
	json_decref(document);

	document = caches_document(recorded, emulated, 3, why, sizeof(why));
	is_int((long long)report_get(document, "bytes"), 8 << 20, "another size as it is");
	ok(near(factor_at(document, 1, 2), (CYCLES - 875. * MISS) / (CYCLES - 750. * MISS)),
			"from which twice the size is counted");
	json_decref(document);
}

/* Several phases of one place: the longer one is the one with more cycles. What the second run does not divide is in all. */
static void test_one_place(void)
{
	json_t *recorded = report_of(json_pack("[o,o]", recorded_phase(1, "solve", .6),
			recorded_phase(2, "solve", .2)));
	json_t *emulated = report_of(json_pack("[o,o]", emulated_phase(1, "solve", 3000),
			emulated_phase(2, "solve", 1000)));
	json_t *one = report_of(json_pack("[o]", emulated_phase(1, "solve", 1000)));
	json_t *cycles = json_object_get(
			json_object_get(json_array_get(json_object_get(emulated, "phases"), 1),
					"counters"),
			"cycles");
	char why[256] = "";
	json_t *document;

	/* the second phase of the second run is three times as long */
	json_object_set_new(cycles, "mean", json_real(3. * CYCLES));
	document = caches_document(recorded, emulated, -1, why, sizeof(why));
	ok(near(factor_at(document, 1, 2), 1 - 500. * MISS / (3. * CYCLES)) &&
					near(factor_at(document, 2, 2), 1 - 1500. * MISS / CYCLES),
			"phases of one place are told apart by their length");
	json_decref(document);
	document = caches_document(recorded, one, -1, why, sizeof(why));
	ok(near(factor_at(document, 1, 2), 1 - 500. * MISS / CYCLES) &&
					near(factor_at(document, 2, 2), 1 - 500. * MISS / CYCLES),
			"if the second run does not divide the place, each has all of it");
	json_decref(document);
	json_decref(one);
	json_decref(recorded);
	json_decref(emulated);
}

static void test_refused(const json_t *recorded)
{
	char why[256] = "";
	json_t *other = report_of(json_pack("[o]", emulated_phase(1, "elsewhere", 100)));

	ok(!caches_document(recorded, other, -1, why, sizeof(why)) && strstr(why, "no phase"),
			"another program: %s", why);
	json_object_set_new(other, "emulated", json_null());
	ok(!caches_document(recorded, other, -1, why, sizeof(why)) && strstr(why, "no rank"),
			"not emulated: %s", why);
	json_decref(other);
}

int main(void)
{
	json_t *recorded = report_of(json_pack("[o,o,o]", recorded_phase(3, "unknown", .05),
			recorded_phase(2, "random", .2), recorded_phase(1, "stream", .6)));
	json_t *emulated = report_of(json_pack("[o,o]", emulated_phase(1, "random", 15000),
			emulated_phase(2, "stream", 1000)));

	test_document(recorded, emulated);
	test_one_place();
	test_refused(recorded);
	json_decref(recorded);
	json_decref(emulated);
	return tap_done();
}
