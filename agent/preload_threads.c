/*
 * The intercepted calls of threads: GNU OpenMP and POSIX. In a process that is no target they cost
 * one load and one jump. <pthread.h> is not included: it declares the same names with other types.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/annotate.h"
#include "agent/wrap.h"

/* ---- the real calls ---- */

enum real_thread {
#define THREAD_CALL(name, count)     REAL_##name,
#define THREAD_REGION(name, count)   REAL_##name,
#define THREAD_LOCK(name, try, busy) REAL_##name, REAL_##try,
#include "agent/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	REAL_pthread_create,
	REAL_GOMP_task,
	REALS,
};

static const char *const symbols[REALS] = {
#define THREAD_CALL(name, count)     [REAL_##name] = #name,
#define THREAD_REGION(name, count)   [REAL_##name] = #name,
#define THREAD_LOCK(name, try, busy) [REAL_##name] = #name, [REAL_##try] = #try,
#include "agent/thread_calls.def"
#undef THREAD_CALL
#undef THREAD_REGION
#undef THREAD_LOCK
	[REAL_pthread_create] = "pthread_create",
	[REAL_GOMP_task] = "GOMP_task",
};

static _Atomic(void *) reals[REALS];

/* Of names that the C library defines twice, for old programs and for new, dlsym finds either. */
static const char *version_of(const char *symbol)
{
	if (strncmp(symbol, "pthread_cond_", 13) == 0)
		return "GLIBC_2.3.2";
	if (strncmp(symbol, "omp_", 4) == 0)
		return "OMP_3.0";
	return NULL;
}

/*
 * A runtime that was opened with RTLD_LOCAL, as the extensions of Python bring theirs: that which
 * the caller is linked with. There may be several, so this is not remembered.
 */
static void *real_of_caller(const char *symbol, void *site)
{
	struct link_map *map;
	Dl_info info;
	void *library, *real = NULL;

	if (!dladdr1(site, &info, (void **)&map, RTLD_DL_LINKMAP))
		return NULL;
	library = dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
	if (library) {
		real = dlsym(library, symbol);
		dlclose(library);
	}
	return real;
}

/* The next one. Of a library between us and the one that has versions, that is the library's. */
static void *real_next(const char *symbol)
{
	const char *version = version_of(symbol);
	void *next = dlsym(RTLD_NEXT, symbol);
	void *versioned = version ? dlvsym(RTLD_NEXT, symbol, version) : NULL;
	Dl_info of_next, of_versioned;

	if (!next ||
			(versioned && dladdr(next, &of_next) && dladdr(versioned, &of_versioned) &&
					of_next.dli_fbase == of_versioned.dli_fbase))
		return versioned;
	return next;
}

static __attribute__((cold, noinline)) void *resolve(enum real_thread which, void *site)
{
	const char *symbol = symbols[which];
	int kept = errno;
	void *real = real_next(symbol);

	/* pairs with the acquire in real_of; nothing but the address itself is published */
	if (real)
		atomic_store_explicit(&reals[which], real, memory_order_release);
	else
		real = real_of_caller(symbol, site);
	errno = kept;
	return real;
}

static long no_such_call(void)
{
	return ENOSYS;
}

static inline void *real_of(enum real_thread which, void *site)
{
	void *real = atomic_load_explicit(&reals[which], memory_order_acquire);

	if (__builtin_expect(!real, 0))
		real = resolve(which, site);
	return real ? real : (void *)no_such_call;
}

/* ---- whose threads ---- */

/*
 * Runtimes have threads of their own, and wait in theirs for others: that is not the program. The
 * preload itself stands where the program ends a region with a jump to such a call. What liburcu
 * waits for, also as a thread ends, a burst must neither end nor begin at: it would be entered again
 * with its lock held.
 */
static const char *const runtimes[] = { "libgomp", "libomp", "libiomp", "libmpi", "libopen-",
	"libpmi", "libevent", "libuc", "libfabric", "libpsm", "libprrte", "mca_", "libphasemux-",
	"liburcu", "libcuda" };

#define RANGES_MAX 64

static struct {
	uintptr_t begin, end;
} ranges[RANGES_MAX];
static _Atomic unsigned range_count;

static int note_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = strrchr(info->dlpi_name, '/');
	unsigned *count = data;
	bool is_runtime = false;

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		is_runtime = is_runtime || strncmp(base, runtimes[i], strlen(runtimes[i])) == 0;
	if (!is_runtime || *count == RANGES_MAX)
		return 0;
	ranges[*count].begin = UINTPTR_MAX;
	ranges[*count].end = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (begin < ranges[*count].begin)
			ranges[*count].begin = begin;
		if (end > ranges[*count].end)
			ranges[*count].end = end;
	}
	++*count;
	return 0;
}

void threads_look(void)
{
	unsigned count = 0;

	dl_iterate_phdr(note_runtime, &count);
	/* pairs with the acquire in is_program: publishes the ranges */
	atomic_store_explicit(&range_count, count, memory_order_release);
}

static bool is_program(const void *site)
{
	unsigned count = atomic_load_explicit(&range_count, memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if ((uintptr_t)site >= ranges[i].begin && (uintptr_t)site < ranges[i].end)
			return false;
	return true;
}

/* A wrapper that is not to be seen: in a target, of the program itself, not within another call. */
static inline bool is_observed(const void *site)
{
	return wrap_observed() && !wrap_thread.depth &&
			!rest_is_endless(&wrap_thread.of_core.rest) && is_program(site);
}

/* ---- regions: what runs on a team ---- */

struct region {
	void (*body)(void *);
	void *data;
	enum runtime_call call;
};

/*
 * The runtime calls the program: what that calls counts again, until it returns to the runtime. The
 * call site of a region is its body, whose first line is the
 * directive's; it is in no frame.
 */
static void run_body(void (*body)(void *), void *data, enum runtime_call call)
{
	void *site = (char *)body + 1;

	wrap_thread.depth = 1;
	wrap_leave(call, site, NULL);
	body(data);
	wrap_enter(call, site, NULL);
}

/* On each thread of the team: it starts after it was told to, and the region ends after all have. */
static void run_region(void *data)
{
	const struct region *region = data;

	annotate_acquire(region);
	run_body(region->body, region->data, region->call);
	annotate_release(region);
}

/* A process that `phasemux run` has started, if not itself, becomes a target here. */
static __attribute__((cold, noinline)) void first_region(void)
{
	int kept = errno;

	if (!wrap_has_mpi())
		wrap_attach(false);
	errno = kept;
}

#define THREAD_REGION(name, count)                                                                 \
	__attribute__((visibility("default"))) long name(P_##count);                               \
	long name(P_##count)                                                                       \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(REAL_##name,                \
				__builtin_return_address(0));                                      \
		struct region region = { (void (*)(void *))a1, (void *)a2, THREAD_##name };        \
		long result;                                                                       \
                                                                                                   \
		if (wrap_role == ROLE_BELOW && !wrap_observed())                                   \
			first_region();                                                            \
		if (!wrap_observed() || wrap_thread.depth)                                         \
			return real(A_##count);                                                    \
		wrap_enter(THREAD_##name, CALLER);                                                 \
		a1 = (long)run_region;                                                             \
		a2 = (long)&region;                                                                \
		annotate_release(&region);                                                         \
		result = real(A_##count);                                                          \
		annotate_acquire(&region);                                                         \
		wrap_leave(THREAD_##name, CALLER);                                                 \
		return result;                                                                     \
	}

/* ---- tasks: what a thread of the team runs while it waits ---- */

#define TASK_BYTES_MAX 4096
#define TASK_ALIGN     64

/* Before the data of a task, which the runtime copies until the task is run. */
struct task {
	void (*body)(void *);
	size_t offset; /* of the data */
};

static void run_task(void *data)
{
	const struct task *task = data;
	void *own = (char *)data + task->offset;

	/* at once, by the thread that makes it: part of its burst */
	if (!wrap_thread.depth)
		task->body(own);
	else
		run_body(task->body, own, THREAD_GOMP_task);
}

__attribute__((visibility("default"))) void GOMP_task(void (*body)(void *), void *data,
		void (*copy)(void *, void *), long size, long align, long condition, long flags,
		void *depend, long priority, void *detach);

/* Where the program copies the data itself (C++ constructors), the task stays part of the wait. */
void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long size,
		long align, long condition, long flags, void *depend, long priority, void *detach)
{
	void (*real)(void (*)(void *), void *, void (*)(void *, void *), long, long, long, long,
			void *, long, void *) = (void (*)(void (*)(void *), void *,
			void (*)(void *, void *), long, long, long, long, void *, long,
			void *))real_of(REAL_GOMP_task, __builtin_return_address(0));
	char block[TASK_BYTES_MAX] __attribute__((aligned(TASK_ALIGN)));
	struct task *task = (struct task *)block;
	long offset = align > (long)sizeof(*task) ? align : (long)sizeof(*task);

	if (!wrap_observed() || copy || size < 0 || align > TASK_ALIGN ||
			offset + size > TASK_BYTES_MAX) {
		real(body, data, copy, size, align, condition, flags, depend, priority, detach);
		return;
	}
	task->body = body;
	task->offset = (size_t)offset;
	memcpy(block + offset, data, (size_t)size);
	real(run_task, block, NULL, offset + size,
			align > (long)_Alignof(struct task) ? align : (long)_Alignof(struct task),
			condition, flags, depend, priority, detach);
}

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

#define THREAD_LOCK(name, try, busy)                                                               \
	__attribute__((visibility("default"))) long name(long lock);                               \
	long name(long lock)                                                                       \
	{                                                                                          \
		int (*real)(long) =                                                                \
				(int (*)(long))real_of(REAL_##name, __builtin_return_address(0));  \
		int (*tried)(long);                                                                \
		int result;                                                                        \
                                                                                                   \
		if (!is_observed(__builtin_return_address(0)))                                     \
			return real(lock);                                                         \
		tried = (int (*)(long))real_of(REAL_##try, __builtin_return_address(0));           \
		result = tried(lock);                                                              \
		if (result != (busy))                                                              \
			return result;                                                             \
		wrap_enter(THREAD_##name, CALLER);                                                 \
		result = real(lock);                                                               \
		wrap_leave(THREAD_##name, CALLER);                                                 \
		return result;                                                                     \
	}

#include "agent/thread_calls.def"

/* ---- the beginning of a thread ---- */

struct start {
	void *(*body)(void *);
	void *data;
};

/* Its end is seen by the core, however it comes about. */
static void *run_thread(void *data)
{
	struct start start = *(struct start *)data;

	free(data);
	wrap_thread.depth = 1;
	wrap_leave(THREAD_pthread_create, (char *)start.body + 1, NULL);
	return start.body(start.data);
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
		start = malloc(sizeof(*start));
	if (!start)
		return real(thread, attributes, body, data);
	start->body = body;
	start->data = data;
	error = real(thread, attributes, run_thread, start);
	if (error)
		free(start);
	return error;
}
