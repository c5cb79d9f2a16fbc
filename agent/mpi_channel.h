/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks call the roll (agent/roll.h) by messages on MPI_COMM_WORLD, the one communicator that exists
 * without a collective call. A message to a rank without an agent is never received by the agent, so no receive
 * of a program may take it:
 *
 *  - Open MPI takes negative tags for its own messages, which no receive for any tag matches. The agent sends with
 *    one. Open MPI checks the tags of a program, and the check is off for the time of the call.
 *  - MPICH has nothing like it. A rank that others speak to publishes its name with the launcher
 *    (MPI_Publish_name), and is sent to only when its name is found.
 *  - Where the launcher keeps no names (MPICH in Slurm), or another MPI runs, the message has a high tag, which
 *    a receive for any source and any tag takes in a program without an agent.
 */
#ifndef PHASEMUX_AGENT_MPI_CHANNEL_H
#define PHASEMUX_AGENT_MPI_CHANNEL_H

#include <stdbool.h>

/*
 * Calls the roll, on the thread that is in MPI_Init. Returns 0 if all ranks have an agent, and then all of them
 * know it; -ENOTCONN if a rank has none, and then another one has said so on stderr; -EIO if MPI refused a message.
 */
int mpi_channel_call_roll(int rank, int size);

#endif
