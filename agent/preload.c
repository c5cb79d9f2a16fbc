/*
 * The preload: the intercepted calls, and nothing else. It needs libc alone. MPI_Init opens the
 * core; without MPI, a process is a target when `phasemux run` says so. In all others it does
 * nothing at all.
 */
#include "agent/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/early.h"
#include "agent/meeting.h"
#include "agent/real.h"
#include "agent/wrap.h"

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

__thread struct wrap_thread wrap_thread __attribute__((tls_model("initial-exec")));
_Atomic(const struct preload_hooks *) wrap_hooks;
enum wrap_role wrap_role;

static _Atomic(const struct preload_hooks *) all_hooks; /* those that are set, paused or not */

static void set_hooks(const struct preload_hooks *hooks)
{
	atomic_store_explicit(&all_hooks, hooks, memory_order_release);
	atomic_store_explicit(&wrap_hooks, hooks, memory_order_release);
}

static void pause_hooks(bool paused)
{
	const struct preload_hooks *all = atomic_load_explicit(&all_hooks, memory_order_acquire);

	/* whoever acquires it sees what the core has written before it went on */
	atomic_store_explicit(&wrap_hooks, paused ? NULL : all, memory_order_release);
}

static struct preload preload = { .set_hooks = set_hooks, .pause = pause_hooks };

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

static bool is_disabled(void)
{
	const char *disable = getenv("PHASEMUX_DISABLE");

	return disable && strcmp(disable, "1") == 0;
}

/* The process ends. With MPI, MPI_Finalize was the end. */
static __attribute__((destructor)) void end(void)
{
	const struct preload_hooks *hooks = wrap_observed();
	int kept = errno;

	if (hooks && !preload.with_mpi && !wrap_thread.depth++)
		hooks->finalize(&wrap_thread.of_core, CALLER);
	errno = kept;
}

static _Atomic(void (*)(int)) real_exit;

/* In the child of a vfork, too: nothing is written to here but by those who know that it is not. */
static __attribute__((noreturn)) void leave(int status, void *site, const void *frame)
{
	const struct preload_hooks *hooks = wrap_observed();
	void (*real)(int) = atomic_load(&real_exit);

	if (hooks && !preload.with_mpi && !wrap_thread.depth)
		hooks->leave(&wrap_thread.of_core, site, frame);
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

/* The process is a target: open the core. Once; whatever fails leaves the program as it is. */
void wrap_attach(bool with_mpi)
{
	static atomic_flag tried = ATOMIC_FLAG_INIT;
	int (*core_attach)(struct preload *);
	char path[sizeof(preload.folder) + sizeof(PRELOAD_CORE_FILE) + 1], why[512] = "";
	bool speaks = true;
	int error;
	void *core;

	if (atomic_flag_test_and_set(&tried))
		return;
	if (is_disabled())
		return;
	if (!with_mpi)
		preload.attach_ns = clock_monotonic();
	preload.with_mpi = with_mpi;
	preload.begun = &wrap_thread.begun;
	if (!own_folder(preload.folder, sizeof(preload.folder))) {
		fprintf(stderr, "phasemux: off: cannot tell which folder it is in\n");
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", preload.folder, PRELOAD_CORE_FILE);
	core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	core_attach = core ? (int (*)(struct preload *))dlsym(core, PRELOAD_CORE_ATTACH) : NULL;
	if (!core_attach)
		snprintf(why, sizeof(why), "%s", dlerror());
	error = with_mpi            ? meeting_hold(&preload, core_attach != NULL, &speaks) :
			core_attach ? 0 :
				      -ENOENT;
	if (error) {
		if (speaks)
			fprintf(stderr, "phasemux: off: %s\n",
					error == -EIO ? "MPI refused a communicator" : why);
		return;
	}
	threads_look(); /* what has been opened for the core is not the program either */
	if (!with_mpi) {
		void *real = dlsym(RTLD_NEXT, "_exit");

		atomic_store(&real_exit, (void (*)(int))real);
	}
	if (core_attach(&preload) == 0 && !with_mpi)
		at_quick_exit(end); /* runs no destructors */
}

static void *resolve(const struct real_libraries *libraries, enum form form, enum runtime_call call)
{
	void *real = real_find(libraries, symbols[call][form]);

	/* Pairs with the acquire in real_of; nothing but the address itself is published. */
	atomic_store_explicit(&real_calls[form][call], real, memory_order_release);
	return real;
}

static __attribute__((cold, noinline)) void *resolve_one(enum form form, enum runtime_call call)
{
	struct real_libraries libraries;
	void *real;
	int kept = errno;

	real_libraries_find(&libraries);
	real = resolve(&libraries, form, call);
	errno = kept;
	return real;
}

/* Whether any library here has calls of this form: MPI_Send, which large counts may have, or MPI_Init. */
static bool has_form(const struct real_libraries *libraries, enum form form)
{
	return real_find(libraries, symbols[MPI_CALL_Send][form]) ||
			real_find(libraries, symbols[MPI_CALL_Init][form]);
}

/*
 * dlsym may allocate: look up everything while that is still harmless. Most programs have one form of
 * the calls, and to look for what is nowhere takes longest.
 */
static void resolve_all(void)
{
	struct real_libraries libraries;

	real_libraries_find(&libraries);
	for (int form = 0; form < FORMS; form++) {
		if (!has_form(&libraries, form))
			continue;
		for (int call = 0; call < MPI_CALLS; call++)
			if (!atomic_load_explicit(&real_calls[form][call], memory_order_relaxed))
				resolve(&libraries, form, call);
	}
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

/* NULL: it was not looked for yet, or is nowhere. */
static inline void *real_if_known(enum form form, enum runtime_call call)
{
	return atomic_load_explicit(&real_calls[form][call], memory_order_acquire);
}

static inline void *real_of(enum form form, enum runtime_call call)
{
	void *real = real_if_known(form, call);

	if (__builtin_expect(!real, 0))
		real = resolve_one(form, call);
	return real ? real : (void *)no_such_call;
}

static void prepare(void)
{
	clock_look(&preload.early);
	early_prepare();
}

static void enter_init(const void *site, const void *frame)
{
	int kept = errno;

	if (wrap_begins(site, frame) && !is_disabled()) {
		/* without a launcher, this is the first that tells of MPI */
		if (!early_is_rank())
			prepare();
		early_wake_counters();
	}
	errno = kept;
}

static void leave_init(enum runtime_call call, void *site, const void *frame)
{
	int kept = errno;

	if (wrap_thread.depth == 1) {
		preload.attach_ns = clock_monotonic();
		resolve_all();
		wrap_attach(true);
		early_release_counters();
	}
	errno = kept;
	wrap_leave(call, site, frame);
}

/* Also while calls reach no hooks. */
static void enter_end(bool aborts, void *site, const void *frame)
{
	const struct preload_hooks *hooks;
	int kept = errno;

	if (wrap_begins(site, frame)) {
		hooks = atomic_load_explicit(&all_hooks, memory_order_acquire);
		if (hooks)
			(aborts ? hooks->aborts : hooks->finalize)(&wrap_thread.of_core, site,
					frame);
	}
	errno = kept;
}

/* What is before and after the real call, for the calls at either end of MPI. */
#define WRAPPER_AROUND(symbol, form, call, count, before, after)                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call);                \
		long result;                                                                       \
                                                                                                   \
		before;                                                                            \
		result = real(A_##count);                                                          \
		after;                                                                             \
		return result;                                                                     \
	}

/*
 * The others: those that nobody looks at, and those that go by, know no more than that, and save no
 * registers (where arguments take all that are free, one to three); the rest is in a function of its
 * own. That one has the parameters of the call, so that whoever jumps there or to the real one leaves
 * them, and the stack, where they are.
 */
#define WRAPPER_CALL(symbol, form, call, count, progresses)                                        \
	static __attribute__((noinline)) long symbol##_observed(P_##count)                         \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call);                \
		void *site = wrap_thread.called.site;                                              \
		const void *frame = wrap_thread.called.frame;                                      \
		long result;                                                                       \
                                                                                                   \
		wrap_enter(call, site, frame);                                                     \
		result = real(A_##count);                                                          \
		wrap_leave(call, site, frame);                                                     \
		return result;                                                                     \
	}                                                                                          \
                                                                                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_if_known(form, call);          \
                                                                                                   \
		progresses;                                                                        \
		if (real && (wrap_goes_by(CALLER) || !wrap_observed()))                            \
			return real(A_##count);                                                    \
		wrap_called(CALLER);                                                               \
		return symbol##_observed(A_##count);                                               \
	}

/*
 * Those that only ask: where the answer is `answer`, a call that goes by looks at it when it returns. In the
 * meantime it is as deep as no call is: it makes no other one that is intercepted.
 */
#define WRAPPER_ASKS(symbol, form, call, count, answer)                                            \
	static __attribute__((noinline)) long symbol##_observed(P_##count)                         \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call);                \
		void *site = wrap_thread.called.site;                                              \
		const void *frame = wrap_thread.called.frame;                                      \
		long result;                                                                       \
                                                                                                   \
		wrap_enter(call, site, frame);                                                     \
		result = real(A_##count);                                                          \
		wrap_leave_asked(call, site, frame, WRAP_ANSWERS(answer));                         \
		return result;                                                                     \
	}                                                                                          \
                                                                                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_if_known(form, call);          \
                                                                                                   \
		if (real && wrap_goes_by(CALLER)) {                                                \
			long result = real(A_##count);                                             \
                                                                                                   \
			if (WRAP_ANSWERS(answer) && wrap_thread.of_core.passed.heeds)              \
				wrap_answered(call, CALLER);                                       \
			return result;                                                             \
		}                                                                                  \
		if (real && !wrap_observed())                                                      \
			return real(A_##count);                                                    \
		wrap_called(CALLER);                                                               \
		return symbol##_observed(A_##count);                                               \
	}

#define WRAPPER_PASSES(symbol, form, call, count)                                                  \
	WRAPPER_CALL(symbol, form, call, count, wrap_progresses())
#define WRAPPER_WAITS                              WRAPPER_PASSES
#define WRAPPER_POLLS(symbol, form, call, count)   WRAPPER_CALL(symbol, form, call, count, (void)0)
#define WRAPPER_POLLS_2(symbol, form, call, count) WRAPPER_ASKS(symbol, form, call, count, a2)
#define WRAPPER_POLLS_3(symbol, form, call, count) WRAPPER_ASKS(symbol, form, call, count, a3)
#define WRAPPER_POLLS_4(symbol, form, call, count) WRAPPER_ASKS(symbol, form, call, count, a4)
#define WRAPPER_INIT(symbol, form, call, count)                                                    \
	WRAPPER_AROUND(symbol, form, call, count, enter_init(CALLER), leave_init(call, CALLER))
#define WRAPPER_ABORTS(symbol, form, call, count)                                                  \
	WRAPPER_AROUND(symbol, form, call, count, enter_end(true, CALLER), wrap_ends())
#define WRAPPER_FINALIZE(symbol, form, call, count)                                                \
	WRAPPER_AROUND(symbol, form, call, count, enter_end(false, CALLER), wrap_ends())

#define WRAPPER(symbol, form, call, count, kind) WRAPPER_##kind(symbol, form, call, count)

#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	WRAPPER(MPI_##name, FORM_C, MPI_CALL_##name, count, kind)                                  \
	WRAPPER(MPI_##name##_c, FORM_C_LARGE, MPI_CALL_##name, count, kind)                        \
	WRAPPER(mpi_##fortran##_, FORM_F, MPI_CALL_##name, fortran_count, kind)                    \
	WRAPPER(mpi_##fortran, FORM_F_BARE, MPI_CALL_##name, fortran_count, kind)                  \
	WRAPPER(mpi_##fortran##__, FORM_F_DOUBLE, MPI_CALL_##name, fortran_count, kind)            \
	WRAPPER(mpi_##fortran##_f08_, FORM_F08, MPI_CALL_##name, fortran_count, kind)              \
	WRAPPER(mpi_##fortran##_f08ts_, FORM_F08_TS, MPI_CALL_##name, fortran_count, kind)         \
	WRAPPER(mpi_##fortran##_f08ts_large_, FORM_F08_TS_LARGE, MPI_CALL_##name, fortran_count,   \
			kind)
#include "agent/mpi_calls.def"

/*
 * A profiler in front of us ends MPI by this name, past MPI_Finalize. Below MPI_Finalize it is the
 * library's own business.
 */
__attribute__((visibility("default"))) int PMPI_Finalize(void);
int PMPI_Finalize(void)
{
	struct real_libraries libraries;
	int (*real)(void);
	int result;

	real_libraries_find(&libraries);
	*(void **)&real = real_find(&libraries, "PMPI_Finalize");
	if (!real)
		return (int)no_such_call();
	enter_end(false, CALLER);
	result = real();
	wrap_ends();
	return result;
}

/* ---- processes without MPI ---- */

/* Programs that start others: not what `phasemux run` is asked to look at, though it starts them. */
static const char *const launchers[] = { "sh", "bash", "dash", "zsh", "ksh", "tcsh", "csh", "fish",
	"busybox", "env", "nice", "ionice", "nohup", "time", "timeout", "taskset", "numactl",
	"stdbuf", "setsid", "chrt", "setarch", "sudo", "xargs", "make", "parallel", "perf", "gdb",
	"strace", "ltrace", "mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi",
	"mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "hydra_pmi_proxy", "orterun", "orted",
	"prte", "prterun", "prun", "srun", "sbatch", "salloc", "jsrun", "aprun", "flux", "ssh",
	"phasemux" };

static bool is_launcher(void)
{
	char path[4096];
	const char *base;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0) /* without /proc: as it was called */
		length = snprintf(path, sizeof(path), "%s", (const char *)getauxval(AT_EXECFN));
	path[length < (ssize_t)sizeof(path) ? length : (ssize_t)sizeof(path) - 1] = '\0';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (strcmp(base, launchers[i]) == 0)
			return true;
	return false;
}

bool wrap_has_mpi(void)
{
	struct real_libraries libraries;

	real_libraries_find(&libraries);
	return libraries.count > 0;
}

/*
 * `phasemux run` leaves the number of its process, which becomes its command's: that one is a
 * target from its start, through whatever launchers it has become on the way.
 */
static __attribute__((constructor)) void begin(void)
{
	const char *target = getenv(PRELOAD_TARGET);
	int kept = errno;

	if (early_is_rank() && !is_disabled())
		prepare();
	/* a rank, started as such: MPI_Init will come, be MPI loaded yet or not */
	if (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK"))
		target = NULL;
	if (target && *target) {
		wrap_role = atol(target) == (long)getpid() ? ROLE_COMMAND : ROLE_BELOW;
		if (wrap_role == ROLE_COMMAND && !is_launcher() && !wrap_has_mpi()) {
			wrap_attach(false);
			/* the first burst begins with the program */
			wrap_thread.depth = 1;
			wrap_leave(THREAD_pthread_create, (char *)getauxval(AT_ENTRY) + 1, NULL);
		}
	}
	errno = kept;
}
