/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/turn.h"

#include "agent/host/hash.h"
#include "agent/host/rcu.h"

/* Enables the group. If nothing can be counted, the only group has no event, and only time is taken. */
static int enable(struct group *group)
{
	return group->count ? group_enable(group) : 0;
}

static int disable(struct group *group)
{
	return group->count ? group_disable(group) : 0;
}

static unsigned choose_group(const struct thread_rules *rules, uint64_t place, uint64_t quantum,
		double *group_weight)
{
	struct scheme scheme = rules->scheme;
	unsigned group;

	rcu_enter(rules);
	/* pairs with rcu_assign_pointer in ledger_publish, which publishes the learnt shares */
	scheme.adaptive = rcu_dereference(rules->adaptive);
	group = scheme_group(&scheme, place, quantum);
	*group_weight = scheme_weight(&scheme, group);
	rcu_leave(rules);
	return group;
}

/*
 * Returns the number by which the scheme chooses the group of a quantum that began with a burst. Programs repeat
 * themselves. If each of the K bursts of an iteration begins a quantum, a scheme that goes round would count some
 * groups never in a burst, unless K and the number of groups have no common factor. So each round of all groups
 * begins at a random one.
 */
static uint64_t begun_number(const struct thread *thread, const struct thread_rules *rules)
{
	uint64_t begun = thread->turn.begun, groups = rules->scheme.groups;
	bool goes_round = rules->scheme.kind == SCHEME_TIME_SPACE ||
			rules->scheme.kind == SCHEME_TIME;

	return goes_round ? begun + (hash_spread(begun / groups) >> 32) % groups : begun;
}

bool turn_next(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		unsigned within)
{
	unsigned group;

	/*
	 * Long bursts in which equally many quanta start would have the same groups at the same places if each
	 * began where the last one ended. So each goes on from the beginning of the one before it.
	 */
	thread->turn.begun += within == 0;
	group = choose_group(rules, thread->identity.place, begun_number(thread, rules) + within,
			&thread->turn.group_weight);

	/* if the group never changes, all bursts of a thread are one sampling unit */
	thread->turn.quantum += rules->scheme.kind != SCHEME_SPACE;
	thread->turn.quantum_end = now + rules->quantum_ticks;
	thread->turn.quantum_left = rules->quantum_bursts;
	if (thread->turn.counting && group == thread->turn.group)
		return true;
	if (thread->turn.counting)
		disable(&thread->groups[thread->turn.group]);
	thread->turn.group = group;
	thread->turn.counting = enable(&thread->groups[group]) == 0;
	site_add(&thread->counts.switches, 1);
	return thread->turn.counting;
}

void turn_stop(struct thread *thread, const struct thread_rules *rules)
{
	if (!thread->turn.counting || (rules->switching && !thread_take_turn(thread)))
		return;
	disable(&thread->groups[thread->turn.group]);
	thread->turn.counting = false;
	if (rules->switching)
		thread_end_turn(thread);
}
