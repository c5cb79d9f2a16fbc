/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the counters of the emulator, over counts that the test itself writes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "sampling/emulated/emulated_pmu.h"
#include "sampling/emulated/emulator.h"
#include "sampling/group.h"
#include "tests/tap.h"

static struct emulated_counts shared;
static struct core_counts *mine;
static const struct pmu *pmu;

static const struct event cycles = { .name = "cycles" },
			  instructions = { .name = "instructions",
				  .config = PERF_COUNT_HW_INSTRUCTIONS };

static struct event raw(uint64_t config)
{
	return (struct event){ .name = "raw", .type = PERF_TYPE_RAW, .config = config };
}

static void test_group(void)
{
	struct event loads = raw(EMULATED_RAW_COUNT + CORE_LOADS);
	struct event memory = raw(EMULATED_RAW_PART + CORE_MEMORY);
	const struct event *const events[] = { &cycles, &instructions, &loads, &memory };
	const struct core_spec *spec = core_spec_of(0);
	uint64_t before[4], after[4];
	struct group group;
	unsigned bad;

	ok(group_open(&group, pmu, events, 4, READ_RDPMC, &bad) == 0, "a group opens");
	is_int(group.method, READ_SYSCALL, "it is read as a whole, because nothing can be mapped");
	core_add(mine, CORE_INSTRUCTIONS, 4000);
	is_int(group_enable(&group), 0, "it is enabled");
	is_int(group_read(&group, before), 0, "it is read");
	core_add(mine, CORE_INSTRUCTIONS, 4000);
	core_add(mine, CORE_LOADS, 123);
	core_add(mine, CORE_L1_MISSES, 3);
	core_add(mine, CORE_L2_MISSES, 2);
	core_add(mine, CORE_L3_MISSES, 1);
	is_int(group_read(&group, after), 0, "it is read again");
	is_int((long long)(after[1] - before[1]), 4000, "instructions are exact");
	is_int((long long)(after[2] - before[2]), 123, "loads are exact");
	is_int((long long)(after[3] - before[3]), spec->cost[CORE_MEMORY] / 100,
			"an access to memory costs its cycles");
	is_int((long long)(after[0] - before[0]),
			(long long)(4000 / spec->width +
					(spec->cost[CORE_L2] + spec->cost[CORE_L3] +
							spec->cost[CORE_MEMORY]) /
							100),
			"cycles are the sum of what was spent");
	group_disable(&group);
	core_add(mine, CORE_LOADS, 1000);
	group_enable(&group);
	core_add(mine, CORE_LOADS, 7);
	group_read(&group, after);
	is_int((long long)(after[2] - before[2]), 130,
			"what happens while it is disabled is not counted");
	group_close(&group);
	is_int(pmu->read(group.fd[0], after, sizeof(after)), -EBADF,
			"a closed group cannot be read");
}

static void test_limits(void)
{
	const struct event *events[GROUP_EVENTS_MAX];
	struct event unknown = raw(0xc0), software = { .type = PERF_TYPE_SOFTWARE };
	const struct event *const one[] = { &unknown }, *const other[] = { &software };
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE };
	struct group group;
	unsigned bad;
	int fd[EMULATED_COUNTERS];

	for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++)
		events[i] = &instructions;
	is_int(group_open(&group, pmu, events, EMULATED_COUNTERS, READ_SYSCALL, &bad), 0,
			"a group takes all counters");
	group_close(&group);
	for (unsigned i = 0; i < EMULATED_COUNTERS; i++)
		fd[i] = pmu->open(&attr, 0, i ? fd[0] : -1);
	is_int(pmu->open(&attr, 0, fd[0]), -EINVAL, "and no more");
	for (unsigned i = EMULATED_COUNTERS; i-- > 0;)
		pmu->close(fd[i]);
	is_int(group_open(&group, pmu, one, 1, READ_SYSCALL, &bad), -ENOENT,
			"an event of another processor is refused");
	is_int(group_open(&group, pmu, other, 1, READ_SYSCALL, &bad), -ENOENT,
			"and one of the kernel");
	is_int(pmu->open(&attr, 1, -1), -ESRCH, "a thread without a core is not counted");
	is_int(pmu->ioctl(3, PERF_EVENT_IOC_ENABLE, 0), -EBADF,
			"a descriptor of a file is none of its");
	attr.sample_period = 1000;
	is_int(pmu->open(&attr, 0, -1), -EOPNOTSUPP, "there are no samples");
}

int main(void)
{
	mine = &shared.thread[3].counts;
	shared.version = EMULATED_VERSION;
	atomic_store(&shared.thread[3].id, (uint64_t)syscall(SYS_gettid));
	ok(emulator_counts() < 0 && !emulated_pmu(), "this process is not in the emulator");
	pmu = emulated_pmu_of(&shared);
	is_str(pmu->brand, "emulated (core model out-of-order)", "the processor says what it is");
	test_group();
	test_limits();
	return tap_done();
}
