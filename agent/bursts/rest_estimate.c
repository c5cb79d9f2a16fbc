/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/rest_estimate.h"

#include <stddef.h>

#include "sampling/clock.h"

#define WINDOW_NS    50e6 /* observed time of a window, with some rests and many bursts */
#define AWAKE_NS_MIN 1e6  /* least observed time from which rests are estimated */

/* Counts of a thread that are estimated, other than bursts by length. */
#define MPI_TICKS 0
static const size_t counts_at[REST_ESTIMATE_COUNTS] = {
	[MPI_TICKS] = offsetof(struct thread_counts, mpi_ticks),
	offsetof(struct thread_counts, polls),
	offsetof(struct thread_counts, poll_ticks),
	offsetof(struct thread_counts, short_bursts),
	offsetof(struct thread_counts, short_ticks),
};

static _Atomic uint64_t *count_of(struct thread *thread, unsigned i)
{
	return (_Atomic uint64_t *)((char *)&thread->counts + counts_at[i]);
}

static void begin_window(struct thread *thread)
{
	struct rest_estimate *estimate = &thread->estimate;

	estimate->window++;
	estimate->lengths = 0;
	estimate->awake = estimate->rested = 0;
	for (unsigned i = 0; i < REST_ESTIMATE_COUNTS; i++)
		estimate->count[i] =
				atomic_load_explicit(count_of(thread, i), memory_order_relaxed);
}

/* Adds `more` to what is owed. Returns the whole part of it, and leaves the remainder. */
static uint64_t pay(double *owed, double more)
{
	uint64_t whole;

	*owed += more;
	whole = (uint64_t)*owed;
	*owed -= (double)whole;
	return whole;
}

/* Variances for each tick, of what is estimated for the rests of a window. */
struct variances {
	double bursts; /* of their number */
	double ticks;  /* of their time, beyond what follows from the error of their number */
};

/*
 * Returns the variances from the differences between the rates of this window and the previous one. The numbers
 * in times that do not overlap are taken to be independent, with a variance of v per tick. Then the difference d
 * of two rates has the variance v (1/a + 1/b), where a and b are the observed times. The time follows the number
 * by the bursts' mean length in this window. What the previous window's time differs from that is d for the
 * residuals of this ratio.
 */
static struct variances variances_of(const struct rest_estimate *estimate,
		const struct rest_length *length)
{
	double rate = length->bursts / estimate->awake, difference = rate, residual = 0;
	double times = 1 / (1 / estimate->awake + 1 / estimate->before);

	if (length->previous == estimate->window - 1) {
		difference = rate - length->before;
		residual = length->before_ticks -
				length->before * (double)length->ticks / length->bursts;
	}
	return (struct variances){ difference * difference * times, residual * residual * times };
}

/*
 * Returns the variances in the first window, with which nothing can be compared. The rate is taken to be as
 * uncertain as if another window of `awake` ticks had no such burst.
 */
static struct variances unknown_variances(double rate, double awake)
{
	return (struct variances){ rate * rate * awake / 2, 0 };
}

/* Returns the factor on the variances for each tick, of an estimate for rests of `rested` ticks. */
static double reach(double rested, double awake)
{
	return rested * (1 + rested / awake);
}

/* Adds to a variance with a single writer. */
static void add_variance(_Atomic float *variance, double more)
{
	float sum = atomic_load_explicit(variance, memory_order_relaxed) + (float)more;

	atomic_store_explicit(variance, sum > 0 ? sum : 0, memory_order_relaxed);
}

/* Adds the variances of a length in the rests of this window. The second one tells also those of the first. */
static void add_variances(const struct rest_estimate *estimate, const struct rest_length *length,
		struct span_length *unread)
{
	bool first = estimate->before <= 0;
	double rate = length->bursts / estimate->awake;
	double times = reach(estimate->rested, estimate->awake);
	struct variances more = first ? unknown_variances(rate, estimate->awake) :
					variances_of(estimate, length);

	add_variance(&unread->variance, more.bursts * times);
	add_variance(&unread->ticks_variance, more.ticks * times);
	if (first || !(estimate->first_reach > 0) || length->previous != estimate->window - 1)
		return;
	more.bursts -= unknown_variances(length->before, estimate->before).bursts;
	add_variance(&unread->variance, more.bursts * estimate->first_reach);
	add_variance(&unread->ticks_variance, more.ticks * estimate->first_reach);
}

/* Adds the bursts of one length that the thread is taken to have had in the rests of the window. */
static void add_bursts(struct thread *thread, uint32_t number)
{
	struct rest_estimate *estimate = &thread->estimate;
	struct rest_length *length = &estimate->length[number];
	double times = estimate->rested / estimate->awake;
	double owed = length->owed + times * length->bursts;
	double owed_ticks = length->owed_ticks + times * (double)length->ticks;
	uint64_t bursts = (uint64_t)owed, ticks = 0;

	/* time is added only with a burst to which it belongs */
	if (bursts)
		ticks = (uint64_t)(owed_ticks * (double)bursts / owed);
	length->owed = owed - (double)bursts;
	length->owed_ticks = owed_ticks - (double)ticks;

	site_add(&thread->counts.bursts, bursts);
	site_add(&thread->counts.ticks, ticks);
	span_mark(thread->sites.unread_since, length->span);
	span_add_unread(&thread->sites.length[number], bursts, ticks);
}

static void add_counts(struct thread *thread)
{
	struct rest_estimate *estimate = &thread->estimate;
	struct thread_counts *counts = &thread->counts;
	uint64_t bursts = atomic_load_explicit(&counts->short_bursts, memory_order_relaxed);
	uint64_t ticks = atomic_load_explicit(&counts->short_ticks, memory_order_relaxed);

	for (unsigned i = 0; i < REST_ESTIMATE_COUNTS; i++) {
		_Atomic uint64_t *count = count_of(thread, i);
		uint64_t observed = atomic_load_explicit(count, memory_order_relaxed) -
				estimate->count[i];

		site_add(count,
				pay(&estimate->owed[i],
						(double)observed * estimate->rested /
								estimate->awake));
	}
	/* short bursts are bursts, too */
	site_add(&counts->bursts,
			atomic_load_explicit(&counts->short_bursts, memory_order_relaxed) - bursts);
	site_add(&counts->ticks,
			atomic_load_explicit(&counts->short_ticks, memory_order_relaxed) - ticks);
}

static void close_window(struct thread *thread)
{
	struct rest_estimate *estimate = &thread->estimate;

	for (uint32_t i = 0; i < estimate->lengths; i++) {
		uint32_t number = estimate->touched[i];
		struct rest_length *length = &estimate->length[number];

		if (estimate->rested > 0) {
			add_bursts(thread, number);
			add_variances(estimate, length, &thread->sites.length[number]);
		}
		length->before = length->bursts / estimate->awake;
		length->before_ticks = (double)length->ticks / estimate->awake;
	}
	if (estimate->rested > 0)
		add_counts(thread);
	estimate->first_reach = estimate->before > 0 ? 0 : reach(estimate->rested, estimate->awake);
	estimate->before = estimate->awake;
	begin_window(thread);
}

/* Adds the time since the last rest to the window. */
static void add_awake(struct thread *thread, uint64_t now)
{
	struct rest_estimate *estimate = &thread->estimate;
	double ticks = (double)(int64_t)(now - estimate->since) -
			(double)(thread->unobserved - estimate->unobserved);

	estimate->awake += ticks > 0 ? ticks : 0;
	estimate->since = now;
	estimate->unobserved = thread->unobserved;
}

/* Closes the window if it has lasted for long enough. Call after all time until now was added. */
static void close_window_if_over(struct thread *thread)
{
	if (thread->estimate.awake >= (double)clock_ticks(WINDOW_NS))
		close_window(thread);
}

void rest_estimate_start(struct thread *thread, uint64_t now)
{
	thread->estimate.since = now;
	thread->estimate.unobserved = thread->unobserved;
	begin_window(thread);
}

void rest_estimate_begin(struct thread *thread, uint64_t due, uint64_t now)
{
	if (thread->call.entered > due)
		thread->estimate.count[MPI_TICKS] += now - thread->call.entered;
	add_awake(thread, due);
}

void rest_estimate_end(struct thread *thread, uint64_t end, uint64_t now)
{
	struct rest_estimate *estimate = &thread->estimate;

	if ((int64_t)(end - estimate->since) < 0)
		end = now;
	estimate->rested += (double)(end - estimate->since);
	estimate->since = end;
	estimate->unobserved = thread->unobserved;
	close_window_if_over(thread);
}

void rest_estimate_look(struct thread *thread, uint64_t now)
{
	if (!thread->resting.noted)
		return;
	add_awake(thread, now);
	close_window_if_over(thread);
}

void rest_estimate_finish(struct thread *thread, uint64_t now)
{
	struct rest_estimate *estimate = &thread->estimate;

	if (!thread->resting.noted)
		return;
	add_awake(thread, now);
	if (estimate->awake >= (double)clock_ticks(AWAKE_NS_MIN))
		close_window(thread);
}

void rest_estimate_note(struct rest_estimate *estimate, uint32_t span, unsigned number,
		uint64_t bursts, uint64_t ticks)
{
	struct rest_length *length = &estimate->length[number];

	if (length->window != estimate->window) {
		length->previous = length->window;
		length->window = estimate->window;
		length->bursts = 0;
		length->ticks = 0;
		length->span = (uint16_t)span;
		estimate->touched[estimate->lengths++] = (uint16_t)number;
	}
	length->bursts += (uint32_t)bursts;
	length->ticks += ticks;
}
