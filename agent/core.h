/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the core share: core.c (the beginning), hooks.c (the boundaries of bursts) and
 * ending.c (the end). One process is one core; it is written in the beginning, before any hook can
 * be reached, but for what is atomic.
 */
#ifndef PHASEMUX_AGENT_CORE_H
#define PHASEMUX_AGENT_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/burst_table.h"
#include "agent/counting.h"
#include "agent/exchange.h"
#include "agent/family.h"
#include "agent/job.h"
#include "agent/ledger.h"
#include "agent/mpi_adapter.h"
#include "agent/preload.h"
#include "agent/settings.h"
#include "agent/spool.h"
#include "agent/thread.h"

#define CORE_EVENT_BYTES                                                                           \
	(128 << 10) /* of the kernel's pages for events: a new thread saves them then */
#define CORE_SERVICE_NS 10000000 /* how often what is not urgent is looked after, but in calm */

struct core {
	struct thread_rules rules; /* first: every call looks at them */
	struct settings settings;
	struct job job;
	struct counting counting;
	struct mpi_world world;
	const struct mpi_adapter *adapter; /* NULL: this rank is alone */
	struct family *family; /* of processes that are forked; NULL: those are not observed */
	bool attached;
	struct spool *spool; /* NULL: what is kept dies with the process */
	char spool_folder[4096];
	struct ledger *ledger;
	struct exchange *exchange;
	struct burst_table *bursts; /* NULL unless asked for */
	const struct preload *preload;
	char folder[4096];
	char command[4096]; /* the program and its arguments, each with its NUL */
	size_t command_bytes;
	uint64_t start;
	double start_seconds; /* that this process waited for us at its start */
	pid_t pid;
	/* 1; but 0 in a process that was made of this one without fork()'s handlers, by clone() */
	volatile unsigned char *mark;
	pthread_t main_thread; /* that called MPI_Init */
	pthread_key_t thread_ends;
	/* newest first; a thread is never taken out: another takes its place when it has ended */
	_Atomic(struct thread *) threads;
	_Atomic unsigned thread_count;
	_Atomic size_t event_bytes; /* the kernel's pages for their events, while they live */
	atomic_flag stepping;       /* without MPI: a thread is in a round */
};

extern struct core core;

/* The threads that are observed, newest first. */
static inline struct thread *core_threads(void)
{
	/* pairs with the release in adopt */
	return atomic_load_explicit(&core.threads, memory_order_acquire);
}

/* ---- hooks.c ---- */

extern const struct preload_hooks hooks;

/* Destructor of core.thread_ends: what the thread read is booked, its counters are closed. */
void hooks_thread_ends(void *thread);

/* What is in a thread's own word, as a thread; NULL: it is not observed. */
struct thread *hooks_thread(struct preload_thread *slot);

/*
 * A thread is new to us: the calling one (tid 0), or the first one of a forked child, by the
 * kernel's number, which then is not told. NULL: it is not observed.
 */
struct thread *hooks_adopt(pid_t tid, struct preload_thread *slot);

/* What the thread has read is booked, and outlives the process. As ledger_checkpoint. */
void hooks_drain(struct thread *thread, uint64_t now);

/* The same of another thread, that may be in a burst. */
void hooks_drain_other(struct thread *thread, uint64_t now);

/* Without MPI: this thread alone may now look after rounds, until it clears core.stepping. */
bool hooks_try_step(void);

/* ---- ending.c ---- */

/* As preload_hooks.finalize. */
void ending_hook(struct preload_thread *slot, void *site, const void *frame);

/* As preload_hooks.leave. */
void ending_leave(struct preload_thread *slot, void *site, const void *frame);

/* On the watcher, which the last thread waits for: what it has done outlives the process. */
void ending_keep(void);

/* ---- core.c ---- */

/* The spool, in a run of that number, and the ledger and the exchange. 0 or -errno. */
int core_open_spool(double run);
int core_open_books(void);

/* Where the user wants a table of all bursts: from now on. */
void core_record_bursts(void);

#endif
