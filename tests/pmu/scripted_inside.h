/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files of the scripted PMU share. */
#ifndef PHASEMUX_TESTS_SCRIPTED_INSIDE_H
#define PHASEMUX_TESTS_SCRIPTED_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/pmu/emulated.h"

#define SCRIPTED_ROWS_MAX    256
#define SCRIPTED_ENABLED_MAX 64

/* ---- settings (scripted_settings.c) ---- */

enum scripted_call { CALL_OPEN, CALL_READ, CALL_IOCTL, CALL_CLOSE, CALL_MAP, CALLS };

#define SCRIPTED_FAILURES   8
#define SCRIPTED_BEHAVIOURS 9
#define FAIL_SHORT          (-1)

struct scripted_kernel;

struct scripted_failure {
	enum scripted_call call;
	uint64_t nth;
	bool onwards;
	int error; /* errno, or FAIL_SHORT */
};

struct scripted_settings {
	unsigned counters, opens, held;
	char processor[48];
	bool hardware, strict, pages, ran;
	double noise, spin;
	uint64_t seed, jump, back, pause, written;
	unsigned autos;
	unsigned auto_behaviour[SCRIPTED_BEHAVIOURS];
	const struct scripted_kernel *kernel; /* NULL: the newest */
	char emulated[256];                   /* prefix of the emulator's file; "": no emulator */
	unsigned failures;
	struct scripted_failure failure[SCRIPTED_FAILURES];
};

/* Returns 0, or -EINVAL with one line on stderr that names the setting. */
int scripted_settings_parse(struct scripted_settings *settings, const char *text);

/* Returns the number of a call by its name, or -1. */
int scripted_call_number(const char *name);

/* ---- kernels of other versions (scripted_kernel.c) ---- */

struct perf_event_attr;

/* Returns the kernel with this version, or NULL if there is none. */
const struct scripted_kernel *scripted_kernel_find(const char *version);

/* Returns the error with which the kernel would refuse fields that it does not know, or 0. */
int scripted_kernel_refuses(const struct scripted_kernel *kernel,
		const struct perf_event_attr *attr);

/* ---- behaviours (scripted_behaviours.c) ---- */

/* Returns the number of a behaviour by its name, or -1. */
int scripted_behaviour_number(const char *name);

/* Returns whether this processor has the event. */
bool scripted_event_exists(uint32_t type, uint64_t config);

/* Returns the count of an event per 1,000 instructions of a behaviour, on a processor of `slots` per cycle. */
double scripted_rate(uint32_t type, uint64_t config, unsigned behaviour, unsigned slots);

#define SCRIPTED_GHZ 4.0 /* frequency of the virtual clock */

/* ---- rings of samples (scripted_ring.c) ---- */

struct scripted_ring;
struct perf_event_mmap_page;

/* Returns a page and a ring behind it, of `bytes` bytes together, or NULL without memory. It is never freed. */
struct scripted_ring *scripted_ring_new(size_t bytes);
struct perf_event_mmap_page *scripted_ring_page(const struct scripted_ring *ring);

/* A sample that is written to a ring. */
struct scripted_sample {
	uint64_t id;        /* of the sampling event */
	unsigned behaviour; /* selects the function in which the sample lies, which has no callers */
	uint64_t time;      /* in ns */
	const uint64_t *values; /* of the group's events, the sampling event last */
	unsigned count;         /* number of values */
	bool stack;             /* lists the callers */
};

/*
 * Writes a sample, as the kernel does (IDENTIFIER, IP, TIME, READ of a group, and CALLCHAIN if `stack`). Without room
 * the sample is lost, and the next sample that has room reports the loss.
 */
void scripted_ring_write(struct scripted_ring *ring, const struct scripted_sample *sample);

/* ---- histories (scripted_history.c) ---- */

/* The virtual history of a thread, and its enabled groups. */
struct scripted_thread {
	/* a lock, because other threads may switch its groups while it works */
	_Atomic unsigned ticket, served;
	struct scripted_thread *next;
	pid_t tid;
	double total[SCRIPTED_ROWS_MAX];
	uint64_t number, works;
	uint64_t cpu_seen; /* processor time at the last look, in ns */
	const struct emulated_thread *emulated;
	uint64_t emulated_seen[EMULATED_KIND_COUNT];
	unsigned busy; /* number of counters of the enabled groups */
	unsigned enabled_groups;
	int enabled[SCRIPTED_ENABLED_MAX];
};

/* The present settings, and the slots per cycle of their processor. scripted_pmu.c sets them. */
extern struct scripted_settings scripted_settings;
extern unsigned scripted_slots;

/* Reads SCRIPTED_PMU at the first call. */
void scripted_start(void);

/* Returns the history of the calling thread, or NULL without memory. */
struct scripted_thread *scripted_myself(void);

/*
 * Returns the history of another thread of the process, by the kernel's number. NULL: the thread has done
 * nothing yet.
 */
struct scripted_thread *scripted_other(pid_t tid);

bool scripted_is_mine(const struct scripted_thread *thread);

/* Returns the index of an event's total, or SCRIPTED_ROWS_MAX if there is no room. */
unsigned scripted_row(uint32_t type, uint64_t config);

/* Advances a history. Returns the cycles that the work took. */
double scripted_work(struct scripted_thread *thread, unsigned behaviour, double instructions);

/*
 * Takes a fair lock. It is no mutex, because a profiler that intercepts mutexes would take that for a call of
 * the program.
 */
void scripted_lock(struct scripted_thread *thread);
void scripted_unlock(struct scripted_thread *thread);

/* Returns the virtual ns between two samples of the thread, or 0 if it is not sampled. */
uint64_t scripted_period(const struct scripted_thread *thread);

/*
 * Writes the samples that fell into a piece of work. The work took `ns` of virtual time, from the totals
 * `before` to the present ones. began, ended: CLOCK_MONOTONIC at the two ends of the work, in ns.
 */
void scripted_sample(struct scripted_thread *thread, unsigned behaviour, const double *before,
		double ns, uint64_t began, uint64_t ended);

/* With "auto" or "emulated": adds what the thread has done on its processor since the last call. */
void scripted_catch_up(struct scripted_thread *thread);

#endif
