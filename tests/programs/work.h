/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation whose behaviour is known, for the host programs of the tests: a named kernel and about how many
 * instructions it runs. If a scripted PMU is in the process (it exports scripted_pmu_work), it does the work,
 * with the exact number of instructions.
 */
#ifndef PHASEMUX_TESTS_WORK_H
#define PHASEMUX_TESTS_WORK_H

#include <stdint.h>

/* Runs a kernel: "triad", "chase", "fdiv", "fma" or "alu". Any other name is an error, and aborts. */
void work(const char *kernel, uint64_t instructions);

/* Does the work of a kernel by number, for Fortran: 0 triad, 1 chase, 2 fdiv, 3 fma, 4 alu. */
void work_by_number(int kernel, int64_t instructions);

#endif
