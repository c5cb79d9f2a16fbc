/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of the time that ranks are in calls is communication, and not waiting for the computing of others. A report does
 * not say it, but bounds of it follow from what it has. docs/whatif.md derives them.
 */
#ifndef PHASEMUX_AGENT_WHATIF_COMMUNICATION_H
#define PHASEMUX_AGENT_WHATIF_COMMUNICATION_H

#include "agent/whatif/run_times.h"

/*
 * Sets run->communication of a run that run_times_read() has read.
 *
 * most: the least time that a rank is in calls. It is all communication if this rank never waits.
 * least: the part of it that is left if the rank waits for the slowest burst of all ranks each time. Of n numbers with the
 * standard deviation s, none is more than s sqrt(n - 1) above their mean (Samuelson 1968).
 */
void communication_read(struct run_times *run);

#endif
