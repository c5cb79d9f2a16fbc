/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/pmu/scripted_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/descriptor.h"
#include "tests/pmu/scripted_inside.h"

#define EVENTS_MAX 8192
#define GROUP_MAX  9
#define COOKIE     UINT64_C(0x5c41b7ed91)
/* number of instructions between the enabling of a group and its first read */
#define ENABLE_WORK 100

struct event {
	atomic_bool used; /* read without the lock by holders of the descriptor */
	bool enabled, counts, hardware;
	uint64_t id, read_format;
	pid_t pid;
	int fd;
	struct scripted_thread *thread;
	unsigned row;
	double start;    /* the total when it was enabled */
	double gathered; /* counts of earlier times when it was enabled */
	uint64_t skew;   /* added by jumps */
	/* fields of the leader */
	bool in_error;
	int leader;
	unsigned members, taken;
	int member[GROUP_MAX];
	/* fields of an event that samples */
	uint64_t period;  /* ns; 0: it does not sample */
	bool stacks;      /* its samples have callers */
	uint64_t samples; /* number of samples, written or not */
	double sampled;   /* ns of work since the last one, while it was enabled */
	int output;       /* the event whose ring receives the samples: itself or another one */
	struct scripted_ring *ring;
	void *page; /* with "pages": its mapping, which keeps the event alive without a descriptor */
};

/* Content of a descriptor's file, by which closed and reused descriptors are recognised. */
struct cookie {
	uint64_t magic, index;
};

struct scripted_settings scripted_settings;
unsigned scripted_slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct event events[EVENTS_MAX];
static unsigned event_hint;
static uint64_t last_id; /* protected by the lock, as the events are */
static _Atomic uint64_t calls[CALLS];
static struct pmu table;

/* ---- settings and injected failures ---- */

static void apply(const struct scripted_settings *next)
{
	static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };

	scripted_settings = *next;
	scripted_slots = strncmp(scripted_settings.processor, "AuthenticAMD-25-", 16) == 0 ? 6 : 8;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		const char *rank = getenv(ranks[i]);

		if (rank) {
			scripted_settings.seed += 1000003 * strtoull(rank, NULL, 10);
			break;
		}
	}
	for (unsigned i = 0; i < CALLS; i++)
		atomic_store(&calls[i], 0);
}

static void read_settings(void)
{
	struct scripted_settings next;

	scripted_settings_parse(&next, getenv("SCRIPTED_PMU"));
	apply(&next);
}

void scripted_start(void)
{
	pthread_once(&once, read_settings);
}

/* Counts the call. Returns the error to fail with, or 0. */
static int injected(enum scripted_call call)
{
	uint64_t nth = atomic_fetch_add(&calls[call], 1) + 1;

	if (call == CALL_OPEN && nth == 1 && scripted_settings.pause)
		usleep((useconds_t)scripted_settings.pause * 1000);
	for (unsigned i = 0; i < scripted_settings.failures; i++) {
		const struct scripted_failure *failure = &scripted_settings.failure[i];

		if (failure->call == call &&
				(nth == failure->nth || (failure->onwards && nth > failure->nth)))
			return failure->error;
	}
	return 0;
}

int scripted_pmu_configure(const char *text)
{
	struct scripted_settings next;
	int error = scripted_settings_parse(&next, text);

	scripted_start();
	if (!error)
		apply(&next);
	return error;
}

uint64_t scripted_pmu_calls(const char *call)
{
	int number = scripted_call_number(call);

	return number < 0 ? 0 : atomic_load(&calls[number]);
}

/* ---- counters ---- */

/*
 * Descriptors are used by system calls of the kernel. Those of the C library are points of cancellation, and a
 * PMU must have none.
 */

/*
 * Returns the event behind a descriptor, or NULL with errno if the descriptor is not (or no longer) that of an
 * event.
 */
static struct event *event_of(int fd)
{
	struct cookie cookie;
	ssize_t got = syscall(SYS_pread64, fd, &cookie, sizeof(cookie), 0);
	struct event *event;

	if (got < 0) {
		if (errno != EBADF)
			errno = ENOTTY;
		return NULL;
	}
	errno = ENOTTY;
	if (got != sizeof(cookie) || cookie.magic != COOKIE || cookie.index >= EVENTS_MAX)
		return NULL;
	event = &events[cookie.index];
	return event->used ? event : NULL;
}

/* Reports a child that does more than it may. It may ask what a descriptor is, and close it. */
static void check_owner(const struct event *event)
{
	if (scripted_settings.strict && event->pid != getpid())
		fprintf(stderr, "scripted PMU: a forked child uses its parent's counter %d\n",
				event->fd);
}

static int make_descriptor(uint64_t index)
{
	struct cookie cookie = { .magic = COOKIE, .index = index };
	int fd = memfd_create("scripted-pmu", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (syscall(SYS_write, fd, &cookie, sizeof(cookie)) != sizeof(cookie)) {
		syscall(SYS_close, fd);
		return -ENOSPC;
	}
	return descriptor_lift(fd);
}

static int free_event(void)
{
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		unsigned index = (event_hint + i) % EVENTS_MAX;

		if (!events[index].used) {
			event_hint = index + 1;
			return (int)index;
		}
	}
	return -EMFILE;
}

/* Returns the error with which the kernel would refuse this event, or 0. */
static int refusal(const struct perf_event_attr *attr, const struct event *leader)
{
	unsigned hardware = attr->type != PERF_TYPE_SOFTWARE;
	int error = scripted_settings.kernel ?
			scripted_kernel_refuses(scripted_settings.kernel, attr) :
			0;

	if (error)
		return error;
	if (!scripted_event_exists(attr->type, attr->config) ||
			(!scripted_settings.hardware && hardware))
		return ENOENT;
	if ((attr->read_format & ~(uint64_t)PERF_FORMAT_ID) != PERF_FORMAT_GROUP ||
			(attr->sample_period && hardware))
		return EOPNOTSUPP;
	/* the work of a real program is only seen when its counters are read */
	if (attr->sample_period && scripted_settings.autos)
		return EOPNOTSUPP;
	if (!leader)
		return 0;
	if (leader->members == GROUP_MAX)
		return EINVAL;
	for (unsigned i = 0; i < leader->members; i++)
		hardware += events[leader->member[i]].hardware;
	return hardware > scripted_settings.opens ? EINVAL : 0;
}

static int scripted_open(struct perf_event_attr *attr, pid_t tid, int group_fd)
{
	int error = injected(CALL_OPEN), index, fd;
	struct event *leader = NULL, *event;
	struct scripted_thread *thread = tid ? scripted_other(tid) : scripted_myself();
	unsigned row;

	if (error > 0)
		return -error;
	if (!thread)
		return tid ? -ESRCH : -ENOMEM;
	if (group_fd >= 0 && !(leader = event_of(group_fd)))
		return -EBADF;
	error = refusal(attr, leader);
	if (error)
		return -error;
	row = scripted_row(attr->type, attr->config);
	if (row == SCRIPTED_ROWS_MAX)
		return -ENOSPC;
	pthread_mutex_lock(&lock);
	fd = index = free_event();
	if (index >= 0)
		fd = make_descriptor((uint64_t)index);
	if (fd >= 0) {
		event = &events[index];
		*event = (struct event){
			.id = ++last_id,
			.read_format = attr->read_format,
			.pid = getpid(),
			.fd = fd,
			.thread = thread,
			.row = row,
			.hardware = attr->type != PERF_TYPE_SOFTWARE,
			.leader = leader ? leader->leader : index,
			.period = attr->sample_period,
			.stacks = attr->sample_type & PERF_SAMPLE_CALLCHAIN,
			.output = index,
		};
		leader = &events[event->leader];
		scripted_lock(thread);
		leader->member[leader->members++] = index;
		event->used = true;
		scripted_unlock(thread);
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

static void stop_event(struct event *event)
{
	if (event->enabled && event->counts)
		event->gathered += event->thread->total[event->row] - event->start;
	event->enabled = false;
}

static void disable(struct event *leader)
{
	struct scripted_thread *thread = leader->thread;

	if (!leader->enabled && !leader->in_error)
		return;
	for (unsigned i = 0; i < leader->members; i++)
		stop_event(&events[leader->member[i]]);
	leader->enabled = leader->in_error = false;
	thread->busy -= leader->taken;
	leader->taken = 0;
	for (unsigned i = 0; i < thread->enabled_groups; i++)
		if (thread->enabled[i] == leader->leader)
			thread->enabled[i--] = thread->enabled[--thread->enabled_groups];
}

/* Frees the counters of each group whose leader's descriptor the program has closed. */
static void drop_closed_groups(struct scripted_thread *thread)
{
	for (unsigned i = thread->enabled_groups; i-- > 0;) {
		struct event *leader = &events[thread->enabled[i]];

		if (event_of(leader->fd) != leader) {
			disable(leader);
			leader->used = false;
		}
	}
}

static int enable(struct event *leader)
{
	struct scripted_thread *thread = leader->thread;
	unsigned wanted = 0, slot;

	if (leader->enabled)
		return 0;
	drop_closed_groups(thread);
	for (unsigned i = 0; i < leader->members; i++)
		wanted += events[leader->member[i]].hardware;
	if (thread->enabled_groups == SCRIPTED_ENABLED_MAX)
		return -ENOSPC;
	leader->in_error = wanted > 0 &&
			wanted + scripted_settings.held + thread->busy > scripted_settings.opens;
	if (leader->in_error) /* the call succeeds, and reads will fail */
		return 0;
	slot = thread->busy;
	for (unsigned i = 0; i < leader->members; i++) {
		struct event *event = &events[leader->member[i]];

		/* the trap: the highest counters can be opened, run all the time, and count nothing */
		event->counts = !event->hardware || slot < scripted_settings.counters;
		slot += event->hardware;
		event->start = thread->total[event->row];
		event->enabled = true;
	}
	leader->taken = wanted;
	thread->busy += wanted;
	thread->enabled[thread->enabled_groups++] = leader->leader;
	scripted_work(thread, (unsigned)scripted_behaviour_number("alu"), ENABLE_WORK);
	return 0;
}

static int scripted_ioctl(int fd, unsigned long request, unsigned long argument)
{
	int error = injected(CALL_IOCTL);
	struct event *event;

	if (error > 0)
		return -error;
	event = event_of(fd);
	if (!event)
		return -errno;
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		check_owner(event);
		scripted_lock(event->thread);
		scripted_catch_up(event->thread);
		error = enable(&events[event->leader]);
		scripted_unlock(event->thread);
		return error;
	case PERF_EVENT_IOC_DISABLE:
		check_owner(event);
		scripted_lock(event->thread);
		scripted_catch_up(event->thread);
		disable(&events[event->leader]);
		scripted_unlock(event->thread);
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)argument = event->id;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT: {
		struct event *output = event_of((int)argument);

		if (!output || !output->ring || output->thread != event->thread)
			return -EINVAL;
		event->output = output->output;
		return 0;
	}
	}
	return -ENOTTY;
}

/* Makes one of the group's counters jump, every `jump` or `back` reads. */
static void leap(struct event *leader)
{
	uint64_t nth = atomic_load(&calls[CALL_READ]);
	struct event *victim = &events[leader->member[nth % leader->members]];

	if (scripted_settings.jump && nth % scripted_settings.jump == 0)
		victim->skew += UINT64_C(1) << 47;
	if (scripted_settings.back && nth % scripted_settings.back == 0)
		victim->skew -= UINT64_C(1) << 40;
}

static uint64_t value_of(const struct event *event)
{
	double value = event->gathered;

	if (event->enabled && event->counts)
		value += event->thread->total[event->row] - event->start;
	return (uint64_t)value + event->skew;
}

static ssize_t read_group(struct event *leader, uint64_t *out, size_t size)
{
	unsigned fields = leader->read_format & PERF_FORMAT_ID ? 2 : 1;

	if (leader->in_error)
		return 0;
	if (size < (1 + fields * leader->members) * sizeof(*out))
		return -ENOSPC;
	scripted_catch_up(leader->thread);
	leap(leader);
	out[0] = leader->members;
	for (unsigned i = 0; i < leader->members; i++) {
		out[1 + fields * i] = value_of(&events[leader->member[i]]);
		if (fields == 2)
			out[2 + 2 * i] = events[leader->member[i]].id;
	}
	return (ssize_t)((1 + fields * leader->members) * sizeof(*out));
}

static ssize_t scripted_read(int fd, void *buf, size_t size)
{
	int error = injected(CALL_READ);
	struct event *event;
	ssize_t got;

	if (error > 0)
		return -error;
	if (error == FAIL_SHORT)
		return 0;
	event = event_of(fd);
	if (!event)
		return errno == EBADF ? -EBADF : 0;
	check_owner(event);
	/* its own thread takes no lock, so that the thread sanitizer sees other threads that work on it */
	if (scripted_is_mine(event->thread))
		return read_group(&events[event->leader], buf, size);
	/* another thread, which may be opening and counting at this moment */
	scripted_lock(event->thread);
	got = read_group(&events[event->leader], buf, size);
	scripted_unlock(event->thread);
	return got;
}

/* Frees an event that has neither a descriptor nor a page. Caller holds the lock. */
static void release(struct event *event)
{
	struct event *leader = &events[event->leader];

	if (event == leader) {
		disable(leader);
	} else {
		stop_event(event);
		for (unsigned i = 0; i < leader->members; i++)
			if (&events[leader->member[i]] == event)
				leader->member[i--] = leader->member[--leader->members];
	}
	event->used = false;
}

static int scripted_close(int fd)
{
	int error = injected(CALL_CLOSE);
	struct event *event = event_of(fd);

	if (error > 0)
		return -error;
	if (syscall(SYS_close, fd) < 0)
		return -errno;
	/* a forked child drops its own reference only */
	if (!event || event->pid != getpid())
		return 0;
	pthread_mutex_lock(&lock);
	event->fd = -1;
	if (!event->page)
		release(event);
	pthread_mutex_unlock(&lock);
	return 0;
}

unsigned scripted_pmu_open(void)
{
	unsigned count = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < EVENTS_MAX; i++)
		count += events[i].used && events[i].pid == getpid();
	pthread_mutex_unlock(&lock);
	return count;
}

void scripted_pmu_forget(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		if (!events[i].used || events[i].pid != getpid())
			continue;
		if (event_of(events[i].fd) == &events[i])
			close(events[i].fd);
		disable(&events[events[i].leader]);
		events[i].used = false;
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Maps a ring, or a page with "pages". No other event has a page, because no counter can be read by an
 * instruction.
 */
static struct perf_event_mmap_page *scripted_map(int fd, size_t size, bool writable)
{
	int error = injected(CALL_MAP);
	struct event *event = event_of(fd);

	if (error || !event)
		return NULL;
	if (scripted_settings.pages && !event->period && !writable) {
		void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		event->page = page == MAP_FAILED ? NULL : page;
		return event->page;
	}
	if (!event->period || !writable || event->output != event - events)
		return NULL;
	if (!event->ring)
		event->ring = scripted_ring_new(size);
	return event->ring ? scripted_ring_page(event->ring) : NULL;
}

/* Unmaps a page. Rings stay mapped. */
static void scripted_unmap(struct perf_event_mmap_page *page, size_t size)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < EVENTS_MAX; i++)
		if (events[i].used && events[i].page == page) {
			munmap(page, size);
			events[i].page = NULL;
			if (events[i].fd < 0)
				release(&events[i]);
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* Writes the enabled group's values at the moment when `part` of the work was done. */
static void write_sample(struct event *leader, struct event *sampler, unsigned behaviour,
		const double *before, double part, uint64_t time)
{
	uint64_t values[GROUP_MAX];

	for (unsigned i = 0; i < leader->members; i++) {
		const struct event *event = &events[leader->member[i]];
		double after = event->thread->total[event->row];
		double total = before[event->row] + part * (after - before[event->row]);
		double value = event->gathered;

		if (event->enabled && event->counts && total > event->start)
			value += total - event->start;
		values[i] = (uint64_t)value + event->skew;
	}
	scripted_ring_write(events[sampler->output].ring,
			&(struct scripted_sample){ sampler->id, behaviour, time, values,
					leader->members, sampler->stacks });
}

/* Writes the samples of one event. Its period goes on where it was when the event was disabled, as in the kernel. */
static void sample_event(struct event *sampler, unsigned behaviour, const double *before, double ns,
		uint64_t began, uint64_t ended)
{
	double period = (double)sampler->period, at;

	for (at = period - sampler->sampled; at <= ns; at += period)
		if (events[sampler->output].ring &&
				++sampler->samples % scripted_settings.written == 0)
			write_sample(&events[sampler->leader], sampler, behaviour, before, at / ns,
					began + (uint64_t)(at / ns * (double)(ended - began)));
	sampler->sampled = ns - (at - period);
}

uint64_t scripted_period(const struct scripted_thread *thread)
{
	for (unsigned g = 0; g < thread->enabled_groups; g++) {
		const struct event *leader = &events[thread->enabled[g]];

		for (unsigned i = 0; i < leader->members; i++)
			if (events[leader->member[i]].period)
				return events[leader->member[i]].period;
	}
	return 0;
}

void scripted_sample(struct scripted_thread *thread, unsigned behaviour, const double *before,
		double ns, uint64_t began, uint64_t ended)
{
	for (unsigned g = 0; g < thread->enabled_groups && ns > 0; g++) {
		const struct event *leader = &events[thread->enabled[g]];

		for (unsigned i = 0; i < leader->members; i++)
			if (events[leader->member[i]].period)
				sample_event(&events[leader->member[i]], behaviour, before, ns,
						began, ended);
	}
}

const struct pmu *phasemux_pmu(void)
{
	scripted_start();
	table = (struct pmu){
		.open = scripted_open,
		.read = scripted_read,
		.ioctl = scripted_ioctl,
		.close = scripted_close,
		.map = scripted_map,
		.unmap = scripted_unmap,
		.processor = scripted_settings.processor,
	};
	return &table;
}
