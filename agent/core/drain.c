/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/drain.h"

#include "agent/core/core.h"
#include "agent/ledger/checkpoint.h"
#include "sampling/clock.h"

#define KEEP_NS 1e6 /* between two checkpoints of a thread, which outlive a kill */

void drain_thread(struct thread *thread, uint64_t now)
{
	ledger_drain(core.ledger, thread);
	ledger_checkpoint(core.ledger, thread, now, true);
}

void drain_other_thread(struct thread *thread, uint64_t now)
{
	ledger_drain(core.ledger, thread);
	ledger_checkpoint(core.ledger, thread, now, false);
}

void drain_often(struct thread *thread, uint64_t now)
{
	ledger_drain(core.ledger, thread);
	if (now < thread->drain.checkpoint_due)
		return;
	ledger_checkpoint(core.ledger, thread, now, true);
	thread->drain.checkpoint_due = now + clock_ticks(KEEP_NS);
}

void drain_ended_thread(struct thread *thread)
{
	uint64_t now = clock_now();

	if (!thread_is_open(thread) && now < thread->drain.checkpoint_due)
		return;
	drain_thread(thread, now);
	thread->drain.checkpoint_due = now + clock_ticks(KEEP_NS);
}
