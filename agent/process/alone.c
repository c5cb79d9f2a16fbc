/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/alone.h"

#include <unistd.h>

#include "agent/boundary/tasks.h"
#include "agent/core/core.h"
#include "agent/core/helper.h"
#include "sampling/cancellation.h"
#include "sampling/emulated/emulator.h"

static unsigned threads_of_emulator;

void alone_prepare(void)
{
	threads_of_emulator = emulator_threads();
}

bool alone_is(void)
{
	unsigned threads = tasks_count();

	return threads && threads <= 1 + threads_of_emulator + (unsigned)helper_runs();
}

bool alone_leave(void)
{
	bool had = helper_leave();

	if (had)
		tasks_wait_until_at_most(1 + threads_of_emulator);
	return had;
}

bool alone_leave_for_call(void)
{
	int state;
	bool left;

	/* a child that shares or copies the memory of this process has no helper */
	if (getpid() != core.process.pid || !helper_runs() || !alone_is())
		return false;
	state = cancellation_hold();
	left = alone_leave();
	cancellation_release(state);
	return left;
}

void alone_return(void)
{
	int state = cancellation_hold();

	helper_return();
	/* without a helper, no burst is cut */
	if (!helper_runs())
		core.rules.switching = false;
	cancellation_release(state);
}
