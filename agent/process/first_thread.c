/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/first_thread.h"

#include <sys/auxv.h>

#include "agent/bursts/delimit.h"
#include "agent/core/core.h"
#include "agent/process/threads.h"
#include "agent/thread/path.h"
#include "sampling/clock.h"

void first_thread_observe(pid_t tid, struct preload_thread *slot)
{
	struct thread *thread = threads_adopt(tid, slot);

	if (!thread)
		return;
	thread->call.path = thread->identity.born =
			path_find(&thread->sites.paths, (uintptr_t)getauxval(AT_ENTRY) + 1, NULL);
	delimit_begin_other(thread, &core.rules, THREAD_pthread_create, clock_now());
	threads_publish_first(thread);
}
