/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a rank: whether it reads counters (PHASEMUX_LEADS). States are those of Chameleon (Bahmani and Mueller
 * 2018), without its markers, and no rank waits for another:
 *
 *  A  The thread repeats nothing, or nothing for long enough.
 *  C  It repeats a loop of calls, whose shape it reports in the next round.
 *  L  The answer of that round has named leads for the shape. Leads go on reading. The others time their bursts, and count
 *     them by call path and length like all bursts that are not read. They read only what they lack (below).
 *  F  The program ends. All ranks read, and report nothing more.
 *
 * A thread leaves C or L for A by itself, at the first call that the loop does not have at that place, and reads from
 * that call on. If it comes back to a loop whose leads are known, it is in L again after a few calls of it. While a thread
 * is in L in an inner loop, it may be in C in the loop around it, whose leads are not known yet.
 *
 * In L, a rank that is no lead lacks the phases that no lead executes in the loop, and large ones of which it has not read
 * bursts in each group of events yet. It reads after the calls after which such bursts have come. If it lacks all
 * phases of the loop, it stays in C.
 *
 * In some rounds in L, a rank that is no lead checks whether its calls have the arguments that they had when its leads were
 * named (checks.h). If they have not, its behaviour may have changed: it leaves L for C, and reads again until leads are named
 * in a later round than the next one. If arguments differ in each check, it does so only a few times.
 *
 * Only the thread that called MPI_Init has a state. It calls these functions. Other threads read as if there were none.
 */
#ifndef PHASEMUX_AGENT_LEADS_LEADS_H
#define PHASEMUX_AGENT_LEADS_LEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/leads/checks.h"
#include "agent/leads/follow.h"
#include "agent/leads/votes.h"
#include "agent/region/region.h"
#include "agent/thread/thread.h"
#include "cluster/prototypes.h"

#define LEADS_LOOPS_MAX  8 /* loops that a thread remembers */
#define LEADS_ROUNDS_MIN 3 /* rounds of a loop before it counts as repeated */
#define LEADS_CHANGES_MAX                                                                          \
	2 /* checks that differ, without one in between that does not, after which a thread reads again */
#define LEADS_WAITS                                                                                \
	1 /* answers after such a check in which it is not spared, so that it reads a while */
#define LEADS_CALLS_MIN                                                                            \
	6 /* calls in a row that fit in a loop, or all of its calls, before a thread is in L */

enum lead_role {
	ROLE_NONE,  /* no leads are known, or none executes a phase that this rank executes */
	ROLE_LEAD,  /* it reads for others */
	ROLE_SPARED /* others read for it */
};

/* A loop that the thread has repeated. */
struct leads_loop {
	uint32_t own_shape, own_calls; /* of the text of this thread; both 0: free */
	struct vote_kind
			kind; /* equal on all ranks that execute the same loop; peers: in the last vote */
	uint64_t phases;  /* in the last vote, as in struct voter */
	uint64_t lacks;   /* large phases of which the rank has not read bursts, in the last vote */
	uint64_t entered; /* when the thread last came to it, as in struct leads */
	enum lead_role role;
	bool followed; /* since the last vote */
	bool voted;
	bool recent;  /* followed before the last vote */
	double ticks; /* of its bursts until the last vote */
	struct region_anchor
			anchor; /* a call of which each round has one; shape 0: there is none */
	bool left;              /* at a call that did not fit, so that its text may have changed */
	struct follow follow;
	struct checks checks; /* of a spared rank */
	uint8_t changes;      /* checks in a row that differed, up to LEADS_CHANGES_MAX */
	uint8_t waits;        /* answers in which the rank is not spared yet */
};

/* A loop whose calls a thread makes. */
struct leads_place {
	struct leads_loop *loop; /* NULL: none */
	uint32_t fits;           /* calls in a row that fit in it */
};

struct leads {
	uint32_t rank, ranks;
	bool ended;             /* state F */
	uint32_t last;          /* site of the last call; 0: not observed */
	uint64_t entered;       /* number of times that the thread came to a loop */
	struct leads_place now; /* in a loop whose leads are known: state L after a few calls */
	struct leads_place candidate; /* in another loop: state C, or A if there is none */
	uint64_t seen;                /* time of the last call in state L, in ticks */
	struct leads_loop loop[LEADS_LOOPS_MAX];
	/* of each site a bit for each loop: that has it; in which a spared rank reads after it */
	uint8_t loops_of[SITES_MAX], reads_in[SITES_MAX];
	struct leads_loop *checked; /* a check of its arguments is under way; NULL: there is none */
	void (*keep_arguments)(bool wanted); /* of struct preload */
	/* notes arguments in checks if they are not kept anyway; `mpi` NULL: nothing is checked */
	struct call_arguments given;
};

_Static_assert(LEADS_LOOPS_MAX <= 8, "loops have bits");

/*
 * Gives a thread whose structure is kept a state. ranks: number of all ranks. mpi: it checks arguments; NULL: it does not.
 * keep_arguments: that of struct preload. thread_free frees it. Returns 0 or -ENOMEM.
 */
int leads_open(struct thread *thread, uint32_t rank, uint32_t ranks,
		const struct mpi_arguments *mpi, void (*keep_arguments)(bool wanted));

/* Looks at the call of a site, which has returned at time now. Only leads_look calls it. */
void leads_look_at(struct thread *thread, uint32_t site, uint64_t now);

/*
 * Decides whether the burst after a call, which has returned at time now, may be read. The call does not only ask. Call
 * before it is added to the structure.
 */
static inline void leads_look(struct thread *thread, enum runtime_call call, uint64_t now)
{
	if (__builtin_expect(thread->structure.leads != NULL, 0))
		leads_look_at(thread, site_find(&thread->sites, thread->call.path, call), now);
}

/* Notes that calls were not observed. */
void leads_lose(struct thread *thread);

/*
 * Adds the loops that the thread repeats to the votes of a round, with their phases by the table. unread: bits of the
 * phases of which the rank has not read bursts in each group of events. The rank lacks those that take at least 5% of the
 * loop's time. A loop of which it lacks all phases has no vote, and neither has an inner loop of one that has a vote.
 */
void leads_vote(struct thread *thread, const struct prototype_table *table, uint64_t unread,
		struct votes *votes);

/*
 * Adds the iterations of the loop with most time that the thread has repeated since the vote before the last one, and its
 * time in phases. Call after leads_vote. Does nothing if the thread has no region.
 */
void leads_vote_region(struct thread *thread, const struct prototype_table *table,
		struct region_part *part);

/*
 * Learns from the answer of the round of the last vote which loops have leads. table: as in that vote.
 */
void leads_answer(struct thread *thread, const struct prototype_table *table,
		const struct votes *answer);

/* Enters state F at time now. */
void leads_end(struct thread *thread, uint64_t now);

#endif
