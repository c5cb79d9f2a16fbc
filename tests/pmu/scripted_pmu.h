/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scripted PMU: a shared object that takes the place of the kernel's counters, with known truth. The agent
 * loads it if PHASEMUX_PMU names it. A program finds scripted_pmu_work and the other functions by
 * dlsym(RTLD_DEFAULT, ...), for which LD_PRELOAD names the library too.
 *
 * Each thread has a virtual history: totals of every event since its start. scripted_pmu_work increases them.
 * With "auto" the thread's processor time does, with "emulated" the instructions that it really retired. A
 * counter shows what its event's total gained while the counter was enabled. So the truth does not depend on
 * what is being counted, and scripted_pmu_total returns it. scripted_pmu_work also writes the samples that fell
 * into it. Their addresses lie in functions named after the work: scripted_in_triad and so on.
 *
 * SCRIPTED_PMU holds the settings, separated by commas. All have defaults:
 *
 *   counters=N     number of counters that really count (5); the highest of more reads 0
 *   opens=N        number of counters that may be opened as one group (6)
 *   held=N         number of them that another user holds: larger groups are not scheduled
 *   processor=V    the processor to assume (AuthenticAMD-26-2)
 *   kernel=V       refuses what Linux 4.0 or 4.18 does not know, with its errors (all is known)
 *   hardware=0     no hardware counters, as in many virtual machines
 *   noise=X        relative standard deviation of every event of a piece of work (0)
 *   seed=N         seed of the noise (1); MPI ranks add theirs, threads their number
 *   spin=X         work takes X times its virtual time, by a busy wait (1; 0: none)
 *   ran=1          that wait lasts until the thread has run for so long, so that its processor time is
 *                  its virtual time also on a busy machine
 *   auto=B[/B...]  behaviours that follow the thread's processor time: with several, stretches
 *                  between two reads below 200 us show the first, and each of the others one
 *                  power of four beyond that
 *   emulated=P     behaviours that follow the instructions which an emulator counts in the file
 *                  P.PID (emulated.h)
 *   fail=CALL:N:E  the N-th (from 1; N+: the N-th and all later) open, read, ioctl, close or map
 *                  of the process fails with E (EACCES, EMFILE, ..., a number; "short": read
 *                  gives 0 bytes); may be given several times
 *   pause=MS       time in ms that opening the first counter of the process takes
 *   jump=N         every N-th read, a counter is first moved forward by 2^47
 *   back=N         every N-th read, a counter is first moved back by 2^40
 *   written=N      of N samples, one is written; the others find the thread in the kernel (1)
 *   pages=1        an event has a page of memory when it is mapped, and lives as long as the page
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
 * Does `instructions` of virtual work of a named behaviour on the calling thread. Names are "chase", "triad",
 * "fdiv", "iadd", "alu", "randbr", "icache", "fma" and "fscal". Returns 0, -EINVAL (no such name) or -ENOTSUP
 * (with "emulated" the caller has to do real work).
 */
SCRIPTED_EXPORT int scripted_pmu_work(const char *behaviour, uint64_t instructions);

/* Returns the calling thread's true total of an event (perf_event_attr's type and config). */
SCRIPTED_EXPORT double scripted_pmu_total(uint32_t type, uint64_t config);

/* Returns how often this process has made a call of the table so far: "open", "read", ... */
SCRIPTED_EXPORT uint64_t scripted_pmu_calls(const char *call);

/*
 * scripted_pmu_open returns the number of counters that this process has open. scripted_pmu_forget closes them
 * all, for tests of closes that fail.
 */
SCRIPTED_EXPORT unsigned scripted_pmu_open(void);
SCRIPTED_EXPORT void scripted_pmu_forget(void);

/*
 * Applies settings in the form of SCRIPTED_PMU, and counts calls from 0 again, for unit tests. Set the
 * processor before its events are counted.
 */
SCRIPTED_EXPORT int scripted_pmu_configure(const char *settings);

#endif
