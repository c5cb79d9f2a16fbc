/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/structure.h"

#include <errno.h>

#include "agent/host/memory.h"

int structure_open(struct thread *thread, const struct mpi_arguments *mpi)
{
	struct call_arguments *arguments;
	struct loops *loops = memory_map(sizeof(*loops));

	if (!loops)
		return -ENOMEM;
	loops_init(loops);
	thread->structure.bytes = sizeof(*loops);
	thread->structure.loops = loops;
	if (!mpi)
		return 0;
	arguments = memory_map(sizeof(*arguments));
	if (!arguments)
		return -ENOMEM;
	arguments->mpi = mpi;
	thread->structure.arguments_bytes = sizeof(*arguments);
	thread->structure.arguments = arguments;
	return 0;
}

void structure_skip(struct thread *thread, uint64_t calls, uint64_t burst, uint64_t inside)
{
	struct thread_structure *structure = &thread->structure;

	if (!structure->loops)
		return;
	structure->burst += burst;
	if (!calls)
		return;
	loops_skip(structure->loops, calls, structure->burst, inside);
	structure->burst = 0;
}

void structure_lose(struct thread *thread)
{
	struct loops *loops = thread->structure.loops;

	if (loops && loops->calls < loops->exact)
		loops->exact = loops->calls;
}

void structure_finish(struct thread *thread)
{
	if (!thread->structure.loops)
		return;
	loops_finish(thread->structure.loops);
	if (thread->structure.arguments)
		call_arguments_finish(thread->structure.arguments);
	thread->structure.finished = true;
}
