/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/candidate/candidate.h"

#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/boundary/computing.h"
#include "agent/boundary/tasks.h"
#include "agent/candidate/kept_environment.h"
#include "agent/loader/loaded.h"
#include "agent/loader/real.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

#define STACK_BYTES (1u << 20)

/*
 * The key's number at least. Another C library in the process (dlmopen) numbers its own keys from 0 and writes to the same
 * values, so that a key of the agent must not change the numbers of the program's. Values below 32 need no memory.
 */
#define KEY_NUMBER 31

/* close_range(2) and its flag, which the C library may not know yet. */
#define SYS_CLOSE_RANGE     436
#define UNSHARE_DESCRIPTORS 2u

/* The word: a phase, and FORK for each fork that is under way. */
enum phase {
	OVER,     /* the process is no candidate, or not any more */
	WAITING,  /* the thread waits until the program computes */
	STARTING, /* the thread makes the process a target */
};
#define PHASES 3u
#define FORK   4u

static struct {
	const struct candidate_events *events;
	_Atomic uint32_t word; /* a futex */
	atomic_bool ends;
	pid_t pid; /* 0: this process has never been a candidate */
	pthread_t thread;
	_Atomic pid_t starter; /* the thread that makes the process a target, at the moment */
	double used_ns; /* processor time that the process had used when it became this program */
	int filtered; /* whether system calls were filtered at that time, as PR_GET_SECCOMP says it */
} candidate;

/* The calling thread forks, and has met the phase STARTING. */
static __thread bool forks_early __attribute__((tls_model("initial-exec")));

/* Functions that are in another library than libc before glibc 2.34, which not all programs need. */
static struct {
	int (*create)(pthread_t *thread, const pthread_attr_t *attributes, candidate_task *task,
			void *argument);
	int (*join)(pthread_t thread, void **result);
	int (*detach)(pthread_t thread);
	int (*set_stack)(pthread_attr_t *attributes, size_t bytes);
	int (*make_key)(pthread_key_t *key, void (*end)(void *value));
	int (*delete_key)(pthread_key_t key);
	int (*set_value)(pthread_key_t key, const void *value);
} calls;

/* ---- the word ---- */

static uint32_t phase_of(uint32_t word)
{
	return word & PHASES;
}

/* Changes the phase from `from` to `to`. Returns whether it was `from`. */
static bool change_phase(enum phase from, enum phase to)
{
	uint32_t word = atomic_load(&candidate.word);

	do
		if (phase_of(word) != from)
			return false;
	while (!atomic_compare_exchange_weak(&candidate.word, &word, word - from + to));
	return true;
}

static void wake_all(void)
{
	syscall(SYS_futex, &candidate.word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until the word is not `word`, or for `ns`, less than a second. */
static void rest_while(uint32_t word, uint64_t ns)
{
	struct timespec pause = { 0, (long)ns };

	syscall(SYS_futex, &candidate.word, FUTEX_WAIT_PRIVATE, word, &pause, NULL, 0);
}

static pid_t this_thread(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/*
 * Waits until the phase is not STARTING, or until the thread that makes it a target does not run. Returns whether it was
 * STARTING when it was called.
 */
static bool wait_for_start(void)
{
	struct tasks_patience patience = { 0 };
	uint32_t word = atomic_load(&candidate.word);
	bool met = phase_of(word) == STARTING;

	while (phase_of(word) == STARTING &&
			tasks_patience_lasts(&patience, atomic_load(&candidate.starter))) {
		rest_while(word, COMPUTING_PAUSE_FIRST_NS);
		word = atomic_load(&candidate.word);
	}
	return met;
}

/* Returns false in processes that have never been a candidate, also in those that a candidate forks. */
static bool is_here(void)
{
	return candidate.pid && candidate.pid == getpid();
}

/* ---- the thread ---- */

/* Returns a pause of `pause` ns at most. If the program has one thread, it computes after `left` ns at the earliest. */
static uint64_t shorter_pause(uint64_t pause, double left)
{
	if (left >= (double)pause)
		return pause;
	return left > COMPUTING_PAUSE_FIRST_NS ? (uint64_t)left : COMPUTING_PAUSE_FIRST_NS;
}

/*
 * Waits until the program computes, and no fork is under way. Then the phase is STARTING. Returns false if the wait is
 * over before.
 */
static bool wait_until_computing(void)
{
	uint64_t pause = COMPUTING_PAUSE_FIRST_NS;
	double left;

	for (;;) {
		uint32_t word = atomic_load(&candidate.word);

		if (phase_of(word) != WAITING)
			return false;
		left = COMPUTING_NS - (computing_used_ns() - candidate.used_ns);
		if (left > 0) {
			rest_while(word, shorter_pause(pause, left));
			pause = computing_next_pause(pause);
			continue;
		}
		if (word == WAITING &&
				atomic_compare_exchange_strong(&candidate.word, &word, STARTING))
			return true;
		rest_while(word, COMPUTING_PAUSE_FIRST_NS);
	}
}

/* Creates a thread. Returns whether that is possible. */
static bool create_thread(pthread_t *thread, candidate_task *task, void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, kept;
	int error;

	pthread_attr_init(&attributes);
	calls.set_stack(&attributes, STACK_BYTES);
	/* the program's signals must be handled by its own threads */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &kept);
	error = calls.create(thread, &attributes, task, argument);
	sigprocmask(SIG_SETMASK, &kept, NULL);
	pthread_attr_destroy(&attributes);
	return error == 0;
}

static void *prepare_aside(void *argument)
{
	bool *is_prepared = argument;

	atomic_store(&candidate.starter, this_thread());
	/* Linux has this since 5.9; before, the files that are opened for a moment take numbers of the program's */
	syscall(SYS_CLOSE_RANGE, STDERR_FILENO + 1, ~0u, UNSHARE_DESCRIPTORS);
	*is_prepared = candidate.events->prepare();
	return NULL;
}

/* Prepares on a thread with descriptors of its own. */
static bool prepare_on_thread(void)
{
	bool is_prepared = false;
	pthread_t thread;

	if (!create_thread(&thread, prepare_aside, &is_prepared))
		return candidate.events->prepare();
	calls.join(thread, NULL);
	tasks_wait_until_gone(atomic_exchange(&candidate.starter, this_thread()));
	return is_prepared;
}

/*
 * Waits until no fork is under way. One that has met the start does not run the handlers that the start has registered, which
 * hold the agent's thread. Its child would inherit the locks of what this thread does from now on.
 */
static void wait_for_forks(void)
{
	uint32_t word;

	while ((word = atomic_load(&candidate.word)) >= FORK)
		rest_while(word, COMPUTING_PAUSE_FIRST_NS);
}

static void *wait_and_start(void *unused)
{
	candidate_task *task = NULL;

	(void)unused;
	atomic_store(&candidate.starter, this_thread());
	if (!wait_until_computing())
		return NULL;
	/* a filter that the program has set for all its threads may end the process at a call that it does not expect */
	if (prctl(PR_GET_SECCOMP) == candidate.filtered && prepare_on_thread())
		task = candidate.events->begin();
	if (!task)
		calls.detach(pthread_self());
	change_phase(STARTING, OVER);
	wake_all();
	if (!task)
		return NULL;
	wait_for_forks();
	return task(NULL);
}

/* Starts the thread. Without it, the process is no candidate. */
static void start_thread(void)
{
	atomic_store(&candidate.word, WAITING);
	if (!create_thread(&candidate.thread, wait_and_start, NULL))
		atomic_store(&candidate.word, OVER);
}

/* Ends the thread if it waits. Returns whether it did. */
static bool end_thread(void)
{
	int state;

	if (!change_phase(WAITING, OVER))
		return false;
	wake_all();
	state = cancellation_hold();
	calls.join(candidate.thread, NULL);
	cancellation_release(state);
	return true;
}

bool candidate_claim(void)
{
	return !is_here() || end_thread() || phase_of(atomic_load(&candidate.word)) == OVER;
}

void candidate_settle(void)
{
	if (!candidate_claim())
		wait_for_start();
}

void candidate_end(void)
{
	if (!is_here())
		return;
	atomic_store(&candidate.ends, true);
	/* the end of the process ends the thread */
	if (!change_phase(WAITING, OVER))
		wait_for_start();
}

bool candidate_is_ending(void)
{
	return atomic_load(&candidate.ends);
}

/* Ends the wait with the first thread: the C library ends the process with its last thread. */
static void first_ends(void *unused)
{
	(void)unused;
	if (!is_here() || this_thread() != candidate.pid)
		return;
	atomic_store(&candidate.ends, true);
	candidate_settle();
	candidate.events->first_ends();
}

/* ---- forks ---- */

static void before_fork(void)
{
	if (!is_here())
		return;
	atomic_fetch_add(&candidate.word, FORK);
	forks_early = wait_for_start();
}

static void after_fork(void)
{
	if (is_here())
		atomic_fetch_sub(&candidate.word, FORK);
}

static void in_child(void)
{
	if (forks_early)
		candidate.events->forked_early();
	forks_early = false;
	candidate.pid = 0;
}

/* ---- calls that need a process with one thread ---- */

bool candidate_leave(void)
{
	unsigned threads;
	int state;

	if (!is_here())
		return false;
	threads = tasks_count();
	if (!end_thread()) {
		wait_for_start();
		return false;
	}
	state = cancellation_hold();
	if (threads)
		tasks_wait_until_at_most(threads - 1);
	cancellation_release(state);
	return true;
}

void candidate_return(void)
{
	start_thread();
}

/* ---- the start ---- */

/* glibc's pthread_atfork() calls this. It is weak, because other C libraries lack it, and there no process is a candidate. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		void *object) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Looks at the first object, which is the program. */
static int look_for_allocator(struct dl_phdr_info *info, size_t size, void *is_own)
{
	struct loaded program;

	(void)size;
	loaded_note(&program, info);
	*(bool *)is_own = loaded_find(&program, "malloc") != NULL;
	return 1;
}

/* Returns whether the program brings an allocator, which may be for one thread alone. Opening the core allocates. */
static bool has_own_allocator(void)
{
	bool is_own = false;

	dl_iterate_phdr(look_for_allocator, &is_own);
	return is_own;
}

static bool find_calls(void)
{
	*(void **)&calls.create = real_at_start("pthread_create");
	*(void **)&calls.join = real_at_start("pthread_join");
	*(void **)&calls.detach = real_at_start("pthread_detach");
	*(void **)&calls.set_stack = real_at_start("pthread_attr_setstacksize");
	*(void **)&calls.make_key = real_at_start("pthread_key_create");
	*(void **)&calls.delete_key = real_at_start("pthread_key_delete");
	*(void **)&calls.set_value = real_at_start("pthread_setspecific");
	return calls.create && calls.join && calls.detach && calls.set_stack && calls.make_key &&
			calls.delete_key && calls.set_value;
}

/* Makes a key for the end of the first thread. Returns whether that is possible. */
static bool make_key(pthread_key_t *key)
{
	pthread_key_t lower[KEY_NUMBER];
	unsigned count = 0;
	bool is_made;

	while ((is_made = calls.make_key(key, first_ends) == 0) && *key < KEY_NUMBER)
		lower[count++] = *key;
	while (count)
		calls.delete_key(lower[--count]);
	return is_made;
}

void candidate_start(const struct candidate_events *events)
{
	pthread_key_t key;

	if (!__register_atfork || !kept_environment_start() || has_own_allocator() || !find_calls())
		return;
	if (!make_key(&key) || calls.set_value(key, &candidate) ||
			__register_atfork(before_fork, after_fork, in_child, &__dso_handle))
		return;
	candidate.events = events;
	candidate.used_ns = computing_used_ns();
	candidate.filtered = prctl(PR_GET_SECCOMP);
	candidate.pid = getpid();
	start_thread();
}
