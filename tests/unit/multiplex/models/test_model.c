/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that every built-in model loads, is complete, and breaks a made-up phase into parts that add up. */
#include "tests/tap.h"

#include <stdlib.h>
#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#endif

#include "multiplex/models/expression.h"
#include "multiplex/models/model.h"

static int lookup(void *data, const char *name, size_t length)
{
	(void)data;
	if (length == 1 && (*name == 'a' || *name == 'b'))
		return *name - 'a';
	return length == 3 && memcmp(name, "c-d", 3) == 0 ? 2 : -1;
}

static void test_expressions(void)
{
	static const struct {
		const char *text;
		double value; /* NAN: it does not compile */
	} cases[] = {
		{ "a + 2 * b", 16 },
		{ "(a + 2) * b", 36 },
		{ "a - b - 1", -3 },
		{ "a / b / 2", 1.0 / 3 },
		{ "min(a, b) + max(a, b)", 10 },
		{ "'c-d' - 'c-d' / 2", 4.5 },
		{ "(a - 4) / (b - 6)", 0 },
		{ "a +", NAN },
		{ "(a", NAN },
		{ "a b", NAN },
		{ "nobody", NAN },
		{ "'open", NAN },
		{ "min(a)", NAN },
		{ "((((((((((((((((((((a))))))))))))))))))))", NAN },
	};
	static const double variables[] = { 4, 6, 9 };
	struct expression expression;
	char why[128];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int error = expression_compile(&expression, cases[i].text, lookup, NULL, why,
				sizeof(why));

		if (isnan(cases[i].value))
			ok(error && *why, "refused: %s", cases[i].text);
		else
			ok(!error &&
							fabs(expression_value(&expression,
									     variables) -
									cases[i].value) < 1e-12,
					"%s", cases[i].text);
	}
}

/* Makes events that depend only on their number, and are positive and different. */
static void fake(const struct model *model, struct phase_estimate *out)
{
	memset(out, 0, sizeof(*out));
	out->duration = (struct estimate){ .mean = 1e-3, .ci95 = 1e-6, .observed = 100 };
	for (unsigned e = 0; e < model_events(model); e++)
		out->event[e] = (struct estimate){ .mean = e == 0 ? 4e6 :
					e == 1                    ? 2e6 :
								    1e5 * e,
			.ci95 = 1e3,
			.observed = 100 };
}

static double level_sum(const struct cpi_component *components, unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		if (components[i].level == 0 && !isnan(components[i].cpi))
			sum += components[i].cpi;
	return sum;
}

/* Returns whether the parts of each component add up to it. */
static bool parts_add_up(const struct cpi_component *components, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		double parts = 0;
		unsigned n = 0;

		for (unsigned j = i + 1;
				components[i].level == 0 && j < count && components[j].level == 1;
				j++, n++)
			parts += components[j].cpi;
		if (n && !(fabs(parts - components[i].cpi) <= 1e-9))
			return false;
	}
	return true;
}

static void test_models(void)
{
	struct cpi_component components[MODEL_COMPONENTS_MAX];
	struct model_metric metrics[MODEL_METRICS_MAX];
	struct phase_estimate estimate;
	char why[256] = "";

	for (unsigned m = 0; m < model_count(); m++) {
		const char *name = model_name_of(m);
		struct model *model = model_load(name, why, sizeof(why));
		unsigned count, level0 = 0;
		bool negative = false;

		if (!ok(model != NULL, "%s loads (%s)", name, model_title_of(m))) {
			diag("%s", why);
			continue;
		}
		fake(model, &estimate);
		count = model_metrics(model, &estimate, metrics);
		for (unsigned i = 0; i < count; i++)
			negative |= !(metrics[i].value >= 0) || !(metrics[i].ci95 >= 0);
		ok(!negative, "%s: %u metrics have values", name, count);
		count = model_breakdown(model, &estimate, components);
		if (model_common(model) < 2 || strcmp(name, "emulated-caches") == 0) {
			is_int(count, 0,
					"a model without cycles, or of caches alone, has no breakdown");
			model_free(model);
			continue;
		}
		is_near(level_sum(components, count), 2, 1e-9, "components sum to the CPI");
		ok(parts_add_up(components, count), "parts sum to their component");
		for (unsigned i = 0; i < count; i++) {
			level0 += components[i].level == 0;
			negative |= components[i].cpi < 0;
		}
		ok(!negative && level0 > 1, "%s: none negative", name);
		for (unsigned e = 2; e < model_events(model); e++)
			estimate.event[e] = (struct estimate){ .mean = NAN, .ci95 = INFINITY };
		count = model_breakdown(model, &estimate, components);
		ok(isnan(components[0].cpi) && fabs(components[count - 1].cpi - 2) < 1e-9,
				"%s: without its events all is the rest", name);
		model_free(model);
	}
	ok(!model_load("abacus", why, sizeof(why)) && strstr(why, "abacus"),
			"an unknown model is named");
}

static void test_choice(void)
{
	static const struct {
		struct model_processor processor;
		const char *model;
	} cases[] = {
		{ { "AuthenticAMD", 26, 2 }, "zen5" },
		{ { "AuthenticAMD", 25, 17 }, "zen4" },
		{ { "AuthenticAMD", 25, 1 }, "zen3" },
		{ { "GenuineIntel", 6, 85 }, "skylake" },
		{ { "GenuineIntel", 6, 106 }, "icelake" },
		{ { "GenuineIntel", 6, 143 }, "sapphirerapids" },
		{ { "GenuineIntel", 6, 1 }, "generic" },
		{ { "ARM", 65, 0xd0c }, "neoverse-n1" },
		{ { "ARM", 65, 0xd40 }, "neoverse-v1" },
		{ { "ARM", 65, 0xd49 }, "neoverse-n2" },
		{ { "ARM", 65, 0xd4f }, "neoverse-v2" },
		{ { "IBM", 78, 0 }, "power9" },
		{ { "IBM", 128, 0 }, "power10" },
		{ { "emulated", 1, 0 }, "emulated" },
		{ { "Nobody", 1, 1 }, "generic" },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_str(model_for(&cases[i].processor), cases[i].model, cases[i].model);
}

/* Counts of Zen 5 per 1,000 instructions on a stream triad, in which 94.6% of the slots wait for memory. */
static void test_zen5(void)
{
	static const struct {
		const char *name;
		double mean;
	} counts[] = {
		{ "ls_not_halted_cyc", 2184 },
		{ "ex_ret_instr", 1000 },
		{ "ex_ret_ops", 890 },
		{ "de_src_op_disp.all", 902 },
		{ "de_no_dispatch_per_slot.no_ops_from_frontend", 49 },
		{ "de_no_dispatch_per_slot.backend_stalls", 16533 },
		{ "ex_no_retire.not_complete", 2045 },
		{ "ex_no_retire.load_not_complete", 1891 },
		{ "ex_no_retire.other", .3 },
	};
	struct model *model = model_load("zen5", NULL, 0);
	struct cpi_component out[MODEL_COMPONENTS_MAX];
	struct phase_estimate estimate;
	unsigned count;

	memset(&estimate, 0, sizeof(estimate));
	for (unsigned e = 0; e < model_events(model); e++)
		for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			if (strcmp(model_event(model, e)->name, counts[i].name) == 0)
				estimate.event[e] = (struct estimate){ .mean = counts[i].mean,
					.ci95 = 1,
					.observed = 10 };
	count = model_breakdown(model, &estimate, out);
	for (unsigned i = 0; i < count; i++) {
		if (strcmp(out[i].name, "back end") == 0)
			is_near(out[i].cpi / 2.184, .946, .001, "triad waits in the back end");
		if (strcmp(out[i].name, "memory") == 0)
			is_near(out[i].cpi / 2.184, .946 * .925, .001, "for memory");
		if (strcmp(out[i].name, "retiring") == 0)
			is_near(out[i].ci95, .00017, .00001, "the interval is carried");
		if (strcmp(out[i].name, "latency") == 0)
			ok(isnan(out[i].cpi), "a part without its event is not available");
	}
	model_free(model);
}

#ifdef HAVE_LIBPFM
/*
 * Checks that an event has the same code by its libpfm4 name and in the model. If this libpfm4 has no table for
 * the processor, the code must at least have the form that the processor has.
 */
static void check_code(const char *model, const struct model_event *event)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t encoding = { .attr = &attr, .size = sizeof(encoding) };
	int error = event->libpfm[0] ? pfm_get_os_event_encoding(event->libpfm, PFM_PLM3,
						       PFM_OS_PERF_EVENT, &encoding) :
				       PFM_ERR_NOTFOUND;
	bool formed = event->raw;

	if (error == PFM_SUCCESS) {
		if (!ok(attr.type == event->type && attr.config == event->config, "%s %s: %s",
				    model, event->name, event->libpfm))
			diag("libpfm4 says %u:%llx", attr.type, (unsigned long long)attr.config);
		return;
	}
	if (strncmp(model, "neoverse", 8) == 0)
		formed &= event->type == PERF_TYPE_RAW && event->config < 0x10000;
	else if (strncmp(model, "power", 5) == 0)
		formed &= event->type == PERF_TYPE_RAW &&
				event->counter_set == 1 << (event->config >> 16);
	else
		formed &= !event->libpfm[0];
	if (!ok(formed, "%s %s: raw %llx", model, event->name, (unsigned long long)event->config))
		diag("%s: %s", event->libpfm, pfm_strerror(error));
}

/* Returns whether this libpfm4 can have the model's tables: those of x86 are in libpfm4 for x86 alone. */
static bool tables_are_possible(const char *model)
{
#if defined(__x86_64__)
	(void)model;
	return true;
#else
	static const char *const everywhere[] = { "neoverse", "power", "generic", "software" };

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(*everywhere); i++)
		if (strncmp(model, everywhere[i], strlen(everywhere[i])) == 0)
			return true;
	return false;
#endif
}

static void test_codes(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS) {
		skip("event codes", "libpfm4 does not initialise");
		return;
	}
	for (unsigned m = 0; m < model_count(); m++) {
		struct model *model;

		if (!tables_are_possible(model_name_of(m))) {
			skip(model_name_of(m), "libpfm4 has tables of x86 on x86 alone");
			continue;
		}
		model = model_load(model_name_of(m), NULL, 0);
		for (unsigned e = 0; model && e < model_events(model); e++)
			check_code(model_name_of(m), model_event(model, e));
		model_free(model);
	}
	pfm_terminate();
}
#else
static void test_codes(void)
{
	skip("event codes", "built without libpfm4");
}
#endif

/* Every model packs for four counters and more. Events of POWER in one group never need the same counter. */
static void test_packing(void)
{
	for (unsigned m = 0; m < model_count(); m++) {
		struct model *model = model_load(model_name_of(m), NULL, 0);
		unsigned events = model_events(model);
		bool packs = true, apart = true;
		struct plan plan;

		for (unsigned counters = 4; counters <= 8; counters++) {
			packs &= model_pack(model, counters, &plan) == 0;
			for (unsigned g = 0; g < plan.groups; g++) {
				uint16_t used = 0;

				for (unsigned i = 0; i < plan.group[g].count; i++) {
					uint16_t bit = model_event(model, plan.group[g].event[i])
								       ->counter_set;

					apart &= !(used & bit);
					used |= bit;
				}
			}
		}
		ok(packs && apart, "%s: %u events pack", model_name_of(m), events);
		model_free(model);
	}
}

int main(void)
{
	test_codes();
	test_packing();
	test_expressions();
	test_models();
	test_choice();
	test_zen5();
	return tap_done();
}
