/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests groups on the scripted PMU, whose truth is known, and on the kernel's software events. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sampling/descriptor.h"
#include "sampling/group.h"
#include "sampling/rdpmc.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

#define FEW 1024 /* a low limit of descriptors */

static const struct event cycles = { .name = "cycles", .type = PERF_TYPE_RAW, .config = 0x76 };
static const struct event instructions = { .name = "instr", .type = PERF_TYPE_RAW, .config = 0xc0 };
static const struct event front_end = {
	.name = "fe",
	.type = PERF_TYPE_RAW,
	.config = 0x1000001a0,
};
static const struct event back_end = { .name = "be", .type = PERF_TYPE_RAW, .config = 0x100001ea0 };
static const struct event ops = { .name = "ops", .type = PERF_TYPE_RAW, .config = 0xc1 };
static const struct event dispatched = { .name = "disp", .type = PERF_TYPE_RAW, .config = 0x7aa };
static const struct event task_clock = {
	.name = "task-clock",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
};
static const struct event page_faults = {
	.name = "page-faults",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
};

static const struct event *const five[] = {
	&cycles,
	&instructions,
	&front_end,
	&back_end,
	&dispatched,
};
static const struct event *const six[] = {
	&cycles,
	&instructions,
	&front_end,
	&back_end,
	&dispatched,
	&ops,
};

/* Opens a group of five events that saves pages. Returns 0 or -errno. */
static int open_saving_pages(struct group *group)
{
	const struct group_spec spec = {
		.pmu = phasemux_pmu(),
		.events = five,
		.count = 5,
		.method = READ_SYSCALL,
		.save_pages = true,
	};
	unsigned bad;

	return group_open_on(group, &spec, &bad);
}

/* Counts one piece of work with a group. Returns false if the burst is lost. */
static bool count_work(struct group *group, const char *behaviour, uint64_t amount, uint64_t *delta)
{
	uint64_t before[GROUP_EVENTS_MAX], after[GROUP_EVENTS_MAX];

	return group_read(group, before) == 0 && scripted_pmu_work(behaviour, amount) == 0 &&
			group_read(group, after) == 0 &&
			group_delta(before, after, group->count, delta);
}

static void test_counts(void)
{
	const struct pmu *pmu = phasemux_pmu();
	uint64_t delta[GROUP_EVENTS_MAX];
	struct group group;
	unsigned bad;

	scripted_pmu_configure("spin=0");
	is_int(group_open(&group, pmu, five, 5, READ_RDPMC, &bad), 0, "a group of five opens");
	is_int(group.method, READ_SYSCALL, "without a page, read is the way");
	is_int(group_enable(&group), 0, "it is enabled");
	ok(count_work(&group, "triad", 1000000, delta), "it is read");
	is_near((double)delta[0], 2184000, 1, "cycles of a triad");
	is_near((double)delta[1], 1000000, 1, "its instructions");
	is_near((double)(delta[2] + delta[3] + delta[4]), 8.0 * 2184000, 4,
			"its slots are all accounted for");
	is_int(group_disable(&group), 0, "it is disabled");
	ok(count_work(&group, "chase", 1000, delta) && delta[0] == 0, "and stands still");
	group_close(&group);
}

static void test_sixth_reads_zero(void)
{
	uint64_t delta[GROUP_EVENTS_MAX] = { 0 };
	struct group group, other;
	unsigned bad;

	scripted_pmu_configure("spin=0");
	is_int(group_open(&group, phasemux_pmu(), six, 6, READ_SYSCALL, &bad), 0, "six open");
	group_enable(&group);
	ok(count_work(&group, "alu", 1000000, delta) && delta[4] > 0, "the fifth counts");
	is_int((long long)delta[5], 0, "the sixth counts nothing");
	is_int(group_open(&other, phasemux_pmu(), five, 1, READ_SYSCALL, &bad), 0, "another opens");
	group_enable(&other);
	is_int(group_read(&other, delta), -EIO, "and is not given a counter");
	group_disable(&other);
	group_disable(&group);
	group_enable(&other);
	is_int(group_read(&other, delta), 0, "but is when there is room again");
	group_close(&other);
	group_close(&group);
}

static void test_refused(void)
{
	static const struct {
		const char *settings;
		int error;
		unsigned bad;
	} cases[] = {
		{ "hardware=0", -ENOENT, 0 },
		{ "fail=open:3:EACCES", -EACCES, 2 },
		{ "fail=open:1:EPERM", -EPERM, 0 },
		{ "fail=open:5:EMFILE", -EMFILE, 4 },
		{ "opens=4", -EINVAL, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct group group;
		unsigned bad = 99;

		scripted_pmu_configure(cases[i].settings);
		is_int(group_open(&group, phasemux_pmu(), five, 5, READ_SYSCALL, &bad),
				cases[i].error, cases[i].settings);
		is_int(bad, cases[i].bad, "which event it was");
		is_int((long long)scripted_pmu_calls("close"), cases[i].bad, "the others close");
		group_close(&group);
	}
}

static void test_lost(void)
{
	static const struct {
		const char *settings;
		const char *name;
	} cases[] = {
		{ "spin=0,fail=read:2:EBADF", "a failing read loses the burst" },
		{ "spin=0,fail=read:2:short", "an empty read loses the burst" },
		{ "spin=0,jump=2", "a jump by 2^47 loses the burst" },
		{ "spin=0,back=2", "a counter that runs backwards loses the burst" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t delta[GROUP_EVENTS_MAX];
		struct group group;
		unsigned bad;

		scripted_pmu_configure(cases[i].settings);
		group_open(&group, phasemux_pmu(), five, 5, READ_SYSCALL, &bad);
		group_enable(&group);
		ok(!count_work(&group, "fma", 1000, delta), "%s", cases[i].name);
		if (i < 2)
			ok(count_work(&group, "fma", 1000, delta), "and the next one is good");
		group_close(&group);
	}
}

static void test_delta(void)
{
	const uint64_t limit = UINT64_C(1) << 46;
	uint64_t before[2] = { 10, 10 }, after[2] = { 11, 10 + limit }, delta[2];

	ok(group_delta(before, after, 2, delta) && delta[0] == 1, "a difference up to 2^46 can be");
	after[1]++;
	ok(!group_delta(before, after, 2, delta), "a larger one cannot");
	after[1] = 9;
	ok(!group_delta(before, after, 2, delta), "nor a negative one");
}

static void test_descriptors(void)
{
	uint64_t values[GROUP_EVENTS_MAX], after[GROUP_EVENTS_MAX];
	struct rlimit before, limit;
	struct group group, next;
	unsigned bad;
	int fd, other;

	/* at the highest limit, because no descriptor of a program can take the place of one above the limit */
	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ before.rlim_max, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	scripted_pmu_configure("spin=0");
	group_open(&group, phasemux_pmu(), five, 2, READ_SYSCALL, &bad);
	ok(group.fd[0] >= 512 && group.fd[1] >= 512, "descriptors are above 511");
	ok(fcntl(group.fd[0], F_GETFD) & FD_CLOEXEC, "and close on exec");
	group_enable(&group);
	close(group.fd[0]);
	is_int(group_read(&group, values), -EBADF, "a descriptor that the program closes is lost");
	other = eventfd(7, 0);
	fd = dup2(other, group.fd[0]);
	ok(group_read(&group, values) < 0, "and so is one that it reuses");
	group_close(&group);
	ok(fcntl(fd, F_GETFD) >= 0, "which stays open when the group is closed");
	close(fd);
	close(other);

	group_open(&group, phasemux_pmu(), five, 2, READ_SYSCALL, &bad);
	group_enable(&group);
	close(group.fd[0]);
	group_open(&next, phasemux_pmu(), five, 2, READ_SYSCALL, &bad);
	is_int(next.fd[0], group.fd[0], "what is opened next takes the place of what was closed");
	group_enable(&next);
	is_int(group_read(&group, values), -EBADF, "other counters in its place are not its own");
	is_int(group_disable(&group), -EBADF, "and are not stopped");
	ok(next.enabled && group_read(&next, values) == 0 && scripted_pmu_work("alu", 1000) == 0 &&
					group_read(&next, after) == 0 && after[1] > values[1],
			"they count on");
	group_close(&group);
	group_close(&next);
	setrlimit(RLIMIT_NOFILE, &before);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 8192; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/*
 * Abandons a group in a forked child. Pages are not part of a fork, and a child that unmapped them would unmap
 * something else.
 */
static int abandon_in_child(void *data)
{
	struct group *group = data;
	void *reused = NULL;
	unsigned before = open_descriptors();

	if (group->page[1])
		reused = mmap(group->page[1], 4096, PROT_READ,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	group_abandon(group);
	if (reused == MAP_FAILED) /* then the page was inherited */
		return 1;
	return open_descriptors() + 1 != before || (reused && *(volatile char *)reused != 0);
}

static void test_kernel_software(void)
{
	const struct event *const events[] = { &task_clock, &page_faults };
	unsigned descriptors = open_descriptors();
	uint64_t before[2], after[2], delta[2];
	struct group group;
	unsigned bad;
	int error = group_open(&group, pmu_kernel(), events, 2, READ_SYSCALL, &bad);
	char *memory;

	if (error) {
		skip("the kernel's software events", strerror(-error));
		return;
	}
	ok(group.fd[0] >= 512 && (fcntl(group.fd[0], F_GETFD) & FD_CLOEXEC),
			"the kernel's descriptors are lifted too");
	is_int(open_descriptors() - descriptors, 1, "a group holds one descriptor");
	is_int((long)group_bytes(&group), sysconf(_SC_PAGESIZE), "and a page for each other event");
	is_int(group_enable(&group), 0, "the kernel enables the group");
	is_int(group_read(&group, before), 0, "and reads it");
	memory = malloc(64 << 20);
	for (size_t i = 0; i < 64 << 20; i += 4096)
		((volatile char *)memory)[i] = 1;
	is_int(group_read(&group, after), 0, "twice");
	ok(group_delta(before, after, 2, delta), "the difference is possible");
	ok(delta[0] > 10000 && delta[0] < 10u * 1000000000u, "time passed");
	ok(delta[1] > 0, "pages were touched");
	free(memory);
	ok(tap_survives(abandon_in_child, &group, 10), "a child releases what it inherits");
	memcpy(before, after, sizeof(before));
	ok(group_read(&group, after) == 0 && after[0] > before[0], "and the parent counts on");
	group_close(&group);
	is_int(open_descriptors(), descriptors, "closed, it holds none");
}

static void *lift_many(void *data)
{
	int first = eventfd(0, EFD_CLOEXEC);

	for (int i = 0; i < 200; i++) {
		int fd = descriptor_lift(fcntl(first, F_DUPFD_CLOEXEC, 0));

		if (fd < FEW)
			*(_Atomic unsigned *)data += 1;
		close(fd);
	}
	close(first);
	return NULL;
}

/* The program can have all descriptors that its limit allows. */
static void test_above_limit(unsigned descriptors)
{
	struct rlimit before, limit;
	pthread_t thread[4];
	_Atomic unsigned below = 0;
	uint64_t delta[GROUP_EVENTS_MAX];
	struct group group;

	getrlimit(RLIMIT_NOFILE, &before);
	if (before.rlim_max < 2 * FEW) {
		skip("descriptors above the limit", "the hard limit is low");
		return;
	}
	limit = (struct rlimit){ FEW, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	is_int(open_saving_pages(&group), 0, "also if the limit is low");
	ok(group_bytes(&group) == 0, "without a page");
	is_int(open_descriptors() - descriptors, 5, "with five descriptors");
	ok(group.fd[0] >= FEW && group.fd[4] >= FEW, "that the program will not miss (%d ..)",
			group.fd[0]);
	group_enable(&group);
	ok(count_work(&group, "triad", 1000000, delta) && delta[1] == 1000000, "and it counts");
	group_close(&group);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, lift_many, &below);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	is_int(below, 0, "threads do so at the same time");
	getrlimit(RLIMIT_NOFILE, &limit);
	ok(limit.rlim_cur == FEW && limit.rlim_max == before.rlim_max, "the limit is as it was");
	setrlimit(RLIMIT_NOFILE, &before);
}

static int pages_below_limit(void *data)
{
	struct rlimit limit = { FEW, FEW };
	struct group group;
	unsigned descriptors = open_descriptors();

	(void)data;
	return setrlimit(RLIMIT_NOFILE, &limit) || open_saving_pages(&group) ||
			open_descriptors() - descriptors != 1 ||
			group_bytes(&group) != 4 * (size_t)sysconf(_SC_PAGESIZE);
}

/* A group without pages needs more descriptors, and a program's limit may allow few. */
static void test_saved_pages(void)
{
	unsigned descriptors = open_descriptors();
	struct rlimit before, limit;
	struct group group;

	scripted_pmu_configure("spin=0,pages=1");
	getrlimit(RLIMIT_NOFILE, &before);
	limit = (struct rlimit){ before.rlim_max, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur / 4 <= descriptors + 512) {
		skip("groups without pages", "the limit of descriptors is low");
	} else {
		is_int(open_saving_pages(&group), 0, "a group opens that saves pages");
		ok(group_bytes(&group) == 0 && group.method == READ_SYSCALL, "and has no page");
		is_int(open_descriptors() - descriptors, 5, "but five descriptors");
		group_close(&group);
	}
	setrlimit(RLIMIT_NOFILE, &before);
	test_above_limit(descriptors);
	ok(tap_survives(pages_below_limit, NULL, 10),
			"if the limit is low and cannot be raised, it has pages");
	is_int(scripted_pmu_open(), 0, "closed, it holds nothing");
}

static uint64_t fabricated_raw;
static unsigned fabricated_index;
static struct perf_event_mmap_page fabricated_page;
static unsigned fabricated_writes;

static uint64_t fabricated_read(uint32_t counter)
{
	fabricated_index = counter;
	if (fabricated_writes) { /* the kernel rewrites the page at the same time */
		fabricated_writes--;
		fabricated_page.lock += 2;
		fabricated_page.offset += 1000;
	}
	return fabricated_raw;
}

static void test_rdpmc(void)
{
	uint64_t value = 0;

	is_int((long long)rdpmc_extend(5, 48), 5, "a small count stays");
	is_int((long long)rdpmc_extend((UINT64_C(1) << 48) - 3, 48), -3, "48 bits are signed");
	is_int((long long)rdpmc_extend(UINT64_C(1) << 47, 48), -(1LL << 47), "their sign bit too");
	is_int((long long)rdpmc_extend(0xabcd000000000007, 40), 7, "higher bits are ignored");
	fabricated_page = (struct perf_event_mmap_page){
		.lock = 4,
		.index = 3,
		.offset = 100,
		.pmc_width = 48,
		.cap_user_rdpmc = 1,
	};
	fabricated_raw = 23;
	ok(rdpmc_read(&fabricated_page, fabricated_read, &value), "a page with a counter is read");
	is_int((long long)value, 123, "offset and counter are added");
	is_int(fabricated_index, 2, "the index counts from one");
	fabricated_raw = (UINT64_C(1) << 48) - 23;
	rdpmc_read(&fabricated_page, fabricated_read, &value);
	is_int((long long)value, 77, "a negative counter is subtracted");
	fabricated_raw = 1;
	fabricated_writes = 1;
	ok(rdpmc_read(&fabricated_page, fabricated_read, &value), "a page rewritten once is read");
	is_int((long long)value, 1101, "as it was afterwards");
	fabricated_writes = 1000000;
	ok(!rdpmc_read(&fabricated_page, fabricated_read, &value),
			"one that never rests is given up");
	fabricated_writes = 0;
	fabricated_page.index = 0;
	ok(!rdpmc_read(&fabricated_page, fabricated_read, &value), "no counter: ask the kernel");
	fabricated_page.index = 1;
	fabricated_page.cap_user_rdpmc = 0;
	ok(!rdpmc_read(&fabricated_page, fabricated_read, &value), "not allowed: ask the kernel");
}

/* A kernel whose pages may be read, while no event is on a counter. */
static struct perf_event_mmap_page pages[GROUP_EVENTS_MAX];
static unsigned mapped, unmapped, let_go;

static struct perf_event_mmap_page *map_page(int fd, size_t size, bool writable)
{
	(void)writable;
	(void)fd;
	(void)size;
	pages[mapped] = (struct perf_event_mmap_page){ .cap_user_rdpmc = 1, .pmc_width = 48 };
	return &pages[mapped++];
}

static void unmap_page(struct perf_event_mmap_page *page, size_t size)
{
	(void)page;
	(void)size;
	unmapped++;
}

/* Closes a descriptor. The event of a mapped page stays open. */
static int close_mapped(int fd)
{
	(void)fd;
	let_go++;
	return 0;
}

static void test_pages(void)
{
	struct pmu pmu = *phasemux_pmu();
	uint64_t delta[GROUP_EVENTS_MAX] = { 0 };
	struct group group;
	unsigned bad;

	pmu.map = map_page;
	pmu.unmap = unmap_page;
	pmu.close = close_mapped;
	scripted_pmu_configure("spin=0");
	is_int(group_open(&group, &pmu, five, 5, READ_RDPMC, &bad), 0, "a group with pages opens");
	is_int(group.method, READ_RDPMC, "and is read by them");
	is_int(let_go, 4, "the siblings' descriptors are let go");
	group_enable(&group);
	ok(count_work(&group, "fma", 1000000, delta) && delta[0] == 400000,
			"the kernel reads events that are on no counter");
	group_close(&group);
	is_int(unmapped, 5, "every page is unmapped");
	is_int(let_go, 5, "and the leader closed");
	scripted_pmu_forget();
	mapped = unmapped = let_go = 0;
	group_open(&group, &pmu, five, 5, READ_SYSCALL, &bad);
	is_int(mapped, 4, "a group that is read by system call needs no page of its leader");
	group_abandon(&group);
	is_int(unmapped, 0, "a forked child unmaps nothing");
	scripted_pmu_forget();
}

int main(void)
{
	test_counts();
	test_sixth_reads_zero();
	test_refused();
	test_lost();
	test_delta();
	test_descriptors();
	test_kernel_software();
	test_saved_pages();
	test_rdpmc();
	test_pages();
	return tap_done();
}
