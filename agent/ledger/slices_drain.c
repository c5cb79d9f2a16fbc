/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/slices_drain.h"

#include <dlfcn.h>
#include <string.h>

#include "agent/host/rcu.h"
#include "agent/ledger/book.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"

#define AHEAD_NS 2e9 /* length from which a burst is cut before it ends */

/*
 * Returns the quantum of a slice. Slices have quanta of their own kind, because in a long burst the group may
 * change and change back, and may stay for much longer than a quantum.
 */
static uint64_t quantum_of(const struct ledger *ledger, struct slicer *slicer,
		const struct burst *burst, const struct burst *slice)
{
	const struct thread_rules *rules = ledger->rules;
	bool over = rules->quantum_bursts ?
			++slicer->unit_slices > rules->quantum_bursts :
			slice->begin - slicer->unit_begin > rules->quantum_ticks;

	/* if the group never changes, all bursts of a thread are one unit of the sample */
	if (rules->scheme.kind == SCHEME_SPACE)
		return burst->quantum;
	if (over || slice->group != slicer->unit_group || slicer->slices == 1) {
		slicer->unit++;
		slicer->unit_begin = slice->begin;
		slicer->unit_slices = 1;
		slicer->unit_group = slice->group;
	}
	return UINT64_C(1) << 63 | slicer->unit;
}

/* Adds a slice's place in its burst, and its counts, to the fold. */
static void fold_into(struct ledger *ledger, unsigned prototype, const struct burst *burst,
		const struct burst *slice)
{
	double middle = (double)(slice->begin - burst->begin) + (double)slice->ticks / 2;

	if (!ledger->fold)
		return;
	pthread_mutex_lock(&ledger->lock);
	fold_slice(ledger->fold, prototype, slice->group, middle / (double)burst->ticks,
			(double)slice->ticks, slice->values);
	pthread_mutex_unlock(&ledger->lock);
}

/* Returns the present weight of a group, which may have been chosen within the burst. */
static float group_weight_now(const struct ledger *ledger, unsigned group)
{
	struct scheme scheme = ledger->rules->scheme;

	/* pairs with rcu_assign_pointer in ledger_publish */
	scheme.adaptive = rcu_dereference(ledger->rules->adaptive);
	return (float)scheme_weight(&scheme, group);
}

#define USER_ADDRESSES                                                                             \
	(UINT64_C(1) << 47) /* number of addresses that a program can have on x86-64 and ARM64 */

/*
 * Returns whether an address is in a file that is loaded now. Takes no lock. An older C library cannot tell that without
 * one, and then any address of a program will do.
 */
static bool is_loaded(uint64_t address)
{
#if __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	return _dl_find_object((void *)(uintptr_t)address, &found) == 0;
#else
	return address < USER_ADDRESSES;
#endif
}

/*
 * Returns the number of the stack of the sample that was taken last. A word that is no return address ends it: code
 * that keeps no frame pointer has led the kernel astray.
 */
static uint16_t stack_of(struct ledger *ledger, const struct slicer *slicer)
{
	const struct overflow_stack *stack = &slicer->stack;
	unsigned frames = 0;
	uint16_t number;

	_Static_assert(OVERFLOW_CALLERS_MAX <= STACK_FRAMES_MAX,
			"a stack has room for all callers");
	while (frames < stack->callers && is_loaded(stack->caller[frames] - 1))
		frames++;
	if (!frames)
		return STACK_NONE;
	pthread_mutex_lock(&ledger->lock);
	number = stack_tree_add(ledger->profile->stack, STACK_TREE_NODES, stack->caller, frames,
			stack->deeper && frames == stack->callers);
	pthread_mutex_unlock(&ledger->lock);
	return number;
}

static uint64_t drain_slices(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t end,
		uint64_t head)
{
	struct slicer *slicer = &thread->drain.slicer;
	struct burst slice;
	uint64_t ticks = 0;
	int prototype;

	while (slicer_cut(slicer, burst, end, head, ledger->rules->counts, &slice)) {
		slice.quantum = quantum_of(ledger, slicer, burst, &slice);
		slice.group_weight = group_weight_now(ledger, slice.group);
		if (slice.samples)
			slice.stack = stack_of(ledger, slicer);
		ticks += slice.ticks;
		prototype = ledger_drain_burst(ledger, thread, table, &slice);
		/* the place in the burst is known only when the burst has ended */
		if (prototype >= 0 && burst->ticks)
			fold_into(ledger, (unsigned)prototype, burst, &slice);
	}
	return ticks;
}

/* Adds the slices that were cut before the burst ended to its span and length, which are known now. */
static void settle_ahead(struct thread *thread, struct span_length *length,
		const struct burst *burst)
{
	struct slices_ahead *ahead = &thread->drain.slicer.ahead;

	for (unsigned p = 0; p <= PROTOTYPES_MAX; p++)
		if (ahead->count[p] > 0)
			span_note_slices(length, p, (uint32_t)ahead->count[p],
					(double)ahead->ticks[p]);
	length->left += ahead->left;
	length->left_ticks += ahead->left_ticks;
	memset(ahead, 0, sizeof(*ahead));
	for (struct pending *place = thread->drain.pending.first; place; place = place->next)
		if (place->burst.span == BURST_NO_SPAN) {
			place->burst.span = burst->span;
			place->burst.length = burst->length;
		}
}

/* A sample in a burst, with its time and the number of its stack. */
struct burst_sample {
	struct overflow_sample sample;
	uint64_t at; /* ticks */
	uint16_t stack;
};

/* Adds a sample in a burst of this prototype to the profile and, if its counters are known, to the fold. */
static void book_sample(struct ledger *ledger, unsigned prototype, const struct burst *burst,
		const struct burst_sample *of)
{
	const struct overflow_sample *sample = &of->sample;
	unsigned count = ledger->rules->counts[burst->group];
	double place = (double)(of->at - burst->begin) / (double)burst->ticks;
	uint64_t until[GROUP_EVENTS_MAX];
	bool known = sample->count >= count &&
			group_delta(burst->first, sample->values, count, until);

	/* by cycles or processor time, because a thread that waits for a processor makes no progress */
	if (known && ledger->counting->plan.common && burst->values[0])
		place = (double)until[0] / (double)burst->values[0];
	pthread_mutex_lock(&ledger->lock);
	profile_add(ledger->profile, sample->address,
			(struct profile_key){ (uint16_t)prototype, of->stack }, 1);
	if (ledger->fold && known)
		fold_sample(ledger->fold, prototype, burst->group, place, until, burst->values);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_drain_whole(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	struct slicer *slicer = &thread->drain.slicer;
	struct burst_sample sample[2 * SLICES_MIN];
	unsigned samples = 0;
	uint64_t head;
	int prototype;

	if (slicer_pending(slicer)) {
		head = slicer_look(slicer);
		while (samples < 2 * SLICES_MIN &&
				slicer_sample(slicer, burst->begin, burst->begin + burst->ticks,
						head, &sample[samples].sample, &sample[samples].at))
			sample[samples++].stack = stack_of(ledger, slicer);
	}
	prototype = ledger_drain_burst(ledger, thread, table, burst);
	for (unsigned i = 0; i < samples && prototype >= 0; i++)
		book_sample(ledger, (unsigned)prototype, burst, &sample[i]);
	/* a pending burst has room for one address: one of them, at random, stands for all */
	if (samples && prototype < 0 && thread->drain.pending.last) {
		const struct burst_sample *drawn = &sample[mix_bits(burst->begin) % samples];
		struct burst *pending = &thread->drain.pending.last->burst;

		pending->samples = (uint16_t)samples;
		pending->address = drawn->sample.address;
		pending->stack = drawn->stack;
	}
}

/*
 * Draws a prototype for a sample in a burst that was not read. The prototypes of the read bursts with the same
 * span and length have probabilities in proportion to their time. Returns -1 if there are none.
 */
static int draw_prototype(const struct thread *thread, const struct prototype_table *table,
		const struct burst *burst, uint64_t random)
{
	const struct span_length *length = &thread->sites.length[burst->length];
	double all = 0, at = (double)(random >> 11) * 0x1p-53;

	for (unsigned i = 0; i < SPAN_SHARES_MAX; i++)
		if (length->share[i].prototype < table->count)
			all += span_share_ticks(&length->share[i]);
	for (unsigned i = 0; i < SPAN_SHARES_MAX; i++) {
		const struct span_share *share = &length->share[i];

		if (share->prototype >= table->count)
			continue;
		at -= span_share_ticks(share) / all;
		if (share->read && at < 0)
			return (int)share->prototype;
	}
	return -1;
}

void ledger_drain_unread(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	uint64_t end = burst->begin + burst->ticks, head, at;
	struct slicer *slicer = &thread->drain.slicer;
	struct overflow_sample sample;
	struct burst sampled = { .samples = 1 };

	if (!slicer_pending(slicer))
		return;
	head = slicer_look(slicer);
	while (slicer_sample(slicer, burst->begin, end, head, &sample, &at)) {
		int prototype = draw_prototype(thread, table, burst, mix_bits(at));

		if (prototype < 0)
			continue;
		sampled.address = sample.address;
		sampled.stack = stack_of(ledger, slicer);
		ledger_locate(ledger, (unsigned)prototype, &sampled);
	}
}

/* Counts a burst that is neither whole nor long enough to be cut as one that was not read. */
static void leave_mixed(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	ledger_drain_unread(ledger, thread, table, burst);
	ledger_leave(ledger, thread, burst);
}

void ledger_drain_long(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t head)
{
	struct span_length *length = &thread->sites.length[burst->length];
	uint64_t left, left_ticks;

	if (!slicer_wants(&thread->drain.slicer, burst->begin, burst->begin + burst->ticks, head)) {
		if (burst->mixed)
			leave_mixed(ledger, thread, table, burst);
		else
			ledger_drain_whole(ledger, thread, table, burst);
		return;
	}
	drain_slices(ledger, thread, table, burst, burst->begin + burst->ticks, head);
	span_mark(thread->sites.noted_since, burst->span);
	if (slicer_end(&thread->drain.slicer, burst, &left, &left_ticks)) {
		length->cut = true;
		length->left += (uint32_t)left;
		length->left_ticks += (double)left_ticks;
		ledger_time_kind(ledger, thread, TIMELINE_UNPLACED, burst, left_ticks);
	} else if (burst->mixed) {
		ledger_leave(ledger, thread, burst);
	} else {
		ledger_drain_burst(ledger, thread, table, burst);
	}
	settle_ahead(thread, length, burst);
}

/* Returns whether samples can stay in the kernel's ring for now: more is known of slices after their burst. */
static bool can_wait(const struct slicer *slicer, uint64_t since)
{
	const struct overflow *overflow = &slicer->overflow;

	return clock_ns(clock_now() - since) < AHEAD_NS &&
			overflow_head(overflow) - overflow->tail < overflow->bytes / 2;
}

void ledger_drain_under_way(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table)
{
	const struct open_burst *open = &thread->under_way;
	struct slicer *slicer = &thread->drain.slicer;
	uint64_t since = thread_under_way(thread, ledger->rules), head, ticks;
	struct burst burst = { .begin = since, .span = BURST_NO_SPAN };
	uint64_t slices = slicer->since == since ? slicer->slices : 0;

	if (!slicer_pending(slicer))
		return;
	if (!since) {
		/* later samples may be needed for a burst that is just ending */
		slicer_drop(slicer, clock_now() - THREAD_SAMPLES / 4 * ledger->rules->sample_ticks);
		return;
	}
	if (!ledger->rules->long_ticks || clock_now() - since < ledger->rules->long_ticks ||
			can_wait(slicer, since))
		return;
	burst.quantum = atomic_load_explicit(&open->quantum, memory_order_acquire);
	burst.group = (uint16_t)atomic_load_explicit(&open->group, memory_order_acquire);
	burst.from = (uint16_t)atomic_load_explicit(&open->from, memory_order_acquire);
	burst.weight = atomic_load_explicit(&open->weight, memory_order_acquire);
	head = slicer_look(slicer);
	if (atomic_load_explicit(&open->since, memory_order_acquire) != since ||
			!slicer_wants(slicer, since, slicer->now_ticks, head))
		return;
	ticks = drain_slices(ledger, thread, table, &burst, UINT64_MAX, head);
	site_add(&slicer->ahead_ticks, ticks);
	if (slicer->since == since)
		site_add(&slicer->ahead_bursts, slicer->slices - slices);
}
