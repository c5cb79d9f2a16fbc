#include "agent/passed.h"

#include <string.h>

#include "agent/thread.h"
#include "sampling/clock.h"

#define CALM        64   /* so many quick calls in a row, and calls may go by */
#define SLACK       2    /* times what was expected is not long */
#define CALLS_SHARE 0.5  /* of what is allowed, calls may cost */
#define USUAL       256  /* so many times of going by tell how long it is */
#define POLLS_DOUBT 10   /* what was long among polls is known to be a burst, but it was not read */
#define DOUBT_SHARE 0.01 /* of all time may be that of something long that went by */

#define COST_CALLS   1024 /* are measured in a row, for a clock may tick every 40 ns, */
#define COST_BATCHES 4    /* so many times */

/* What the preload does (wrap.h). */
static __attribute__((noinline)) void goes_by(struct passed *passed, const void *site,
		const void *frame)
{
	if (passed_takes_next(passed, site, frame))
		__asm__ volatile("" ::: "memory");
}

double passed_cost(void)
{
	static const char site, frame;
	static struct passed_place place = { .site = &site, .frame = &frame };
	static struct passed passed = { .place = &place };
	uint64_t least = UINT64_MAX;

	passed_follows(&place, &place);
	passed_start(&passed, &place, COST_BATCHES * COST_CALLS);
	for (int batch = 0; batch < COST_BATCHES; batch++) {
		uint64_t begin = clock_now(), ticks;

		for (int i = 0; i < COST_CALLS; i++)
			goes_by(&passed, &site, &frame);
		ticks = clock_now() - begin;
		least = ticks < least ? ticks : least;
	}
	return (double)least / COST_CALLS;
}

uint32_t passed_multiple(const struct thread *thread, const struct thread_rules *rules,
		uint64_t calls, uint64_t ticks, uint64_t elapsed)
{
	double cost = (double)calls * rules->call_ticks;
	double allowed = CALLS_SHARE * rules->allowed * (double)ticks;

	if (!(allowed > 0) || cost <= allowed ||
			(double)thread->window.doubt > DOUBT_SHARE * (double)elapsed)
		return 0;
	return cost >= (PASSED_MOST + 1) * allowed ? PASSED_MOST : (uint32_t)(cost / allowed);
}

static void add_place(struct passed *passed, const struct passed_place *from)
{
	struct passed_place *place = passed_find(passed, from->site, from->frame);

	if (place) {
		place->nests |= from->nests;
		return;
	}
	if (passed->places == PASSED_PLACES)
		return;
	place = &passed->place[passed->places++];
	*place = *from;
}

/* The places of the window, each once, and of those before it as many as there is room for. */
static void set_places(struct thread *thread)
{
	struct passed *passed = thread->passed;
	struct passed_place before[PASSED_PLACES];
	uint32_t places = passed->places;

	memcpy(before, passed->place, sizeof(before));
	passed->places = 0;
	for (uint32_t i = 0; i < thread->window.pairs; i++) {
		const struct passed_pair *pair = &thread->pair[i];

		add_place(passed,
				&(struct passed_place){ .site = pair->site,
						.frame = pair->frame,
						.from = pair->from,
						.nests = pair->nests });
	}
	for (uint32_t i = 0; i < places; i++)
		add_place(passed, &before[i]);
	/* until it is known: itself */
	for (uint32_t i = 0; i < passed->places; i++)
		passed_follows(&passed->place[i],
				passed->place[i].nests ? NULL : &passed->place[i]);
}

/* Something was long: nothing goes by until much was quick again. */
static void forget(struct thread *thread)
{
	thread->window.calm = 0;
	thread->passed->places = 0;
}

__attribute__((hot)) void passed_after(struct thread *thread, const struct thread_rules *rules,
		const void *site, const void *frame, bool waits, uint64_t call_ticks)
{
	struct passed_window *window = &thread->window;
	struct passed_pair *pair = &thread->pair[window->pairs];
	bool timed = window->timed && thread->open;

	window->timed = false;
	/* reads are in the time of what is read */
	if (!timed || thread->reading) {
		window->pairs = 0;
		return;
	}
	if (pair->burst + call_ticks > rules->quick_ticks) {
		forget(thread);
		window->pairs = 0;
		return;
	}
	pair->call = call_ticks;
	pair->site = site;
	pair->frame = frame;
	pair->from = thread->from;
	pair->waits = waits;
	pair->nests = thread->passed->nests;
	window->calm += window->calm < CALM;
	if (++window->pairs < PASSED_WINDOW)
		return;
	if (window->calm == CALM) {
		set_places(thread);
		/* not always as many: programs have periods */
		window->going = PASSED_WINDOW * window->multiple / 2 +
				(uint32_t)(thread_random(thread) * PASSED_WINDOW *
						window->multiple) +
				1;
		passed_start(thread->passed, thread->passed->place, window->going);
	}
	window->pairs = 0;
}

/*
 * What went by took so many times what was expected of it: as the stamps of what is timed take time,
 * it is less. One window says too little of it, and its own share in it: many say it.
 */
static double usual_scale(struct passed_window *window, double ticks, double expected)
{
	double step = 1.0 / USUAL;

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

void passed_settle(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	struct passed_window *window = &thread->window;
	uint64_t calls = window->going - passed_left(thread->passed), left = now - thread->begin;
	double burst = 0, call = 0, scale = 1, expected;
	bool waits = false, is_long;
	uint64_t last;

	window->going = 0;
	passed_stop(thread->passed);
	if (!calls)
		return;
	if ((int64_t)left < 0)
		left = 0;
	for (unsigned i = 0; i < PASSED_WINDOW; i++) {
		burst += (double)thread->pair[i].burst / PASSED_WINDOW;
		call += (double)thread->pair[i].call / PASSED_WINDOW;
		waits |= thread->pair[i].waits;
	}
	/* so many pairs, and the burst that is to end */
	expected = (double)calls * (burst + call) + burst;
	is_long = (double)left > SLACK * expected + (double)rules->quick_ticks;
	if (is_long) {
		forget(thread);
		window->doubt += (left - (uint64_t)expected) / (waits ? 1 : POLLS_DOUBT);
	} else {
		scale = usual_scale(window, (double)left, expected);
	}
	for (unsigned i = 0; i < PASSED_WINDOW; i++) {
		const struct passed_pair *pair = &thread->pair[i];
		uint64_t bursts = calls / PASSED_WINDOW + (i < calls % PASSED_WINDOW);
		uint64_t ticks = at_most((double)(bursts * pair->burst) * scale, left);

		if (bursts) {
			thread_add_bursts(thread, bursts, pair->burst, ticks);
			if (pair->placed)
				thread_add_unread(thread, pair->span, pair->length, bursts, ticks);
			else
				thread_add_short(thread, bursts, ticks);
		}
		left -= ticks;
	}
	if (is_long && !waits)
		last = left - at_most((double)calls * call, left);
	else
		last = at_most(burst * scale, left);
	site_add(&thread->counts.mpi_ticks, left - last);
	site_add(&thread->counts.calls, calls);
	site_add(&thread->counts.passed, calls);
	thread->begin = now - last;
	thread->from = thread->passed->last->from;
}
