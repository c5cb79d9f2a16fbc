/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the rules of this process' threads from the settings and from what counters cost here. The budget of
 * the process is divided here among what the agent does.
 */
#ifndef PHASEMUX_AGENT_CORE_RULES_H
#define PHASEMUX_AGENT_CORE_RULES_H

/*
 * Fills in core.rules, which is all 0. Measures for some microseconds what time stamps take. Call once, after
 * the ranks agreed what to count.
 */
void rules_make(void);

/* Returns the part of each second that this process may use for rounds; INFINITY if there is no budget. */
double rules_budget_of_rounds(void);

#endif
