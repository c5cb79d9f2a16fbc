/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A candidate is a process that becomes a target once it computes (computing.h), because it may be one of thousands of
 * short programs, which are not to pay for the agent. Until then it has one thread of the agent, which sleeps. A program
 * that ends before leaves no trace. Needs only libc.
 *
 * One atomic word decides who makes the process a target: the thread, or the program's own thread in MPI_Init or at an
 * OpenMP region, which then ends the wait. It also counts the forks that are under way, during which the thread does
 * not start: the child of a fork would inherit what the thread has begun. A child is no candidate.
 */
#ifndef PHASEMUX_AGENT_CANDIDATE_CANDIDATE_H
#define PHASEMUX_AGENT_CANDIDATE_CANDIDATE_H

#include <stdbool.h>

/* What a thread runs. */
typedef void *candidate_task(void *argument);

/* What happens to a candidate. */
struct candidate_events {
	/*
	 * The program computes: prepares all that a target needs. Called on a thread whose descriptors are its own if the
	 * kernel can do that, so that those of the program have the numbers that they have alone. Returns whether the
	 * process becomes a target.
	 */
	bool (*prepare)(void);
	/*
	 * Makes the process a target. Called on the candidate's thread. Returns what that thread runs from then on, until
	 * it is joined; NULL: it ends by itself.
	 */
	candidate_task *(*begin)(void);
	/* The process is the child of a fork that has met the start of a target, of which it is to know nothing. */
	void (*forked_early)(void);
	/* The first thread ends, and the process does not. Called on that thread, if the process is no candidate any more. */
	void (*first_ends)(void);
};

/*
 * Makes this process a candidate. Does nothing if it cannot have another thread, or if its allocator may be one for
 * programs with one thread. Call on the first thread, in the constructor. *events stays valid.
 */
void candidate_start(const struct candidate_events *events);

/*
 * Ends the wait, because the calling thread is about to make the process a target. Returns false if the candidate's
 * thread is at it. Does nothing in a process that is no candidate.
 */
bool candidate_claim(void);

/* Like candidate_claim(), but if the thread is at it, waits until it has done it, or has not run for a second. */
void candidate_settle(void);

/* Like candidate_settle(), because the process ends. A signal handler may call it, and the child of a vfork. */
void candidate_end(void);

/* Returns whether candidate_end() waits. */
bool candidate_is_ending(void);

/*
 * Ends the thread before a call that the kernel refuses to a process with several. Returns whether it did; then
 * candidate_return() must be called after the call, and makes the process a candidate again.
 */
bool candidate_leave(void);
void candidate_return(void);

#endif
