/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the counters of the emulator, over counts that the test itself writes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sampling/emulated/emulated_pmu.h"
#include "sampling/emulated/emulator.h"
#include "sampling/group.h"
#include "sampling/overflow.h"
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
	is_int(pmu->open(&attr, 0, -1), -EOPNOTSUPP, "without rings there are no samples");
}

/* ---- samples ---- */

#define PERIOD_NS 1000000

static struct emulated_counts *file_counts; /* in a file, with rings */
static struct emulated_thread *sampled;

static bool take_sample(uint64_t address)
{
	struct emulated_moment moment = { .address = address,
		.time = 7000 + address,
		.ran_ns = 500000 + address };

	return emulated_sample(&sampled->sampling,
			(unsigned char *)file_counts + emulated_ring_at(file_counts, sampled),
			core_spec_of(0), &sampled->counts, &moment);
}

/* Makes a file as that of the plugin, in which the calling thread has a place. */
static void make_file(void)
{
	int file = memfd_create("counts", MFD_CLOEXEC);

	if (file < 0 || ftruncate(file, (off_t)EMULATED_FILE_BYTES))
		abort();
	file_counts = mmap(NULL, EMULATED_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file_counts == MAP_FAILED)
		abort();
	sampled = &file_counts->thread[5];
	atomic_store(&sampled->id, (uint64_t)syscall(SYS_gettid));
	pmu = emulated_pmu_of(file_counts, file);
}

/* Checks the samples of two groups, which take turns. */
static void check_samples(struct overflow *overflow, struct group *groups)
{
	struct overflow_sample first, second, other;
	uint64_t values[2];

	ok(!take_sample(1), "a group that is not enabled is not sampled");
	group_enable(&groups[0]);
	core_add(&sampled->counts, CORE_LOADS, 100);
	ok(take_sample(0x1234), "an enabled one is");
	core_add(&sampled->counts, CORE_LOADS, 23);
	core_add(&sampled->counts, CORE_INSTRUCTIONS, 4000);
	take_sample(0x5678);
	is_int(group_read(&groups[0], values), 0, "a sampled group is read as before");
	group_disable(&groups[0]);
	core_add(&sampled->counts, CORE_LOADS, 1000);
	group_enable(&groups[1]);
	core_add(&sampled->counts, CORE_STORES, 9);
	take_sample(0x9abc);
	ok(overflow_peek(overflow, overflow_head(overflow), &first),
			"the first sample is in the ring");
	overflow_take(overflow);
	overflow_peek(overflow, overflow_head(overflow), &second);
	overflow_take(overflow);
	overflow_peek(overflow, overflow_head(overflow), &other);
	overflow_take(overflow);
	is_int((long long)first.address, 0x1234, "it has the address");
	is_int((long long)first.time, 7000 + 0x1234, "and the time");
	is_int((long long)(second.values[1] - first.values[1]), 23,
			"values are those of the group's events");
	is_int((long long)second.values[1], (long long)values[1], "as a read gives them");
	is_int((long long)(second.clock - first.clock), 0x5678 - 0x1234,
			"and the time that the thread ran");
	ok(first.id == second.id && first.id == groups[0].id[2] && other.id == groups[1].id[2],
			"the id of a sample tells its group");
	is_int((long long)other.values[1], 9, "the other group has its own events");
	ok(!overflow_peek(overflow, overflow_head(overflow), &first), "there are no more");
}

/* Fills the ring, and empties it. */
static void check_lost(struct overflow *overflow)
{
	struct overflow_sample sample;
	unsigned taken = 0, written = 2000, whole = 0;
	bool alike = true;

	for (unsigned i = 0; i < written; i++)
		take_sample(i);
	while (overflow_peek(overflow, overflow_head(overflow), &sample)) {
		alike &= sample.address == taken && !sample.lost;
		overflow_take(overflow);
		taken++;
	}
	ok(alike && taken > 100 && taken < written,
			"a full ring keeps its samples, of which %u are read", taken);
	take_sample(9);
	ok(overflow_peek(overflow, overflow_head(overflow), &sample), "then it takes more");
	is_int((long long)sample.lost, written - taken, "and says how many were lost");
	overflow_take(overflow);
	for (unsigned i = 0; i < 100 * taken; i++) {
		take_sample(i);
		whole += overflow_peek(overflow, overflow_head(overflow), &sample) &&
				sample.address == i;
		overflow_take(overflow);
	}
	is_int(whole, 100 * taken, "records are whole across the end of the ring");
}

/* A fork closes its copies, and the parent goes on being sampled. */
static void check_fork(struct group *group)
{
	pid_t child = fork();

	if (child == 0) {
		group_abandon(group);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	ok(take_sample(3),
			"a fork that closes its copy of a group leaves its parent's samples alone");
}

static void test_sizes(void)
{
	struct event more = raw(EMULATED_RAW_COUNT + CORE_MISSES_16);
	const struct event *const events[] = { &cycles, &instructions, &more };
	struct group group;
	uint64_t values[3];
	unsigned bad = 0;

	ok(group_open(&group, pmu, events, 3, READ_SYSCALL, &bad) != 0,
			"misses of another size are no event if sizes are not followed");
	shared.sizes = 1;
	is_int(group_open(&group, pmu, events, 3, READ_SYSCALL, &bad), 0, "and one if they are");
	group_enable(&group);
	core_add(mine, CORE_MISSES_16, 7);
	is_int(group_read(&group, values), 0, "which is read");
	is_int((long long)values[2], 7, "and exact");
	group_close(&group);
	shared.sizes = 0;
}

static void test_samples(void)
{
	struct event loads = raw(EMULATED_RAW_COUNT + CORE_LOADS),
		     stores = raw(EMULATED_RAW_COUNT + CORE_STORES);
	const struct event *const events[2][2] = { { &instructions, &loads },
		{ &cycles, &stores } };
	struct overflow overflow = { .page = NULL };
	struct group groups[2];
	unsigned bad;

	make_file();
	for (unsigned g = 0; g < 2; g++)
		group_open(&groups[g], pmu, events[g], 2, READ_SYSCALL, &bad);
	is_int(overflow_open(&overflow, &groups[0], PERIOD_NS, 680), 0, "samples are opened");
	is_int(overflow_add(&overflow, &groups[1], PERIOD_NS), 0, "those of a second group, too");
	ok(!overflow.stacks, "they have no callers");
	check_samples(&overflow, groups);
	check_lost(&overflow);
	check_fork(&groups[1]);
	/* as if the agent changed the group on another thread at this moment */
	atomic_fetch_add(&sampled->sampling.changes, 1);
	ok(!take_sample(4), "while the group changes, no sample is taken");
	atomic_fetch_add(&sampled->sampling.changes, 1);
	ok(take_sample(4), "and afterwards one is");
	overflow_close(&overflow);
	group_close(&groups[1]);
	ok(!take_sample(5), "a closed group is not sampled");
	group_close(&groups[0]);
}

int main(void)
{
	mine = &shared.thread[3].counts;
	shared.version = EMULATED_VERSION;
	atomic_store(&shared.thread[3].id, (uint64_t)syscall(SYS_gettid));
	ok(emulator_counts() < 0 && !emulated_pmu(), "this process is not in the emulator");
	pmu = emulated_pmu_of(&shared, -1);
	is_str(pmu->brand, "emulated (core model out-of-order)", "the processor says what it is");
	test_group();
	test_limits();
	test_sizes();
	test_samples();
	return tap_done();
}
