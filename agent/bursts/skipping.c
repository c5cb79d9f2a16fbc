/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/skipping.h"

#include <string.h>

#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/structure.h"
#include "sampling/clock.h"

#define CALLS_CALM  64   /* quick calls in a row after which calls are skipped */
#define CALLS_SLACK 2    /* multiple of the expected time up to which it is not long */
#define CALLS_SHARE 0.5  /* part of the budget that calls may cost */
#define POLLS_SLACK 1.5  /* multiple if all was polling, which is regular */
#define USUAL_ROWS  256  /* rows of skipped calls over which their time is averaged */
#define POLLS_DOUBT 10   /* divides what was long among polls: a burst for sure, but not read */
#define DOUBT_SHARE 0.01 /* part of all time that may be long among skipped calls */

#define HOOKS_KNOWN 1024 /* observed calls after which their cost is known */

#define COST_CALLS   1024 /* calls measured in a row, because a clock may tick every 40 ns */
#define COST_BATCHES 4    /* number of measurements */

/* Skips a call as the preload does (wrap.h). */
static __attribute__((noinline)) void skip_call(struct skip *skip, const void *site,
		const void *frame)
{
	if (skip_takes_next(skip, site, frame))
		__asm__ volatile("" ::: "memory");
}

double skipping_cost(void)
{
	static const char site, frame;
	static struct skip_place place = { .site = &site, .frame = &frame };
	static struct skip skip = { .place = &place };
	uint64_t least = UINT64_MAX;

	skip_follows(&place, &place);
	skip_start(&skip, &place, COST_BATCHES * COST_CALLS);
	for (int batch = 0; batch < COST_BATCHES; batch++) {
		uint64_t begin = clock_now(), ticks;

		for (int i = 0; i < COST_CALLS; i++)
			skip_call(&skip, &site, &frame);
		ticks = clock_now() - begin;
		least = ticks < least ? ticks : least;
	}
	return (double)least / COST_CALLS;
}

/* Returns the ticks that the hooks of a call take among the program's work, or at first, many in a row. */
static double hook_ticks(const struct thread *thread, const struct thread_rules *rules)
{
	const struct thread_counts *counts = &thread->counts;
	uint64_t calls = atomic_load_explicit(&counts->calls, memory_order_relaxed) -
			atomic_load_explicit(&counts->skipped, memory_order_relaxed) -
			atomic_load_explicit(&counts->rested_calls, memory_order_relaxed);
	double ticks = (double)atomic_load_explicit(&counts->hook_ticks, memory_order_relaxed);

	if (calls < HOOKS_KNOWN || ticks <= (double)calls * rules->call_ticks)
		return rules->call_ticks;
	return ticks / (double)calls;
}

uint32_t skipping_multiple(const struct thread *thread, const struct thread_rules *rules,
		uint64_t calls, uint64_t ticks, uint64_t elapsed)
{
	double cost = (double)calls * hook_ticks(thread, rules);
	double allowed = CALLS_SHARE * rules->allowed * (double)ticks;

	if (!(allowed > 0) || cost <= allowed ||
			(double)thread->window.doubt > DOUBT_SHARE * (double)elapsed)
		return 0;
	return cost >= (SKIPPING_MAX + 1) * allowed ? SKIPPING_MAX : (uint32_t)(cost / allowed);
}

static void add_place(struct skip *skip, const struct skip_place *from)
{
	struct skip_place *place = skip_find(skip, from->site, from->frame);

	if (place) {
		place->nests |= from->nests;
		place->asks &= from->asks;
		return;
	}
	if (skip->places == SKIP_PLACES_MAX)
		return;
	place = &skip->place[skip->places++];
	*place = *from;
}

/* Sets the places to those of the window, each once, and to as many earlier ones as there is room for. */
static void set_places(struct thread *thread)
{
	struct skip *skip = thread->skip;
	struct skip_place before[SKIP_PLACES_MAX];
	uint32_t places = skip->places;

	memcpy(before, skip->place, sizeof(before));
	skip->places = 0;
	for (uint32_t i = 0; i < thread->window.pairs; i++) {
		const struct skip_pair *pair = &thread->pair[i];

		add_place(skip,
				&(struct skip_place){ .site = pair->site,
						.frame = pair->frame,
						.from = pair->from,
						.nests = pair->nests,
						.asks = pair->asks });
	}
	for (uint32_t i = 0; i < places; i++)
		add_place(skip, &before[i]);
	/* a place is taken to follow itself until the next one is known */
	for (uint32_t i = 0; i < skip->places; i++)
		skip_follows(&skip->place[i], skip->place[i].nests ? NULL : &skip->place[i]);
}

/* Skips no calls until many in a row were quick. Call when something was long. */
static void forget(struct thread *thread)
{
	thread->window.calm = 0;
	thread->skip->places = 0;
}

/* Means of the window, by which skipped calls are judged. */
struct usual {
	double burst, call; /* mean ticks */
	bool waits;         /* one of the calls can wait */
	bool polls;         /* only polling was between them */
};

static struct usual usual_of(const struct thread *thread)
{
	struct usual usual = { .polls = true };

	for (unsigned i = 0; i < SKIP_WINDOW; i++) {
		usual.burst += (double)thread->pair[i].burst / SKIP_WINDOW;
		usual.call += (double)thread->pair[i].call / SKIP_WINDOW;
		usual.waits |= thread->pair[i].waits;
		usual.polls &= thread->pair[i].polls;
	}
	return usual;
}

/* Skips `calls` more calls, if the program polls on after an answer. Returns false if it does not. */
static bool goes_on(struct thread *thread, const struct skip_pair *pair, uint32_t calls)
{
	struct skip_place *place = skip_find(thread->skip, pair->site, pair->frame);

	thread->skip->heeds = polling_heeds(&thread->polling);
	if (!pair->polls || !place || (thread->skip->heeds && thread->polling.answered))
		return false;
	thread->window.going = calls;
	skip_start(thread->skip, place, calls);
	return true;
}

__attribute__((hot)) void skipping_after(struct thread *thread, const struct thread_rules *rules,
		const void *site, const void *frame, bool waits, uint64_t call_ticks)
{
	struct skip_window *window = &thread->window;
	struct skip_pair *pair = &thread->pair[window->pairs];
	uint32_t multiple = skipping_windows(thread, rules);
	uint32_t resume = window->resume;
	bool timed = window->timed && thread->burst.open;

	window->timed = false;
	window->resume = 0;
	/* the time of a burst that is read includes the reads */
	if (!timed || thread->burst.reading) {
		window->pairs = 0;
		return;
	}
	if (pair->burst + call_ticks > rules->quick_ticks) {
		/* what delayed this call must not count as a delay of what comes after it */
		if (thread->polling.row == POLLING_ROW)
			polling_off(thread, rules, thread->call.burst_begin, 0);
		forget(thread);
		window->pairs = 0;
		return;
	}
	pair->call = call_ticks;
	pair->site = site;
	pair->frame = frame;
	pair->from = thread->call.burst_site;
	pair->waits = waits;
	pair->nests = thread->skip->nests;
	pair->asks = thread->polling.asks;
	window->calm += window->calm < CALLS_CALM;
	if (resume && goes_on(thread, pair, resume))
		return;
	if (++window->pairs < SKIP_WINDOW)
		return;
	thread->skip->heeds = usual_of(thread).polls && polling_heeds(&thread->polling);
	if (window->calm == CALLS_CALM && !(thread->skip->heeds && thread->polling.answered)) {
		set_places(thread);
		/* a random number, because programs have periods */
		window->going = SKIP_WINDOW * multiple / 2 +
				(uint32_t)(thread_random(thread) * SKIP_WINDOW * multiple) + 1;
		skip_start(thread->skip, thread->skip->place, window->going);
	}
	window->pairs = 0;
}

/*
 * Returns the ratio of the time of skipped calls to the expected time. It is below 1, because the time stamps
 * of observed calls take time. One window tells it too badly, so it is a ratio of means over many.
 */
static double usual_scale(struct skip_window *window, double ticks, double expected)
{
	double step = 1.0 / USUAL_ROWS;

	if (!(window->usual_expected > 0))
		step = 1;
	window->usual_ticks += (ticks - window->usual_ticks) * step;
	window->usual_expected += (expected - window->usual_expected) * step;
	return window->usual_expected > 0 ? window->usual_ticks / window->usual_expected : 1;
}

static uint64_t at_most(double ticks, uint64_t most)
{
	return ticks < (double)most ? (uint64_t)ticks : most;
}

static bool is_longer(const struct thread_rules *rules, double ticks, double expected, bool polls)
{
	return ticks > (polls ? POLLS_SLACK : CALLS_SLACK) * expected + (double)rules->quick_ticks;
}

/*
 * Returns whether polling took longer than expected because the kernel preempted the thread. It is polling,
 * then.
 */
static bool was_held_up(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t ticks, double expected)
{
	double on = (double)(ticks - polling_off(thread, rules, now, ticks));

	return !is_longer(rules, on, expected, true) ||
			(on - expected) * POLLING_HELD_UP < (double)ticks - expected;
}

/* Adds ticks that lie somewhere in the skipped calls, up to now, to the timeline. */
static void time_skipped(struct thread *thread, enum timeline_kind kind, uint64_t now,
		uint64_t ticks)
{
	timeline_add(&thread->timeline, kind, thread->call.burst_begin, now, ticks);
}

/* Adds `bursts` bursts, up to now, that are too short to be placed. */
static void add_short(struct thread *thread, uint64_t bursts, uint64_t ticks, uint64_t now)
{
	thread_add_short(thread, bursts, ticks);
	time_skipped(thread, TIMELINE_NO_PHASE, now, ticks);
}

/* Adds `bursts` bursts like that of the pair, up to now, which will be placed by span and length. */
static void add_placed(struct thread *thread, const struct skip_pair *pair, uint64_t bursts,
		uint64_t ticks, uint64_t now)
{
	thread_add_unread(thread, pair->span, pair->length, bursts, ticks);
	thread_time_unread(thread, pair->length, thread->call.burst_begin, now, ticks);
	rest_estimate_add(thread, pair->span, pair->length, bursts, ticks);
}

/* Gives the bursts before the skipped calls their part of `left` ticks. Returns the ticks that remain up to now. */
static uint64_t share_out(struct thread *thread, uint64_t calls, double scale, uint64_t left,
		uint64_t now)
{
	uint64_t told = 0, told_burst = 0;
	double told_inside = 0;

	for (unsigned i = 0; i < SKIP_WINDOW; i++) {
		const struct skip_pair *pair = &thread->pair[i];
		uint64_t bursts = calls / SKIP_WINDOW + (i < calls % SKIP_WINDOW);
		uint64_t ticks = at_most((double)(bursts * pair->burst) * scale, left);

		if (bursts && pair->polls) {
			thread_add_polls(thread, bursts, ticks);
			time_skipped(thread, TIMELINE_CALLS, now, ticks);
		} else if (bursts) {
			thread_add_bursts(thread, bursts, pair->burst, ticks);
			if (pair->placed)
				add_placed(thread, pair, bursts, ticks, now);
			else
				add_short(thread, bursts, ticks, now);
		}
		left -= ticks;
		if (pair->asks)
			continue;
		told += bursts;
		told_burst += ticks;
		told_inside += (double)(bursts * pair->call) * scale;
	}
	structure_skip(thread, told, told_burst, at_most(told_inside, left));
	return left;
}

/* Skips no more calls. Counts those that were skipped, and returns their number. */
static uint64_t stop_going(struct thread *thread)
{
	uint64_t calls = thread->window.going - skip_left(thread->skip);

	thread->window.going = 0;
	skip_stop(thread->skip);
	if (calls) {
		site_add(&thread->counts.calls, calls);
		site_add(&thread->counts.skipped, calls);
	}
	return calls;
}

static uint64_t since_begin(const struct thread *thread, uint64_t now)
{
	return (int64_t)(now - thread->call.burst_begin) < 0 ? 0 : now - thread->call.burst_begin;
}

void skipping_settle(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	uint64_t calls = stop_going(thread), left = since_begin(thread, now), last;
	struct usual usual = usual_of(thread);
	/* `calls` pairs, and the burst that is to end */
	double expected = (double)calls * (usual.burst + usual.call) + usual.burst, scale = 1;
	bool is_long;

	if (!calls)
		return;
	is_long = is_longer(rules, (double)left, expected, usual.polls);
	if (is_long && usual.polls && was_held_up(thread, rules, now, left, expected)) {
		is_long = false;
		scale = (double)left / expected;
	} else if (is_long) {
		forget(thread);
		thread->window.doubt +=
				(left - (uint64_t)expected) / (usual.waits ? 1 : POLLS_DOUBT);
	} else {
		scale = usual_scale(&thread->window, (double)left, expected);
	}
	left = share_out(thread, calls, scale, left, now);
	if (is_long && !usual.waits)
		last = left - at_most((double)calls * usual.call, left);
	else
		last = at_most(usual.burst * scale, left);
	site_add(&thread->counts.mpi_ticks, left - last);
	time_skipped(thread, TIMELINE_CALLS, now, left - last);
	thread->call.burst_begin = now - last;
	thread->call.burst_site = thread->skip->last->from;
	thread->polling.asked = thread->skip->last->asks;
	thread->polling.answered = false;
}

bool skipping_answered(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	uint64_t calls, left;
	struct usual usual = usual_of(thread);
	double expected, scale = 1;

	if (!thread->window.going)
		return false;
	thread->window.resume = skip_left(thread->skip);
	calls = stop_going(thread);
	left = since_begin(thread, now);
	expected = (double)calls * (usual.burst + usual.call);
	if (!is_longer(rules, (double)left, expected, true))
		scale = usual_scale(&thread->window, (double)left, expected);
	left = share_out(thread, calls, scale, left, now);
	site_add(&thread->counts.mpi_ticks, left);
	time_skipped(thread, TIMELINE_CALLS, now, left);
	thread->burst.open = false;
	thread->call.burst_begin = now;
	return true;
}
