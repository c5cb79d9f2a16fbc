/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The intercepted calls of threads: GNU OpenMP and POSIX. In a process that is no target they cost one load and
 * one jump. <pthread.h> is not included, because it declares the same names with other types.
 */
#include "agent/preload/wrap_threads.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/candidate/candidate.h"
#include "agent/host/tsan.h"
#include "agent/loader/real.h"
#include "agent/loader/unloaded.h"
#include "agent/preload/runtimes.h"
#include "agent/preload/target.h"
#include "agent/preload/wrap.h"

/* ---- the real calls ---- */

enum real_thread {
#define THREAD_CALL(name, count)     REAL_##name,
#define THREAD_REGION(name, count)   REAL_##name,
#define THREAD_LOCK(name, try, busy) REAL_##name, REAL_##try,
#include "agent/boundary/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	REAL_pthread_create,
	REAL_GOMP_task,
	REAL_dlclose,
	REAL_unshare,
	REAL_setns,
	REALS,
};

static const char *const symbols[REALS] = {
#define THREAD_CALL(name, count)     [REAL_##name] = #name,
#define THREAD_REGION(name, count)   [REAL_##name] = #name,
#define THREAD_LOCK(name, try, busy) [REAL_##name] = #name, [REAL_##try] = #try,
#include "agent/boundary/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	[REAL_pthread_create] = "pthread_create",
	[REAL_GOMP_task] = "GOMP_task",
	[REAL_dlclose] = "dlclose",
	[REAL_unshare] = "unshare",
	[REAL_setns] = "setns",
};

static _Atomic(void *) reals[REALS];

static atomic_bool is_started;

static void resolved(size_t index, void *real)
{
	/* pairs with the acquire in real_if_any; nothing but the address itself is published */
	atomic_store_explicit(&reals[index], real, memory_order_release);
}

void wrap_threads_start(void)
{
	if (real_find_many(symbols, REALS, true, resolved))
		atomic_store_explicit(&is_started, true, memory_order_relaxed);
}

/*
 * Finds a real call that was not known before main, as those of the C library are. For a runtime that was
 * opened later, the answer depends on the caller, because there may be several: extensions of Python bring
 * their own.
 */
static __attribute__((cold, noinline)) void *resolve(enum real_thread which, const void *site)
{
	if (atomic_load_explicit(&is_started, memory_order_relaxed))
		return real_find_cached(symbols[which], site);
	return real_find(symbols[which], site);
}

/* Returns the real call, or NULL if no loaded object defines it. */
static inline void *real_if_any(enum real_thread which, const void *site)
{
	void *real = atomic_load_explicit(&reals[which], memory_order_acquire);

	if (__builtin_expect(!real, 0))
		real = resolve(which, site);
	return real;
}

static inline void *real_of(enum real_thread which, const void *site)
{
	void *real = real_if_any(which, site);

	if (__builtin_expect(!real, 0))
		real_missing(symbols[which], site);
	return real;
}

/* Returns whether a call is observed: in a target, made by the program itself, and not within another call. */
static inline bool is_observed(const void *site)
{
	return wrap_observed() && !wrap_thread.depth &&
			!rest_is_endless(&wrap_thread.of_core.rest) && runtimes_are_not_at(site);
}

/* ---- regions: functions that run on a team of threads ---- */

struct region {
	void (*body)(void *);
	void *data;
	enum runtime_call call;
};

/*
 * Runs a function of the program that the runtime calls. Until it returns to the runtime, its calls count
 * again. The call site of a region is its body, whose first line is the directive's; it has no frame.
 */
static void run_body(void (*body)(void *), void *data, enum runtime_call call)
{
	void *site = (char *)body + 1;

	wrap_thread.depth = 1;
	wrap_leave(call, site, NULL);
	body(data);
	wrap_enter(call, site, NULL);
}

/* Runs a region on each thread of the team, after the region was started, and before it ends. */
static void run_region(void *data)
{
	const struct region *region = data;

	tsan_acquire(region);
	run_body(region->body, region->data, region->call);
	tsan_release(region);
}

/*
 * Wrapper of a call that runs a region. The real call is looked for from the body, which is always a function
 * of the object that made the call. The return address may be in another object, if the call was made by a jump
 * at the end of a function. Without a runtime, the calling thread is the team.
 */
#define THREAD_REGION(name, count)                                                                 \
	__attribute__((visibility("default"))) long name(P_##count);                               \
	long name(P_##count)                                                                       \
	{                                                                                          \
		long (*real)(P_##count) =                                                          \
				(long (*)(P_##count))real_if_any(REAL_##name, (void *)a1);         \
		struct region region = { (void (*)(void *))a1, (void *)a2, THREAD_##name };        \
		long result;                                                                       \
                                                                                                   \
		if (__builtin_expect(!real, 0)) {                                                  \
			region.body(region.data);                                                  \
			return 0;                                                                  \
		}                                                                                  \
		if (wrap_role == ROLE_BELOW && !wrap_observed())                                   \
			target_first_region();                                                     \
		if (!wrap_observed() || wrap_thread.depth)                                         \
			return real(A_##count);                                                    \
		wrap_enter(THREAD_##name, CALLER);                                                 \
		a1 = (long)run_region;                                                             \
		a2 = (long)&region;                                                                \
		tsan_release(&region);                                                             \
		result = real(A_##count);                                                          \
		tsan_acquire(&region);                                                             \
		wrap_leave(THREAD_##name, CALLER);                                                 \
		return result;                                                                     \
	}

/* ---- tasks, which a thread of the team runs while it waits ---- */

#define TASK_BYTES_MAX 1024 /* on the stack of the calling thread */
#define TASK_ALIGN     64

/*
 * The flags of a task with which the runtime leaves the task's data to the program: untied, final, mergeable,
 * with dependences, with a priority. With other flags it may not. The runtime writes an event into the data of
 * a detached task (8192). The flags of loops of tasks (GOMP_taskloop) and of targets (GOMP_target) are in calls
 * that the agent does not intercept.
 */
#define TASK_FLAGS_KNOWN (1 | 2 | 4 | 8 | 16)

/* Header before the data of a task. The runtime keeps a copy of both until the task is run. */
struct task {
	void (*body)(void *);
	size_t offset; /* of the data, from the header's start */
};

static void run_task(void *data)
{
	const struct task *task = data;
	void *own = (char *)data + task->offset;

	/* the thread that makes the task runs it at once, as part of its burst */
	if (!wrap_thread.depth)
		task->body(own);
	else
		run_body(task->body, own, THREAD_GOMP_task);
}

typedef void task_call(void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
		long align, long condition, long flags, void *depend, long priority, void *detach);

__attribute__((visibility("default"))) task_call GOMP_task;

/* NOLINTBEGIN(readability-function-size): the parameters are those of libgomp. */

/* Makes a task with a header. It is not inlined, so that an unchanged task needs no room on the stack. */
static __attribute__((noinline)) void make_task(task_call *real, void (*body)(void *), void *data,
		long size, long align, long condition, long flags, void *depend, long priority)
{
	long offset = align > (long)sizeof(struct task) ? align : (long)sizeof(struct task);
	char *block = __builtin_alloca_with_align((size_t)(offset + size), 8 * TASK_ALIGN);
	struct task *task = (struct task *)block;

	task->body = body;
	task->offset = (size_t)offset;
	memcpy(block + offset, data, (size_t)size);
	real(run_task, block, NULL, offset + size,
			align > (long)_Alignof(struct task) ? align : (long)_Alignof(struct task),
			condition, flags, depend, priority, NULL);
}

/* If the program copies the data itself (C++ constructors), the task is not observed, and counts as waiting. */
void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
		long align, long condition, long flags, void *depend, long priority, void *detach)
{
	task_call *real = (task_call *)real_of(REAL_GOMP_task, (void *)body);

	if (!wrap_observed() || copy || size < 0 || size > TASK_BYTES_MAX || align > TASK_ALIGN ||
			((unsigned)flags & ~TASK_FLAGS_KNOWN))
		real(body, data, copy, size, align, condition, flags, depend, priority, detach);
	else
		make_task(real, body, data, size, align, condition, flags, depend, priority);
}

/* NOLINTEND(readability-function-size) */

/* ---- calls that wait ---- */

#define THREAD_CALL(name, count)                                                                   \
	__attribute__((visibility("default"))) long name(P_##count);                               \
	long name(P_##count)                                                                       \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(REAL_##name,                \
				__builtin_return_address(0));                                      \
		long result;                                                                       \
                                                                                                   \
		if (!is_observed(__builtin_return_address(0)))                                     \
			return real(A_##count);                                                    \
		wrap_enter(THREAD_##name, CALLER);                                                 \
		result = real(A_##count);                                                          \
		wrap_leave(THREAD_##name, CALLER);                                                 \
		return result;                                                                     \
	}

/* A lock that is free costs the attempt alone: whose call it is, is looked up only if the thread has to wait. */
#define THREAD_LOCK(name, try, busy)                                                               \
	__attribute__((visibility("default"))) long name(long lock);                               \
	long name(long lock)                                                                       \
	{                                                                                          \
		int (*real)(long) =                                                                \
				(int (*)(long))real_of(REAL_##name, __builtin_return_address(0));  \
		int (*tried)(long);                                                                \
		int result;                                                                        \
                                                                                                   \
		if (!wrap_observed())                                                              \
			return real(lock);                                                         \
		tried = (int (*)(long))real_of(REAL_##try, __builtin_return_address(0));           \
		result = tried(lock);                                                              \
		if (result != (busy))                                                              \
			return result;                                                             \
		if (!is_observed(__builtin_return_address(0)))                                     \
			return real(lock);                                                         \
		wrap_enter(THREAD_##name, CALLER);                                                 \
		result = real(lock);                                                               \
		wrap_leave(THREAD_##name, CALLER);                                                 \
		return result;                                                                     \
	}

#include "agent/boundary/thread_calls.def"

/* ---- the start of a thread ---- */

/* Arguments that pthread_create hands to the new thread. They are not in the program's heap. */
struct start {
	atomic_bool is_taken;
	bool is_mapped;
	void *(*body)(void *);
	void *data;
};

#define STARTS 256

static struct start starts[STARTS];

/* Returns a free struct, or NULL if there is no memory, and then the thread is made as without the agent. */
static struct start *take_start(void)
{
	static atomic_uint next;
	unsigned first = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	struct start *mapped;

	for (unsigned i = 0; i < STARTS; i++) {
		struct start *start = &starts[(first + i) % STARTS];
		bool taken = false;

		/* pairs with the release in leave_start: the last thread has read what is overwritten now */
		if (atomic_compare_exchange_strong_explicit(&start->is_taken, &taken, true,
				    memory_order_acquire, memory_order_relaxed))
			return start;
	}
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	mapped->is_mapped = true;
	return mapped;
}

static void leave_start(struct start *start)
{
	if (start->is_mapped)
		munmap(start, sizeof(*start));
	else
		atomic_store_explicit(&start->is_taken, false, memory_order_release);
}

/* Runs a thread of the program. The core notices its end in any case. */
static void *run_thread(void *of_start)
{
	struct start *start = of_start;
	void *(*body)(void *) = start->body;
	void *data = start->data;

	leave_start(start);
	wrap_thread.depth = 1;
	wrap_leave(THREAD_pthread_create, (char *)body + 1, NULL);
	return body(data);
}

__attribute__((visibility("default"))) int pthread_create(void *thread, const void *attributes,
		void *(*body)(void *), void *data);

int pthread_create(void *thread, const void *attributes, void *(*body)(void *), void *data)
{
	int (*real)(void *, const void *, void *(*)(void *), void *) =
			(int (*)(void *, const void *, void *(*)(void *), void *))real_of(
					REAL_pthread_create, __builtin_return_address(0));
	struct start *start = NULL;
	int error;

	if (is_observed(__builtin_return_address(0)))
		start = take_start();
	if (!start)
		return real(thread, attributes, body, data);
	start->body = body;
	start->data = data;
	error = real(thread, attributes, run_thread, start);
	if (error)
		leave_start(start);
	return error;
}

/* ---- objects that go away ---- */

/* Intercepted because another object may be loaded where a runtime or an observed object was. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
	int (*real)(void *) = (int (*)(void *))real_of(REAL_dlclose, __builtin_return_address(0));
	void *before = wrap_observed() ? unloaded_look() : NULL;
	int result = real(handle);

	unloaded_note(before);
	real_unloaded();
	return result;
}

/* ---- calls that the kernel refuses to a process with several threads ---- */

/* Whose thread has left before a call, and must return after it. */
struct left {
	bool candidate;
	const struct preload_hooks *hooks; /* NULL: not the helper */
};

/* Makes the agent's own thread leave before such a call. */
static struct left leave_thread(void)
{
	struct left left = { .candidate = candidate_leave() };
	const struct preload_hooks *hooks = target_hooks_ever();

	if (hooks && hooks->leave_thread())
		left.hooks = hooks;
	return left;
}

/* Starts the agent's own thread again after a call. Keeps errno, which the call may have set. */
static void return_thread(const struct left *left)
{
	int kept = errno;

	if (left->candidate)
		candidate_return();
	if (left->hooks)
		left->hooks->return_thread();
	errno = kept;
}

/* Namespaces that need a process with one thread. */
#define ALONE_FLAGS (CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)

__attribute__((visibility("default"))) int unshare(int flags)
{
	int (*real)(int) = (int (*)(int))real_of(REAL_unshare, __builtin_return_address(0));
	struct left left = { .candidate = false };
	int result;

	if (flags & ALONE_FLAGS)
		left = leave_thread();
	result = real(flags);
	return_thread(&left);
	return result;
}

__attribute__((visibility("default"))) int setns(int fd, int type)
{
	int (*real)(int, int) = (int (*)(int, int))real_of(REAL_setns, __builtin_return_address(0));
	struct left left = leave_thread();
	int result = real(fd, type);

	return_thread(&left);
	return result;
}
