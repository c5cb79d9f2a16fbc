/*
 * The preload: the intercepted calls, and nothing else. It needs libc alone. In a process that
 * never initialises MPI it does nothing at all; MPI_Init opens the core.
 */
#include "agent/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/real.h"

/* How many forms a call has: C, C for large counts, and Fortran's. */
enum form {
	FORM_C,
	FORM_C_LARGE,
	FORM_F,
	FORM_F_BARE,
	FORM_F_DOUBLE,
	FORM_F08,
	FORM_F08_TS,
	FORM_F08_TS_LARGE,
	FORMS,
};

static _Atomic(void *) real_calls[FORMS][MPI_CALLS];

#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind)                                \
	{ "MPI_" #name, "MPI_" #name "_c", "mpi_" #fortran "_", "mpi_" #fortran,                   \
		"mpi_" #fortran "__", "mpi_" #fortran "_f08_", "mpi_" #fortran "_f08ts_",          \
		"mpi_" #fortran "_f08ts_large_" },
static const char *const symbols[MPI_CALLS][FORMS] = {
#include "agent/mpi_calls.def"
};
#undef MPI_CALL

/*
 * depth: how many intercepted calls this thread is in, so that a Fortran call that enters the C one
 * is one call. Initial-exec: reading it must not call __tls_get_addr.
 */
static __thread struct {
	unsigned depth;
	void *core;
} this_thread __attribute__((tls_model("initial-exec")));

/* Released by set_hooks after the core is ready; acquired by enter and leave. */
static _Atomic(const struct preload_hooks *) hooks_now;

static void set_hooks(const struct preload_hooks *hooks)
{
	atomic_store_explicit(&hooks_now, hooks, memory_order_release);
}

/* The folder that this shared object lies in. */
static bool own_folder(char *folder, size_t size)
{
	Dl_info here;
	const char *slash;

	if (!dladdr((void *)own_folder, &here) || !here.dli_fname)
		return false;
	slash = strrchr(here.dli_fname, '/');
	if (!slash)
		return snprintf(folder, size, ".") < (int)size;
	return snprintf(folder, size, "%.*s", (int)(slash - here.dli_fname), here.dli_fname) <
	       (int)size;
}

/* The process is a target: open the core. Once; whatever fails leaves the program as it is. */
static void attach(void)
{
	static struct preload preload = { .set_hooks = set_hooks };
	static atomic_flag tried = ATOMIC_FLAG_INIT;
	const char *disable = getenv("PHASEMUX_DISABLE");
	int (*core_attach)(struct preload *);
	char path[sizeof(preload.folder) + sizeof(PRELOAD_CORE_FILE) + 1];
	void *core;

	if (atomic_flag_test_and_set(&tried))
		return;
	if (disable && strcmp(disable, "1") == 0)
		return;
	if (!own_folder(preload.folder, sizeof(preload.folder)))
		return;
	snprintf(path, sizeof(path), "%s/%s", preload.folder, PRELOAD_CORE_FILE);
	core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!core) {
		fprintf(stderr, "phasemux: off: %s\n", dlerror());
		return;
	}
	*(void **)&core_attach = dlsym(core, PRELOAD_CORE_ATTACH);
	if (core_attach)
		core_attach(&preload);
}

static void *resolve(const struct real_libraries *libraries, enum form form, enum mpi_call call)
{
	void *real = real_find(libraries, symbols[call][form]);

	/* Pairs with the acquire in real_of; nothing but the address itself is published. */
	atomic_store_explicit(&real_calls[form][call], real, memory_order_release);
	return real;
}

static __attribute__((cold, noinline)) void *resolve_one(enum form form, enum mpi_call call)
{
	struct real_libraries libraries;
	void *real;
	int kept = errno;

	real_libraries_find(&libraries);
	real = resolve(&libraries, form, call);
	errno = kept;
	return real;
}

/* dlsym may allocate: look up everything while that is still harmless. */
static void resolve_all(void)
{
	struct real_libraries libraries;

	real_libraries_find(&libraries);
	for (int form = 0; form < FORMS; form++)
		for (int call = 0; call < MPI_CALLS; call++)
			if (!atomic_load_explicit(&real_calls[form][call], memory_order_relaxed))
				resolve(&libraries, form, call);
}

/*
 * The real call. Where it cannot be found (it exists nowhere but in the caller's imagination), the
 * program would not have started without us either; the caller gets a failure.
 */
static long no_such_call(void)
{
	fprintf(stderr, "phasemux: a call was intercepted that no MPI library here provides\n");
	return -1;
}

static inline void *real_of(enum form form, enum mpi_call call)
{
	void *real = atomic_load_explicit(&real_calls[form][call], memory_order_acquire);

	if (__builtin_expect(!real, 0))
		real = resolve_one(form, call);
	return real ? real : (void *)no_such_call;
}

static inline void enter(enum mpi_call call, void *site, const void *frame)
{
	const struct preload_hooks *hooks;

	if (this_thread.depth++)
		return;
	/* The hook may itself call MPI: it must see the depth. */
	__asm__ volatile("" ::: "memory");
	hooks = atomic_load_explicit(&hooks_now, memory_order_acquire);
	if (hooks)
		hooks->before(&this_thread.core, call, site, frame);
}

static inline void leave(enum mpi_call call, void *site, const void *frame)
{
	const struct preload_hooks *hooks;

	if (this_thread.depth == 1) {
		hooks = atomic_load_explicit(&hooks_now, memory_order_acquire);
		if (hooks)
			hooks->after(&this_thread.core, call, site, frame);
		__asm__ volatile("" ::: "memory");
	}
	this_thread.depth--;
}

static void leave_init(enum mpi_call call, void *site, const void *frame)
{
	int kept = errno;

	if (this_thread.depth == 1) {
		resolve_all();
		attach();
	}
	errno = kept;
	leave(call, site, frame);
}

static void enter_finalize(void *site, const void *frame)
{
	const struct preload_hooks *hooks;
	int kept = errno;

	if (!this_thread.depth++) {
		hooks = atomic_load_explicit(&hooks_now, memory_order_acquire);
		if (hooks)
			hooks->finalize(&this_thread.core, site, frame);
	}
	errno = kept;
}

/* Who called the wrapper, and its stack pointer once the wrapper has returned. */
#define CALLER __builtin_return_address(0), __builtin_dwarf_cfa()

/* What stands around the real call, by kind. */
#define BEFORE_WAITS(call)    enter(call, CALLER)
#define AFTER_WAITS(call)     leave(call, CALLER)
#define BEFORE_PASSES(call)   BEFORE_WAITS(call)
#define AFTER_PASSES(call)    AFTER_WAITS(call)
#define BEFORE_ABORTS(call)   BEFORE_WAITS(call)
#define AFTER_ABORTS(call)    AFTER_WAITS(call)
#define BEFORE_INIT(call)     this_thread.depth++
#define AFTER_INIT(call)      leave_init(call, CALLER)
#define BEFORE_FINALIZE(call) enter_finalize(CALLER)
#define AFTER_FINALIZE(call)  this_thread.depth--

/* Parameter and argument lists by number; MPI's are all integers and pointers. */
#define P_0  void
#define P_1  long a1
#define P_2  P_1, long a2
#define P_3  P_2, long a3
#define P_4  P_3, long a4
#define P_5  P_4, long a5
#define P_6  P_5, long a6
#define P_7  P_6, long a7
#define P_8  P_7, long a8
#define P_9  P_8, long a9
#define P_10 P_9, long a10
#define P_11 P_10, long a11
#define P_12 P_11, long a12
#define P_13 P_12, long a13
#define P_14 P_13, long a14

#define A_0
#define A_1  a1
#define A_2  A_1, a2
#define A_3  A_2, a3
#define A_4  A_3, a4
#define A_5  A_4, a5
#define A_6  A_5, a6
#define A_7  A_6, a7
#define A_8  A_7, a8
#define A_9  A_8, a9
#define A_10 A_9, a10
#define A_11 A_10, a11
#define A_12 A_11, a12
#define A_13 A_12, a13
#define A_14 A_13, a14

#define WRAPPER(symbol, form, call, count, kind)                                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call);                \
		long result;                                                                       \
                                                                                                   \
		BEFORE_##kind(call);                                                               \
		result = real(A_##count);                                                          \
		AFTER_##kind(call);                                                                \
		return result;                                                                     \
	}

#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	WRAPPER(MPI_##name, FORM_C, MPI_CALL_##name, count, kind)                                  \
	WRAPPER(MPI_##name##_c, FORM_C_LARGE, MPI_CALL_##name, count, kind)                        \
	WRAPPER(mpi_##fortran##_, FORM_F, MPI_CALL_##name, fortran_count, kind)                    \
	WRAPPER(mpi_##fortran, FORM_F_BARE, MPI_CALL_##name, fortran_count, kind)                  \
	WRAPPER(mpi_##fortran##__, FORM_F_DOUBLE, MPI_CALL_##name, fortran_count, kind)            \
	WRAPPER(mpi_##fortran##_f08_, FORM_F08, MPI_CALL_##name, fortran_count, kind)              \
	WRAPPER(mpi_##fortran##_f08ts_, FORM_F08_TS, MPI_CALL_##name, fortran_count, kind)         \
	WRAPPER(mpi_##fortran##_f08ts_large_, FORM_F08_TS_LARGE, MPI_CALL_##name, fortran_count, kind)
#include "agent/mpi_calls.def"
