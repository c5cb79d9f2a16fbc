/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/switching.h"

#include <math.h>

#include "agent/bursts/turn.h"
#include "sampling/clock.h"

/*
 * Slices for which a group stays enabled within a burst. A switch costs one of them, because it falls between two
 * samples. So a group stays for few slices at first, since all groups are to see the burst, and for more with
 * each round of all groups.
 */
#define STAY_SLICES     2
#define STAY_SLICES_MAX 16

/*
 * The trust in a site: above 0, its next burst is expected to be long; 0: it is new. A burst that was expected to be
 * long and was not makes it BETRAYED, and then a long burst raises it. The trust in new sites is also bounded.
 */
#define BETRAYED  (-2)
#define TRUST_MAX 2

/* A burst that has lasted for this long is drained before it ends, because the ring of samples may run full. */
#define DRAIN_NS 1e9

/* A look takes 1 to 30 us of processor time. One that took longer than this waited for a lock that others held. */
#define LOOK_NS_MAX 1e5

/* Shortest rest, in parts of a slice: the end of a stay need not be met exactly. */
#define REST_PARTS 2

/* Returns the processor time of the thread that has the place, in ns. */
static int64_t ran_ns_of(const struct thread *thread)
{
	return (int64_t)clock_thread_ns(
			atomic_load_explicit(&thread->identity.tid, memory_order_relaxed));
}

/* What a look found. */
struct sight {
	int64_t ran_ns;      /* processor time of the thread */
	double since_ns;     /* time since the look before; 0: there was none */
	double since_ran_ns; /* how much of it the thread ran */
};

/* Notes the processor time at a look. */
static struct sight see(struct thread *thread, uint64_t now)
{
	struct watched_burst *watched = &thread->watched;
	struct sight sight = { .ran_ns = ran_ns_of(thread) };

	/* with less processor time than before, another thread has the place now */
	sight.since_ran_ns = (double)(sight.ran_ns -
			(sight.ran_ns < watched->seen_ns ? 0 : watched->seen_ns));
	sight.since_ns = watched->seen && now > watched->seen ? clock_ns(now - watched->seen) : 0;
	watched->seen_ns = sight.ran_ns;
	watched->seen = now;
	return sight;
}

/*
 * Returns for how long the thread has run at least in a burst that began after the look before. It may have waited
 * for a processor since that look, and if so perhaps only in the burst.
 */
static double ran_least(const struct sight *sight, uint64_t since, uint64_t now)
{
	double burst_ns = now > since ? clock_ns(now - since) : 0;
	double waited_ns = fmax(sight->since_ns - sight->since_ran_ns, 0);

	return fmin(fmax(burst_ns - waited_ns, 0), sight->since_ran_ns);
}

static double stay_ns(const struct thread_rules *rules, const struct watched_burst *watched)
{
	unsigned slices = STAY_SLICES + watched->switches / rules->groups;

	return (double)rules->sample_ns * (slices < STAY_SLICES_MAX ? slices : STAY_SLICES_MAX);
}

/* Notes that the burst that was under way was not long, if groups changed in it because this was expected. */
static void end_watch(struct watched_burst *watched)
{
	if (!watched->since || !watched->switches || watched->lasted)
		return;
	watched->trust[watched->from] = BETRAYED;
	if (watched->fresh && watched->trust_new > BETRAYED)
		watched->trust_new--;
}

/* Notes that the burst under way is long. */
static void note_long(struct watched_burst *watched)
{
	int8_t *trust = &watched->trust[watched->from];

	if (watched->lasted)
		return;
	watched->lasted = true;
	*trust = *trust < -1 ? *trust + 1 : 1;
	if (watched->fresh && watched->trust_new < TRUST_MAX)
		watched->trust_new++;
}

/*
 * Starts to watch the burst that began at `since`; 0: there is none. began_ns: processor time of the thread at that
 * time.
 */
static void begin_watch(struct thread *thread, uint64_t since, int64_t began_ns)
{
	struct watched_burst *watched = &thread->watched;

	end_watch(watched);
	watched->since = since;
	watched->switches = 0;
	watched->lasted = false;
	/* pairs with the release in publish_burst */
	watched->from = atomic_load_explicit(&thread->under_way.from, memory_order_acquire);
	watched->fresh = !watched->trust[watched->from];
	watched->began_ns = watched->stays_ns = began_ns;
}

/*
 * Returns the time in ns until groups may change in a burst in which the thread has run for ran_ns: as soon as it
 * is long, or at once where bursts are expected to be long.
 */
static double wait_to_last(struct watched_burst *watched, const struct thread_rules *rules,
		double ran_ns)
{
	int trust = watched->fresh ? watched->trust_new : watched->trust[watched->from];
	double long_ns = clock_ns(rules->long_ticks);

	if (ran_ns < long_ns)
		return trust > 0 ? 0 : long_ns - ran_ns;
	note_long(watched);
	return 0;
}

static double wait_for_quantum(const struct thread *thread, uint64_t now)
{
	uint64_t end = thread->turn.quantum_end;

	return now < end ? clock_ns(end - now) : 0;
}

/* Starts the next quantum in the burst that began at `since`. Returns the time in ns until this may be done. */
static double switch_group(struct thread *thread, const struct thread_rules *rules, uint64_t since,
		uint64_t now)
{
	double wait = 0;

	if (!thread_take_turn_of(thread))
		return (double)rules->sample_ns;
	/* the burst may have ended meanwhile, and the next one may have changed groups in its turn */
	if (atomic_load_explicit(&thread->under_way.since, memory_order_acquire) != since)
		wait = (double)rules->sample_ns;
	else if (thread->turn.counting && thread->drain.slicer.overflow.page)
		wait = wait_for_quantum(thread, now);
	else /* there is nothing to switch, or no samples show when it was done */
		wait = clock_ns(rules->long_ticks);
	if (wait <= 0) {
		unsigned before = thread->turn.group;

		turn_next(thread, rules, now, ++thread->watched.switches);
		thread->turn.quantum_end = now + rules->quantum_ticks;
		thread->reading.switched |= thread->turn.group != before;
		thread->watched.stays_ns = ran_ns_of(thread);
		atomic_store_explicit(&thread->under_way.group, thread->turn.group,
				memory_order_release);
		atomic_store_explicit(&thread->under_way.quantum, thread->turn.quantum,
				memory_order_release);
	}
	thread_end_turn(thread);
	return wait;
}

/*
 * Returns the time in ns until the group is to change, after it has done so if that was due. Only the thread's
 * processor time counts, because a thread that waits for a processor is not sampled.
 */
static double look(struct thread *thread, const struct thread_rules *rules, uint64_t since,
		uint64_t now)
{
	struct watched_burst *watched = &thread->watched;
	struct sight sight = see(thread, now);
	double wait, stay;

	watched->waits = sight.since_ran_ns < watched->rest_ns / 2;
	if (watched->since != since)
		begin_watch(thread, since, sight.ran_ns - (int64_t)ran_least(&sight, since, now));
	wait = wait_to_last(watched, rules, (double)(sight.ran_ns - watched->began_ns));
	stay = stay_ns(rules, watched) - (double)(sight.ran_ns - watched->stays_ns);
	if (stay > wait)
		wait = stay;
	if (wait <= 0)
		wait = switch_group(thread, rules, since, now);
	return wait > 0 ? wait : stay_ns(rules, watched);
}

/* Returns the time in ns until the next look at a thread that is in no burst: looks become rare. */
static double look_idle(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	struct watched_burst *watched = &thread->watched;
	double least = (double)rules->sample_ns * STAY_SLICES, most = clock_ns(rules->long_ticks);

	if (watched->since)
		begin_watch(thread, 0, 0);
	see(thread, now);
	watched->idle_ns = fmin(fmax(2 * watched->idle_ns, least), most);
	return watched->idle_ns;
}

/* Looks at the thread once. Returns the time in ns after which to look again. */
static uint64_t look_once(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	double wait, least = (double)rules->sample_ns / REST_PARTS;
	struct watched_burst *watched = &thread->watched;
	uint64_t since = thread_under_way(thread, rules);

	if (!since)
		return (uint64_t)look_idle(thread, rules, now);
	wait = look(thread, rules, since, now);
	if (watched->lasted || watched->switches)
		watched->idle_ns = 0;
	/* a thread that waits for a processor is not looked at all the time */
	if (watched->waits)
		least = fmax(least, fmin(2 * watched->rest_ns, stay_ns(rules, watched)));
	watched->rest_ns = fmax(wait, least);
	return (uint64_t)watched->rest_ns;
}

uint64_t switching_look(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	/* others may be at work on this processor meanwhile, so the wall time says nothing */
	uint64_t ran_ns = clock_thread_ns(0), rest_ns = look_once(thread, rules, now);

	ran_ns = clock_thread_ns(0) - ran_ns;
	site_add(&thread->watched.look_ticks, clock_ticks(fmin((double)ran_ns, LOOK_NS_MAX)));
	return rest_ns;
}

bool switching_lasts(const struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	uint64_t since = thread_under_way(thread, rules);

	return since && now > since && clock_ns(now - since) >= DRAIN_NS;
}
