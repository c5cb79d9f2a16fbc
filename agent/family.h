/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a program without MPI forks, and that compute. They learn their phases
 * together, through one mapping that is made before the first fork; each keeps its own sums, in a
 * spool of its own, and the last one that ends makes the report of all. A child belongs to the
 * family only once it has computed for a while: most children never do.
 *
 * Any process of the family may call these at any time, and may be killed at any moment.
 */
#ifndef PHASEMUX_AGENT_FAMILY_H
#define PHASEMUX_AGENT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ledger.h"

#define FAMILY_MAX 64 /* processes */

struct family;

/*
 * Of this process, which has number 0. start: of the run, in ticks. NULL: cannot be had here; then
 * forked children are not observed.
 */
struct family *family_new(uint64_t start);
/* By its only process; NULL is nothing. */
void family_free(struct family *family);
size_t family_bytes(void);

/*
 * In a child that was just forked: is it worth a look whether it will compute? After many in a row
 * that did not, only now and then. And: it did.
 */
bool family_looks(struct family *family);
void family_computes(struct family *family);

/*
 * This process is one of the family: its number. -ENOSPC: they are too many, and it is counted as
 * such; -ESHUTDOWN: the report is made already; -EBUSY: one of them has stopped in a bad moment.
 */
int family_join(struct family *family);

/* The calling thread stands for the process: while it lives, so does that. */
void family_stand(struct family *family, unsigned member);

/* So many have joined, and so many could not. */
unsigned family_members(const struct family *family);
unsigned family_refused(const struct family *family);

/* This process begins to end: from now on the calling thread stands for it too. */
void family_ends(struct family *family, unsigned member);

/*
 * On the same thread: its sums are in its spool, and it is gone. True: no other one is left, and none
 * joins any more, so this one makes the report.
 */
bool family_leave(struct family *family, unsigned member);

/*
 * A moment of this process, as exchange_step: gives what it has sampled, takes what was learned, and
 * learns where the time for a round has come. last: it waits for the others, and learns in any case.
 * answer: scratch. Of one thread at a time.
 */
void family_step(struct family *family, struct ledger *ledger, const struct thread *threads,
		struct ledger_answer *answer, bool last);

/* Takes what was learned last, by whichever process. */
void family_take(struct family *family, struct ledger *ledger);

/* Rounds of all. */
unsigned family_rounds(const struct family *family);

#endif
