/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling/clock.h"
#include "sampling/overflow.h"

#define WORK_LOOPS   20000 /* some 20 us: tells a counter that counts from one that does not */
#define READS        21    /* number of reads for a median */
#define SWITCHES     9
#define SOFTWARE_SET 4 /* a group of software events as large as this is timed */

#define SAMPLES_EVERY_NS  50000  /* period of the samples that are timed */
#define SAMPLES_NS        500000 /* time for which they are taken */
#define HELD_UP_NS        300 /* shortest interruption of a loop of time stamps that may be a sample */
#define TAKEN_NS          500000 /* from here on another thread had the processor */
#define TAKEN_MAX         3 /* number of such times that are waited for, because they have no samples */
#define INTERRUPTIONS_MAX 64 /* number of interruptions that are kept */

/* ARM64 has no watchdog that takes a counter */
#if defined(__aarch64__)
#define WATCHDOG_HOLDS " holds them"
#else
#define WATCHDOG_HOLDS " or the NMI watchdog holds them (as root: sysctl kernel.nmi_watchdog=0)"
#endif

static int read_number(const char *path, int missing)
{
	FILE *file = fopen(path, "re");
	int number = missing;

	if (file) {
		if (fscanf(file, "%d", &number) != 1)
			number = missing;
		fclose(file);
	}
	return number;
}

static void do_some_work(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < WORK_LOOPS; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum)); /* keeps the loop */
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

/* Opens a group of `count` copies of an event; the further ones may be another event. */
static int open_copies(struct group *group, const struct pmu *pmu, const struct event *first,
		const struct event *further, unsigned count, enum read_method method)
{
	const struct event *events[GROUP_EVENTS_MAX] = { first };
	unsigned bad;

	for (unsigned i = 1; i < count; i++)
		events[i] = further;
	return group_open(group, pmu, events, count, method, &bad);
}

/*
 * Closes the group. Returns how many of its events from number `first` on count, or -errno: -EIO: they got no
 * counters. Counts are compared with each other, because the kernel's own "time running" is not reliable.
 */
static int try_group(struct group *group, unsigned first)
{
	uint64_t values[GROUP_EVENTS_MAX], most = 0;
	unsigned events = group->count;
	int error, counting = 0;

	error = group_enable(group);
	if (!error) {
		do_some_work();
		error = group_read(group, values);
	}
	group_close(group);
	if (error)
		return error;
	for (unsigned i = first; i < events; i++)
		if (values[i] > most)
			most = values[i];
	for (unsigned i = first; i < events && most > 0; i++)
		counting += values[i] > most / 2;
	return counting;
}

/* Returns how many of `copies` events that run together count, or -errno as in try_group. */
static int how_many_count(const struct pmu *pmu, const struct event *event, unsigned copies)
{
	struct group group;
	int error = open_copies(&group, pmu, event, event, copies, READ_SYSCALL);

	return error ? error : try_group(&group, 0);
}

static unsigned how_many_open(const struct pmu *pmu, const struct event *event)
{
	for (unsigned copies = GROUP_EVENTS_MAX; copies > 1; copies--) {
		struct group group;

		if (open_copies(&group, pmu, event, event, copies, READ_SYSCALL) == 0) {
			group_close(&group);
			return copies;
		}
	}
	return 1;
}

/* Pinned groups get all their counters or none, so a smaller one is tried until it gets them. */
static void probe_counters(struct probe *probe, const struct pmu *pmu, const struct event *event)
{
	probe->counters_open = how_many_open(pmu, event);
	for (unsigned copies = probe->counters_open; copies > 0; copies--) {
		int counting = how_many_count(pmu, event, copies);

		if (counting >= 0) {
			probe->counters = (unsigned)counting;
			return;
		}
		probe->counters_held++;
	}
}

/* Returns whether a group of the common events, and copies of the last one up to `events`, counts. */
static bool group_holds(const struct pmu *pmu, const struct event common[], unsigned count,
		unsigned events)
{
	const struct event *all[GROUP_EVENTS_MAX];
	struct group group;
	unsigned bad;

	for (unsigned i = 0; i < events; i++)
		all[i] = &common[i < count ? i : count - 1];
	return group_open(&group, pmu, all, events, READ_SYSCALL, &bad) == 0 &&
			try_group(&group, count - 1) == (int)(events - count + 1);
}

unsigned probe_capacity(const struct probe *probe, const struct pmu *pmu,
		const struct event common[], unsigned count)
{
	unsigned capacity = probe->counters;

	while (count > 0 && capacity >= count && capacity < GROUP_EVENTS_MAX &&
			group_holds(pmu, common, count, capacity + 1))
		capacity++;
	return capacity;
}

static double time_reads(struct group *group)
{
	uint64_t values[GROUP_EVENTS_MAX];
	double ns[READS];

	for (unsigned i = 0; i < READS; i++) {
		uint64_t start = clock_now();

		if (group_read(group, values) < 0)
			return 0;
		ns[i] = clock_ns(clock_now() - start);
	}
	return median(ns, READS);
}

/*
 * Returns the median time of a read in ns, while the group is enabled; 0: this machine does not have the
 * method.
 */
static double time_method(const struct pmu *pmu, const struct event *first,
		const struct event *further, unsigned count, enum read_method method)
{
	struct group group;
	double ns = 0;

	if (open_copies(&group, pmu, first, further, count, method) < 0)
		return 0;
	if (group.method == method && group_enable(&group) == 0 &&
			(method == READ_SYSCALL || group_read_by_pages(&group)))
		ns = time_reads(&group);
	group_close(&group);
	return ns;
}

static double time_switches(const struct pmu *pmu, const struct event *first,
		const struct event *further, unsigned count)
{
	double ns[SWITCHES], result = 0;
	struct group groups[2];

	if (open_copies(&groups[0], pmu, first, further, count, READ_SYSCALL) < 0)
		return 0;
	if (open_copies(&groups[1], pmu, first, further, count, READ_SYSCALL) < 0)
		goto out;
	if (group_enable(&groups[0]) < 0)
		goto out_both;
	for (unsigned i = 0; i < SWITCHES; i++) {
		uint64_t start = clock_now();

		if (group_disable(&groups[i % 2]) < 0 || group_enable(&groups[(i + 1) % 2]) < 0)
			goto out_both;
		ns[i] = clock_ns(clock_now() - start);
	}
	result = median(ns, SWITCHES);
out_both:
	group_close(&groups[1]);
out:
	group_close(&groups[0]);
	return result;
}

/*
 * Fills ns with the length of each interruption that may be a sample, the shortest first, while the thread has the
 * processor for the next SAMPLES_NS. Returns their number.
 */
static unsigned watch_interruptions(double *ns)
{
	uint64_t begin = clock_now(), before = begin, now = begin;
	uint64_t least = clock_ticks(HELD_UP_NS), most = clock_ticks(TAKEN_NS);
	uint64_t end = begin + clock_ticks(SAMPLES_NS);
	unsigned count = 0, taken = 0;

	for (; now < end && count < INTERRUPTIONS_MAX; before = now) {
		now = clock_now();
		if (now - before >= most)
			end += taken++ < TAKEN_MAX ? now - before : 0;
		else if (now - before >= least)
			ns[count++] = clock_ns(now - before);
	}
	qsort(ns, count, sizeof(*ns), compare_doubles);
	return count;
}

/*
 * Returns the time in ns that a sample takes from the thread; 0: not known. If there were n samples, they are
 * taken to be the n longest interruptions below TAKEN_NS. The result is the lower quartile of these, because a busy
 * machine has many longer interruptions.
 */
static double time_samples(const struct pmu *pmu, const struct event *first,
		const struct event *further, unsigned count)
{
	struct overflow overflow = { .page = NULL };
	double ns[INTERRUPTIONS_MAX], result = 0;
	struct group group;

	if (open_copies(&group, pmu, first, further, count, READ_SYSCALL) < 0)
		return 0;
	if (overflow_open(&overflow, &group, SAMPLES_EVERY_NS, SAMPLES_NS / SAMPLES_EVERY_NS) ==
					0 &&
			group_enable(&group) == 0) {
		unsigned held_up = watch_interruptions(ns), samples;

		group_disable(&group);
		samples = overflow_count(&overflow, overflow_head(&overflow), 0, UINT64_MAX,
				held_up);
		if (samples)
			result = ns[held_up - 1 - (samples - 1) * 3 / 4];
	}
	overflow_close(&overflow);
	group_close(&group);
	return result;
}

/*
 * Times a group like those that will be counted: `first` once, and another event on the other counters. The
 * cost of reads that trap differs much between events.
 */
static void probe_costs(struct probe *probe, const struct pmu *pmu, const struct event *first,
		const struct event *further, unsigned count)
{
	double by_syscall = time_method(pmu, first, further, count, READ_SYSCALL);
	double by_rdpmc = time_method(pmu, first, further, count, READ_RDPMC);

	if (by_rdpmc > 0 && (by_rdpmc < by_syscall || by_syscall == 0)) {
		probe->method = READ_RDPMC;
		probe->read_ns = by_rdpmc;
		probe->read_other_ns = by_syscall;
	} else {
		probe->method = READ_SYSCALL;
		probe->read_ns = by_syscall;
		probe->read_other_ns = by_rdpmc;
	}
	probe->switch_ns = time_switches(pmu, first, further, count);
	probe->sample_ns = time_samples(pmu, first, further, count);
}

static int try_open(const struct pmu *pmu, const struct event *event)
{
	struct group group;
	int error = open_copies(&group, pmu, event, event, 1, READ_SYSCALL);

	group_close(&group);
	return error;
}

void probe_run(struct probe *probe, const struct pmu *pmu, const struct event *event)
{
	static const struct event cycles = {
		.name = "cycles",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	static const struct event task_clock = {
		.name = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	memset(probe, 0, sizeof(*probe));
	probe->paranoid =
			read_number("/proc/sys/kernel/perf_event_paranoid", PROBE_PARANOID_UNKNOWN);
	probe->user_access =
			read_number("/proc/sys/kernel/perf_user_access", PROBE_USER_ACCESS_UNKNOWN);
	probe->software_errno = -try_open(pmu, &task_clock);
	probe->software = probe->software_errno == 0;
	probe->hardware_errno = -try_open(pmu, event);
	probe->cycles = try_open(pmu, &cycles) == 0;
	if (probe->hardware_errno == 0) {
		probe_counters(probe, pmu, event);
		probe->hardware = probe->counters > 0;
		if (!probe->hardware)
			probe->hardware_errno = EBUSY;
	}
	if (probe->hardware) {
		probe_costs(probe, pmu, event, probe->cycles ? &cycles : event, probe->counters);
	} else if (probe->software) {
		probe_costs(probe, pmu, &task_clock, &task_clock, SOFTWARE_SET);
	}
}

/* Returns what prevents counting, and what to change, by the error of opening a hardware event. */
static const char *explanation(const struct probe *probe, bool hypervisor)
{
	switch (probe->hardware_errno) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (probe->cycles)
			return "the kernel counts cycles on this processor and no instructions, but both "
			       "are needed (a virtual machine of QEMU without KVM has instructions "
			       "with -icount only)";
		if (hypervisor)
			return "this virtual machine has no hardware counters; its host must pass "
			       "them on (KVM: -cpu host,pmu=on; clouds: a bare-metal or "
			       "whole-socket instance)";
		return "the kernel drives no hardware counters on this processor; a kernel that "
		       "knows it would (see dmesg for 'Performance Events')";
	case EACCES:
		if (probe->paranoid > 2)
			return "the kernel forbids counting; as root: sysctl "
			       "kernel.perf_event_paranoid=2, or give CAP_PERFMON";
		return "a security module or container forbids counting, though "
		       "perf_event_paranoid does not; give CAP_PERFMON";
	case EPERM:
	case ENOSYS:
		if (probe->paranoid == PROBE_PARANOID_UNKNOWN)
			return "this kernel was built without CONFIG_PERF_EVENTS";
		return "a seccomp filter forbids perf_event_open; containers: a profile that "
		       "allows it (--security-opt seccomp=FILE) or --cap-add PERFMON";
	case EINVAL:
	case E2BIG:
		return "the kernel does not know what phasemux asks perf_event_open for, or is older than "
		       "Linux 4.1";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left for a counter; raise ulimit -n";
	case EBUSY:
		if (probe->counters_held == 0)
			return "counters open but count nothing: a fault of the (virtual) machine";
		return "counters open, but the kernel gives none to phasemux: another profiler" WATCHDOG_HOLDS;
	}
	return NULL;
}

void probe_explain(const struct probe *probe, bool hypervisor, char *text, size_t size)
{
	const char *reason;

	if (probe->hardware) {
		if (size)
			text[0] = '\0';
		return;
	}
	reason = explanation(probe, hypervisor);
	if (reason)
		snprintf(text, size, "%s", reason);
	else
		snprintf(text, size, "hardware counters cannot be opened: %s",
				strerror(probe->hardware_errno));
}
