/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the scripted PMU: its truth does not depend on what is counted, and its traps work. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "sampling/group.h"
#include "sampling/overflow.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

#define CYCLES 0x76

static const struct event cycles = { .name = "cycles", .type = PERF_TYPE_RAW, .config = CYCLES };
static const struct event ops = { .name = "ops", .type = PERF_TYPE_RAW, .config = 0xc1 };
static const struct event page_walks = { .name = "walks", .type = PERF_TYPE_RAW, .config = 0xf045 };

static void test_truth(void)
{
	const struct event *const pair[2][2] = { { &cycles, &ops }, { &cycles, &page_walks } };
	double counted[2] = { 0 }, truth[2];
	struct group groups[2];
	unsigned bad;

	scripted_pmu_configure("spin=0,noise=0.1");
	for (unsigned g = 0; g < 2; g++)
		group_open(&groups[g], phasemux_pmu(), pair[g], 2, READ_SYSCALL, &bad);
	truth[0] = scripted_pmu_total(PERF_TYPE_RAW, CYCLES);
	truth[1] = scripted_pmu_total(PERF_TYPE_RAW, 0xc1);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t before[2], after[2], delta[2];
		double total = scripted_pmu_total(PERF_TYPE_RAW, 0xc1);

		group_enable(&groups[i % 2]);
		group_read(&groups[i % 2], before);
		scripted_pmu_work(i % 3 ? "triad" : "chase", 10000);
		group_read(&groups[i % 2], after);
		group_disable(&groups[i % 2]);
		if (!group_delta(before, after, 2, delta))
			continue;
		counted[0] += (double)delta[0];
		/* what the other group would have counted */
		counted[1] += i % 2 ? scripted_pmu_total(PERF_TYPE_RAW, 0xc1) - total :
				      (double)delta[1];
	}
	truth[0] = scripted_pmu_total(PERF_TYPE_RAW, CYCLES) - truth[0];
	truth[1] = scripted_pmu_total(PERF_TYPE_RAW, 0xc1) - truth[1];
	/* each enabling adds 100 instructions: 15.2 cycles of an ALU loop */
	is_near(counted[0] / truth[0], 1, 1e-3, "what groups count in turn adds up to the truth");
	is_near(counted[1] / truth[1], 1, 0.02, "of an event of one group too");
	group_close(&groups[0]);
	group_close(&groups[1]);
}

static double spread(const char *settings, double *mean)
{
	double sum = 0, squares = 0, last;

	scripted_pmu_configure(settings);
	last = scripted_pmu_total(PERF_TYPE_RAW, CYCLES);
	for (unsigned i = 0; i < 2000; i++) {
		double now, cost;

		scripted_pmu_work("fma", 100000);
		now = scripted_pmu_total(PERF_TYPE_RAW, CYCLES);
		cost = now - last;
		last = now;
		sum += cost;
		squares += cost * cost;
	}
	*mean = sum / 2000;
	return sqrt(squares / 2000 - *mean * *mean) / *mean;
}

static void test_noise(void)
{
	double mean;

	is_near(spread("spin=0,noise=0.05", &mean), 0.05, 0.005, "the noise is as large as asked");
	is_near(mean / 40000, 1, 0.01, "and has no bias");
	ok(spread("spin=0", &mean) < 1e-6, "without it, work is always the same");
}

static void *work_apart(void *data)
{
	double before = scripted_pmu_total(PERF_TYPE_RAW, CYCLES);

	scripted_pmu_work("alu", 1000000);
	*(double *)data = scripted_pmu_total(PERF_TYPE_RAW, CYCLES) - before;
	return NULL;
}

static void test_threads(void)
{
	double mine, theirs = 0;
	pthread_t thread;

	scripted_pmu_configure("spin=0");
	mine = scripted_pmu_total(PERF_TYPE_RAW, CYCLES);
	pthread_create(&thread, NULL, work_apart, &theirs);
	pthread_join(thread, NULL);
	is_near(theirs, 152000, 1, "a thread's work is its own");
	is_near(scripted_pmu_total(PERF_TYPE_RAW, CYCLES), mine, 0, "and no other thread's");
}

static double seconds(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_time(void)
{
	const struct event *const events[] = { &cycles };
	uint64_t before[1], after[1];
	struct group group;
	double start;
	unsigned bad;

	scripted_pmu_configure("spin=1");
	start = seconds(CLOCK_MONOTONIC);
	scripted_pmu_work("fma", 50000000); /* 20 M cycles of 4 GHz: 5 ms */
	ok(seconds(CLOCK_MONOTONIC) - start >= 0.005, "work takes its virtual time");
	scripted_pmu_configure("auto=fma");
	group_open(&group, phasemux_pmu(), events, 1, READ_SYSCALL, &bad);
	group_enable(&group);
	group_read(&group, before);
	start = seconds(CLOCK_THREAD_CPUTIME_ID);
	while (seconds(CLOCK_THREAD_CPUTIME_ID) - start < 0.01)
		;
	group_read(&group, after);
	start = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
	/* the time of the reads is included */
	is_near((double)(after[0] - before[0]) / (start * 4e9), 1, 0.1,
			"auto: counts follow the thread's time on its processor");
	group_close(&group);
}

static void test_settings(void)
{
	static const char *const wrong[] = { "counters", "colour=red", "auto=sleep", "fail=open",
		"fail=open:0:EIO", "fail=dance:1:EIO", "fail=open:1:ENOTHING" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_int(scripted_pmu_configure(wrong[i]), -EINVAL, wrong[i]);
	is_int(scripted_pmu_work("sleep", 1), -EINVAL, "a behaviour that does not exist");
}

/* Tries to open an event, and closes it. Returns 0 or -errno. */
static int try_event(struct perf_event_attr attr)
{
	int fd = phasemux_pmu()->open(&attr, 0, -1);

	if (fd >= 0)
		phasemux_pmu()->close(fd);
	return fd < 0 ? fd : 0;
}

/* Each field that Linux 4.18 does not know is refused as that kernel does. */
static void test_old_kernel(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = CYCLES,
		.read_format = PERF_FORMAT_GROUP };
	struct perf_event_attr newer = attr;

	scripted_pmu_configure("spin=0,kernel=4.18");
	is_int(try_event(attr), 0,
			"4.18: a larger structure than that kernel's is taken if the rest is 0");
	newer.sig_data = 1;
	is_int(try_event(newer), -E2BIG, "4.18: sig_data is refused");
	newer = attr;
	newer.sigtrap = 1;
	is_int(try_event(newer), -EINVAL, "4.18: sigtrap is refused");
	newer = attr;
	newer.sample_type = PERF_SAMPLE_CGROUP;
	is_int(try_event(newer), -EINVAL, "4.18: PERF_SAMPLE_CGROUP is refused");
	newer = attr;
	newer.read_format |= 1 << 4; /* PERF_FORMAT_LOST */
	is_int(try_event(newer), -EINVAL, "4.18: PERF_FORMAT_LOST is refused");
	attr.size = PERF_ATTR_SIZE_VER0 - 1;
	is_int(try_event(attr), -E2BIG, "4.18: a smaller structure than the first is refused");
	scripted_pmu_configure("spin=0");
	newer.sigtrap = 1;
	newer.read_format = PERF_FORMAT_GROUP;
	is_int(try_event(newer), 0, "the newest kernel takes sigtrap");
}

/* What phasemux asks for is not more than Linux 4.18 knows, whatever kernel the headers are of. */
static void test_groups_on_old_kernels(void)
{
	const struct event *const events[] = { &cycles, &ops };
	struct overflow overflow = { 0 };
	struct group group;
	unsigned bad;

	scripted_pmu_configure("spin=0,kernel=4.18");
	is_int(group_open(&group, phasemux_pmu(), events, 2, READ_RDPMC, &bad), 0,
			"4.18: a group is opened");
	is_int(overflow_open(&overflow, &group, 1000000, 10), 0, "4.18: and sampled");
	overflow_close(&overflow);
	group_close(&group);
	scripted_pmu_configure("spin=0,kernel=4.0");
	is_int(group_open(&group, phasemux_pmu(), events, 2, READ_RDPMC, &bad), -EINVAL,
			"4.0: a group is refused, because that kernel has one clock for samples");
}

int main(void)
{
	test_truth();
	test_noise();
	test_threads();
	test_time();
	test_settings();
	test_old_kernel();
	test_groups_on_old_kernels();
	return tap_done();
}
