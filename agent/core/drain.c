/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/drain.h"

#include "agent/core/core.h"
#include "agent/ledger/checkpoint.h"
#include "sampling/clock.h"

/* Between two checkpoints of a thread, which outlive a kill. */
#define KEEP_NS 1e6
/* Between two of them that have the structure of its calls, of which up to 64 KiB are copied twice. */
#define STRUCTURE_NS 1e8

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
	if (thread->structure.loops && now >= thread->structure.keep_due) {
		ledger_checkpoint_structure(core.ledger, thread, now);
		thread->structure.keep_due = now + clock_ticks(STRUCTURE_NS);
	} else {
		ledger_checkpoint(core.ledger, thread, now, true);
	}
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
