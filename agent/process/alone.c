/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/alone.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agent/core/core.h"
#include "agent/core/helper.h"
#include "sampling/cancellation.h"
#include "sampling/emulated/emulator.h"

/* At most LEAVE_TRIES x LEAVE_PAUSE_US until the helper's thread is gone. */
#define LEAVE_TRIES    1000
#define LEAVE_PAUSE_US 1000

static unsigned threads_of_emulator;

void alone_prepare(void)
{
	threads_of_emulator = emulator_threads();
}

/* Returns the number of threads of this process without those of the emulator; 0: not known. */
static unsigned count_threads(void)
{
	struct stat tasks;

	/* the folder has two links of its own */
	return stat("/proc/self/task", &tasks) ? 0 :
						 (unsigned)tasks.st_nlink - 2 - threads_of_emulator;
}

bool alone_is(void)
{
	unsigned threads = count_threads();

	return threads && threads <= 1u + (unsigned)helper_runs();
}

bool alone_leave(void)
{
	bool had = helper_leave();

	/* the kernel, or the emulator, gives up a thread a moment after the program has joined it */
	for (int tries = 0; had && count_threads() > 1 && tries < LEAVE_TRIES; tries++)
		usleep(LEAVE_PAUSE_US);
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
