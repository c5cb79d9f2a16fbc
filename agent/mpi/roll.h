/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roll call: in MPI_Init each rank finds out whether all ranks have an agent, before any of them makes a
 * collective call of the agent. A rank without an agent is silent, and the others wait for a limited time.
 *
 * Each rank except rank 0 has a parent, and each has up to ROLL_CHILDREN children. It says HERE to its parent,
 * which answers HERE. When all of its children have said READY, it says READY to its parent. Rank 0 then says
 * ALL, which goes down the tree. If a neighbour is silent for ROLL_PATIENCE_NS, the rank says NOT to the
 * neighbours that were heard, and each of them passes it on. Therefore:
 *
 *  - A rank that said READY waits without a limit, but only for a parent that has an agent and always answers.
 *  - ALL is said only after each rank said READY, and after READY no rank gives up. Therefore all ranks agree,
 *    however slow one of them is.
 *  - Between two ranks that heard each other two messages go each way, and both are received.
 *
 * After NOT each rank names itself to a few ranks (ROLL_COUNTERS), so that one line can say which are missing.
 * This module knows no MPI: the caller moves the messages (agent/mpi/mpi_channel.h). One thread calls it.
 */
#ifndef PHASEMUX_AGENT_MPI_ROLL_H
#define PHASEMUX_AGENT_MPI_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROLL_CHILDREN 16

/*
 * Time from the end of this rank's MPI_Init until a silent neighbour counts as one without an agent. MPI_Init
 * ends at almost the same time on all ranks. The adapter is opened before the first word, which may take
 * seconds if many ranks read it from one file system.
 */
#define ROLL_PATIENCE_NS 10000000000u

/*
 * Time in which the ranks name themselves. Their patience ends at times that differ like the ends of MPI_Init.
 */
#define ROLL_COUNT_NS 2000000000u

/*
 * The ranks that count the others: 0 to 3, the last one, and the ranks at each eighth of the job, so that any
 * larger part of a job with several programs has one.
 */
#define ROLL_COUNTERS 12

enum roll_word {
	ROLL_HERE = 1,
	ROLL_READY, /* to the parent: this rank and all ranks below it have an agent */
	ROLL_ALL,   /* to the children: all ranks of the job */
	ROLL_NOT,   /* to both: a rank is missing */
	ROLL_NAME,  /* to a rank that counts */
	ROLL_NOTED, /* answer of a rank that counts */
	ROLL_WORDS,
};

enum roll_state {
	ROLL_GATHERS,
	ROLL_COUNTS,  /* a rank is missing, and the ranks name themselves */
	ROLL_HAS_ALL, /* over: all ranks have an agent, and all know it */
	ROLL_MISSES,  /* over: a rank is missing, and no rank takes part */
};

struct roll_channel {
	/*
	 * Returns whether a message to this rank cannot disturb its program. Either no receive of a program can
	 * take it, or the rank has announced that it has an agent. May become true later.
	 */
	bool (*reaches)(int rank);
	/* Announces that this rank has an agent, at a place where others ask for it. */
	void (*announce)(void);
	/* Starts a message. Messages between two ranks arrive in their order. */
	void (*send)(int rank, enum roll_word word);
	/* Returns whether a program may see all messages. Few are sent then. */
	bool (*is_seen)(void);
};

enum roll_peer { ROLL_SILENT, ROLL_HEARD, ROLL_DONE };

struct roll {
	const struct roll_channel *channel;
	int rank, size, children;
	enum roll_state state;
	enum roll_peer parent, child[ROLL_CHILDREN];
	bool called, ready, missing; /* HERE, READY were said to the parent; NOT was said */
	bool told[ROLL_COUNTERS];    /* NAME was said to this rank that counts */
	bool noted, earlier; /* NOTED was heard; NAME was heard of an earlier rank that counts */
	uint64_t deadline;   /* end of the state, in ns */
	uint64_t look, pause; /* ns: when to ask again which ranks can be reached, and the next pause */
	unsigned char *named; /* one bit for each rank that said NAME; NULL: none yet */
};

/* Starts the roll call of one rank. now: ns of a monotonic clock, as in roll_step. */
void roll_start(struct roll *roll, const struct roll_channel *channel, int rank, int size,
		uint64_t now);
/* Frees what it has allocated. */
void roll_end(struct roll *roll);

/* Takes a message that has arrived. Any rank and word are allowed. */
void roll_hear(struct roll *roll, int from, int word);

/* Sends what is due now. Returns the state. Call again until it is ROLL_HAS_ALL or ROLL_MISSES. */
enum roll_state roll_step(struct roll *roll, uint64_t now);

/* Returns whether this rank is the one that names the missing ranks. Call after ROLL_MISSES. */
bool roll_speaks(const struct roll *roll);

/*
 * Writes the missing ranks that are known, such as "0-2, 7", or "..." at the end if there is no room. Call
 * after ROLL_MISSES.
 */
void roll_name_missing(const struct roll *roll, char *text, size_t size);

#endif
