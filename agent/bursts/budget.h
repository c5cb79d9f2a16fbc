/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a thread within its budget: adapts how many bursts are read, and which ones are short. */
#ifndef PHASEMUX_AGENT_BURSTS_BUDGET_H
#define PHASEMUX_AGENT_BURSTS_BUDGET_H

#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Lowers the probability of reads until the thread's whole overhead is within the budget. elapsed: ticks of the
 * program until now. Call on the thread itself.
 */
void budget_keep(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed);

/*
 * Lowers the length below which bursts are short, so that 99% of the thread's recent computing time is above it.
 * The rounds (ledger_publish) set it for the whole run, but the time between them doubles. Call on the thread
 * itself.
 */
void budget_learn_short(struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
