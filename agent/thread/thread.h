/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of the program: its groups of events, its ring of bursts, its call sites, and its life. The
 * functions that delimit and read its bursts are in agent/bursts.
 */
#ifndef PHASEMUX_AGENT_THREAD_THREAD_H
#define PHASEMUX_AGENT_THREAD_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/boundary/skip.h"
#include "agent/boundary/preload.h"
#include "agent/thread/account.h"
#include "agent/thread/burst.h"
#include "agent/thread/histogram.h"
#include "agent/thread/pending.h"
#include "agent/thread/ring.h"
#include "agent/thread/site.h"
#include "agent/thread/slices.h"
#include "agent/thread/thread_parts.h"
#include "agent/timeline/timeline.h"
#include "multiplex/estimate/sums.h"
#include "multiplex/scheme/adaptive.h"
#include "multiplex/scheme/scheme.h"
#include "sampling/group.h"

#define THREAD_RING_BURSTS 64
#define THREAD_BINS                                                                                \
	8 /* of a timeline of the thread, which has what came since the last checkpoint */
#define THREAD_SAMPLES 85 /* in the kernel's ring, each with nine callers: 16 KiB */
#define THREAD_SAMPLES_FIRST                                                                       \
	680 /* in the ring of the process' first thread, which may compute for a long time */

/* Rules that all threads of the process read. Fields that change are atomic, or read under RCU. */
struct thread_rules {
	/* fields that every call reads, in one line of the cache */
	/* ticks: the shortest burst that is classified, as all ranks agreed; a thread may lower it for itself */
	_Alignas(64) _Atomic uint64_t burst_min;
	uint64_t placed_ticks; /* a burst of at least this length is placed by its length, even if it is short */
	bool burst_min_given;   /* the user has set burst_min, and no thread lowers it */
	uint64_t long_ticks;    /* length from which a burst may be cut into slices; 0: none is */
	uint64_t sample_ticks;  /* time of the thread between two samples */
	uint64_t service_ticks; /* time between two services, which do what is not urgent */
	uint64_t quick_ticks; /* a burst and its call that together take less may be skipped (skip.h) */
	uint64_t poll_ticks; /* time between two calls that only ask, from which it is a burst (polling.h) */
	_Atomic bool finished;    /* the run is over: no burst begins */
	_Atomic uint32_t returns; /* how often the agent was off (toggle.h) */
	bool switching;  /* another thread may change groups within a long burst, in its turn */
	unsigned groups; /* number of groups in the plan */
	uint64_t poll_look_ticks; /* POLLING_LOOK_NS in ticks */
	/* returns the processor time of the calling thread in ticks; NULL: it cannot be known cheaply */
	uint64_t (*ran_ticks)(void);
	uint64_t ran_cost; /* ticks that a call of ran_ticks takes */
	struct scheme scheme;
	struct adaptive *adaptive; /* read under RCU; NULL: nothing is learnt, or another scheme */
	unsigned counts[PLAN_GROUPS_MAX]; /* number of events of each group */
	uint32_t times[PLAN_GROUPS_MAX]; /* a bit for each event of a group that counts processor time in ns */
	double pay;         /* > 0: a burst is read with the probability pay x its expected ticks */
	double call_ticks;  /* cost of the two hooks of a call in a row, if nothing is read */
	double skip_ticks;  /* cost of a call that is skipped (skip.h) */
	double read_ticks;  /* cost of a read, many in a row */
	double fixed_ticks; /* time that the process waits for the agent at its start and its end */
	double allowed;     /* part of each tick that the agent may use; 0: no limit */
	uint64_t quantum_ticks; /* length of a quantum; 0: it is given in bursts */
	uint64_t quantum_bursts;
	uint64_t sample_ns;   /* sample_ticks in ns; 0: no samples */
	uint64_t sample_cost; /* ticks that the kernel takes from the thread for each sample */
	/*
	 * Time when the hooks last resumed, or UINT64_MAX while they are paused: what was under way before is not
	 * a burst any more, even if its thread does not know that yet
	 */
	_Atomic uint64_t resumed;
	/* start of the run, and width of a bin of a new timeline, in ticks; width 0: there are no timelines */
	uint64_t start, bin_ticks;
};

/* Counts of a thread, which it alone writes, and which others read at the end. */
struct thread_counts {
	/* counts that every call changes, in one line of the cache */
	_Alignas(64) _Atomic uint64_t calls;
	_Atomic uint64_t bursts, ticks;
	_Atomic uint64_t mpi_ticks; /* inside MPI */
	_Atomic uint64_t short_bursts, short_ticks;
	_Atomic uint64_t polls, poll_ticks; /* between calls that only ask (polling.h) */
	_Atomic uint64_t skipped;           /* number of calls that were skipped */
	_Atomic uint64_t lost; /* bursts whose counters could not be read, or were impossible */
	_Atomic uint64_t hook_ticks; /* in hooks, without what follows; estimated */
	_Atomic uint64_t reads, read_ticks, switches, switch_ticks;
	_Atomic uint64_t service_ticks;
	_Atomic uint64_t rested_calls, rested_ticks; /* in rests; these calls are part of `calls` */
	/* bursts that would have been read if others did not read for this rank */
	_Atomic uint64_t spared_bursts;
	/* state L (leads.h): time in it, calls that left the thread in it, and calls with which it was left */
	_Atomic uint64_t repeated_ticks, repeated_calls, left_loops;
	/* checks of arguments in state L, and those that found others than when leads were named */
	_Atomic uint64_t checks, differing_checks;
	_Atomic uint64_t histogram[HISTOGRAM_BINS]; /* ticks, by length of the burst */
};

/*
 * The threads that have used this struct, one after the other. A new thread takes over the struct of one that
 * has ended, and adds to its counts. Therefore nothing is lost, and memory grows only with the number of threads
 * that exist at the same time. Written by the thread, and read by others at the end.
 */
struct thread_life {
	_Atomic uint64_t threads, ended; /* number of threads, and of those that ended */
	_Atomic uint64_t ended_ticks;    /* lifetime of these, except while the agent was off */
	_Atomic uint64_t since; /* when the last one ended, in ticks of the run; 0: none has */
	uint64_t born;          /* when the present thread was first seen, in ticks of the clock */
};

#define RECENT_OCTAVES (HISTOGRAM_BINS / 4)

/* Computing time of about the last second, by length of the burst: decides what is short now. */
struct thread_recent {
	double ticks[RECENT_OCTAVES];   /* older time has a smaller weight */
	uint64_t until[RECENT_OCTAVES]; /* the thread's histogram at the time `updated` */
	uint64_t updated;               /* ticks */
};

/*
 * The burst under way, for threads that cut it before it ends. The other fields belong together if `since` is
 * equal before and after they are read.
 */
struct open_burst {
	_Atomic uint64_t since; /* start of the burst; 0: there is none, or it is not read */
	_Atomic uint64_t quantum;
	_Atomic uint32_t group, from;
	_Atomic double weight;
};

/* What the thread that switches groups within bursts knows of another thread. It alone writes this. */
struct watched_burst {
	_Atomic uint64_t
			look_ticks; /* processor time of looks at the thread, which its budget pays */
	uint64_t since;             /* start of the burst that was last seen; 0: there was none */
	/* processor time of the thread when the burst began, when its group last changed, and at the last look */
	int64_t began_ns, stays_ns, seen_ns;
	uint64_t seen;  /* time of the last look */
	double idle_ns; /* time between two looks while there is no burst */
	double rest_ns; /* time until the next look at a burst */
	bool waits;     /* the thread has run for less than half of the time since the last look */
	uint32_t from;  /* site of the burst */
	unsigned switches; /* of the group within the burst */
	bool lasted;       /* it is long */
	bool fresh;        /* its site is new */
	/* above 0: the next burst of a new site, and of each site, is expected to be long (switching.c) */
	int8_t trust_new, trust[SITES_MAX];
};

/* The intercepted call, and where the burst after it began. Written by the thread. */
struct thread_call {
	uint32_t path;        /* call path of the call under way, or of the last one */
	uint32_t burst_site;  /* site of the burst under way */
	uint64_t entered;     /* when the call began */
	uint64_t burst_begin; /* when the burst began */
	uint64_t service_due; /* when the next service is due */
	uint32_t untimed;     /* number of calls until the next one whose hooks are timed */
	uint32_t returns;     /* `returns` of the rules, when the thread last read it */
};

/* The burst under way. Written by the thread. */
struct thread_burst {
	bool open, reading;
	uint32_t before; /* span of the last burst that was not short; 0: none */
};

/* The read of the burst under way. Written by the thread; `switched` by the one that has the turn. */
struct thread_reading {
	bool by_other; /* another thread has started the burst on behalf of this one */
	bool ended;    /* the counters were read at the burst's end */
	bool switched; /* the group has changed since the burst started */
	uint64_t values[GROUP_EVENTS_MAX];     /* counters at the start of the burst */
	uint64_t end_values[GROUP_EVENTS_MAX]; /* counters at its end */
	double weight;
};

/* Whether the counters are open. Written by the thread, or for it before its first burst. */
struct thread_opening {
	int error;      /* -errno: the counters are not open, and no burst is read */
	bool due;       /* the counters will be opened before the first burst is read */
	uint64_t ticks; /* shortest time that opening the counters took */
};

/* With what the groups are opened, and the kernel's memory for them. Written when the struct gets its thread. */
struct thread_counters {
	const struct pmu *pmu;
	const struct event *events;
	const struct plan *plan;
	size_t kernel_bytes; /* of the kernel's pages for samples and counters, while the thread lives */
	size_t event_bytes; /* part of kernel_bytes, for counters */
};

/* Which thread it is. Written when the struct gets its thread; `born` by the thread in its first call. */
struct thread_identity {
	_Atomic pid_t tid; /* the helper reads it while another thread may take the place */
	bool main;         /* it called MPI_Init: only this thread makes MPI calls for the agent */
	uint32_t born; /* call path of the first call, from which the function of a new thread is known */
	uint64_t place;              /* number of the thread in the scheme */
	struct preload_thread *slot; /* the preload's record of this thread */
};

/* How much the thread reads. Written by the thread in its services (budget.h). */
struct thread_budget {
	double pay;              /* that of the rules, or less */
	double explore;          /* probability that the first burst of a call site is read */
	uint64_t calls, checked; /* number of calls, and the time, when the cost of calls was last checked */
};

/* Who has the turn to read or change the thread's groups. */
enum turn_owner {
	TURN_FREE,
	TURN_OWN,
	TURN_HELPER,
};

/* The quantum under way. Written by the thread that has the turn: this one, or the one that switches groups. */
struct thread_turn {
	_Atomic int taken; /* enum turn_owner */
	unsigned group;
	double group_weight; /* scheme_weight at the time when the group was chosen */
	uint64_t quantum, quantum_end, quantum_left;
	uint64_t begun; /* number of quanta that began with a burst */
	bool counting;  /* the group is enabled */
};

/* What drains have gathered of the thread. Written by the drain that holds `busy`, under the ledger's rules. */
struct thread_drain {
	atomic_flag busy;
	struct slicer slicer;
	struct quantum *gathered; /* mapped */
	size_t gathered_bytes;
	uint64_t gathered_quantum;
	struct pending_queue pending; /* bursts that no prototype has claimed yet */
	uint32_t noted;               /* the highest number of a span that had a burst */
	uint32_t settled; /* generation of prototypes with which the pending bursts were classified */
	uint64_t given_up, given_up_ticks; /* bursts that stay unclassified */
	struct timeline timeline;          /* of bursts that were read */
	int spooled;             /* number of the thread in the spool; < 0: it is not in it */
	uint64_t checkpoint_due; /* when the next checkpoint is due; written by the thread (drain.h) */
};

/*
 * The fields that every call needs come first. While the program works they leave the caches, and a call waits
 * for each line of them.
 */
struct thread {
	struct skip *skip; /* in the thread's own storage, where the preload reads it */
	struct thread_call call;
	uint64_t burst_min; /* ticks; that of the rules, or lower; written by the thread (budget_learn_short) */
	struct rest_plan resting;
	struct thread_burst burst;
	struct timeline timeline; /* of all other time, since it was last poured; written by the thread */
	struct polling polling;
	struct skip_window window;
	struct thread_budget budget;
	struct thread_structure structure;
	uint64_t random; /* state of thread_random, written by the thread */
	struct thread_opening opening;
	struct thread_counts counts;
	struct thread_life life;
	struct skip_place places[SKIP_PLACES_MAX]; /* that skip->place points to */
	struct skip_pair pair[SKIP_WINDOW];        /* of the window under way */
	struct thread_reading reading;
	struct open_burst under_way;
	struct watched_burst watched;
	uint64_t unobserved; /* ticks of its life in which the agent was off; written by the thread */
	struct thread_turn turn;
	struct thread_recent recent;
	struct thread_identity identity;
	struct thread_counters counters;
	struct site_table sites;
	struct rest_estimate estimate;
	struct ring ring;
	struct group groups[PLAN_GROUPS_MAX];
	struct thread_drain drain;
	struct timeline_bin bin[THREAD_BINS], drain_bin[THREAD_BINS]; /* of both timelines */
	struct thread *next;                                          /* next one of all threads */
	struct thread *vacant; /* next one of those whose threads have ended (crowd.h) */
	unsigned char memory[] __attribute__((aligned(64))); /* the ring's records */
};

/* Returns a number in [0, 1) by xorshift64*, which is good enough to choose the bursts to read. */
static inline double thread_random(struct thread *thread)
{
	uint64_t x = thread->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	thread->random = x;
	return (double)((x * 0x2545f4914f6cdd1du) >> 11) * in_code(0x1p-53);
}

/* Adds `bursts` bursts of about `length` ticks each, and of `ticks` ticks together. */
static inline void thread_add_bursts(struct thread *thread, uint64_t bursts, uint64_t length,
		uint64_t ticks)
{
	struct thread_counts *counts = &thread->counts;

	site_add(&counts->bursts, bursts);
	site_add(&counts->ticks, ticks);
	site_add(&counts->histogram[histogram_bin(length)], ticks);
}

/* Adds `polls` pauses between calls that only ask, of `ticks` ticks together. */
static inline void thread_add_polls(struct thread *thread, uint64_t polls, uint64_t ticks)
{
	site_add(&thread->counts.polls, polls);
	site_add(&thread->counts.poll_ticks, ticks);
}

/*
 * Returns the length in ticks under which a burst that is cut is counted. It is below that of a slice, because a
 * processor above its nominal clock makes slices shorter.
 */
static inline uint64_t thread_cut_length(const struct thread_rules *rules)
{
	return rules->sample_ticks / 4;
}

/* Adds bursts that are too short to be placed. */
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
}

/*
 * Adds to the timeline bursts that were not read. They are taken to be of the prototype of the last burst of their length that
 * was classified.
 */
static inline void thread_time_unread(struct thread *thread, unsigned length, uint64_t since,
		uint64_t until, uint64_t ticks)
{
	unsigned number = atomic_load_explicit(&thread->sites.length[length].latest,
			memory_order_relaxed);

	if (__builtin_expect(number - 1 < PROTOTYPES_MAX, 1))
		timeline_add_prototype(&thread->timeline, number - 1, since, until, ticks);
	else
		timeline_add(&thread->timeline, number ? TIMELINE_NO_PHASE : TIMELINE_UNPLACED,
				since, until, ticks);
}

/* Which thread a struct is for, and how its groups are opened. */
struct thread_spec {
	pid_t tid;                  /* the kernel's number of the thread; 0: the calling one */
	uint64_t place;             /* number of the thread in the scheme */
	const struct pmu *pmu;      /* may be NULL if the plan has no events */
	const struct event *events; /* by event number of the plan */
	const struct plan *plan;
	enum read_method method;
	bool save_pages; /* as in struct group_spec */
};

/*
 * Returns a new thread with its groups open, or NULL if there is no memory. If the groups cannot be opened,
 * opening.error is set, and the thread's bursts are timed but not read.
 */
struct thread *thread_new(const struct thread_rules *rules, const struct thread_spec *spec);

/*
 * Gives the struct of a thread that ended to the calling thread, which adds to its counts. Call after
 * thread_end_life. The counters are opened before the first burst is read. This takes some 100 us, which is
 * longer than some threads live, so fewer bursts are read until then.
 */
void thread_renew(struct thread *thread, const struct thread_rules *rules);

/* Opens the groups and the samples of a thread, and sets opening.error. Parameters as in struct thread_spec. */
void thread_open_counters(struct thread *thread, const struct thread_rules *rules, pid_t tid,
		enum read_method method, bool save_pages);

/* Returns whether the thread's counters are open. Call on the thread itself. */
bool thread_is_open(const struct thread *thread);

/* Notes that the calling thread ends, `elapsed` ticks after the run's start. Call after thread_close. */
void thread_end_life(struct thread *thread, uint64_t elapsed);

/* Returns in how many of the run's `elapsed` ticks the place had a thread, as account_threads counts them. */
uint64_t thread_lived(const struct thread *thread, uint64_t elapsed);

/*
 * Returns when the burst under way began, in which the thread leaves its groups alone; 0: there is none. Any thread
 * may call this.
 */
static inline uint64_t thread_under_way(const struct thread *thread,
		const struct thread_rules *rules)
{
	/* pairs with the release in publish_burst, or that in reading_end */
	uint64_t since = atomic_load_explicit(&thread->under_way.since, memory_order_acquire);

	return since > atomic_load_explicit(&rules->resumed, memory_order_relaxed) ? since : 0;
}

/*
 * Takes the turn of the calling thread. Returns false if the helper has it. The turn stays the thread's if a signal
 * handler of the program has left a read by longjmp. Pairs with the release in thread_end_turn, which publishes
 * the helper's turn.
 */
static inline bool thread_take_turn(struct thread *thread)
{
	int before = TURN_FREE;

	return atomic_compare_exchange_strong_explicit(&thread->turn.taken, &before, TURN_OWN,
			       memory_order_acquire, memory_order_relaxed) ||
			before == TURN_OWN;
}

/* Takes the turn of another thread. Returns false if that one has it. Pairs with the release in thread_end_turn. */
static inline bool thread_take_turn_of(struct thread *other)
{
	int before = TURN_FREE;

	return atomic_compare_exchange_strong_explicit(&other->turn.taken, &before, TURN_HELPER,
			memory_order_acquire, memory_order_relaxed);
}

static inline void thread_end_turn(struct thread *thread)
{
	atomic_store_explicit(&thread->turn.taken, TURN_FREE, memory_order_release);
}

/*
 * Waits until no drain or checkpoint of the thread is under way, and prevents others until thread_let_go. The
 * next drain sees what was written before thread_let_go. Any thread may call these functions.
 */
void thread_hold(struct thread *thread);
void thread_let_go(struct thread *thread);

/* Closes the groups. Everything else stays, because the ledger still reads it. Call on the thread itself. */
void thread_close(struct thread *thread);

/* Frees the thread. Call after thread_close, when no other thread reads it any more. */
void thread_free(struct thread *thread);

/* Returns the bytes that are mapped for one thread. */
size_t thread_bytes(void);

/* Returns the bytes of memory that the thread really takes, including the kernel's pages. */
size_t thread_resident(const struct thread *thread);

/*
 * Returns the ticks that the agent took from the thread, or used for it in the helper, without the process' start and
 * end.
 */
double thread_own_ticks(const struct thread *thread, const struct thread_rules *rules);

/*
 * One of this many calls is timed, for all. Among the program's work the two hooks of a call take many times
 * what they take in a row, because most of what they need has left the caches.
 */
#define THREAD_CALLS_TIMED 31

static inline bool thread_is_timed(const struct thread *thread)
{
	return __builtin_expect(!thread->call.untimed, 0);
}

/* Adds the `ticks` that a hook of the timed call took, without its reads and its service. */
void thread_account_hook(struct thread *thread, const struct thread_rules *rules, uint64_t ticks);

/* Counts a call down to the next one that is timed. */
static inline void thread_count_untimed(struct thread *thread)
{
	thread->call.untimed =
			thread->call.untimed ? thread->call.untimed - 1 : THREAD_CALLS_TIMED - 1;
}

/* Limits ticks to `most`, because what took longer was delayed by something else. */
static inline uint64_t thread_limit(uint64_t ticks, double most)
{
	return (double)ticks < most ? ticks : (uint64_t)most;
}

/* Fills account with the thread's counts so far. Call on the thread itself, or after its last burst. */
void thread_account(const struct thread *thread, struct account *account);

#endif
