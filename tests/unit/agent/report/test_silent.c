/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which events with counts of 0 are believed. */
#include <stdlib.h>

#include "agent/report/silent.h"
#include "tests/tap.h"

static struct counting counting;
static struct phase_estimate phase;

static unsigned number_of(const char *name)
{
	for (unsigned e = 0; e < counting.plan.events; e++)
		if (strcmp(counting.event[e].name, name) == 0)
			return e;
	return 0;
}

/* Starts a phase of ten bursts with this number of instructions each, in which every event counts 5. */
static void start(double instructions)
{
	memset(&phase, 0, sizeof(phase));
	for (unsigned e = 0; e < counting.plan.events; e++)
		phase.event[e] = (struct estimate){ .mean = 5, .ci95 = 1, .observed = 10 };
	phase.event[0].mean = phase.event[1].mean = instructions;
}

static void count(const char *name, double mean)
{
	phase.event[number_of(name)].mean = mean;
}

static struct silent decide(void)
{
	struct silent silent = { .count = 0 };

	silent_add(&silent, &phase);
	silent_decide(&silent, &counting);
	silent_remove(&silent, &phase);
	return silent;
}

static void test_believed(void)
{
	struct silent silent;

	start(1e6);
	is_int(decide().count, 0, "events that count are believed");
	count("VFP_SPEC", 0);
	count("LL_CACHE_MISS_RD", 0);
	is_int(decide().count, 0, "a program may have no floating-point operation and no miss");
	start(1e4);
	count("BR_RETIRED", 0);
	is_int(decide().count, 0, "a hundred thousand instructions are too few to tell");
	start(1e6);
	count("INST_SPEC", 0);
	silent = (struct silent){ .count = 0 };
	silent_add(&silent, &phase);
	count("INST_SPEC", 1e6);
	silent_add(&silent, &phase);
	silent_decide(&silent, &counting);
	is_int(silent.count, 0, "an event that another phase counts is believed");
}

static void test_silent(void)
{
	struct silent silent;
	char text[512];

	start(1e6);
	count("INST_SPEC", 0);
	silent = decide();
	is_int(silent.count, 1, "no program executes no operation");
	ok(isnan(phase.event[number_of("INST_SPEC")].mean) &&
					!phase.event[number_of("INST_SPEC")].observed,
			"its 0 is not reported as measured");
	silent_explain(&silent, &counting, text, sizeof(text));
	is_str(text,
			"INST_SPEC: this processor accepts this event, but it is 0 in every burst; what "
			"needs it is not available",
			"it is named");
	start(1e6);
	count("INST_SPEC", 0);
	count("VFP_SPEC", 0);
	silent = decide();
	is_int(silent.count, 2, "then no other 0 is believed");
	is_near(phase.event[number_of("LD_SPEC")].mean, 5, 0, "but what counts is");
	silent_explain(&silent, &counting, text, 20);
	is_int((long long)strlen(text), 19, "a line that is too long is cut");
}

static void test_no_model(void)
{
	struct model *model = counting.model;

	start(1e6);
	count("INST_SPEC", 0);
	counting.model = NULL;
	is_int(decide().count, 0, "of events that the user chose, nothing is assumed");
	counting.model = model;
}

/* Counts the events of a model. */
static void use_model(const char *name)
{
	char why[256];

	counting.hardware = true;
	counting.model = model_load(name, why, sizeof(why));
	if (!counting.model)
		abort();
	model_pack(counting.model, 6, &counting.plan);
	for (unsigned e = 0; e < counting.plan.events; e++) {
		snprintf(counting.event[e].name, sizeof(counting.event[e].name), "%s",
				model_event(counting.model, e)->name);
		counting.model_event[e] = e;
	}
}

/* As on a virtual ARM processor that is not known: it accepts the cycles without progress, and nothing else. */
static void test_generic(void)
{
	start(1e6);
	count("stalled-cycles-frontend", 0);
	count("stalled-cycles-backend", 0);
	is_int(decide().count, 2, "no program is without a cycle in which it makes no progress");
	start(1e6);
	count("cache-misses", 0);
	is_int(decide().count, 0, "a program may miss no cache");
}

int main(void)
{
	use_model("neoverse-n1");
	test_believed();
	test_silent();
	test_no_model();
	model_free(counting.model);
	use_model("generic");
	test_generic();
	model_free(counting.model);
	return tap_done();
}
