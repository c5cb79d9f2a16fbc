/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scripted PMU: a shared object that stands for the kernel's counters, with known truth. The
 * agent loads it when PHASEMUX_PMU names it; a host program finds scripted_pmu_work and its kin by
 * dlsym(RTLD_DEFAULT, ...), for which the library stands in LD_PRELOAD too.
 *
 * Each thread has a virtual history: totals of every event since its start, moved on by
 * scripted_pmu_work (or, with "auto", by the thread's processor time; with "emulated", by the
 * instructions that it retired in truth). A counter shows what its
 * event's total gained while the counter was enabled. So the truth does not depend on what is
 * being counted, and scripted_pmu_total tells it. scripted_pmu_work also leaves the samples that
 * fell into it; they stand in functions of the work's names, scripted_in_triad and its kin.
 *
 * SCRIPTED_PMU holds the settings, separated by commas; all have defaults:
 *
 *   counters=N     how many counters really count (5); the highest of more reads 0
 *   opens=N        how many may be opened as one group (6)
 *   held=N         that many of them are held by somebody else: larger groups are not scheduled
 *   processor=V    the processor to assume (AuthenticAMD-26-2)
 *   hardware=0     no hardware counters, as in many virtual machines
 *   noise=X        relative standard deviation of every event of a piece of work (0)
 *   seed=N         of that noise (1); MPI ranks add theirs, threads their number
 *   spin=X         work takes X times its virtual time, by a busy wait (1; 0: none)
 *   auto=B[/B...]  behaviours that follow the thread's processor time: with several, stretches
 *                  between two reads below 200 us show the first, the others take one power of
 *                  four each beyond that
 *   emulated=P     behaviours that follow the instructions which an emulator counts in the file
 *                  P.PID (emulated.h)
 *   fail=CALL:N:E  the N-th (from 1; N+: from there on) open, read, ioctl, close or map of the
 *                  process fails with E (EACCES, EMFILE, ..., a number; "short": read gives 0
 *                  bytes); may be given several times
 *   pause=MS       the first counter of the process takes so long to open
 *   jump=N         every N-th read, a counter is first moved on by 2^47
 *   back=N         every N-th read, a counter is first moved back by 2^40
 *   written=N      of N samples, one is written; the others find the thread in the kernel (1)
 *   pages=1        an event has a page of memory when it is mapped, and lives as long as that
 *   strict=1       a forked child that switches or reads its parent's counters is named on stderr
 */
#ifndef PHASEMUX_TESTS_SCRIPTED_PMU_H
#define PHASEMUX_TESTS_SCRIPTED_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/pmu.h"

#define SCRIPTED_EXPORT __attribute__((visibility("default")))

SCRIPTED_EXPORT const struct pmu *phasemux_pmu(void);

/*
 * Does `instructions` of virtual work of a named behaviour on the calling thread: "chase", "triad",
 * "fdiv", "iadd", "alu", "randbr", "icache", "fma", "fscal". Returns 0, -EINVAL (no such name),
 * -ENOTSUP (with "emulated": the caller has to do work of its own).
 */
SCRIPTED_EXPORT int scripted_pmu_work(const char *behaviour, uint64_t instructions);

/* The calling thread's true total of an event (perf_event_attr's type and config). */
SCRIPTED_EXPORT double scripted_pmu_total(uint32_t type, uint64_t config);

/* How often a call of the table was made by this process so far: "open", "read", ... */
SCRIPTED_EXPORT uint64_t scripted_pmu_calls(const char *call);

/* How many counters this process has open; and closes them all, for tests of failing closes. */
SCRIPTED_EXPORT unsigned scripted_pmu_open(void);
SCRIPTED_EXPORT void scripted_pmu_forget(void);

/*
 * Takes settings as SCRIPTED_PMU would, and counts calls from 0 again, for unit tests. The
 * processor is to be set before its events are counted first.
 */
SCRIPTED_EXPORT int scripted_pmu_configure(const char *settings);

#endif
