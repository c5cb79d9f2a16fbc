/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks call the roll (agent/mpi/roll.h) by messages on MPI_COMM_WORLD, the only communicator that exists
 * without a collective call. In a rank without an agent nothing receives these messages, and no receive of the
 * program should take one:
 *
 *  - Open MPI takes negative tags for its own messages, which no receive for any tag matches. The agent sends
 *    with one. Open MPI checks the tags of a program, and the check is off for the time of the call.
 *  - MPICH has nothing like it. A rank that expects messages publishes its name with the launcher
 *    (MPI_Publish_name). Others send to it only after they have found its name.
 *  - If the launcher keeps no names (MPICH in Slurm), or another MPI runs, the message has a high tag. In a
 *    program without an agent, a receive for any source and any tag takes it.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_CHANNEL_H
#define PHASEMUX_AGENT_MPI_MPI_CHANNEL_H

#include <stdbool.h>

/*
 * Calls the roll, on the thread that is in MPI_Init. Returns 0 if all ranks have an agent, and then all of them
 * know it; -ENOTCONN if a rank has none, and then another one has said so on stderr; -EIO if MPI refused a
 * message.
 */
int mpi_channel_call_roll(int rank, int size);

#endif
