/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the probe finds out, on scripted machines and on this one. */
#include <errno.h>

#include "sampling/clock.h"
#include "sampling/overflow.h"
#include "sampling/probe.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

static const struct event instructions = {
	.name = "instructions",
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_INSTRUCTIONS,
};

static void test_scripted(void)
{
	static const struct {
		const char *settings;
		bool hardware;
		int error;
		unsigned open, counters, held;
	} cases[] = {
		{ "", true, 0, 6, 5, 0 }, /* the trap: a sixth that counts nothing */
		{ "counters=6", true, 0, 6, 6, 0 },
		{ "counters=4,opens=4", true, 0, 4, 4, 0 },
		{ "counters=1,opens=1", true, 0, 1, 1, 0 },
		{ "counters=6,held=1", true, 0, 6, 5, 1 }, /* the NMI watchdog */
		{ "counters=4,opens=4,held=4", false, EBUSY, 4, 0, 4 },
		{ "counters=0", false, EBUSY, 6, 0, 0 },
		{ "hardware=0", false, ENOENT, 0, 0, 0 },
		{ "fail=open:1+:EACCES", false, EACCES, 0, 0, 0 },
		{ "fail=open:1+:EPERM", false, EPERM, 0, 0, 0 },
		{ "fail=read:1+:EIO", false, EBUSY, 6, 0, 6 },
		{ "fail=read:1+:short", false, EBUSY, 6, 0, 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct probe probe;
		char text[512];

		scripted_pmu_configure(cases[i].settings);
		probe_run(&probe, phasemux_pmu(), &instructions);
		is_int(probe.hardware, cases[i].hardware, cases[i].settings);
		is_int(probe.hardware_errno, cases[i].error, "the reason");
		is_int(probe.counters_open, cases[i].open, "how many open");
		is_int(probe.counters, cases[i].counters, "how many count");
		is_int(probe.counters_held, cases[i].held, "how many are held");
		probe_explain(&probe, false, text, sizeof(text));
		ok((text[0] == '\0') == cases[i].hardware && !strchr(text, '\n'),
				"an explanation where one is due");
		if (probe.hardware) {
			ok(probe.read_ns > 0 && probe.switch_ns > 0, "the costs are measured");
			is_int(probe.method, READ_SYSCALL, "there is no page to read");
		}
	}
}

/* The second event that the probe opens is the one of instructions. */
static void test_only_cycles(void)
{
	struct probe probe;

	scripted_pmu_configure("fail=open:2:ENOENT");
	probe_run(&probe, phasemux_pmu(), &instructions);
	ok(!probe.hardware && probe.hardware_errno == ENOENT && probe.cycles,
			"cycles without instructions");
	scripted_pmu_configure("hardware=0");
	probe_run(&probe, phasemux_pmu(), &instructions);
	ok(!probe.cycles, "no hardware counters, no cycles");
}

/* Whatever call fails, the probe ends with an answer and leaves no descriptor open. */
static void test_failures(void)
{
	static const char *const names[] = { "open", "read", "ioctl", "close", "map" };
	unsigned runs = 0, odd = 0, left = 0;

	for (size_t call = 0; call < sizeof(names) / sizeof(names[0]); call++) {
		uint64_t made;
		struct probe probe;

		scripted_pmu_configure("");
		probe_run(&probe, phasemux_pmu(), &instructions);
		made = scripted_pmu_calls(names[call]);
		for (uint64_t nth = 1; nth <= made; nth++) {
			char settings[64];

			snprintf(settings, sizeof(settings), "fail=%s:%llu:EIO", names[call],
					(unsigned long long)nth);
			scripted_pmu_configure(settings);
			probe_run(&probe, phasemux_pmu(), &instructions);
			runs++;
			odd += probe.hardware != (probe.hardware_errno == 0) ||
					probe.counters > probe.counters_open;
			if (call != 3) /* a close that fails leaves it open */
				left += scripted_pmu_open() != 0;
			scripted_pmu_forget();
		}
	}
	ok(runs > 100, "%u calls failed in turn", runs);
	is_int(odd, 0, "the probe always comes to an answer");
	is_int(left, 0, "and closes what it opened");
}

static void test_explain(void)
{
	static const struct {
		struct probe probe;
		bool hypervisor;
		const char *word;
	} cases[] = {
		{ { .hardware_errno = ENOENT }, true, "virtual machine" },
		{ { .hardware_errno = ENOENT }, false, "no hardware counters on this processor" },
		{ { .hardware_errno = ENOENT, .cycles = true }, true,
				"cycles on this processor and no" },
		{ { .hardware_errno = EACCES, .paranoid = 4 }, false, "perf_event_paranoid=2" },
		{ { .hardware_errno = EACCES, .paranoid = 2 }, false, "security module" },
		{ { .hardware_errno = EPERM, .paranoid = 2 }, false, "seccomp" },
		{ { .hardware_errno = ENOSYS, .paranoid = 2 }, false, "seccomp" },
		{ { .hardware_errno = ENOSYS, .paranoid = PROBE_PARANOID_UNKNOWN }, false,
				"CONFIG_PERF_EVENTS" },
		{ { .hardware_errno = EMFILE }, false, "ulimit -n" },
#if defined(__aarch64__)
		{ { .hardware_errno = EBUSY, .counters_held = 2 }, false,
				"another profiler holds" },
#else
		{ { .hardware_errno = EBUSY, .counters_held = 2 }, false, "nmi_watchdog" },
#endif
		{ { .hardware_errno = EBUSY, .counters_held = 0 }, false, "count nothing" },
		{ { .hardware_errno = EINVAL }, false, "Linux 4.1" },
		{ { .hardware_errno = E2BIG }, false, "Linux 4.1" },
		{ { .hardware_errno = EIO }, false, "Input/output error" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];

		probe_explain(&cases[i].probe, cases[i].hypervisor, text, sizeof(text));
		if (!ok(strstr(text, cases[i].word) != NULL, "says '%s'", cases[i].word))
			diag("%s", text);
	}
}

/* Returns whether this kernel allows samples. */
static bool samples_here(void)
{
	static const struct event task_clock = { .name = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK };
	const struct event *const events[] = { &task_clock };
	struct overflow overflow;
	struct group group;
	unsigned bad;
	bool result = false;

	if (group_open(&group, pmu_kernel(), events, 1, READ_SYSCALL, &bad))
		return false;
	memset(&overflow, 0, sizeof(overflow));
	if (overflow_open(&overflow, &group, 1000000, 10) == 0) {
		result = true;
		overflow_close(&overflow);
	}
	group_close(&group);
	return result;
}

static void test_here(void)
{
	struct probe probe;

	probe_run(&probe, pmu_kernel(), &instructions);
	if (!probe.software) {
		skip("this machine's software events", strerror(probe.software_errno));
		return;
	}
	ok(probe.read_ns > 0 && probe.read_ns < 1e8, "a read takes %.0f ns here", probe.read_ns);
	ok(probe.switch_ns > 0, "a switch %.0f ns", probe.switch_ns);
	/* on a busy machine the thread may not run long enough for a sample */
	for (int i = 0; i < 20 && !(probe.sample_ns > 0); i++)
		probe_run(&probe, pmu_kernel(), &instructions);
	if (samples_here())
		ok(probe.sample_ns > 0 && probe.sample_ns < 5e5, "a sample %.0f ns",
				probe.sample_ns);
	else
		skip("what a sample takes", "this kernel does not allow samples");
	if (!probe.hardware) {
		skip("this machine's counters", strerror(probe.hardware_errno));
		return;
	}
	ok(probe.counters >= 1 && probe.counters <= probe.counters_open, "%u counters of %u count",
			probe.counters, probe.counters_open);
}

int main(void)
{
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	test_scripted();
	test_only_cycles();
	test_failures();
	test_explain();
	test_here();
	return tap_done();
}
