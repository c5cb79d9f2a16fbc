/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that the files of the core share: attach.c (the start), hooks.c (the boundaries of bursts) and
 * finalize.c (the end). A process has one core. It is written at the start, before the preload can call a
 * hook. Later only atomic fields change, except at the end and in a forked child.
 */
#ifndef PHASEMUX_AGENT_CORE_CORE_H
#define PHASEMUX_AGENT_CORE_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/boundary/preload.h"
#include "agent/ledger/burst_csv.h"
#include "agent/ledger/ledger.h"
#include "agent/mpi/mpi_adapter.h"
#include "agent/rounds/exchange.h"
#include "agent/rounds/family.h"
#include "agent/setup/counting.h"
#include "agent/setup/job.h"
#include "agent/setup/settings.h"
#include "agent/spool/spool.h"
#include "agent/thread/thread.h"

#define CORE_SERVICE_NS 10000000 /* between two services of a thread, except in calm */

/* The process that is observed. attach.c writes it, and fork.c in a child. */
struct core_process {
	pid_t pid;
	/* points to 1; to 0 in a process that clone() made of this one, without fork()'s handlers */
	volatile unsigned char *mark;
	pthread_t main_thread; /* the thread that called MPI_Init */
	bool attached;         /* the hooks may be called */
	uint64_t start;        /* when the run began, in ticks of the clock */
	double started; /* when the run began, in seconds since 1970, also in a forked child */
	double start_seconds; /* time that the program waited for the agent at its start, or that the agent used beside it */
};

/* The threads that are observed. threads.c writes it, also in a child. */
struct core_threads {
	/* none is ever removed, but a new thread may take over the place of an ended one */
	_Atomic(struct thread *) newest;
	_Atomic unsigned count;
	_Atomic size_t event_bytes; /* size of the kernel's pages for events of open threads */
	pthread_key_t end_key;      /* its destructor is called when a thread ends */
};

struct core {
	struct thread_rules rules; /* first, because every call reads them */

	/* What the run was asked for. attach.c writes it, and the world's rank in a child is fork.c's. */
	const struct preload *preload;
	struct settings settings;
	struct job job;
	struct counting counting;
	char result_folder[4096];
	char command[4096]; /* the program and its arguments, each ended by a NUL */
	size_t command_bytes;
	char host[SPOOL_HOST_MAX]; /* name of this machine; "?": not known */
	bool region;               /* the ranks record a region */
	uint64_t run;              /* number of the run, equal on all ranks */
	bool several_hosts;        /* the ranks are not all on this machine */
	bool reads_arguments;      /* MPI says what the arguments of calls mean */
	struct mpi_world world;
	const struct mpi_adapter *adapter; /* NULL: this rank is alone */

	struct core_process process;
	struct core_threads threads;

	/*
	 * What the run learns. storage.c makes and frees it, finalize.c closes the table of bursts, and fork.c
	 * leaves the parent's to the parent.
	 */
	struct spool *spool; /* NULL: all counts are lost if the process is killed */
	char spool_folder[4096];
	struct ledger *ledger;
	struct exchange *exchange;
	struct burst_csv *bursts; /* NULL, unless the user wants all bursts */
	struct family *family; /* the processes that are forked; NULL: they are not observed. attach.c's */
	_Atomic pid_t stepping; /* without MPI: the thread that makes a step of a round; 0: none */
};

extern struct core core;

/* Returns the threads that are observed, newest first. */
static inline struct thread *core_threads(void)
{
	/* pairs with the release in publish_thread (threads.c) */
	return atomic_load_explicit(&core.threads.newest, memory_order_acquire);
}

/* Pauses the hooks. Bursts that are under way are dropped. */
void core_pause(void);

/* Resumes the hooks. Each thread finds out in its next hook (delimit_look_return). */
void core_resume(void);

#endif
