/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crash-safe sums: one file per process, mapped into memory, on node-local storage. The file has all that a
 * report needs. It can be read at any moment, even if the process was killed between two instructions.
 *
 * There are two sides. The process works on side 0, which has its sums. It commits from time to time, when the
 * data of side 0 belong together. It then declares side 0 whole, copies the changes to side 1, and declares
 * side 1 whole. Therefore one side is whole at every moment, and a kill loses only what came after the last
 * commit. A page written to a shared mapping outlives the process, but not always the machine.
 *
 * The file has struct spool_facts, struct spool_state, two struct spool_side, the sums of both sides, the
 * profile, both sides of the structure of one thread's calls (struct loops), both sides of a sample of its iterations
 * (struct iteration_sample), both sides of the arguments of its calls (arguments_image.h), both sides of the timeline, and both
 * sides of each thread (struct spool_thread). There is one profile for both sides, because a kill in the middle of a sample
 * spoils only that sample. All is plain data in the byte order of the machine.
 *
 * The file is as long as what it could hold, but has storage only for what it does hold. Storage is reserved
 * before anything is written, because a page of a mapping without storage would kill the program. Sketches are
 * only on side 0, and are not recovered.
 */
#ifndef PHASEMUX_AGENT_SPOOL_SPOOL_H
#define PHASEMUX_AGENT_SPOOL_SPOOL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/iterations/iteration_sample.h"
#include "agent/loader/modules.h"
#include "agent/mpi/mpi_adapter.h"
#include "agent/setup/counting.h"
#include "agent/setup/job.h"
#include "agent/setup/settings.h"
#include "agent/spool/arguments_image.h"
#include "agent/spool/profile.h"
#include "agent/spool/totals.h"
#include "agent/thread/site.h"
#include "agent/timeline/timeline.h"
#include "cluster/loops/arena.h"
#include "cluster/recurrence/recurrence.h"
#include "multiplex/estimate/sums.h"
#include "multiplex/plan.h"
#include "multiplex/scheme/scheme.h"

#define SPOOL_MAGIC       "phasemux"
#define SPOOL_VERSION     32
#define SPOOL_SIDES       2
#define SPOOL_THREADS_MAX SETTINGS_THREADS
#define SPOOL_OPEN_MAX    16 /* prototypes in one open quantum */
#define SPOOL_MODULES_MAX 64
#define SPOOL_COMMAND_MAX 4096
#define SPOOL_OUTPUT_MAX  4096
#define SPOOL_HOST_MAX    72

/* Data that do not change during a run. Texts end with a NUL. */
struct spool_facts {
	char magic[8];
	uint32_t version;
	uint32_t facts_bytes, side_bytes, thread_bytes; /* sizes of the three structs */
	uint64_t checksum;  /* of the rest of this struct; written last */
	uint64_t run;       /* number of the run, equal on all its ranks */
	int32_t rank, size; /* in MPI_COMM_WORLD */
	int64_t pid;
	double started; /* seconds since 1970 */
	uint64_t start; /* ticks of the clock at the start of the run */
	double ns_per_tick;
	double read_ns, skip_ticks; /* cost of a read, and of a skipped call */
	double budget;              /* share of the program's time; INFINITY: none */
	uint64_t sums_length;       /* doubles */
	uint32_t scheme;            /* enum scheme_kind */
	uint32_t hardware, counters, alone;
	uint32_t prototypes; /* number that has room: PROTOTYPES_MAX */
	uint32_t warnings, modules, command_bytes;
	uint32_t family;      /* 1: forked processes, whose number is not known */
	uint32_t loops_bytes; /* size of struct loops */
	uint32_t has_leads;   /* 1: some ranks may read for others */
	uint32_t padding;
	struct plan plan;
	uint32_t model_event[PLAN_EVENTS_MAX];
	char event[PLAN_EVENTS_MAX][EVENT_NAME_MAX];
	char model[64]; /* "": none */
	char processor[64];
	char host[SPOOL_HOST_MAX]; /* name of the machine */
	char library[128];
	char obstacle[512];
	char warning[COUNTING_WARNINGS_MAX][256];
	char command[SPOOL_COMMAND_MAX];
	struct job job;
	char output[SPOOL_OUTPUT_MAX]; /* folder of the report */
	struct module module[SPOOL_MODULES_MAX];
};

struct spool_state {
	_Atomic uint64_t commits; /* odd while one is under way */
	_Atomic uint32_t whole;   /* number of the side that is whole */
};

/* Data of the process that change. */
struct spool_side {
	uint64_t now;              /* ticks at the last commit */
	uint64_t unobserved_ticks; /* of the first thread, since the start (toggle.h, control.h) */
	uint64_t burst_min_ns;
	double own_bytes;     /* the agent's memory, except for threads */
	double start_seconds; /* time that the process waited for the agent at its start */
	/* number of threads that were not observed, and their processor time (crowd.h) */
	double beyond_threads, beyond_seconds;
	uint32_t refused; /* number of threads that are observed, but have no room in the file */
	uint32_t paused;  /* 1: the program paused phasemux, and did not toggle it */
	uint32_t rounds, threads;
	uint32_t structure;  /* 1 + number of the thread whose structure is kept; 0: none is */
	uint32_t iterations; /* bytes of the sample of its iterations; 0: there is none */
	uint32_t arguments;  /* bytes of the arguments of its calls; 0: they are not kept */
	uint32_t bins;       /* of the timeline, in use */
	uint64_t bin_ticks;  /* width of one; 0: there is no timeline */
	struct recurrence recurrence;            /* of its calls; 0 rounds: none is known */
	uint32_t generation, prototypes, phases; /* of the table */
	uint32_t phase[PROTOTYPES_MAX];
};

/* A copy of struct span_length, with its `left` added to `unread`. */
struct spool_length {
	float unread, unread_ticks, variance, ticks_variance;
	uint32_t cut;
	uint16_t prototype[SPAN_SHARES_MAX];
	float share_read[SPAN_SHARES_MAX]; /* 0: free */
	float mean_ticks[SPAN_SHARES_MAX], mean_unread[SPAN_SHARES_MAX];
};

struct spool_span {
	uint16_t from, to; /* sites */
	uint16_t lengths;  /* in use */
	uint8_t bin[SPAN_LENGTHS_MAX];
	uint16_t length[SPAN_LENGTHS_MAX]; /* number of each in the thread's table */
};

struct spool_site {
	uint16_t path, call; /* as in struct site */
};

/* A call path: return addresses, innermost first. */
struct spool_path {
	uint64_t frames;
	uint64_t address[PATH_FRAMES_MAX];
};

/* Data of a thread. The arrays have their maximum length, and the counts say how much is used. */
struct spool_thread {
	struct account account;
	uint32_t sites, spans, lengths; /* including number 0 */
	uint32_t paths; /* including number 0, which has no frames; paths are as they were when new */
	uint32_t open_group, open; /* group, and number of prototypes, of the quantum under way */
	uint32_t unused;
	double open_weight; /* of that group */
	uint32_t open_prototype[SPOOL_OPEN_MAX];
	double open_fields[SPOOL_OPEN_MAX][QUANTUM_FIELDS];
	struct spool_span span[SPANS_MAX];
	struct spool_length length[LENGTHS_MAX];
	struct spool_site site[SITES_MAX];
	struct spool_path path[PATHS_MAX];
};

/*
 * These return the offsets of the parts in bytes. The sums of the sides are at least sums_length doubles apart.
 */
size_t spool_state_at(void);
size_t spool_side_at(unsigned side);
size_t spool_sums_at(uint64_t sums_length, unsigned side);
size_t spool_profile_at(uint64_t sums_length);
size_t spool_structure_at(uint64_t sums_length, unsigned side);
size_t spool_iterations_at(uint64_t sums_length, unsigned side);
size_t spool_arguments_at(uint64_t sums_length, unsigned side);
size_t spool_timeline_at(uint64_t sums_length, unsigned side);
size_t spool_thread_at(uint64_t sums_length, unsigned thread, unsigned side);

/* Returns the checksum of all that follows the checksum in facts. It differs if one word is changed. */
uint64_t spool_checksum(const struct spool_facts *facts);

_Static_assert(sizeof(struct spool_facts) % sizeof(uint64_t) == 0, "facts are whole words");

/* ---- the process that is counted ---- */

struct spool;

/* Fills the facts that are known from `counting`. The caller fills the others. */
void spool_describe(struct spool_facts *facts, const struct counting *counting);

/*
 * Makes the file BASE/phasemux.UID/RUN/rank-N with room for a process without threads, and the folders that are
 * missing. wanted: BASE, from the setting; "": the first of /dev/shm and /tmp that works. Writes the run's
 * folder to `folder`. Returns NULL on failure: then *error is -errno, and folder the one that was tried last.
 */
struct spool *spool_new(const struct spool_facts *facts, const char *wanted, char *folder,
		size_t size, int *error);

/* Removes the file, and the folders if they are empty, at a normal end. The memory stays. */
void spool_remove(struct spool *spool);

/* Returns whether the calling thread can open the file, so that it can also grow and remove it. */
bool spool_is_in_reach(const struct spool *spool);

/* Frees the memory. Call when no thread writes to it any more. The file stays, if it is there. */
void spool_free(struct spool *spool);

/* Returns the sums, at first all 0, with the length in the facts. Change them only with the ledger lock. */
double *spool_sums(struct spool *spool);
/* Returns the profile that counts samples, at first all 0. Change it only with the ledger lock. */
struct profile *spool_profile(struct spool *spool);
/* Returns the TIMELINE_BINS bins of the timeline, at first all 0. Change them only with the ledger lock. */
struct timeline_bin *spool_bins(struct spool *spool);
/* Returns the process' side, to be filled before a commit. Caller holds the ledger lock. */
struct spool_side *spool_side(struct spool *spool);

/*
 * Makes room for the sums of `prototypes` prototypes and the sketches of `phases` phases. Call before they are
 * written. Returns 0 or -errno: then the new ones are in memory of the process, and are lost with it. Caller
 * holds the ledger lock.
 */
int spool_room(struct spool *spool, unsigned prototypes, unsigned phases);

/*
 * Makes room for one more thread. Returns its number, or -errno: then the file only says that it is missing.
 * Caller holds the ledger lock.
 */
int spool_admit(struct spool *spool);

/*
 * Returns whether an error of spool_room or spool_admit says that the program has put itself into a sandbox in which it
 * may open no files. Its report is whole all the same (agent/process/finalize.c), except if it is killed.
 */
static inline bool spool_is_shut_out(int error)
{
	return error == -EACCES || error == -EPERM;
}

/*
 * Makes room for these numbers of the thread's sites, spans, lengths and paths. Call before they are written.
 * If there is no storage for all, it sets each number to how many fit. Caller holds the ledger lock.
 */
void spool_thread_room(struct spool *spool, int thread, uint32_t *sites, uint32_t *spans,
		uint32_t *lengths, uint32_t *paths);
struct spool_thread *spool_thread(struct spool *spool, int thread);

/* The structure of a thread's calls. */
struct spool_structure {
	const struct loops *loops;
	struct call_arguments *arguments; /* NULL: they are not kept */
	const struct site_table *sites;
	const struct iteration_sample *iterations; /* NULL: there is none */
	struct recurrence recurrence;              /* 0 rounds: none is known */
};

/*
 * Keeps the structure of the calls of a thread that has a number. Does nothing without storage. The calling thread is
 * the one that adds calls to it, and holds the ledger lock.
 */
void spool_keep_structure(struct spool *spool, int thread, const struct spool_structure *structure);

/* Notes that a block of the sums has changed or is about to. Caller holds the ledger lock. */
void spool_touch(struct spool *spool, unsigned prototype, unsigned group);
/* Notes that a thread's side has changed or is about to. Caller holds the ledger lock. */
void spool_touch_thread(struct spool *spool, int thread);
/* Notes that a span of a thread has changed; call spool_touch_thread, too. Paths and sites never change. */
void spool_touch_span(struct spool *spool, int thread, uint32_t span);

/* Notes what has changed in the timeline over spool_bins(). Caller holds the ledger lock. */
void spool_keep_timeline(struct spool *spool, struct timeline *timeline);

/* Commits what was written, which must belong together. Caller holds the ledger lock. */
void spool_commit(struct spool *spool);

/* Returns the bytes of storage of the file, which is memory on most machines. */
size_t spool_bytes(const struct spool *spool);

#endif
