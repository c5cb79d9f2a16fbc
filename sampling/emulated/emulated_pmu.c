/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/emulated/emulated_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/clock.h"
#include "sampling/descriptor.h"
#include "sampling/emulated/emulator.h"
#include "sampling/processor.h"

#define EVENTS_MAX       32768
#define MEMBERS_MAX      (EMULATED_COUNTERS + 1) /* with the event that samples the group */
#define FIRST_DESCRIPTOR (1 << 30) /* the kernel gives no number from here on (fs.nr_open) */

/* An event. Its group, which the first member leads, belongs to one thread, or is passed on by a lock. */
struct event {
	atomic_bool used;
	uint64_t id;
	pid_t process; /* that has opened it; its forks must not change what the thread samples */
	struct emulated_thread *thread;
	bool of_part; /* it counts the cycles of a part, else a kind of events */
	unsigned which;
	unsigned number;    /* of the total, as of core_totals; of a sampling event CORE_TOTALS */
	uint64_t period_ns; /* of a sampling event, which counts the processor time; 0: it is none */
	uint64_t start, counted; /* the total when it was enabled, and what was counted before */
	int leader;              /* number of the first member */
	/* fields of the first member */
	bool enabled;
	unsigned members;
	int member[MEMBERS_MAX];
};

static struct emulated_counts *shared;
static struct event events[EVENTS_MAX];
static _Atomic unsigned hint;
static _Atomic uint64_t last_id;
static char brand[64];
static int records = -1; /* the file of EMULATED_READS; -1: none */
static int file_of_test = -1;

/* Finds what an event counts. Returns false if the core does not count it. CORE_PARTS: all cycles. */
static bool event_find(uint32_t type, uint64_t config, bool *of_part, unsigned *which)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		bool of_part;
		unsigned which;
	} generic[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, CORE_PARTS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, CORE_INSTRUCTIONS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false, CORE_L2_MISSES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false, CORE_L3_MISSES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false, CORE_BRANCHES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false, CORE_MISPREDICTED },
		{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, false, CORE_LOADS },
	};

	if (type == PERF_TYPE_RAW) {
		*of_part = config >= EMULATED_RAW_PART;
		*which = (unsigned)config & 0xff;
		return config >> 8 == (*of_part ? EMULATED_RAW_PART : EMULATED_RAW_COUNT) >> 8 &&
				*which < (*of_part ? (unsigned)CORE_PARTS : (unsigned)CORE_COUNTS);
	}
	for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++)
		if (generic[i].type == type && generic[i].config == config) {
			*of_part = generic[i].of_part;
			*which = generic[i].which;
			return true;
		}
	return false;
}

/* Returns the event of a descriptor, or NULL. */
static struct event *event_of(int fd)
{
	if (fd < FIRST_DESCRIPTOR || fd >= FIRST_DESCRIPTOR + EVENTS_MAX ||
			!atomic_load(&events[fd - FIRST_DESCRIPTOR].used))
		return NULL;
	return &events[fd - FIRST_DESCRIPTOR];
}

static struct emulated_thread *thread_of(pid_t tid)
{
	uint64_t id = tid ? (uint64_t)tid : (uint64_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < EMULATED_THREADS; i++)
		if (atomic_load(&shared->thread[i].id) == id)
			return &shared->thread[i];
	return NULL;
}

/* Returns the number of an event that was free, or -EMFILE. */
static int take_event(void)
{
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		unsigned index = atomic_fetch_add(&hint, 1) % EVENTS_MAX;
		bool used = false;

		if (atomic_compare_exchange_strong(&events[index].used, &used, true))
			return (int)index;
	}
	return -EMFILE;
}

/* Adds an event to its group, or makes it the first of a group. Returns its descriptor. */
static int add_event(int index, struct event *leader, struct emulated_thread *thread)
{
	struct event *event = &events[index];

	event->id = atomic_fetch_add(&last_id, 1) + 1;
	event->process = getpid();
	event->thread = thread;
	event->start = event->counted = 0;
	event->enabled = false;
	event->members = 0;
	event->leader = leader ? leader->leader : index;
	leader = &events[event->leader];
	leader->member[leader->members++] = index;
	return FIRST_DESCRIPTOR + index;
}

/* Returns the file with the counts and the rings, or -1 if it has no rings or the program has closed it. */
static int ring_file(void)
{
	int file = file_of_test >= 0 ? file_of_test : emulator_counts();
	struct stat status;

	return file >= 0 && fstat(file, &status) == 0 &&
					status.st_size >= (off_t)EMULATED_FILE_BYTES ?
			file :
			-1;
}

/* Opens the event that samples a group. Returns its descriptor, or -errno. */
static int open_sampling(const struct perf_event_attr *attr, struct event *leader)
{
	int index;

	if (!leader || attr->type != PERF_TYPE_SOFTWARE ||
			attr->config != PERF_COUNT_SW_CPU_CLOCK ||
			attr->sample_type & PERF_SAMPLE_CALLCHAIN || ring_file() < 0)
		return -EOPNOTSUPP;
	leader = &events[leader->leader];
	if (leader->members == MEMBERS_MAX)
		return -EINVAL;
	index = take_event();
	if (index < 0)
		return index;
	events[index].number = CORE_TOTALS;
	events[index].period_ns = attr->sample_period;
	return add_event(index, leader, leader->thread);
}

static int emulated_open(struct perf_event_attr *attr, pid_t tid, int group_fd)
{
	struct event *leader = group_fd >= 0 ? event_of(group_fd) : NULL, *event;
	struct emulated_thread *thread = thread_of(tid);
	unsigned which;
	bool of_part;
	int index;

	if (group_fd >= 0 && !leader)
		return -EBADF;
	if (attr->sample_period)
		return open_sampling(attr, leader);
	if (!event_find(attr->type, attr->config, &of_part, &which) ||
			(!of_part && which >= CORE_MISSES_HALF && !shared->sizes))
		return -ENOENT;
	if (leader && leader->members == EMULATED_COUNTERS)
		return -EINVAL;
	if (!thread)
		return -ESRCH;
	index = take_event();
	if (index < 0)
		return index;
	event = &events[index];
	event->of_part = of_part;
	event->which = which;
	event->number = of_part ? CORE_COUNTS + which : which;
	event->period_ns = 0;
	return add_event(index, leader, thread);
}

/*
 * Copies the counts of a thread. Misses of outer caches come first: they are counted after those of inner
 * ones.
 */
static void look(const struct emulated_thread *thread, uint64_t count[CORE_COUNTS])
{
	for (unsigned i = CORE_COUNTS; i-- > 0;)
		count[i] = atomic_load_explicit(&thread->counts.count[i], memory_order_acquire);
}

static uint64_t total_of(const struct core_spec *spec, bool of_part, unsigned which,
		const uint64_t count[CORE_COUNTS])
{
	if (!of_part)
		return count[which];
	return which == CORE_PARTS ? core_cycles_all(spec, count) :
				     core_cycles(spec, count, (enum core_part)which);
}

static uint64_t total(const struct event *event, const uint64_t count[CORE_COUNTS])
{
	return total_of(core_spec_of((unsigned)shared->core), event->of_part, event->which, count);
}

bool emulated_counts_event(uint32_t type, uint64_t config)
{
	unsigned which;
	bool of_part;

	return event_find(type, config, &of_part, &which);
}

uint64_t emulated_total(const struct core_spec *spec, uint32_t type, uint64_t config,
		const uint64_t count[CORE_COUNTS])
{
	unsigned which;
	bool of_part;

	return event_find(type, config, &of_part, &which) ? total_of(spec, of_part, which, count) :
							    0;
}

/* Appends the counts of a read to the file. One write is not mixed with those of other threads and processes. */
static void record(const struct emulated_thread *thread, const uint64_t count[CORE_COUNTS])
{
	struct emulated_record record = { .thread = atomic_load(&thread->id) };
	ssize_t written;

	memcpy(record.count, count, sizeof(record.count));
	written = write(records, &record, sizeof(record));
	(void)written; /* the reader finds that it is missing */
}

static uint64_t total_now(const struct event *event, const uint64_t count[CORE_COUNTS])
{
	return event->period_ns ? clock_thread_ns((pid_t)atomic_load(&event->thread->id)) :
				  total(event, count);
}

static void store_field(_Atomic uint64_t *field, uint64_t value)
{
	/* pairs with the acquire in emulated_samples.c: `changes` is odd before */
	atomic_store_explicit(field, value, memory_order_release);
}

/* Says what the plugin samples of the group's thread from now on. leader: that of the enabled group; NULL: nothing. */
static void publish(struct emulated_sampling *sampling, const struct event *leader)
{
	uint64_t changes = atomic_load_explicit(&sampling->changes, memory_order_relaxed);
	unsigned members = 0;

	store_field(&sampling->changes, changes + 1);
	store_field(&sampling->period_ns, 0);
	for (unsigned i = 0; leader && i < leader->members; i++) {
		const struct event *event = &events[leader->member[i]];

		if (event->period_ns) {
			store_field(&sampling->id, event->id);
			store_field(&sampling->clock_offset, event->counted - event->start);
			store_field(&sampling->period_ns, event->period_ns);
		} else {
			store_field(&sampling->member[members].number, event->number);
			store_field(&sampling->member[members++].offset,
					event->counted - event->start);
		}
	}
	store_field(&sampling->members, members);
	store_field(&sampling->changes, changes + 2);
}

static bool is_sampled(const struct event *leader)
{
	return leader->members && events[leader->member[leader->members - 1]].period_ns;
}

static void enable(struct event *leader)
{
	uint64_t count[CORE_COUNTS];

	if (leader->enabled)
		return;
	look(leader->thread, count);
	for (unsigned i = 0; i < leader->members; i++) {
		struct event *event = &events[leader->member[i]];

		event->start = total_now(event, count);
	}
	leader->enabled = true;
	if (is_sampled(leader))
		publish(&leader->thread->sampling, leader);
}

static void disable(struct event *leader)
{
	uint64_t count[CORE_COUNTS];

	if (!leader->enabled)
		return;
	if (is_sampled(leader))
		publish(&leader->thread->sampling, NULL);
	look(leader->thread, count);
	for (unsigned i = 0; i < leader->members; i++) {
		struct event *event = &events[leader->member[i]];

		event->counted += total_now(event, count) - event->start;
	}
	leader->enabled = false;
}

static int emulated_ioctl(int fd, unsigned long request, unsigned long argument)
{
	struct event *event = event_of(fd);

	if (!event)
		return -EBADF;
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		enable(&events[event->leader]);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		disable(&events[event->leader]);
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)argument = event->id;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		/* all events of a thread sample into its one ring */
		return event->period_ns ? 0 : -EINVAL;
	}
	return -ENOTTY;
}

/*
 * Reads the group as the kernel does for PERF_FORMAT_GROUP | PERF_FORMAT_ID. The instructions of this function are
 * counted in the burst. Therefore it executes as many of them for every group: bursts whose groups differ would
 * else differ in instructions, and estimates that follow these would be wrong.
 */
static ssize_t emulated_read(int fd, void *buf, size_t size)
{
	/* the last total is that of a sampling event, whose value is in no reading */
	uint64_t count[CORE_COUNTS], totals[CORE_TOTALS + 1] = { 0 }, nowhere[2];
	const struct event *leader = event_of(fd);
	uint64_t *out = buf;

	if (!leader)
		return -EBADF;
	leader = &events[leader->leader];
	if (size < (1 + 2 * leader->members) * sizeof(*out))
		return -ENOSPC;
	look(leader->thread, count);
	if (records >= 0)
		record(leader->thread, count);
	core_totals(core_spec_of((unsigned)shared->core), count, totals);
	*out++ = leader->members;
	for (unsigned i = 0; i < MEMBERS_MAX; i++) {
		bool is_member = i < leader->members;
		const struct event *event = &events[leader->member[is_member ? i : 0]];
		uint64_t *to = is_member ? out + 2 * (size_t)i : nowhere;

		to[0] = event->counted +
				(leader->enabled ? totals[event->number] - event->start : 0);
		to[1] = event->id;
	}
	return (ssize_t)((1 + 2 * leader->members) * sizeof(*out));
}

static int emulated_close(int fd)
{
	struct event *event = event_of(fd), *leader;

	if (!event)
		return -EBADF;
	leader = &events[event->leader];
	if (leader->enabled && is_sampled(leader) && event->process == getpid())
		publish(&leader->thread->sampling, NULL);
	for (unsigned i = 0; i < leader->members; i++)
		if (&events[leader->member[i]] == event)
			leader->member[i--] = leader->member[--leader->members];
	atomic_store(&event->used, false);
	return 0;
}

/* Maps the ring of a sampling event's thread, empty. */
static struct perf_event_mmap_page *emulated_map(int fd, size_t size, bool writable)
{
	const struct event *event = event_of(fd);
	size_t bytes = size - EMULATED_PAGE_BYTES;
	struct perf_event_mmap_page *page;

	if (!event || !event->period_ns || !writable || size <= EMULATED_PAGE_BYTES ||
			size > EMULATED_RING_SPACE || bytes & (bytes - 1))
		return NULL;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring_file(),
			(off_t)emulated_ring_at(shared, event->thread));
	if (page == MAP_FAILED)
		return NULL;
	page->data_head = page->data_tail = 0;
	atomic_store(&event->thread->sampling.lost, 0);
	atomic_store(&event->thread->sampling.ring_bytes, bytes);
	return page;
}

static void emulated_unmap(struct perf_event_mmap_page *page, size_t size)
{
	munmap(page, size);
}

const struct pmu *emulated_pmu_of(struct emulated_counts *counts, int file)
{
	static const struct pmu pmu = {
		.open = emulated_open,
		.read = emulated_read,
		.ioctl = emulated_ioctl,
		.close = emulated_close,
		.map = emulated_map,
		.unmap = emulated_unmap,
		.processor = "emulated-1-0",
		.brand = brand,
	};

	shared = counts;
	file_of_test = file;
	snprintf(brand, sizeof(brand), PROCESSOR_EMULATED "%s)",
			core_spec_of((unsigned)counts->core)->name);
	return &pmu;
}

/* Opens the file of EMULATED_READS. */
static void open_records(void)
{
	const char *path = getenv(EMULATED_READS);
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		records = descriptor_lift(fd);
}

const struct pmu *emulated_pmu(void)
{
	struct emulated_counts *counts;
	int fd;

	if (shared)
		return emulated_pmu_of(shared, file_of_test);
	fd = emulator_counts();
	if (fd < 0)
		return NULL;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return NULL;
	if (counts->version != EMULATED_VERSION || counts->core >= core_spec_count()) {
		munmap(counts, sizeof(*counts));
		return NULL;
	}
	open_records();
	return emulated_pmu_of(counts, -1);
}
