/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/polling.h"

__attribute__((hot)) bool polling_is(struct thread *thread, const struct thread_rules *rules,
		uint64_t now, uint64_t ticks)
{
	uint64_t on, least = ticks / POLLING_HELD_UP;

	if (ticks < rules->poll_ticks)
		return true;
	if (ticks < rules->poll_look_ticks || !thread->sites.site[thread->call.burst_site].polls)
		return false;
	/* the program polled here before: perhaps it does so again, but was preempted */
	on = ticks - polling_off(thread, rules, now, ticks);
	return on < (least > rules->quick_ticks ? least : rules->quick_ticks);
}

__attribute__((hot)) void polling_learn(struct thread *thread, const struct thread_rules *rules,
		uint64_t now, bool gap)
{
	struct polling *polling = &thread->polling;

	if (polling->asked)
		thread->sites.site[thread->call.burst_site].polls = gap;
	if (!gap) {
		polling->row = polling->vain = 0;
		polling->looked = 0;
		return;
	}
	polling->vain += polling->answered && polling_heeds(polling);
	if (polling->row < POLLING_ROW && ++polling->row == POLLING_ROW)
		polling_off(thread, rules, now, 0);
}

uint64_t polling_off(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t most)
{
	struct polling *polling = &thread->polling;
	uint64_t looked = polling->looked, ran = polling->ran, on, all;

	if (!rules->ran_ticks)
		return 0;
	polling->looked = now;
	polling->ran = rules->ran_ticks();
	on = polling->ran - ran;
	all = now - looked;
	site_add(&thread->counts.service_ticks, rules->ran_cost);
	if (!looked || on >= all)
		return 0;
	return all - on < most ? all - on : most;
}
