/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services do what is not urgent: drains, steps of rounds, and the plan of the thread's next rest. A service
 * runs between two bursts, and is part of neither. All threads of all ranks have theirs at the same moments,
 * because ranks may wait for each other. Services at one moment then delay the program once; services at
 * different moments would delay it once for each rank. Some time after the start, while no round is under way,
 * the process may be in calm: services are rare then.
 */
#ifndef PHASEMUX_AGENT_PROCESS_SERVICE_H
#define PHASEMUX_AGENT_PROCESS_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/*
 * Does the service of the calling thread, and sets when the next one is due. Removes the hooks instead in a
 * process that clone() made without fork()'s handlers. Keeps errno. Call between two bursts.
 */
void service_thread(struct thread *thread, uint64_t now);

/*
 * Ends calm for the thread if it makes many calls, most of which might have to be skipped. The next service is
 * then at the next moment at which all ranks have theirs.
 */
void service_end_calm(struct thread *thread, uint64_t now);

/*
 * Counts a service of `ticks`, in which a training took `training_ns`. What exceeds a millisecond besides the
 * training is not counted, because the thread was preempted.
 */
void service_account(struct thread *thread, uint64_t ticks, double training_ns);

/*
 * Changes groups where that is due, and now and then drains all threads and makes the steps of a round. The
 * helper does this for a program without MPI, which may call no runtime for a long time. Returns the time in ns
 * after which to call it again.
 */
uint64_t service_all_threads(void);

/*
 * Changes groups within long bursts, and drains the threads whose bursts last for seconds. The helper does this
 * beside a program with MPI. Returns the time in ns after which to call it again.
 */
uint64_t service_long_bursts(void);

/*
 * Returns whether the calling thread alone may now make steps of rounds, until it calls service_end_step.
 * Without MPI only; with it, the main thread makes all steps.
 */
bool service_try_step(void);
void service_end_step(void);

#endif
