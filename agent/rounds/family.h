/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The family of a program without MPI: its first process, and those forked ones that compute. They learn their
 * phases together, through a mapping that is made before the first fork. Each keeps its sums in its own spool,
 * and the last one that ends makes the report of all. A child belongs to the family only once it has computed
 * for a while, which most children never do.
 *
 * Any process of the family may call these functions at any time, and may be killed at any moment.
 */
#ifndef PHASEMUX_AGENT_ROUNDS_FAMILY_H
#define PHASEMUX_AGENT_ROUNDS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ledger/ledger.h"
#include "agent/ledger/training.h"
#include "agent/rounds/history.h"

#define FAMILY_MAX 64 /* processes */

struct family;

/*
 * Returns a new family of this process, which has number 0. start: of the run, in ticks of the clock. Returns
 * NULL if the system cannot provide it, and then forked children are not observed.
 */
struct family *family_new(uint64_t start);
/* Frees the family. Call in its only process. Does nothing for NULL. */
void family_free(struct family *family);
/* Returns the bytes of memory of a family. */
size_t family_bytes(void);

/*
 * Returns whether to watch if this child will compute. After many children in a row that did not, it is true
 * only for one of LOOKS_RARE. Call in a child that was just forked.
 */
bool family_looks(struct family *family);

/* Notes that this child has computed. */
void family_computes(struct family *family);

/*
 * Makes this process a member. Returns its number; -ENOSPC if the family is full, and the process is then
 * counted as refused; -ESHUTDOWN if the report is already made; -EBUSY if another process holds the lock for
 * too long.
 */
int family_join(struct family *family);

/* Makes the calling thread stand for the process, which counts as alive while this thread lives. */
void family_stand(struct family *family, unsigned member);

/* Return the number of members, and the number of processes that were refused because the family was full. */
unsigned family_members(const struct family *family);
unsigned family_refused(const struct family *family);

/* Makes the calling thread stand for the process too, which begins to end. */
void family_ends(struct family *family, unsigned member);

/* Notes that the process, which is about to end at once, has all of its sums in its spool. Call on the helper. */
void family_keep(struct family *family, unsigned member);

/*
 * Notes that the process has left the family, with its sums in its spool. Returns true if no other member is
 * left. Then no process joins any more, and this one makes the report. Call on the thread that called
 * family_ends.
 */
bool family_leave(struct family *family, unsigned member);

/*
 * Gives what this process has sampled, takes what was learned, and learns if a round is due. last: waits for
 * the lock, and learns in any case. answer: scratch. Only one thread of the process may call this at a time.
 */
void family_step(struct family *family, struct ledger *ledger, const struct thread *threads,
		struct ledger_answer *answer, bool last);

/* Takes what was learned last by any process. */
void family_take(struct family *family, struct ledger *ledger);

/* Returns the sample of all members' bursts. Call when no member learns any more. */
const struct reservoir *family_sample(const struct family *family);

/* Returns the trainings of the family. */
const struct history *family_history(const struct family *family);

/* Returns the number of rounds of the family. */
unsigned family_rounds(const struct family *family);

#endif
