/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling thread's floating-point environment belongs to the program: its rounding mode, the exceptions that
 * trap (gfortran -ffpe-trap, feenableexcept), and the flags of those that occurred. The agent computes in the
 * default environment, in which nothing traps, and leaves no flag behind.
 *
 * Reading the environment is cheap and writing it is not, so it is written only if it has to be.
 */
#ifndef PHASEMUX_AGENT_HOST_FLOAT_ENV_H
#define PHASEMUX_AGENT_HOST_FLOAT_ENV_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

/* The old unit (x87) is left alone, because no code for this processor uses it except for long double. */
struct float_env {
	uint32_t mxcsr;
};

#define FLOAT_ENV_CONTROL                                                                          \
	0x7f80u /* the bits of MXCSR for the rounding mode and for what does not trap */
#define FLOAT_ENV_DEFAULT 0x1f80u /* round to nearest, nothing traps, no flags */

static inline struct float_env float_env_hold(void)
{
	struct float_env kept = { _mm_getcsr() };

	if (__builtin_expect((kept.mxcsr & FLOAT_ENV_CONTROL) != FLOAT_ENV_DEFAULT, 0))
		_mm_setcsr(FLOAT_ENV_DEFAULT);
	return kept;
}

static inline void float_env_release(struct float_env kept)
{
	if (__builtin_expect(_mm_getcsr() != kept.mxcsr, 0))
		_mm_setcsr(kept.mxcsr);
}

#elif defined(__aarch64__)

struct float_env {
	uint64_t control, status;
};

#define FLOAT_ENV_TRAPS_AND_ROUNDING 0xc09f00u /* the bits of FPCR */

static inline uint64_t float_env_control(void)
{
	uint64_t control;

	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	return control;
}

static inline uint64_t float_env_status(void)
{
	uint64_t status;

	__asm__ volatile("mrs %0, fpsr" : "=r"(status));
	return status;
}

static inline struct float_env float_env_hold(void)
{
	struct float_env kept = { float_env_control(), float_env_status() };

	if (__builtin_expect((kept.control & FLOAT_ENV_TRAPS_AND_ROUNDING) != 0, 0))
		__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
	return kept;
}

static inline void float_env_release(struct float_env kept)
{
	if (__builtin_expect(float_env_status() != kept.status, 0))
		__asm__ volatile("msr fpsr, %0" : : "r"(kept.status) : "memory");
	if (__builtin_expect(float_env_control() != kept.control, 0))
		__asm__ volatile("msr fpcr, %0" : : "r"(kept.control) : "memory");
}

#else
#include <fenv.h>

struct float_env {
	fenv_t all;
};

static inline struct float_env float_env_hold(void)
{
	struct float_env kept;

	feholdexcept(&kept.all);
	fesetround(FE_TONEAREST);
	return kept;
}

static inline void float_env_release(struct float_env kept)
{
	fesetenv(&kept.all);
}

#endif

/*
 * float_env_hold() starts the default environment and returns the program's, which float_env_release() restores.
 * What computes in between is a call of a function that is not inlined, because the compiler may move arithmetic
 * across both.
 */
#define FLOAT_ENV_COMPUTES __attribute__((noinline))

#endif
