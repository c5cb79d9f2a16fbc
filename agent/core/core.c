/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/core.h"

#include "sampling/clock.h"

struct core core;

void core_pause(void)
{
	atomic_store_explicit(&core.rules.resumed, UINT64_MAX, memory_order_relaxed);
	core.preload->pause(true);
}

void core_resume(void)
{
	atomic_fetch_add_explicit(&core.rules.returns, 1, memory_order_release);
	atomic_store_explicit(&core.rules.resumed, clock_now(), memory_order_relaxed);
	core.preload->pause(false);
}
