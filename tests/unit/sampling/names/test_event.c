/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests events by name, for this processor and for others, and the names of processors. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "sampling/clock.h"
#include "sampling/names/event_names.h"
#include "tests/tap.h"

static struct processor zen5, sapphire_rapids, unknown;

static void test_without_tables(void)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		{ "r1000001a0", PERF_TYPE_RAW, 0x1000001a0 },
		{ "rFFFFffffFFFFffff", PERF_TYPE_RAW, UINT64_MAX },
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "Instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
		{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event event;
		char why[256] = "";

		is_int(event_resolve(&event, cases[i].name, &unknown, why, sizeof(why)), 0,
				cases[i].name);
		ok(event.type == cases[i].type && event.config == cases[i].config, "its code");
		is_str(event.name, cases[i].name, "its name");
		is_int(event_is_time(&event), i == 4, "whether it is a time");
	}
}

static void test_amd_names(void)
{
	struct event event;
	char why[256] = "";

	is_int(event_resolve(&event, "ex_ret_instr", &zen5, why, sizeof(why)), 0,
			"AMD's own name on AMD");
	ok(event.type == PERF_TYPE_RAW && event.config == 0xc0, "its code");
	ok(event_resolve(&event, "ex_ret_instr", &sapphire_rapids, why, sizeof(why)) < 0,
			"which Intel does not have");
}

static void test_not_names(void)
{
	static const char *const names[] = { "", "a b", "x\n", "a;b", "$(x)",
		("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaa") };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct event event;
		char why[256] = "";

		is_int(event_resolve(&event, names[i], &zen5, why, sizeof(why)), -EINVAL,
				"not a name");
		ok(why[0] && !strchr(why, '\n'), "and one line says so");
	}
}

static void test_libpfm(void)
{
	static const struct {
		const struct processor *processor;
		const char *name;
		int error;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		/* from the table of a processor that is not this one, and that libpfm4 4.13 lacks */
		{ &zen5, "DISPATCH_STALLS_1:FE_NO_OPS", 0, PERF_TYPE_RAW, 0x1000001a0 },
		{ &zen5, "retired_ops", 0, PERF_TYPE_RAW, 0xc1 },
		{ &unknown, "amd64_fam19h_zen4::DISPATCH_STALLS_1:FE_NO_OPS", 0, PERF_TYPE_RAW,
				0x1000001a0 },
		{ &sapphire_rapids, "INST_RETIRED:ANY_P", 0, PERF_TYPE_RAW, 0xc0 },
		{ &unknown, "perf::BRANCHES", 0, PERF_TYPE_HARDWARE,
				PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ &zen5, "PERF_COUNT_HW_CPU_CYCLES", 0, PERF_TYPE_HARDWARE, 0 },
		{ &zen5, "INST_RETIRED:ANY_P", -ENOENT, 0, 0 },
		{ &unknown, "RETIRED_OPS", -ENOENT, 0, 0 },
		/* in the nearest table, but without a counter on this processor */
		{ &zen5, "RESYNCS_OR_NC_REDIRECTS", -ENOENT, 0, 0 },
		{ &zen5, "MAB_ALLOCATION_BY_TYPE:LOADS", -ENOENT, 0, 0 },
	};

	if (!event_table_name(&zen5)) {
		skip("names by libpfm4", "built without libpfm4");
		return;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event event;
		char why[256] = "";

		is_int(event_resolve(&event, cases[i].name, cases[i].processor, why, sizeof(why)),
				cases[i].error, cases[i].name);
		if (cases[i].error == 0)
			ok(event.type == cases[i].type && event.config == cases[i].config,
					"its code");
		else
			ok(strstr(why, cases[i].name), "the reason names it");
	}
}

struct visited {
	unsigned events, unresolved, misfits;
	const struct processor *processor;
};

static void visit(void *data, const char *name, const char *description)
{
	struct visited *visited = data;
	struct event event;
	char why[256];

	visited->events++;
	if (event_resolve(&event, name, visited->processor, why, sizeof(why)) < 0) {
		visited->unresolved++;
		diag("%s: %s", name, why);
	}
	visited->misfits += event.type == PERF_TYPE_RAW && (event.config & 0xff) == 0x41;
	(void)description;
}

/* libpfm4 4.13 has a table of Zen 5, in which 0x41 has the unit masks that this processor has. */
static bool has_own_table(void)
{
	const char *table = event_table_name(&zen5);

	return table && strcmp(table, "amd64_fam1ah_zen5") == 0;
}

static void test_each(void)
{
	struct processor processor;
	struct visited here = { .processor = &processor };
	struct visited all = { .processor = &zen5 }, some = { .processor = &zen5 },
		       none = { .processor = &zen5 }, bare = { .processor = &unknown };

	event_each(&zen5, "", visit, &all);
	event_each(&zen5, "BRN", visit, &some);
	event_each(&zen5, "no such event", visit, &none);
	event_each(&unknown, "", visit, &bare);
	processor_identify(&processor, NULL);
	event_each(&processor, "", visit, &here);
	ok(all.events > bare.events || !event_table_name(&zen5), "a table adds events");
	is_int(all.unresolved, 0, "each that is listed can be resolved");
	is_int(here.unresolved, 0, "and on this machine, with PAPI's presets if there are any");
	if (has_own_table())
		skip("none is listed that this processor counts otherwise",
				"its own table is there");
	else
		is_int(all.misfits, 0, "none is listed that this processor counts otherwise");
	ok(some.events > 0 && some.events < all.events, "a pattern selects, in any case");
	is_int(none.events, 0, "or selects nothing");
	ok(bare.events >= 20, "an unknown processor has the kernel's events");
}

static void test_papi(void)
{
	struct event event;
	char why[256] = "";
	int error = event_resolve(&event, "PAPI_TOT_INS", &zen5, why, sizeof(why));

	/* what PAPI knows depends on the machine, so this gives an event, or the reason why not */
	ok(error == 0 || (why[0] && strstr(why, "PAPI")), "a preset resolves, or says why not");
	if (error)
		diag("%s", why);
	error = event_resolve(&event, "PAPI_NO_SUCH", &zen5, why, sizeof(why));
	ok(error < 0 && strstr(why, "PAPI"), "a preset that does not exist is refused by name");
	/* PAPI stops libpfm4 when it stops, but the next tests need it */
	if (event_table_name(&zen5))
		is_int(event_resolve(&event, "RETIRED_OPS", &zen5, why, sizeof(why)), 0,
				"libpfm4 works after PAPI");
}

static void test_environment(void)
{
	char **before = environ;
	char *first = environ[0];
	struct event event;
	char why[256];

	event_done();
	event_resolve(&event, "RETIRED_OPS", &zen5, why, sizeof(why));
	ok(environ == before && environ[0] == first && !getenv("LIBPFM_ENCODE_INACTIVE"),
			"the environment is as it was");
	event_done();
}

static void test_processors(void)
{
	static const char arm[] = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n";
	static const char strange[] =
			"processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0xabc\n";
	static const char power[] = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"
				    "revision\t: 2.2 (pvr 004e 1202)\n";
	struct processor processor;
	FILE *file;

	processor_identify(&processor, "AuthenticAMD-26-2");
	is_str(processor.vendor, "AuthenticAMD", "an assumed processor: vendor");
	ok(processor.family == 26 && processor.model == 2, "family and model");
	processor_identify(&processor, "AuthenticAMD-26");
	is_str(processor.vendor, "", "half a processor is none");
	processor_identify(&processor, "AuthenticAMD-26-2x");
	is_str(processor.vendor, "", "nor is one with more behind it");
	memset(&processor, 0, sizeof(processor));
	file = fmemopen((void *)arm, sizeof(arm) - 1, "r");
	processor_from_cpuinfo(&processor, file);
	fclose(file);
	is_str(processor.vendor, "ARM", "ARM's vendor");
	ok(processor.family == 0x41 && processor.model == 0xd4f, "implementer and part");
	is_str(processor.brand, "Arm Neoverse V2", "their name");
	memset(&processor, 0, sizeof(processor));
	file = fmemopen((void *)strange, sizeof(strange) - 1, "r");
	processor_from_cpuinfo(&processor, file);
	fclose(file);
	is_str(processor.brand, "ARM 0x99 0xabc", "their numbers if they have no name");
	memset(&processor, 0, sizeof(processor));
	file = fmemopen((void *)power, sizeof(power) - 1, "r");
	processor_from_cpuinfo(&processor, file);
	fclose(file);
	is_str(processor.vendor, "IBM", "IBM's vendor");
	is_int(processor.family, 0x4e, "the version of the PVR");
	is_str(processor.brand, "POWER9, altivec supported", "and the brand");
#if defined(__x86_64__)
	processor_identify(&processor, NULL);
	ok(strlen(processor.vendor) == 12, "the vendor of this machine: %s", processor.vendor);
	ok(processor.family >= 6, "its family and model: %u %u", processor.family, processor.model);
#endif
}

static void test_clock(void)
{
	struct timespec before, after;
	uint64_t start, stop;
	double ns;

	clock_calibrate(&(struct clock_moment){ 0, 0 });
	clock_gettime(CLOCK_MONOTONIC, &before);
	start = clock_now();
	do {
		clock_gettime(CLOCK_MONOTONIC, &after);
		ns = (double)(after.tv_sec - before.tv_sec) * 1e9 +
				(double)(after.tv_nsec - before.tv_nsec);
	} while (ns < 5e6);
	stop = clock_now();
	ok(stop > start, "time passes");
	/* the end may be seen late on a busy machine, but never early */
	ok(clock_ns(stop - start) > ns * 0.999, "its unit is right: %.0f ns", ns);
	is_near((double)clock_ticks(clock_ns(1000000)), 1000000, 1, "ticks and back");
	is_int((long long)clock_ticks(-5), 0, "no negative ticks");
}

int main(void)
{
	processor_identify(&zen5, "AuthenticAMD-26-2");
	processor_identify(&sapphire_rapids, "GenuineIntel-6-143");
	processor_identify(&unknown, "Nobody-1-1");
	test_without_tables();
	test_amd_names();
	test_not_names();
	test_libpfm();
	test_each();
	test_papi();
	test_environment();
	test_processors();
	test_clock();
	return tap_done();
}
