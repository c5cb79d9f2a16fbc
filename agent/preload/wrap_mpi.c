/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The intercepted calls of MPI, in C and Fortran. In a process that is no target they cost one load and one
 * jump.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/candidate/candidate.h"
#include "agent/host/launcher.h"
#include "agent/loader/object.h"
#include "agent/loader/real.h"
#include "agent/preload/prestart.h"
#include "agent/preload/target.h"
#include "agent/preload/wrap.h"
#include "sampling/cancellation.h"

/*
 * The forms of a call: C, C for large counts, and those of Fortran. The forms of mpi_f08 for large counts have
 * the names of MPI 4.1 (_c_f08), and other ones in MPICH 4.0 and 4.1 (_f08_large).
 */
enum form {
	FORM_C,
	FORM_C_LARGE,
	FORM_F,
	FORM_F_BARE,
	FORM_F_DOUBLE,
	FORM_F_CPTR,
	FORM_F08,
	FORM_F08_TS,
	FORM_F08_LARGE,
	FORM_F08_TS_LARGE,
	FORM_F08_C,
	FORM_F08_TS_C,
	FORMS,
};

/* Calls whose arguments may be kept. */
static const bool has_arguments[MPI_CALLS] = {
#define MPI_ARGUMENTS(name, ...) [MPI_CALL_##name] = true,
#include "agent/boundary/mpi_arguments.def"
#undef MPI_ARGUMENTS
};

static const enum preload_form forms[FORMS] = {
	[FORM_C] = PRELOAD_C,
	[FORM_C_LARGE] = PRELOAD_C_LARGE,
	[FORM_F] = PRELOAD_FORTRAN,
	[FORM_F_BARE] = PRELOAD_FORTRAN,
	[FORM_F_DOUBLE] = PRELOAD_FORTRAN,
	[FORM_F_CPTR] = PRELOAD_FORTRAN,
	[FORM_F08] = PRELOAD_FORTRAN,
	[FORM_F08_TS] = PRELOAD_FORTRAN,
	[FORM_F08_LARGE] = PRELOAD_FORTRAN_LARGE,
	[FORM_F08_TS_LARGE] = PRELOAD_FORTRAN_LARGE,
	[FORM_F08_C] = PRELOAD_FORTRAN_LARGE,
	[FORM_F08_TS_C] = PRELOAD_FORTRAN_LARGE,
};

/*
 * Hands the arguments of a call that starts to the hooks. values: PRELOAD_ARGUMENTS_MAX at most, behind one that is
 * not used. A call within another one keeps nothing: the hook of the outermost one has been called.
 */
static __attribute__((noinline, cold)) void keep_arguments(enum runtime_call call,
		enum preload_form form, const long *values, unsigned count)
{
	struct preload_arguments *kept = &wrap_thread.of_core.arguments;

	kept->known = !wrap_thread.depth;
	if (!kept->known)
		return;
	kept->form = form;
	kept->call = call;
	for (unsigned i = 1; i <= count; i++)
		kept->value[i] = values[i];
}

/* Hands the arguments of a call to the hooks, if they are wanted. The compiler knows the calls that have none. */
#define KEEP_ARGUMENTS(form, call, count)                                                          \
	do {                                                                                       \
		if (has_arguments[call] &&                                                         \
				__builtin_expect(atomic_load_explicit(&wrap_keeps_arguments,       \
								 memory_order_relaxed),            \
						0))                                                \
			keep_arguments(call, forms[form], (const long[]){ 0, A_##count }, count);  \
	} while (0)

static _Atomic(void *) real_calls[FORMS][MPI_CALLS];

#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind)                                \
	"MPI_" #name, "MPI_" #name "_c", "mpi_" #fortran "_", "mpi_" #fortran,                     \
			"mpi_" #fortran "__", "mpi_" #fortran "_cptr_", "mpi_" #fortran "_f08_",   \
			"mpi_" #fortran "_f08ts_", "mpi_" #fortran "_f08_large_",                  \
			"mpi_" #fortran "_f08ts_large_", "mpi_" #fortran "_c_f08_",                \
			"mpi_" #fortran "_c_f08ts_",
/* Names of all forms of each call, in the order of the calls. */
static const char *const symbols[MPI_CALLS * FORMS] = {
#include "agent/boundary/mpi_calls.def"
};
#undef MPI_CALL

/* The calls have been looked for in what the program started with. */
static atomic_bool is_resolved;

static inline const char *symbol_of(enum form form, enum runtime_call call)
{
	return symbols[call * FORMS + form];
}

static __attribute__((cold, noinline)) void *resolve_one(enum form form, enum runtime_call call,
		const void *site)
{
	const char *symbol = symbol_of(form, call);
	void *real = NULL;

	if (!atomic_load_explicit(&is_resolved, memory_order_relaxed))
		real = real_at_start(symbol);
	/* pairs with the acquire in real_if_known; only the address itself is published */
	if (real)
		atomic_store_explicit(&real_calls[form][call], real, memory_order_release);
	else
		real = real_find_cached(symbol, site);
	if (!real)
		real_missing(symbol, site);
	return real;
}

static void keep_loaded(const void *address)
{
	struct object object;

	object_open(address, &object);
}

static void resolved(size_t index, void *real)
{
	_Atomic(void *) *known = &real_calls[index % FORMS][index / FORMS];
	void *none = NULL;

	/* pairs with the acquire in real_if_known */
	atomic_compare_exchange_strong_explicit(known, &none, real, memory_order_release,
			memory_order_relaxed);
}

/*
 * Finds all calls, so that a wrapper then needs one load for its real call. Calls of an MPI that was loaded
 * later are found here only if it is the only MPI, and it then stays loaded. With several, the real call
 * depends on the caller.
 */
static void resolve_all(const void *init)
{
	const size_t count = MPI_CALLS * FORMS;

	if (!real_find_many(symbols, count, true, resolved))
		return;
	atomic_store_explicit(&is_resolved, true, memory_order_relaxed);
	if (real_at_start("MPI_Init") || real_definitions("MPI_Init") != 1)
		return;
	keep_loaded(init);
	real_find_many(symbols, count, false, resolved);
}

/* Returns the real call, or NULL if it has not been looked for yet, or was loaded later. */
static inline void *real_if_known(enum form form, enum runtime_call call)
{
	return atomic_load_explicit(&real_calls[form][call], memory_order_acquire);
}

static inline void *real_of(enum form form, enum runtime_call call, const void *site)
{
	void *real = real_if_known(form, call);

	if (__builtin_expect(!real, 0))
		real = resolve_one(form, call, site);
	return real;
}

static void enter_init(const void *site, const void *frame)
{
	int kept = errno, state = cancellation_hold();

	if (wrap_begins(site, frame) && !target_is_disabled()) {
		candidate_settle();
		/* without a launcher, MPI_Init is the first sign of MPI */
		if (launcher_rank() < 0)
			target_prepare();
		prestart_wake_counters();
	}
	cancellation_release(state);
	errno = kept;
}

static void leave_init(const void *real, enum runtime_call call, void *site, const void *frame)
{
	int kept = errno, state = cancellation_hold();

	if (wrap_thread.depth == 1) {
		target_begin();
		resolve_all(real);
		target_attach(WITH_MPI, real);
		prestart_release_counters();
	}
	cancellation_release(state);
	errno = kept;
	wrap_leave(call, site, frame);
}

/* Enters MPI_Abort or MPI_Finalize. Calls the hook even while hooks are paused. */
static void enter_end(bool aborts, void *site, const void *frame)
{
	const struct preload_hooks *hooks;
	int kept = errno;

	if (wrap_begins(site, frame)) {
		hooks = target_hooks();
		if (hooks)
			(aborts ? hooks->aborts : hooks->finalize)(&wrap_thread.of_core, site,
					frame);
	}
	errno = kept;
}

/*
 * Enters MPI_Pcontrol. Calls the hook even while hooks are paused. level: NULL if a Fortran program gave none.
 */
static void enter_control(const int *level, enum runtime_call call, void *site, const void *frame)
{
	const struct preload_hooks *hooks;
	int kept = errno;

	if (wrap_begins(site, frame) && level) {
		hooks = target_hooks();
		if (hooks)
			hooks->control(&wrap_thread.of_core, *level, call, site, frame);
	}
	errno = kept;
}

/* ---- sessions ---- */

/*
 * Number of open sessions. A program that uses only sessions has no communicator of all ranks. Therefore each
 * rank is attached alone when it makes its first communicator, and has its own report when its last session
 * ends.
 */
static atomic_int sessions;
static atomic_bool is_of_sessions;

static void leave_session(enum runtime_call call, void *site, const void *frame)
{
	if (wrap_thread.depth == 1)
		atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
	wrap_leave(call, site, frame);
}

static void enter_group(enum runtime_call call, void *site, const void *frame)
{
	if (target_hooks())
		wrap_enter(call, site, frame);
	else
		enter_init(site, frame);
}

static void leave_group(const void *real, enum runtime_call call, void *site, const void *frame)
{
	int kept = errno, state;

	if (wrap_thread.depth == 1 && !target_hooks()) {
		state = cancellation_hold();
		target_begin();
		resolve_all(real);
		atomic_store_explicit(&is_of_sessions, true, memory_order_relaxed);
		target_attach(WITH_SESSIONS, NULL);
		prestart_release_counters();
		cancellation_release(state);
	}
	errno = kept;
	wrap_leave(call, site, frame);
}

static void enter_session_end(enum runtime_call call, void *site, const void *frame)
{
	bool is_outermost = !wrap_thread.depth || wrap_was_left(frame);

	if (is_outermost && atomic_fetch_sub_explicit(&sessions, 1, memory_order_relaxed) == 1 &&
			atomic_load_explicit(&is_of_sessions, memory_order_relaxed))
		enter_end(false, site, frame);
	else
		wrap_enter(call, site, frame);
}

/* Wrapper of a call at the start or end of MPI: `before`, the real call, `after`. */
#define WRAPPER_AROUND(symbol, form, call, count, before, after)                                   \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call,                 \
				__builtin_return_address(0));                                      \
		long result;                                                                       \
                                                                                                   \
		before;                                                                            \
		result = real(A_##count);                                                          \
		after;                                                                             \
		return result;                                                                     \
	}

/* Second part of a wrapper, for calls that reach hooks. `leave` tells the hooks that the call has returned. */
#define WRAPPER_OBSERVED(symbol, form, call, count, leave)                                         \
	static __attribute__((noinline)) long symbol##_observed(P_##count)                         \
	{                                                                                          \
		void *site = wrap_thread.called.site;                                              \
		const void *frame = wrap_thread.called.frame;                                      \
		long (*real)(P_##count) = (long (*)(P_##count))real_of(form, call, site);          \
		long result;                                                                       \
                                                                                                   \
		KEEP_ARGUMENTS(form, call, count);                                                 \
		wrap_enter(call, site, frame);                                                     \
		result = real(A_##count);                                                          \
		leave;                                                                             \
		return result;                                                                     \
	}

/*
 * Wrapper of all other calls. If no hooks are set, or the call is skipped, it jumps to the real call. It then
 * saves no registers (one to three if the arguments take all that are free). The rest is in another function,
 * which has the parameters of the call. A jump to it or to the real call leaves parameters and stack in place.
 */
#define WRAPPER_CALL(symbol, form, call, count, progresses)                                        \
	WRAPPER_OBSERVED(symbol, form, call, count, wrap_leave(call, site, frame))                 \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_if_known(form, call);          \
                                                                                                   \
		progresses;                                                                        \
		if (real && (wrap_skips(CALLER) || !wrap_observed()))                              \
			return real(A_##count);                                                    \
		wrap_called(CALLER);                                                               \
		return symbol##_observed(A_##count);                                               \
	}

/*
 * Wrapper of calls that only ask. A skipped call looks at `answer` when it returns. While it runs, `depth` is 0
 * as outside of calls, because it makes no other intercepted call.
 */
#define WRAPPER_ASKS(symbol, form, call, count, answer)                                            \
	WRAPPER_OBSERVED(symbol, form, call, count,                                                \
			wrap_leave_asked(call, site, frame, WRAP_ANSWERS(answer)))                 \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count) = (long (*)(P_##count))real_if_known(form, call);          \
                                                                                                   \
		if (real && wrap_skips(CALLER)) {                                                  \
			long result = real(A_##count);                                             \
                                                                                                   \
			if (WRAP_ANSWERS(answer) && wrap_thread.of_core.skip.heeds)                \
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

/* Wrappers of forms that few programs use are as short as possible. */
static __attribute__((noinline)) void *enter_rare(enum form form, enum runtime_call call,
		void *site, const void *frame)
{
	void *real = real_of(form, call, site);

	wrap_enter(call, site, frame);
	return real;
}

static __attribute__((noinline)) void leave_rare(enum runtime_call call, void *site,
		const void *frame)
{
	wrap_leave(call, site, frame);
}

#define WRAPPER_RARE(symbol, form, call, count, progresses)                                        \
	__attribute__((visibility("default"))) long symbol(P_##count);                             \
	long symbol(P_##count)                                                                     \
	{                                                                                          \
		long (*real)(P_##count);                                                           \
		long result;                                                                       \
                                                                                                   \
		KEEP_ARGUMENTS(form, call, count);                                                 \
		real = (long (*)(P_##count))enter_rare(form, call, CALLER);                        \
		progresses;                                                                        \
		result = real(A_##count);                                                          \
		leave_rare(call, CALLER);                                                          \
		return result;                                                                     \
	}

#define RARE_PASSES(symbol, form, call, count)                                                     \
	WRAPPER_RARE(symbol, form, call, count, wrap_progresses())
#define RARE_WAITS                            RARE_PASSES
#define RARE_POLLS(symbol, form, call, count) WRAPPER_RARE(symbol, form, call, count, (void)0)
#define RARE_POLLS_2                          RARE_POLLS
#define RARE_POLLS_3                          RARE_POLLS
#define RARE_POLLS_4                          RARE_POLLS
#define RARE_INIT                             WRAPPER_INIT
#define RARE_ABORTS                           WRAPPER_ABORTS
#define RARE_CONTROL                          WRAPPER_CONTROL
#define RARE_FINALIZE                         WRAPPER_FINALIZE
#define RARE_SESSION                          WRAPPER_SESSION
#define RARE_FROM_GROUP                       WRAPPER_FROM_GROUP
#define RARE_SESSION_ENDS                     WRAPPER_SESSION_ENDS

#define WRAPPER_INIT(symbol, form, call, count)                                                    \
	WRAPPER_AROUND(symbol, form, call, count, enter_init(CALLER),                              \
			leave_init((void *)real, call, CALLER))
#define WRAPPER_ABORTS(symbol, form, call, count)                                                  \
	WRAPPER_AROUND(symbol, form, call, count, enter_end(true, CALLER), wrap_ends())
#define WRAPPER_FINALIZE(symbol, form, call, count)                                                \
	WRAPPER_AROUND(symbol, form, call, count, enter_end(false, CALLER), wrap_ends())

/* The level is a number in C, and a pointer to one in Fortran. */
#define WRAPPER_CONTROL(symbol, form, call, count)                                                 \
	WRAPPER_AROUND(symbol, form, call, count,                                                  \
			enter_control(form == FORM_C || form == FORM_C_LARGE ? &(int){ (int)a1 } : \
									       (const int *)a1,    \
					call, CALLER),                                             \
			wrap_leave(call, CALLER))

#define WRAPPER_SESSION(symbol, form, call, count)                                                 \
	WRAPPER_AROUND(symbol, form, call, count, wrap_enter(call, CALLER),                        \
			leave_session(call, CALLER))
#define WRAPPER_FROM_GROUP(symbol, form, call, count)                                              \
	WRAPPER_AROUND(symbol, form, call, count, enter_group(call, CALLER),                       \
			leave_group((void *)real, call, CALLER))
#define WRAPPER_SESSION_ENDS(symbol, form, call, count)                                            \
	WRAPPER_AROUND(symbol, form, call, count, enter_session_end(call, CALLER),                 \
			wrap_leave(call, CALLER))

#define WRAPPER(symbol, form, call, count, kind) WRAPPER_##kind(symbol, form, call, count)
#define RARE(symbol, form, call, count, kind)    RARE_##kind(symbol, form, call, count)

#define MPI_CALL(name, fortran, count, fortran_count, kind)                                        \
	WRAPPER(MPI_##name, FORM_C, MPI_CALL_##name, count, kind)                                  \
	RARE(MPI_##name##_c, FORM_C_LARGE, MPI_CALL_##name, count, kind)                           \
	WRAPPER(mpi_##fortran##_, FORM_F, MPI_CALL_##name, fortran_count, kind)                    \
	RARE(mpi_##fortran, FORM_F_BARE, MPI_CALL_##name, fortran_count, kind)                     \
	RARE(mpi_##fortran##__, FORM_F_DOUBLE, MPI_CALL_##name, fortran_count, kind)               \
	RARE(mpi_##fortran##_cptr_, FORM_F_CPTR, MPI_CALL_##name, fortran_count, kind)             \
	WRAPPER(mpi_##fortran##_f08_, FORM_F08, MPI_CALL_##name, fortran_count, kind)              \
	WRAPPER(mpi_##fortran##_f08ts_, FORM_F08_TS, MPI_CALL_##name, fortran_count, kind)         \
	RARE(mpi_##fortran##_f08_large_, FORM_F08_LARGE, MPI_CALL_##name, fortran_count, kind)     \
	RARE(mpi_##fortran##_f08ts_large_, FORM_F08_TS_LARGE, MPI_CALL_##name, fortran_count,      \
			kind)                                                                      \
	RARE(mpi_##fortran##_c_f08_, FORM_F08_C, MPI_CALL_##name, fortran_count, kind)             \
	RARE(mpi_##fortran##_c_f08ts_, FORM_F08_TS_C, MPI_CALL_##name, fortran_count, kind)
#include "agent/boundary/mpi_calls.def"

/*
 * Intercepted because another profiler that is loaded before the preload ends MPI by this name, and not through
 * the preload's MPI_Finalize. Within MPI_Finalize it is a call of the MPI library itself.
 */
__attribute__((visibility("default"))) int PMPI_Finalize(void);
int PMPI_Finalize(void)
{
	static const char symbol[] = "PMPI_Finalize";
	const void *site = __builtin_return_address(0);
	int (*real)(void);
	int result;

	*(void **)&real = real_find(symbol, site);
	if (!real)
		real_missing(symbol, site);
	enter_end(false, CALLER);
	result = real();
	wrap_ends();
	return result;
}
