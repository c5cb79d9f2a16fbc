/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface between the preload (libphasemux.so), which the program sees, and the core
 * (libphasemux-core.so), which does the work. The preload opens the core when the process becomes a target,
 * and calls it at the boundaries of bursts.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_PRELOAD_H
#define PHASEMUX_AGENT_BOUNDARY_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/boundary/calls.h"
#include "agent/boundary/skip.h"
#include "agent/boundary/rest.h"
#include "agent/mpi/mpi_adapter.h"
#include "sampling/clock.h"

#define PRELOAD_CORE_FILE "libphasemux-core.so"
/*
 * The core's only exported symbol, `int phasemux_core_attach(struct preload *preload)`: prepares all that this process
 * needs to be observed. Returns 0, and `begin` must be called; or -errno.
 */
#define PRELOAD_CORE_ATTACH "phasemux_core_attach"

/* Environment variable that `phasemux run` sets to the number of the process that becomes its command. */
#define PRELOAD_TARGET "PHASEMUX_TARGET"

/* Environment variable that `phasemux run --stop-after` sets: it makes the report of what processes leave behind. */
#define PRELOAD_LIMITED "PHASEMUX_LIMITED"

struct module;

/* Link of a thread that is not observed to the others (crowd.h), with its processor time when it was linked. */
struct crowd_link {
	struct preload_thread *next, *previous;
	double ran_ns;
	int tid;
};

#define PRELOAD_ARGUMENTS_MAX 14

/* How the arguments of a call are passed. */
enum preload_form {
	PRELOAD_C,
	PRELOAD_C_LARGE,       /* counts have 64 bits */
	PRELOAD_FORTRAN,       /* each is a pointer */
	PRELOAD_FORTRAN_LARGE, /* counts have 64 bits */
};

/* The arguments of the call that starts, if the core wants them (mpi_arguments.def). */
struct preload_arguments {
	bool known; /* they are those of `call`; the core sets it to false */
	enum preload_form form;
	enum runtime_call call;
	long value[PRELOAD_ARGUMENTS_MAX + 1]; /* by number, from 1 */
};

/* What the core keeps in the thread's own storage: the thread's slot. */
struct preload_thread {
	void *core;    /* the core's thread; NULL: the core does not know it yet */
	bool answered; /* the last call, if it only asks, was answered: something has arrived */
	struct skip skip;
	struct rest rest;
	struct crowd_link crowd;
	struct preload_arguments arguments;
};

/* The functions of the core that the preload calls at the boundaries of bursts. */
struct preload_hooks {
	/*
	 * Called when the outermost intercepted call starts. `site`: the address that it will return to.
	 * `frame`: its caller's stack pointer after that.
	 */
	void (*before)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/* Called when the outermost intercepted call has returned. */
	void (*after)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/*
	 * Called when a skipped call (skip.h) that only asks has returned and was answered. It is an `after`
	 * without a `before`.
	 */
	void (*answered)(struct preload_thread *thread, enum runtime_call call, void *site,
			const void *frame);
	/*
	 * Called when MPI_Pcontrol(level) starts, even while hooks are paused. `after` is called if they are
	 * not paused when it returns.
	 */
	void (*control)(struct preload_thread *thread, int level, enum runtime_call call,
			void *site, const void *frame);
	/* Called when MPI_Abort is about to run. */
	void (*aborts)(struct preload_thread *thread, void *site, const void *frame);
	/* Called when MPI_Finalize is about to run, or when a process without MPI ends. */
	void (*finalize)(struct preload_thread *thread, void *site, const void *frame);
	/* Called when a process without MPI is about to end by _exit(), perhaps within a signal handler. */
	void (*leave)(struct preload_thread *thread, void *site, const void *frame);
	/*
	 * Ends the agent's own thread before a call that the kernel refuses to a process with several, if the program has
	 * none but the calling one. Returns whether it did; then return_thread must be called after the call. Both may be
	 * called while no hooks are set: the child of a fork has such a thread before it is observed.
	 */
	bool (*leave_thread)(void);
	void (*return_thread)(void);
	/* Called when the first thread ends, if another one has opened the core, even while hooks are paused. */
	void (*first_ends)(void);
};

/*
 * The first thread of a process that became a target while it computed (agent/candidate), and what the threads that open
 * the core need instead of their own.
 */
struct preload_first {
	pthread_t thread;
	struct preload_thread
			*slot; /* NULL: the first thread opens the core itself, or MPI_Init does */
	char *(*look)(const char *name); /* in the environment */
	/* Set by `begin`: the thread that called it runs this after that; NULL: it ends. */
	void *(*serve)(void *unused);
};

struct preload {
	bool with_mpi; /* MPI is initialised; false: the process is a target by itself */
	/* the folder of the core and of the other shared objects (kin.h) */
	char folder[4096];
	uint64_t attach_ns; /* CLOCK_MONOTONIC when the preload began to open the core */
	/* the adapter for the process' MPI, after all ranks have met (rendezvous.h); NULL: there is none */
	const struct mpi_adapter *adapter;
	struct preload_first first;
	char why_alone[768]; /* why there is none, although MPI is initialised */
	struct mpi_world world;
	uint64_t waited_ns; /* time that this rank waited for the others to meet */
	/* taken before main if a launcher has started this rank, else in MPI_Init; none without MPI */
	struct clock_moment early;
	/* number of MPI calls, except polls, that this thread has started, whether they reach hooks or not */
	const _Atomic uint64_t *begun;
	/* Sets the hooks that calls reach from now on; NULL: none. They must stay valid for ever. */
	void (*set_hooks)(const struct preload_hooks *hooks);
	/* Hands on the arguments of calls that start from now on, or (false) does not. Any thread may call it. */
	void (*keep_arguments)(bool wanted);
	/* Lists the files that the program has unloaded (unloaded.h). */
	unsigned (*unloaded)(struct module *modules, unsigned max);
	/* Returns the record of the calling thread. */
	struct preload_thread *(*own_slot)(void);
	/* Notes that there is a report of this process, or that a line has said why there is none. */
	void (*told)(void);
	/* Hands a text to the launcher instead of stderr (look.h). Returns whether it has taken all of it. */
	bool (*hand_over)(const char *text, size_t length);
	/*
	 * Set by the core: begins to observe. Opens descriptors that stay open, so that the calling thread must have those of
	 * the program. The thread that prepared may have others.
	 */
	void (*begin)(struct preload *preload);
	/* Pauses all hooks except `control`, `aborts` and `finalize`, or (false) resumes them. */
	void (*pause)(bool paused);
};

#endif
