/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scripted PMU's histories: each thread's totals of every event, which its work increases. They do not
 * depend on what is counted meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/pmu/scripted_inside.h"
#include "tests/pmu/scripted_pmu.h"

#define SHORT_AUTO_NS 200000.0

/* One kind of event. Rows are only ever added. */
struct row {
	uint32_t type;
	uint64_t config;
	double rate[SCRIPTED_BEHAVIOURS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row rows[SCRIPTED_ROWS_MAX];
static _Atomic unsigned row_count;
static struct scripted_thread *threads;
static __thread struct scripted_thread *this_thread __attribute__((tls_model("initial-exec")));

static void prepare_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * Prepares the state of a forked child. The thread that forked is the only one, its history continues, and
 * nothing counts it.
 */
static void fork_child(void)
{
	pthread_mutex_unlock(&lock);
	threads = this_thread;
	if (!this_thread)
		return;
	this_thread->next = NULL;
	this_thread->tid = (pid_t)syscall(SYS_gettid);
	this_thread->busy = this_thread->enabled_groups = 0;
	this_thread->emulated = NULL;
	atomic_store(&this_thread->ticket, 0);
	atomic_store(&this_thread->served, 0);
}

static void watch_forks(void)
{
	pthread_atfork(prepare_fork, fork_parent, fork_child);
}

struct scripted_thread *scripted_myself(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!this_thread) {
		struct scripted_thread *thread = calloc(1, sizeof(*thread));

		if (!thread)
			return NULL;
		pthread_once(&once, watch_forks);
		thread->tid = (pid_t)syscall(SYS_gettid);
		pthread_mutex_lock(&lock);
		thread->next = threads;
		thread->number = threads ? threads->number + 1 : 0;
		threads = thread;
		pthread_mutex_unlock(&lock);
		this_thread = thread;
	}
	return this_thread;
}

bool scripted_is_mine(const struct scripted_thread *thread)
{
	return thread == this_thread;
}

struct scripted_thread *scripted_other(pid_t tid)
{
	struct scripted_thread *thread;

	pthread_mutex_lock(&lock);
	thread = threads;
	while (thread && thread->tid != tid)
		thread = thread->next;
	pthread_mutex_unlock(&lock);
	return thread;
}

unsigned scripted_row(uint32_t type, uint64_t config)
{
	unsigned count, i;

	pthread_mutex_lock(&lock);
	count = atomic_load_explicit(&row_count, memory_order_relaxed);
	for (i = 0; i < count; i++)
		if (rows[i].type == type && rows[i].config == config)
			goto out;
	if (i == SCRIPTED_ROWS_MAX)
		goto out;
	rows[i].type = type;
	rows[i].config = config;
	for (unsigned b = 0; b < SCRIPTED_BEHAVIOURS; b++)
		rows[i].rate[b] = scripted_rate(type, config, b, scripted_slots);
	/* pairs with the acquire in scripted_work: publishes the row */
	atomic_store_explicit(&row_count, count + 1, memory_order_release);
out:
	pthread_mutex_unlock(&lock);
	return i;
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* Returns a nearly normal deviate with mean 0 and standard deviation 1. It is a function of its key alone. */
static double deviate(uint64_t key)
{
	uint64_t bits = mix(key);
	double sum = 0;

	for (unsigned i = 0; i < 4; i++)
		sum += (double)(bits >> (16 * i) & 0xffff) / 65535 - 0.5;
	return sum * sqrt(3);
}

static bool is_instructions(const struct row *row)
{
	return (row->type == PERF_TYPE_HARDWARE && row->config == PERF_COUNT_HW_INSTRUCTIONS) ||
			(row->type == PERF_TYPE_RAW && row->config == 0xc0);
}

static bool follows_time(const struct row *row)
{
	return row->type == PERF_TYPE_SOFTWARE ||
			(row->type == PERF_TYPE_HARDWARE &&
					row->config == PERF_COUNT_HW_CPU_CYCLES) ||
			(row->type == PERF_TYPE_RAW && row->config == 0x76);
}

/*
 * Returns the factor of one event in one piece of work. Instructions are exact, because the caller gives their
 * number. Cycles and time share one deviation, and the other events have a part of it.
 */
static double noise_of(const struct row *row, uint64_t key, double common)
{
	double factor = 1;

	if (scripted_settings.noise <= 0 || is_instructions(row))
		return 1;
	if (follows_time(row))
		factor += scripted_settings.noise * common;
	else
		factor += scripted_settings.noise *
				(0.6 * common + 0.8 * deviate(key + row->type + row->config * UINT64_C(0x9e3779b97f4a7c15)));
	return factor > 0 ? factor : 0;
}

double scripted_work(struct scripted_thread *thread, unsigned behaviour, double instructions)
{
	/* pairs with the release in scripted_row */
	unsigned count = atomic_load_explicit(&row_count, memory_order_acquire);
	uint64_t key = mix(scripted_settings.seed * UINT64_C(0x100000001b3) + thread->number) +
			0x10001 * ++thread->works;
	double common = deviate(key);

	for (unsigned i = 0; i < count; i++)
		thread->total[i] += instructions / 1000 * rows[i].rate[behaviour] *
				noise_of(&rows[i], key, common);
	return instructions / 1000 * (1 + scripted_settings.noise * common) *
			scripted_rate(PERF_TYPE_RAW, 0x76, behaviour, scripted_slots);
}

static uint64_t clock_of(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the calling thread's counts by the emulator, or NULL if there are none. */
static const struct emulated_thread *emulated_myself(void)
{
	static const struct emulated_counts *_Atomic counts;
	const struct emulated_counts *mapped = atomic_load(&counts);
	uint64_t id = (uint64_t)syscall(SYS_gettid);

	if (!mapped) {
		char name[sizeof(scripted_settings.emulated) + 24];
		int fd;

		snprintf(name, sizeof(name), "%s.%ld", scripted_settings.emulated, (long)getpid());
		fd = open(name, O_RDONLY | O_CLOEXEC);
		mapped = mmap(NULL, sizeof(*mapped), PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (mapped == MAP_FAILED) {
			fprintf(stderr, "scripted PMU: %s: %s\n", name, strerror(errno));
			_exit(1);
		}
		atomic_store(&counts, mapped);
	}
	for (unsigned i = 0; i < EMULATED_THREADS; i++)
		if (atomic_load(&mapped->thread[i].id) == id)
			return &mapped->thread[i];
	return NULL;
}

static void follow_emulator(struct scripted_thread *thread)
{
	static const char *const behaviours[] = {
#define BEHAVIOUR(name, behaviour) behaviour,
		EMULATED_KINDS(BEHAVIOUR)
#undef BEHAVIOUR
	};

	if (!thread->emulated && !(thread->emulated = emulated_myself()))
		return;
	for (unsigned i = 0; i < EMULATED_KIND_COUNT; i++) {
		uint64_t count = atomic_load(&thread->emulated->count[i]);

		scripted_work(thread, (unsigned)scripted_behaviour_number(behaviours[i]),
				(double)(count - thread->emulated_seen[i]));
		thread->emulated_seen[i] = count;
	}
}

void scripted_catch_up(struct scripted_thread *thread)
{
	uint64_t now;
	double ns, limit = SHORT_AUTO_NS, cpi;
	unsigned which = 0;

	/* a thread that another one reads shows only what it has counted itself */
	if (!scripted_is_mine(thread))
		return;
	if (*scripted_settings.emulated)
		follow_emulator(thread);
	if (scripted_settings.autos == 0)
		return;
	now = clock_of(CLOCK_THREAD_CPUTIME_ID);
	ns = thread->cpu_seen ? (double)(now - thread->cpu_seen) : 0;
	thread->cpu_seen = now;
	for (; which + 1 < scripted_settings.autos && ns > limit; limit *= 4)
		which++;
	cpi = scripted_rate(PERF_TYPE_RAW, 0x76, scripted_settings.auto_behaviour[which],
			      scripted_slots) /
			1000;
	scripted_work(thread, scripted_settings.auto_behaviour[which], ns * SCRIPTED_GHZ / cpi);
}

void scripted_lock(struct scripted_thread *thread)
{
	unsigned mine = atomic_fetch_add_explicit(&thread->ticket, 1, memory_order_relaxed);

	/* pairs with the release in scripted_unlock */
	while (atomic_load_explicit(&thread->served, memory_order_acquire) != mine)
		sched_yield();
}

void scripted_unlock(struct scripted_thread *thread)
{
	atomic_fetch_add_explicit(&thread->served, 1, memory_order_release);
}

/*
 * Does one piece of work. A thread that wants to switch groups waits meanwhile, so that a piece belongs to one
 * group.
 */
static void work_piece(struct scripted_thread *thread, unsigned behaviour, double instructions)
{
	clockid_t waits = scripted_settings.ran ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	double before[SCRIPTED_ROWS_MAX], ns;
	uint64_t began, waited_since;

	scripted_lock(thread);
	memcpy(before, thread->total, sizeof(before));
	began = clock_of(CLOCK_MONOTONIC);
	waited_since = clock_of(waits);
	ns = scripted_work(thread, behaviour, instructions) / SCRIPTED_GHZ;
	while ((double)(clock_of(waits) - waited_since) < ns * scripted_settings.spin)
		;
	scripted_sample(thread, behaviour, before, ns, began, clock_of(CLOCK_MONOTONIC));
	scripted_unlock(thread);
}

int scripted_pmu_work(const char *behaviour, uint64_t instructions)
{
	int number = scripted_behaviour_number(behaviour);
	struct scripted_thread *thread;
	double piece = (double)instructions, left = piece;
	uint64_t period;

	scripted_start();
	if (*scripted_settings.emulated)
		return -ENOTSUP;
	thread = scripted_myself();
	if (number < 0 || !thread)
		return -EINVAL;
	scripted_lock(thread);
	period = scripted_period(thread);
	scripted_unlock(thread);
	/* work of several periods writes its samples as it proceeds */
	if (period)
		piece = (double)period / 4 * SCRIPTED_GHZ * 1000 /
				scripted_rate(PERF_TYPE_RAW, 0x76, (unsigned)number,
						scripted_slots);
	for (; left > piece; left -= piece)
		work_piece(thread, (unsigned)number, piece);
	work_piece(thread, (unsigned)number, left);
	return 0;
}

double scripted_pmu_total(uint32_t type, uint64_t config)
{
	struct scripted_thread *thread;
	unsigned row;

	scripted_start();
	thread = scripted_myself();
	row = scripted_row(type, config);
	return thread && row < SCRIPTED_ROWS_MAX ? thread->total[row] : NAN;
}
