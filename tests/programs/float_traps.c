/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preload: floating-point exceptions trap in the program, as after gfortran -ffpe-
 * trap=invalid,zero,overflow.
 */
#include <fenv.h>

__attribute__((constructor)) static void trap(void)
{
	feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}
