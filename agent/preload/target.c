/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preload/target.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/boundary/kin.h"
#include "agent/candidate/candidate.h"
#include "agent/candidate/kept_environment.h"
#include "agent/host/launcher.h"
#include "agent/host/quiet.h"
#include "agent/loader/dynamic.h"
#include "agent/loader/object.h"
#include "agent/loader/real.h"
#include "agent/loader/unloaded.h"
#include "agent/preload/prestart.h"
#include "agent/preload/look.h"
#include "agent/preload/rendezvous.h"
#include "agent/preload/runtimes.h"
#include "agent/preload/wrap.h"
#include "sampling/cancellation.h"

__thread struct wrap_thread wrap_thread __attribute__((tls_model("initial-exec")));
_Atomic(const struct preload_hooks *) wrap_hooks;
atomic_bool wrap_keeps_arguments;
enum wrap_role wrap_role;

/* The first thread of a candidate (agent/candidate). */
static struct {
	pthread_t thread;
	struct wrap_thread *wrap;
	bool is_target; /* the process becomes a target on the candidate's threads */
} first;

static atomic_flag tried = ATOMIC_FLAG_INIT; /* the process is made a target, or that has failed */
static _Atomic uint64_t begun_ns;            /* see target_begin */

static _Atomic(const struct preload_hooks *) all_hooks;  /* the hooks that are set, paused or not */
static _Atomic(const struct preload_hooks *) hooks_ever; /* those that were set last */

static void set_hooks(const struct preload_hooks *hooks)
{
	if (hooks)
		atomic_store_explicit(&hooks_ever, hooks, memory_order_release);
	atomic_store_explicit(&all_hooks, hooks, memory_order_release);
	atomic_store_explicit(&wrap_hooks, hooks, memory_order_release);
}

static void keep_arguments(bool wanted)
{
	atomic_store_explicit(&wrap_keeps_arguments, wanted, memory_order_relaxed);
}

static struct preload_thread *own_slot(void)
{
	return &wrap_thread.of_core;
}

static void pause_hooks(bool paused)
{
	const struct preload_hooks *all = target_hooks();

	/* pairs with the acquire in wrap_observed: publishes what the core wrote before it resumed */
	atomic_store_explicit(&wrap_hooks, paused ? NULL : all, memory_order_release);
}

const struct preload_hooks *target_hooks(void)
{
	return atomic_load_explicit(&all_hooks, memory_order_acquire);
}

const struct preload_hooks *target_hooks_ever(void)
{
	return atomic_load_explicit(&hooks_ever, memory_order_acquire);
}

static struct preload preload = { .set_hooks = set_hooks,
	.own_slot = own_slot,
	.keep_arguments = keep_arguments,
	.told = look_told,
	.hand_over = look_hand_over,
	.pause = pause_hooks,
	.unloaded = unloaded_modules };

bool target_folder(char *folder, size_t size)
{
	struct object own;
	const char *slash;

	if (!object_find((const void *)target_folder, &own))
		return false;
	slash = strrchr(own.path, '/');
	if (!slash)
		return snprintf(folder, size, ".") < (int)size && kin_folder(folder, size);
	return snprintf(folder, size, "%.*s", (int)(slash - own.path), own.path) < (int)size &&
			kin_folder(folder, size);
}

bool target_is_disabled(void)
{
	const char *disable = getenv("PHASEMUX_DISABLE");

	return disable && strcmp(disable, "1") == 0;
}

/*
 * Functions that only glibc has are weak here. A program of another C library (musl) must start as without the
 * agent, which is then off.
 */
extern const char *gnu_get_libc_version(void) __attribute__((weak));
extern int __cxa_at_quick_exit(void (*function)(void *), void *object) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static bool is_glibc(void)
{
	return gnu_get_libc_version && __cxa_at_quick_exit;
}

/* Ends the run when the process ends. With MPI, MPI_Finalize has ended it. */
static __attribute__((destructor)) void end(void)
{
	const struct preload_hooks *hooks;
	int kept = errno;

	candidate_end();
	hooks = wrap_observed();
	if (hooks && !preload.with_mpi && !wrap_thread.depth++)
		hooks->finalize(&wrap_thread.of_core, CALLER);
	look_end();
	errno = kept;
}

static void end_quickly(void *unused)
{
	(void)unused;
	end();
}

static _Atomic(void (*)(int)) real_exit;

/*
 * Ends the run, then the process. The child of a vfork calls this too, in its parent's memory. Therefore
 * nothing is written here, except by functions that check for that.
 */
static __attribute__((noreturn)) void leave(int status, void *site, const void *frame)
{
	const struct preload_hooks *hooks;
	void (*real)(int);

	candidate_end();
	hooks = wrap_observed();
	real = atomic_load(&real_exit);
	if (hooks && !preload.with_mpi && !wrap_thread.depth)
		hooks->leave(&wrap_thread.of_core, site, frame);
	look_end();
	if (real)
		real(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
	leave(status, CALLER);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
	leave(status, CALLER);
}

/* Loads the core from the folder of the preload. Returns NULL on failure. Another call returns the same. */
static void *load_core(void)
{
	char path[sizeof(preload.folder) + sizeof(PRELOAD_CORE_FILE) + 1];

	snprintf(path, sizeof(path), "%s/%s", preload.folder, PRELOAD_CORE_FILE);
	return dynamic_open(path, RTLD_NOW | RTLD_LOCAL);
}

/*
 * Returns the core's entry, or NULL if the core cannot be opened, and then stderr says why. Call after the
 * ranks have met, because a rank without a core tells the others.
 */
static int (*open_core(void))(struct preload *)
{
	int (*core_attach)(struct preload *);
	char why[512], rank[320] = "";
	void *core = load_core();

	core_attach = core ? (int (*)(struct preload *))dynamic_find(core, PRELOAD_CORE_ATTACH) :
			     NULL;
	if (core_attach)
		return core_attach;
	snprintf(why, sizeof(why), "%s", dynamic_error());
	if (preload.adapter)
		launcher_name_rank(preload.world.rank, rank, sizeof(rank));
	if (rendezvous_leave(&preload))
		quiet_say("phasemux: off: %s%s\n", rank, why);
	return NULL;
}

void target_begin(void)
{
	atomic_store_explicit(&begun_ns, clock_monotonic(), memory_order_relaxed);
}

/* Prepares all that the process needs to be observed. If that fails, a line says why on one rank of the job. */
static bool prepare_target(enum wrap_with with, const void *init)
{
	int (*core_attach)(struct preload *);
	int error;

	if (!is_glibc()) {
		quiet_say("phasemux: off: the C library of this program is not glibc\n");
		return false;
	}
	if (!dynamic_is_there()) {
		quiet_say("phasemux: off: the C library of this program (glibc %s) is too old, because it has no "
			  "dlopen\n",
				gnu_get_libc_version());
		return false;
	}
	if (with == WITH_NOTHING)
		target_begin();
	preload.with_mpi = with != WITH_NOTHING;
	preload.attach_ns = atomic_load_explicit(&begun_ns, memory_order_relaxed);
	preload.begun = first.is_target ? &first.wrap->begun : &wrap_thread.begun;
	if (!target_folder(preload.folder, sizeof(preload.folder))) {
		quiet_say("phasemux: off: cannot tell which folder it is in\n");
		return false;
	}
	if (with == WITH_SESSIONS)
		strcpy(preload.why_alone, "the program uses MPI sessions alone");
	error = with == WITH_MPI ? rendezvous_hold(&preload, init) : 0;
	if (error == -EIO)
		quiet_say("phasemux: off: MPI refused a message or a communicator\n");
	core_attach = error ? NULL : open_core();
	if (!core_attach)
		return false;
	runtimes_look(); /* the libraries opened for the core are not the program */
	if (!preload.with_mpi) {
		void *real = real_at_start("_exit");

		atomic_store(&real_exit, (void (*)(int))real);
	}
	return core_attach(&preload) == 0;
}

void target_attach(enum wrap_with with, const void *init)
{
	int state;

	if (atomic_flag_test_and_set(&tried) || target_is_disabled())
		return;
	state = cancellation_hold();
	look_seen();
	if (prepare_target(with, init)) {
		preload.begin(&preload);
		if (!preload.with_mpi)
			__cxa_at_quick_exit(end_quickly, &__dso_handle); /* runs no destructors */
	} else {
		look_told();
	}
	cancellation_release(state);
}

/* ---- a process that becomes a target while it computes ---- */

/* Loads the core first, which takes long. Returns false if the program ends in the meantime. */
static bool core_comes_in_time(void)
{
	if (target_folder(preload.folder, sizeof(preload.folder)))
		load_core();
	return !candidate_is_ending();
}

static bool prepare_first(void)
{
	bool is_prepared;

	wrap_thread.depth = 1; /* the calls of this thread are the agent's */
	/* with MPI, MPI_Init makes the process a target */
	if (target_has_mpi() || !core_comes_in_time() || atomic_flag_test_and_set(&tried))
		return false;
	first.is_target = true;
	preload.first = (struct preload_first){ .thread = first.thread,
		.slot = &first.wrap->of_core,
		.look = kept_environment_look };
	look_seen();
	is_prepared = prepare_target(WITH_NOTHING, NULL);
	if (!is_prepared)
		look_told();
	return is_prepared;
}

static candidate_task *begin_first(void)
{
	wrap_thread.depth = 1;
	preload.begin(&preload);
	return preload.first.serve;
}

static void forked_early(void)
{
	set_hooks(NULL);
}

static void first_ends(void)
{
	const struct preload_hooks *hooks = target_hooks_ever();

	if (hooks)
		hooks->first_ends();
}

void target_wait(void)
{
	static const struct candidate_events events = { .prepare = prepare_first,
		.begin = begin_first,
		.forked_early = forked_early,
		.first_ends = first_ends };

	if (target_is_disabled() || getauxval(AT_SECURE) || !is_glibc() || target_has_mpi())
		return;
	first.thread = pthread_self();
	first.wrap = &wrap_thread;
	candidate_start(&events);
	__cxa_at_quick_exit(end_quickly, &__dso_handle);
}

void target_prepare(void)
{
	clock_look(&preload.early);
	prestart_prepare();
}

bool target_has_mpi(void)
{
	return real_definitions("MPI_Init") > 0;
}

void target_first_region(void)
{
	int kept = errno;

	if (syscall(SYS_gettid) == getpid() && !target_has_mpi() && candidate_claim())
		target_attach(WITH_NOTHING, NULL);
	errno = kept;
}
