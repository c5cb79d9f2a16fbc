/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/rounds/family.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/clock.h"

/*
 * The first round is early. Each later one is twice as late, but at most JOINED_NS after a process has joined.
 */
#define FIRST_ROUND_NS 50e6
#define JOINED_NS      200e6

#define LOOKS_MAX  32 /* children in a row that do not compute, each of which is watched */
#define LOOKS_RARE 32 /* after these, one child of LOOKS_RARE is watched */

#define PATIENCE_S 5 /* time to wait for the lock */

/* A member lives while one of its mutexes is held. The kernel releases them when their thread ends. */
struct member {
	pthread_mutex_t lives, ends;
	_Atomic pid_t pid; /* 0: no thread stands for it yet */
	bool left;
};

struct family {
	_Atomic unsigned idle; /* number of children forked since one has computed */
	_Atomic unsigned members, refused, rounds;
	pthread_mutex_t lock; /* protects all below */
	bool closed;          /* no process may join any more */
	bool released;        /* the kernel releases the mutexes of threads that end */
	uint64_t start, next; /* of the run, and of the next round; ticks of the clock */
	struct member member[FAMILY_MAX];
	struct ledger_part part; /* of all members */
	struct history history;
	unsigned whole; /* index of the complete answer; a process may be killed while it writes the other */
	struct ledger_answer answer[2];
};

static int make_mutexes(struct family *family)
{
	pthread_mutexattr_t attributes;
	int error = pthread_mutexattr_init(&attributes);

	if (error)
		return -error;
	error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (!error)
		error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (!error)
		error = pthread_mutex_init(&family->lock, &attributes);
	for (unsigned i = 0; i < FAMILY_MAX && !error; i++) {
		error = pthread_mutex_init(&family->member[i].lives, &attributes);
		if (!error)
			error = pthread_mutex_init(&family->member[i].ends, &attributes);
	}
	pthread_mutexattr_destroy(&attributes);
	return -error;
}

/* Returns whether the kernel has a list of the robust mutexes that this thread holds. QEMU's user mode has none. */
static bool kernel_releases(void)
{
	void *head;
	size_t length;

	return syscall(SYS_get_robust_list, 0, &head, &length) == 0;
}

struct family *family_new(uint64_t start)
{
	struct family *family = mmap(NULL, sizeof(*family), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (family == MAP_FAILED)
		return NULL;
	family->start = start;
	atomic_store(&family->members, 1);
	family->next = start + clock_ticks(FIRST_ROUND_NS);
	family->released = kernel_releases();
	if (make_mutexes(family)) {
		family_free(family);
		return NULL;
	}
	return family;
}

void family_free(struct family *family)
{
	if (family)
		munmap(family, sizeof(*family));
}

size_t family_bytes(void)
{
	return sizeof(struct family);
}

/* ---- the lock ---- */

/*
 * Repairs the lock if its owner was killed: drops the part, which the owner may not have written completely,
 * and which can be sampled again.
 */
static int repair_lock(struct family *family, int error)
{
	if (error == EOWNERDEAD) {
		memset(&family->part, 0, sizeof(family->part));
		error = pthread_mutex_consistent(&family->lock);
	}
	return error;
}

/* Takes the lock. Returns false after PATIENCE_S, because a debugger may stop a process at any place. */
static bool lock(struct family *family)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return repair_lock(family, pthread_mutex_timedlock(&family->lock, &until)) == 0;
}

static bool try_lock(struct family *family)
{
	return repair_lock(family, pthread_mutex_trylock(&family->lock)) == 0;
}

static void unlock(struct family *family)
{
	pthread_mutex_unlock(&family->lock);
}

/* ---- who belongs to it ---- */

bool family_looks(struct family *family)
{
	unsigned idle = atomic_fetch_add(&family->idle, 1);

	return idle < LOOKS_MAX || idle % LOOKS_RARE == 0;
}

void family_computes(struct family *family)
{
	atomic_store(&family->idle, 0);
}

int family_join(struct family *family)
{
	uint64_t soon = clock_now() + clock_ticks(JOINED_NS);
	unsigned members;
	int number;

	if (!lock(family))
		return -EBUSY;
	members = atomic_load(&family->members);
	if (family->closed) {
		number = -ESHUTDOWN;
	} else if (members == FAMILY_MAX) {
		atomic_fetch_add(&family->refused, 1);
		number = -ENOSPC;
	} else {
		number = (int)members;
		atomic_store(&family->members, members + 1);
		/* the new process may do what no other process does */
		if ((int64_t)(family->next - soon) > 0)
			family->next = soon;
	}
	unlock(family);
	return number;
}

void family_stand(struct family *family, unsigned member)
{
	atomic_store(&family->member[member].pid, getpid());
	pthread_mutex_lock(&family->member[member].lives);
}

unsigned family_members(const struct family *family)
{
	return atomic_load(&family->members);
}

unsigned family_refused(const struct family *family)
{
	return atomic_load(&family->refused);
}

void family_ends(struct family *family, unsigned member)
{
	pthread_mutex_lock(&family->member[member].ends);
}

static bool is_held(pthread_mutex_t *mutex)
{
	int error = pthread_mutex_trylock(mutex);

	if (error == EBUSY)
		return true;
	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(mutex);
	if (error == 0)
		pthread_mutex_unlock(mutex);
	return false;
}

static bool is_gone(const struct family *family, const struct member *member)
{
	return !family->released && kill(atomic_load(&member->pid), 0) < 0 && errno == ESRCH;
}

void family_keep(struct family *family, unsigned member)
{
	if (!lock(family))
		return;
	family->member[member].left = true;
	unlock(family);
}

bool family_leave(struct family *family, unsigned member)
{
	bool alone = true;

	if (!lock(family))
		return false;
	family->member[member].left = true;
	for (unsigned i = 0; i < atomic_load(&family->members); i++) {
		struct member *other = &family->member[i];

		/* in this order, because a process that begins to end holds both for a while */
		if (!other->left && !is_gone(family, other) &&
				(is_held(&other->lives) || is_held(&other->ends)))
			alone = false;
	}
	family->closed = alone;
	unlock(family);
	pthread_mutex_unlock(&family->member[member].ends);
	return alone;
}

/* ---- learning ---- */

static void family_learn(struct family *family, struct ledger *ledger, struct ledger_answer *answer)
{
	unsigned spare = !family->whole, rounds = atomic_load(&family->rounds) + 1;

	ledger_train(ledger, &family->part, answer);
	history_add(&family->history, clock_ns(clock_now() - family->start) * 1e-9, &family->part,
			&answer->table);
	family->answer[spare] = *answer;
	atomic_signal_fence(memory_order_release);
	family->whole = spare;
	atomic_store(&family->rounds, rounds);
	family->next = family->start + clock_ticks(FIRST_ROUND_NS * ldexp(1, (int)rounds));
	ledger_publish(ledger, answer);
}

static void take_newest(struct family *family, struct ledger *ledger)
{
	const struct ledger_answer *newest = &family->answer[family->whole];

	if (newest->table.generation > ledger_table(ledger)->generation)
		ledger_publish(ledger, newest);
}

void family_take(struct family *family, struct ledger *ledger)
{
	if (!lock(family))
		return;
	take_newest(family, ledger);
	unlock(family);
}

void family_step(struct family *family, struct ledger *ledger, const struct thread *threads,
		struct ledger_answer *answer, bool last)
{
	if (!(last ? lock(family) : try_lock(family)))
		return;
	ledger_give(ledger, threads, &family->part);
	take_newest(family, ledger);
	if (last || (int64_t)(clock_now() - family->next) >= 0)
		family_learn(family, ledger, answer);
	unlock(family);
}

unsigned family_rounds(const struct family *family)
{
	return atomic_load(&family->rounds);
}

const struct reservoir *family_sample(const struct family *family)
{
	return &family->part.sample;
}

const struct history *family_history(const struct family *family)
{
	return &family->history;
}
