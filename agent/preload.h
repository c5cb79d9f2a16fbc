/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the preload (libphasemux.so), which the application sees, and the core
 * (libphasemux-core.so), which does the work. The preload opens the core when the process has
 * become a target, and hands it the boundaries of bursts.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_H
#define PHASEMUX_AGENT_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/calls.h"
#include "agent/mpi_adapter.h"
#include "agent/passed.h"
#include "agent/rest.h"
#include "agent/source.h"
#include "sampling/clock.h"

#define PRELOAD_CORE_FILE "libphasemux-core.so"
/* The core's one exported symbol: `int phasemux_core_attach(struct preload *preload)`, 0 or -errno. */
#define PRELOAD_CORE_ATTACH "phasemux_core_attach"

/* Set by `phasemux run`: the process that becomes its command. */
#define PRELOAD_TARGET "PHASEMUX_TARGET"

/* Links a thread that is not observed to the others (crowd.h), and keeps its processor time at that moment. */
struct crowd_link {
	struct preload_thread *next, *previous;
	double ran_ns;
	int tid;
};

/* In the thread's own storage: what the core has there. */
struct preload_thread {
	void *core;    /* NULL: the core does not know the thread */
	bool answered; /* the call that returned last, if it only asks, said that it has come */
	struct passed passed;
	struct rest rest;
	struct crowd_link crowd;
};

/* What the core does at the boundaries. */
struct preload_hooks {
	/*
	 * The outermost intercepted call begins; site is the address it will return to, frame its
	 * caller's stack pointer after that.
	 */
	void (*before)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/* It has returned. */
	void (*after)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/*
	 * A call has returned that went by (passed.h), only asks, and was answered: `after`, where there was
	 * no `before`.
	 */
	void (*answered)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/*
	 * MPI_Pcontrol begins, with that level; also while hooks are paused. `after` is called if they are not
	 * paused when it returns.
	 */
	void (*control)(struct preload_thread *thread, int level, enum runtime_call call,
			void *site, const void *frame);
	/* MPI_Abort is about to run. */
	void (*aborts)(struct preload_thread *thread, void *site, const void *frame);
	/* MPI_Finalize is about to run, or the process without MPI to end. */
	void (*finalize)(struct preload_thread *thread, void *site, const void *frame);
	/* The process without MPI is about to end by _exit(), perhaps within a signal handler. */
	void (*leave)(struct preload_thread *thread, void *site, const void *frame);
};

struct preload {
	bool with_mpi; /* MPI is initialised; else the process is a target by itself */
	/* Where the shared objects of phasemux are. */
	char folder[4096];
	uint64_t attach_ns; /* of CLOCK_MONOTONIC, when it began to open the core */
	/* Of MPI; NULL: there is none for it. All ranks have met (meeting.h), and waited so long. */
	const struct mpi_adapter *adapter;
	struct mpi_world world;
	uint64_t waited_ns;
	struct clock_moment early; /* before main; none where this was not known to be a rank */
	/* How many calls of MPI, but polls, this thread has begun, whether they reach hooks or not. */
	const _Atomic uint64_t *begun;
	/* From now on calls reach these hooks; NULL: none any more. They must stay valid for ever. */
	void (*set_hooks)(const struct preload_hooks *hooks);
	/* Lists the files that the program has unloaded (unloaded.h). */
	unsigned (*unloaded)(struct source_module *modules, unsigned max);
	/* For a while, until it is called with false: none but those of an end are reached. */
	void (*pause)(bool paused);
};

#endif
