/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenMP runtimes of LLVM and Intel report their events by the tools interface of OpenMP 5: they look for
 * ompt_start_tool, and call back. The types that are used are defined here as in the standard (OpenMP 5.0,
 * chapter 4), because GCC has no header for them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/host/quiet.h"
#include "agent/loader/real.h"
#include "agent/preload/target.h"
#include "agent/preload/wrap.h"

typedef union {
	uint64_t value;
	void *ptr;
} ompt_data;

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);

struct ompt_start {
	int (*initialize)(ompt_lookup lookup, int device, ompt_data *tool);
	void (*finalize)(ompt_data *tool);
	ompt_data tool;
};

enum {
	SCOPE_BEGIN = 1,
	SCOPE_END = 2,
};

enum {
	CALLBACK_PARALLEL_BEGIN = 3,
	CALLBACK_PARALLEL_END = 4,
	CALLBACK_IMPLICIT_TASK = 7,
	CALLBACK_SYNC_REGION = 23,
	CALLBACK_MUTEX_ACQUIRE = 26,
	CALLBACK_MUTEX_ACQUIRED = 27,
};

#define TASK_INITIAL 1 /* flag of the task of the program's own thread, outside of regions */

/* Ends a burst. site: where the program called the runtime; it has no frame. */
static void begin_waiting(const void *site)
{
	if (!wrap_observed() || wrap_thread.depth)
		return;
	wrap_enter(THREAD_ompt, (void *)site, NULL);
	wrap_ends();
}

/* Starts a burst. site: where the program called the runtime; it has no frame. */
static void end_waiting(const void *site)
{
	if (!wrap_observed() || wrap_thread.depth)
		return;
	wrap_thread.depth++;
	wrap_leave(THREAD_ompt, (void *)site, NULL);
}

static void parallel_begin(ompt_data *task, const void *frame, ompt_data *parallel,
		unsigned requested, int flags, const void *site)
{
	(void)task;
	(void)frame;
	(void)requested;
	(void)flags;
	if (wrap_role == ROLE_BELOW && !wrap_observed())
		target_first_region();
	/* the region's threads read it in implicit_task */
	parallel->ptr = (void *)site;
	begin_waiting(site);
}

static void parallel_end(ompt_data *parallel, ompt_data *task, int flags, const void *site)
{
	(void)parallel;
	(void)task;
	(void)flags;
	end_waiting(site);
}

/* Handles the start and the end of a thread's part of a region. */
static void implicit_task(int scope, ompt_data *parallel, ompt_data *task, unsigned size,
		unsigned index, int flags)
{
	(void)size;
	(void)index;
	if (flags & TASK_INITIAL)
		return;
	/* the region may not exist any more when the thread's part ends */
	if (scope == SCOPE_BEGIN)
		task->ptr = parallel->ptr;
	if (scope == SCOPE_BEGIN)
		end_waiting(task->ptr);
	else
		begin_waiting(task->ptr);
}

/* Handles a barrier or a wait for tasks. The runtime gives no site for the one at the end of a region. */
static void sync_region(int kind, int scope, ompt_data *parallel, ompt_data *task, const void *site)
{
	(void)kind;
	(void)parallel;
	if (!site && task)
		site = task->ptr;
	if (scope == SCOPE_BEGIN)
		begin_waiting(site);
	else if (scope == SCOPE_END && parallel)
		end_waiting(site);
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait,
		const void *site)
{
	(void)kind;
	(void)hint;
	(void)implementation;
	(void)wait;
	begin_waiting(site);
}

static void mutex_acquired(int kind, uint64_t wait, const void *site)
{
	(void)kind;
	(void)wait;
	end_waiting(site);
}

static int initialize(ompt_lookup lookup, int device, ompt_data *tool)
{
	static const struct {
		int event;
		ompt_function callback;
	} callbacks[] = {
		{ CALLBACK_PARALLEL_BEGIN, (ompt_function)parallel_begin },
		{ CALLBACK_PARALLEL_END, (ompt_function)parallel_end },
		{ CALLBACK_IMPLICIT_TASK, (ompt_function)implicit_task },
		{ CALLBACK_SYNC_REGION, (ompt_function)sync_region },
		{ CALLBACK_MUTEX_ACQUIRE, (ompt_function)mutex_acquire },
		{ CALLBACK_MUTEX_ACQUIRED, (ompt_function)mutex_acquired },
	};
	int (*set)(int event, ompt_function callback) =
			(int (*)(int, ompt_function))lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	if (!set)
		return 0;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		set(callbacks[i].event, callbacks[i].callback);
	return 1;
}

static void finalize(ompt_data *tool)
{
	(void)tool;
}

__attribute__((visibility("default"))) struct ompt_start *ompt_start_tool(unsigned version,
		const char *runtime);

/*
 * Returns the tool that the runtime would have found without the agent. The runtime has at most one tool, and
 * the program or the user has chosen this one.
 */
static struct ompt_start *next_tool(unsigned version, const char *runtime)
{
	static const char symbol[] = "ompt_start_tool";
	struct ompt_start *(*next)(unsigned, const char *);

	*(void **)&next = real_find(symbol, __builtin_return_address(0));
	return next ? next(version, runtime) : NULL;
}

/*
 * Called by the runtime when it starts. Returns NULL if there is no tool, and then the runtime does not call
 * back.
 */
struct ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start start = { .initialize = initialize, .finalize = finalize };
	int kept = errno;
	bool may_be = wrap_role != ROLE_MPI || target_has_mpi();
	struct ompt_start *other = next_tool(version, runtime);

	if (other && wrap_role != ROLE_MPI)
		quiet_say("phasemux: another tool observes OpenMP (ompt_start_tool): "
			  "its regions are not in the report\n");
	errno = kept;
	return other || !may_be ? other : &start;
}
