/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of the program: its groups of events, its ring of bursts, its call sites. What happens
 * at the two ends of a burst stands here; everything rarer is behind `service`.
 */
#ifndef PHASEMUX_AGENT_THREAD_H
#define PHASEMUX_AGENT_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/burst.h"
#include "agent/histogram.h"
#include "agent/passed.h"
#include "agent/pending.h"
#include "agent/polling.h"
#include "agent/preload.h"
#include "agent/rest.h"
#include "agent/rest_estimate.h"
#include "agent/site.h"
#include "agent/slices.h"
#include "agent/totals.h"
#include "multiplex/adaptive.h"
#include "multiplex/scheme.h"
#include "multiplex/sums.h"
#include "sampling/group.h"
#include "sampling/ring.h"

#define THREAD_RING_BURSTS 64
#define THREAD_SAMPLES     170 /* in the kernel's ring: 16 KiB */
#define THREAD_SAMPLES_FIRST                                                                       \
	680 /* the same of the process' first thread: it may compute for long */

/* What all threads of the process read; what changes is atomic, or read under RCU. */
struct thread_rules {
	/* what every call looks at: in one line of the cache */
	/* ticks: the shortest burst that is classified, by what all ranks did; a thread may lower it */
	_Alignas(64) _Atomic uint64_t burst_min;
	uint64_t placed_ticks; /* a burst of this length or more is placed by its length, even if short */
	bool burst_min_given;   /* the user has set burst_min, and no thread lowers it */
	uint64_t long_ticks;    /* so long a burst may be cut; 0: none is */
	uint64_t sample_ticks;  /* of the thread's time, between two samples */
	uint64_t service_ticks; /* how often `service` looks after the rest */
	uint64_t quick_ticks;   /* a burst and a call of so long together may go by (passed.h) */
	uint64_t poll_ticks; /* so much time between two calls that only ask is a burst (polling.h) */
	_Atomic bool finished;    /* no burst begins any more */
	_Atomic uint32_t returns; /* how often we looked at no call for a while (toggle.h) */
	bool switching;           /* groups change within long bursts: there are turns */
	unsigned groups;          /* of the plan */
	uint64_t poll_look_ticks; /* as POLLING_LOOK_NS */
	/* how long the calling thread has run, in ticks, and what that call costs; NULL: not known */
	uint64_t (*ran_ticks)(void);
	uint64_t ran_cost;
	struct scheme scheme;
	struct adaptive *adaptive; /* of SCHEME_ADAPTIVE, read under RCU; NULL: nothing learnt */
	unsigned counts[PLAN_GROUPS_MAX]; /* events of each group */
	uint32_t times[PLAN_GROUPS_MAX]; /* a bit for each of them that counts processor time in ns */
	double pay;        /* a burst is read with probability mean ticks x pay, > 0 */
	double call_ticks; /* what the two hooks cost one after the other, where nothing is read */
	double passed_ticks;    /* what a call costs that goes by (passed.h) */
	double read_ticks;      /* what a read costs, one after the other */
	double fixed_ticks;     /* that the process waits for us at its start and its end */
	double allowed;         /* of each tick, for all that we do; 0: any */
	uint64_t quantum_ticks; /* 0: by bursts */
	uint64_t quantum_bursts;
	uint64_t sample_ns;   /* as sample_ticks; 0: none */
	uint64_t sample_cost; /* ticks that the kernel holds the thread up for each */
};

/* What a thread has counted of its own work, read by others at the end (single writer). */
struct thread_counts {
	/* of every call: in one line of the cache */
	_Alignas(64) _Atomic uint64_t calls;
	_Atomic uint64_t bursts, ticks;
	_Atomic uint64_t mpi_ticks; /* inside MPI */
	_Atomic uint64_t short_bursts, short_ticks;
	_Atomic uint64_t polls, poll_ticks; /* between calls that only ask (polling.h) */
	_Atomic uint64_t passed;            /* of the calls, those that were passed over */
	_Atomic uint64_t lost; /* bursts whose counts could not be had, or could not be true */
	_Atomic uint64_t hook_ticks; /* in hooks, but for what follows: of some calls, for all */
	_Atomic uint64_t reads, read_ticks, switches, switch_ticks;
	_Atomic uint64_t service_ticks;
	_Atomic uint64_t rested_calls, rested_ticks; /* calls are in `calls`, too */
	_Atomic uint64_t histogram[HISTOGRAM_BINS];  /* ticks by length of burst */
};

/*
 * The threads that a place has had. When one has ended, a new one takes over its structures and adds to their
 * counts. So nothing is lost, and memory grows only with the threads that exist at the same time.
 */
struct thread_life {
	_Atomic uint64_t threads, ended; /* that the place had; of these, those that ended */
	_Atomic uint64_t ended_ticks;    /* time that those lived, except while the agent was off */
	_Atomic uint64_t since; /* when the last of them ended, in ticks of the run; 0: none has */
	uint64_t born;          /* when the present one was met, in ticks of the clock */
};

#define RECENT_OCTAVES (HISTOGRAM_BINS / 4)

/* The computing time of the last second or so by length of burst, which tells what is short now. */
struct thread_recent {
	double ticks[RECENT_OCTAVES];   /* what is older counts less and less */
	uint64_t until[RECENT_OCTAVES]; /* the thread's histogram when it was looked at last ... */
	uint64_t at;                    /* ... which was then; ticks */
};

/*
 * The burst under way, for those that cut it before it ends: all of it holds while `since` is the
 * same before and after the others are read.
 */
struct open_burst {
	_Atomic uint64_t since; /* its begin; 0: none, or it is not read */
	_Atomic uint64_t quantum;
	_Atomic uint32_t group, from;
	_Atomic double weight;
};

/* What the thread that switches groups within bursts last saw of another thread. Its own. */
struct watched_burst {
	uint64_t since; /* begin of the burst under way then */
	uint64_t ran_ns; /* processor time of the thread, when the burst was first seen or its group last switched */
};

/*
 * What every call needs lies together at the front, for among the program's work it has left the
 * caches, and each line of it is waited for.
 */
struct thread {
	struct passed *passed; /* in the thread's own storage, where the preload looks at it */
	uint32_t at;           /* path of the intercepted call under way, or of the last one */
	uint32_t from;         /* site of the burst under way */
	uint64_t entered;      /* when that call began */
	uint64_t begin;        /* of the burst */
	uint64_t service_at;   /* when there is something to do that is not urgent */
	uint32_t untimed;      /* calls, until the next one whose hooks are timed */
	uint32_t returns;      /* as of the rules, when it looked last */
	uint64_t burst_min;    /* ticks; that of the rules or lower: thread_learn_short */
	struct rest_plan resting;
	/* the burst under way */
	bool open, reading;
	bool by_other;   /* it is begun by another thread, just now */
	bool ended;      /* its counters could be read at its end */
	uint32_t before; /* span of the last burst that was not short; 0: none */
	struct polling polling;
	struct passed_window window;
	double pay;     /* that of the rules, or less: thread_keep_budget */
	double explore; /* chance that the first burst of a call site is read */
	uint64_t random;
	int open_error;
	bool unopened; /* its counters are opened when the first of its bursts is to be read */
	uint64_t open_ticks; /* what that takes: the least that was seen */
	bool switched;       /* the group has changed since the burst's begin */
	struct thread_counts counts;
	struct thread_life life;
	struct passed_place places[PASSED_PLACES]; /* of passed */
	struct passed_pair pair[PASSED_WINDOW];    /* of window */
	uint64_t values[GROUP_EVENTS_MAX];         /* counters at the burst's begin ... */
	uint64_t end_values[GROUP_EVENTS_MAX];     /* ... and at its end */
	double weight;
	struct open_burst under_way;
	struct watched_burst watched;
	_Atomic pid_t tid; /* the watcher reads it while another thread may take the place */
	/* whose turn it is to read or change groups: the thread's, or that of whoever switches them */
	atomic_flag turn;
	/* the quantum under way */
	unsigned group;
	double group_weight; /* scheme_weight, when it was chosen */
	uint64_t quantum, quantum_end, quantum_left;
	bool counting;               /* the group is enabled */
	struct thread_recent recent; /* what the thread did lately, by length of burst */
	bool main;                   /* it called MPI_Init: it alone speaks MPI for the agent */
	uint32_t born;               /* path of the first call: of a new thread, its function */
	uint64_t place;              /* in the scheme: which counter set this is */
	uint64_t keep_at;
	uint64_t unobserved; /* ticks, from hooks before a while to the first ones after it; of this thread */
	/* how many calls there were at that time, for thread_keep_budget */
	uint64_t budget_calls, budget_at;
	size_t kernel_bytes; /* its pages for samples and counters, while the thread lives */
	size_t event_bytes;  /* of these, for counters */
	/* what its groups are opened with */
	const struct pmu *pmu;
	const struct event *events;
	const struct plan *plan;
	struct site_table sites;
	struct rest_estimate estimate;
	struct ring ring;
	struct group groups[PLAN_GROUPS_MAX];
	/* of the drain, under the ledger's rules */
	atomic_flag draining;
	struct slicer slicer;
	struct quantum *gathered; /* mapped */
	size_t gathered_bytes;
	uint64_t gathered_quantum;
	struct pending_queue pending; /* claimed by no prototype yet */
	uint32_t noted;               /* the highest span of which a burst was */
	uint32_t settled;             /* generation that the pending ones were classified with */
	uint64_t given_up, given_up_ticks; /* unclassified for good */
	int spooled;                       /* its number in the spool; < 0: not in it */
	struct preload_thread *slot;       /* what the preload has of it */
	struct thread *next;               /* in the list of all threads */
	struct thread *vacant;             /* in that of the places whose threads ended */
	unsigned char memory[] __attribute__((aligned(64))); /* the ring's records */
};

/* xorshift64*: good enough to choose which bursts to read. In [0, 1). */
static inline double thread_random(struct thread *thread)
{
	uint64_t x = thread->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	thread->random = x;
	return (double)((x * 0x2545f4914f6cdd1du) >> 11) * in_code(0x1p-53);
}

/* So many bursts, about as long as `length` each, have ended. All in ticks. */
static inline void thread_add_bursts(struct thread *thread, uint64_t bursts, uint64_t length,
		uint64_t ticks)
{
	struct thread_counts *counts = &thread->counts;

	site_add(&counts->bursts, bursts);
	site_add(&counts->ticks, ticks);
	site_add(&counts->histogram[histogram_bin(length)], ticks);
}

/* So many times the time between two calls that only ask was polling. */
static inline void thread_add_polls(struct thread *thread, uint64_t polls, uint64_t ticks)
{
	site_add(&thread->counts.polls, polls);
	site_add(&thread->counts.poll_ticks, ticks);
}

/*
 * Ticks, the length under which a burst that is cut is counted: that of its slices, which a clock above
 * the nominal one makes shorter.
 */
static inline uint64_t thread_cut_length(const struct thread_rules *rules)
{
	return rules->sample_ticks / 4;
}

/* Adds bursts that are too short to be worth being placed. */
static inline void thread_add_short(struct thread *thread, uint64_t bursts, uint64_t ticks)
{
	site_add(&thread->counts.short_bursts, bursts);
	site_add(&thread->counts.short_ticks, ticks);
}

/* Adds bursts that were not read, and that will be placed by their span and length. */
static inline void thread_add_unread(struct thread *thread, uint32_t span, unsigned length,
		uint64_t bursts, uint64_t ticks)
{
	span_mark(thread->sites.unread_since, span);
	span_add_unread(&thread->sites.length[length], bursts, ticks);
	if (__builtin_expect(thread->resting.noted, 0))
		rest_estimate_note(&thread->estimate, span, length, bursts, ticks);
}

/*
 * A thread with its groups open, or NULL without memory; place is its number in the scheme, tid the
 * kernel's number of the thread, 0: the calling one; save_pages as of group_open_on. Where groups
 * cannot be opened, open_error says why, and its bursts are timed but not read.
 */
struct thread *thread_new(const struct thread_rules *rules, pid_t tid, const struct pmu *pmu,
		const struct event *events, const struct plan *plan, uint64_t place,
		enum read_method method, bool save_pages);

/*
 * Gives the place of a thread that ended to the calling thread, which adds to its counts. Call after
 * thread_end_life. The counters are opened when a burst is to be read for the first time. This takes some
 * 100 us, so fewer bursts are read until then: some threads do not even live that long.
 */
void thread_renew(struct thread *thread, const struct thread_rules *rules);

/* Returns whether the thread's counters are open. Call on the thread itself. */
bool thread_is_open(const struct thread *thread);

/* Notes that the calling thread ends, `elapsed` ticks after the run's start. Call after thread_close. */
void thread_end_life(struct thread *thread, uint64_t elapsed);

/* Returns in how many of the run's `elapsed` ticks the place had a thread, as account_threads counts them. */
uint64_t thread_lived(const struct thread *thread, uint64_t elapsed);

/*
 * Waits until no drain or checkpoint of the thread is under way, and keeps others out until thread_let_go. What
 * was written before the latter is seen by the next drain. Any thread may call these functions.
 */
void thread_hold(struct thread *thread);
void thread_let_go(struct thread *thread);

/* Closes the groups. The rest stays: the ledger still reads it. On the thread itself. */
void thread_close(struct thread *thread);

/* After thread_close, when nobody reads the thread any more. */
void thread_free(struct thread *thread);

/* What is mapped for one thread, and of one what is there, with the kernel's pages. */
size_t thread_bytes(void);
size_t thread_resident(const struct thread *thread);

/*
 * Reads are what the budget can still be kept with: fewer of them until all that was done for this
 * thread, in so many ticks of the program, is allowed. On the thread itself.
 */
void thread_keep_budget(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed);

/*
 * Lowers the length below which bursts are short to what holds 99% of the thread's recent computing time.
 * The rounds (ledger_publish) tell it for the whole run, but are ever farther apart. On the thread itself.
 */
void thread_learn_short(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/* Of its own time, what we have done in it: without the process' start and end. */
double thread_own_ticks(const struct thread *thread, const struct thread_rules *rules);

/*
 * What the two hooks of a call took among the program's work, where most of what they need has left the
 * caches, is many times what they take in a row: so one call in some is timed, for all.
 */
#define THREAD_CALLS_TIMED 31

static inline bool thread_is_timed(const struct thread *thread)
{
	return __builtin_expect(!thread->untimed, 0);
}

/* A hook of the call that is timed took so long, its reads and its service left out. */
void thread_account_hook(struct thread *thread, const struct thread_rules *rules, uint64_t ticks);

/* A call is over: the next one is timed, or one call fewer comes before that. */
static inline void thread_count_untimed(struct thread *thread)
{
	thread->untimed = thread->untimed ? thread->untimed - 1 : THREAD_CALLS_TIMED - 1;
}

/* What it has counted up to now. On the thread itself, or when it reads bursts no more. */
void thread_account(const struct thread *thread, struct account *account);

uint64_t thread_read_end(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/*
 * At time now, in the first hook after no call was looked at for a while: the burst or the call that was
 * under way before is left out, for nobody knows when it ended. The time since it began is unobserved.
 */
void thread_return(struct thread *thread, uint32_t returns, uint64_t now);

/* Before all else in a hook: perhaps it is the first after a while. */
static inline void thread_look_return(struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	/* pairs with the release in toggle.c, by way of the hooks' pointer */
	uint32_t returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);

	if (__builtin_expect(thread->returns != returns, 0))
		thread_return(thread, returns, now);
}

/*
 * From another thread: where the burst that is under way is long, and its quantum over, the next one
 * begins within it. Waits for nobody.
 */
void thread_switch(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/*
 * The work of a burst ends here, at time now: its counters are read, if they are, before anything else is
 * done, so that they hold as little of ours as can be. thread_end_burst follows. When that was done.
 */
static inline uint64_t thread_stop_counting(struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	return thread->open && thread->reading ? thread_read_end(thread, rules, now) : now;
}

/*
 * How many windows of calls go by for each one that is looked at (passed.h): as the budget wants it, and where
 * the program polls, as many as may, for nothing is lost.
 */
static inline uint32_t thread_passes(const struct thread *thread, const struct thread_rules *rules)
{
	if (__builtin_expect(thread->polling.row == POLLING_ROW && rules->allowed > 0, 0))
		return PASSED_MOST;
	return thread->window.multiple;
}

/* The burst under way ends, at time now: `call` begins, at the path thread->at. */
void thread_end_burst(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now);

/* A burst begins: `call`, at the path thread->at, has returned. */
void thread_begin_burst(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now);

/* The same from another thread, of one that does not know yet that it is observed. */
void thread_begin_other(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now);

#endif
