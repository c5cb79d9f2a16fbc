/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crash-safe sums: one file per process, mapped into memory, on node-local storage. What is in
 * it is all that a report needs, and it can be read at any moment, whether the process lives or was
 * killed between two instructions.
 *
 * There are two sides. The process works on side 0 (its sums live there); now and then, when what
 * is there belongs together, it commits: side 0 is declared whole, what has changed is copied to
 * side 1, and side 1 is declared whole. So one side is whole at every moment, and what is lost by a
 * kill is what came after the last commit. A page written to a shared mapping outlives the process;
 * it need not outlive the machine.
 *
 * The file: struct spool_facts, struct spool_state, two struct spool_side, the sums of both sides,
 * the profile (one for both sides: whoever is killed in the middle of a sample spoils that one alone),
 * then both sides of each thread (struct spool_thread). Plain data in the byte order of the machine.
 * It is as long as what it could hold, and has storage for what it does hold: a page of a mapping
 * without storage behind it would kill the program, so there is a room for everything before it is
 * written. Sketches are on side 0 alone, and are not recovered.
 */
#ifndef PHASEMUX_AGENT_SPOOL_H
#define PHASEMUX_AGENT_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/counting.h"
#include "agent/job.h"
#include "agent/mpi_adapter.h"
#include "agent/profile.h"
#include "agent/settings.h"
#include "agent/site.h"
#include "agent/source.h"
#include "agent/totals.h"
#include "multiplex/plan.h"
#include "multiplex/scheme.h"
#include "multiplex/sums.h"

#define SPOOL_MAGIC       "phasemux"
#define SPOOL_VERSION     20
#define SPOOL_SIDES       2
#define SPOOL_THREADS_MAX SETTINGS_THREADS
#define SPOOL_OPEN_MAX    16 /* prototypes in one open quantum */
#define SPOOL_MODULES_MAX 64
#define SPOOL_COMMAND_MAX 4096
#define SPOOL_OUTPUT_MAX  4096

/* What does not change during a run. Texts end with a NUL. */
struct spool_facts {
	char magic[8];
	uint32_t version;
	uint32_t facts_bytes, side_bytes, thread_bytes; /* sizes of the three structs */
	uint64_t checksum;  /* of all that follows in this struct; written last */
	uint64_t run;       /* the same on all ranks of a run, different in each run */
	int32_t rank, size; /* of the world */
	int64_t pid;
	double started; /* seconds since 1970 */
	uint64_t start; /* ticks of the clock at the start of the run */
	double ns_per_tick;
	double read_ns, passed_ticks; /* what a read costs, and a call that goes by */
	double budget;                /* of the program's time; INFINITY: none */
	uint64_t sums_length;         /* doubles */
	uint32_t scheme;              /* enum scheme_kind */
	uint32_t hardware, counters, alone;
	uint32_t prototypes; /* room for; PROTOTYPES_MAX */
	uint32_t warnings, modules, command_bytes;
	uint32_t family, unused; /* 1: of forked processes; nobody knows how many there are */
	struct plan plan;
	uint32_t model_event[PLAN_EVENTS_MAX];
	char event[PLAN_EVENTS_MAX][EVENT_NAME_MAX];
	char model[64]; /* "": none */
	char processor[64];
	char library[128];
	char without[512];
	char warning[COUNTING_WARNINGS_MAX][256];
	char command[SPOOL_COMMAND_MAX];
	struct job job;
	char output[SPOOL_OUTPUT_MAX]; /* the folder where the report belongs */
	struct source_module module[SPOOL_MODULES_MAX];
};

struct spool_state {
	_Atomic uint64_t commits; /* odd while one is under way */
	_Atomic uint32_t whole;   /* the side that is */
};

/* What changes, of the process. */
struct spool_side {
	uint64_t now;              /* ticks at the last commit */
	uint64_t unobserved_ticks; /* of those since the start, on the first thread (toggle.h, control.h) */
	uint64_t burst_min_ns;
	double own_bytes;     /* the agent's memory, but for threads */
	double start_seconds; /* that the process waited for the agent at its start */
	/* threads that were not observed, and for how long they had a processor (crowd.h) */
	double beyond_threads, beyond_seconds;
	uint32_t paused; /* 1: the program paused phasemux, and did not toggle it */
	uint32_t rounds, threads;
	uint32_t generation, prototypes, phases; /* of the table */
	uint32_t phase[PROTOTYPES_MAX];
};

/* As struct span_length; `left` is in `unread`. */
struct spool_length {
	float unread, unread_ticks, variance;
	uint32_t cut;
	uint16_t prototype[SPAN_SHARES_MAX];
	float share_read[SPAN_SHARES_MAX]; /* 0: free */
	float mean_ticks[SPAN_SHARES_MAX], mean_unread[SPAN_SHARES_MAX];
};

struct spool_span {
	uint16_t from, to; /* sites */
	uint16_t lengths;  /* in use */
	uint8_t bin[SPAN_LENGTHS_MAX];
	uint16_t length[SPAN_LENGTHS_MAX]; /* the thread's number of each */
};

struct spool_site {
	uint16_t path, call; /* as in struct site */
};

/* Return addresses, innermost first. */
struct spool_path {
	uint64_t frames;
	uint64_t address[PATH_FRAMES_MAX];
};

/* Of a thread; both sides of it are room for the most, of which the counts say what is used. */
struct spool_thread {
	struct account account;
	uint32_t sites, spans, lengths; /* with number 0 */
	uint32_t paths; /* with number 0, which has no frames; as they were when they were new */
	uint32_t open_group, open; /* the quantum under way: its group, and how many prototypes */
	uint32_t unused;
	double open_weight; /* of that group */
	uint32_t open_prototype[SPOOL_OPEN_MAX];
	double open_fields[SPOOL_OPEN_MAX][QUANTUM_FIELDS];
	struct spool_span span[SPANS_MAX];
	struct spool_length length[LENGTHS_MAX];
	struct spool_site site[SITES_MAX];
	struct spool_path path[PATHS_MAX];
};

/* Where the parts lie. Sums are at least sums_length doubles apart. */
size_t spool_state_at(void);
size_t spool_side_at(unsigned side);
size_t spool_sums_at(uint64_t sums_length, unsigned side);
size_t spool_profile_at(uint64_t sums_length);
size_t spool_thread_at(uint64_t sums_length, unsigned thread, unsigned side);

/* Of all that follows the checksum in it. A change of one word is always seen. */
uint64_t spool_checksum(const struct spool_facts *facts);

_Static_assert(sizeof(struct spool_facts) % sizeof(uint64_t) == 0, "facts are whole words");

/* ---- the process that is counted ---- */

struct spool;

/* What of the facts the counting says. The rest is the caller's. */
void spool_describe(struct spool_facts *facts, const struct counting *counting);

/*
 * Makes BASE/phasemux.UID/RUN/rank-N, both folders where they are missing, with the room that a
 * process without threads needs. wanted: the setting; "": the first of /dev/shm and /tmp where it
 * works. NULL on failure: *error is -errno and folder the one that was tried last; otherwise it is
 * the run's folder.
 */
struct spool *spool_new(const struct spool_facts *facts, const char *wanted, char *folder,
		size_t size, int *error);

/* The normal end: the file is removed, and the folders once they are empty. The memory stays. */
void spool_remove(struct spool *spool);

/* The memory too, when nobody writes to it any more; the file, if it is there, stays. */
void spool_free(struct spool *spool);

/* The sums, of the length that the facts say; all 0. To be changed under the caller's lock only. */
double *spool_sums(struct spool *spool);
/* Where samples are counted; all 0. Under the same lock. */
struct profile *spool_profile(struct spool *spool);
/* The process' side, to be filled before a commit. Under the same lock. */
struct spool_side *spool_side(struct spool *spool);

/*
 * Room for the sums of so many prototypes, and the sketches of so many phases, before they are
 * written. 0 or -errno: then what is new of them lies in the process' own memory, and dies with it.
 * Under the lock.
 */
int spool_room(struct spool *spool, unsigned prototypes, unsigned phases);

/* Room for one more thread: its number, or -errno; then it is not in the file. Under the lock. */
int spool_admit(struct spool *spool);

/*
 * Room for so many of the thread's sites, spans and paths, before they are written; where there is no
 * storage for all, less: how many fit. Under the lock.
 */
void spool_thread_room(struct spool *spool, int thread, uint32_t *sites, uint32_t *spans,
		uint32_t *lengths, uint32_t *paths);
struct spool_thread *spool_thread(struct spool *spool, int thread);

/* A block of the sums, or a thread's side, has changed or is about to. Under the lock. */
void spool_touch(struct spool *spool, unsigned prototype, unsigned group);
void spool_touch_thread(struct spool *spool, int thread);
/* A span of a thread that is touched, too. Its paths and sites do not change once they are there. */
void spool_touch_span(struct spool *spool, int thread, uint32_t span);

/* All that was written belongs together. Under the lock. */
void spool_commit(struct spool *spool);

/* The storage that there is, which is memory on most machines. */
size_t spool_bytes(const struct spool *spool);

#endif
