/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the scripted PMU share. */
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

struct scripted_failure {
	enum scripted_call call;
	uint64_t nth;
	bool onwards;
	int error; /* errno, or FAIL_SHORT */
};

struct scripted_settings {
	unsigned counters, opens, held;
	char processor[48];
	bool hardware, strict, pages;
	double noise, spin;
	uint64_t seed, jump, back, pause, written;
	unsigned autos;
	unsigned auto_behaviour[SCRIPTED_BEHAVIOURS];
	char emulated[256]; /* "": not */
	unsigned failures;
	struct scripted_failure failure[SCRIPTED_FAILURES];
};

/* 0, or -EINVAL with one line on stderr that names the setting. */
int scripted_settings_parse(struct scripted_settings *settings, const char *text);

/* The number of a call by its name, -1: none. */
int scripted_call_number(const char *name);

/* ---- behaviours (scripted_behaviours.c) ---- */

/* The number of a behaviour by its name, -1: none. */
int scripted_behaviour_number(const char *name);

/* False: this processor has no such event. */
bool scripted_event_exists(uint32_t type, uint64_t config);

/* An event per 1,000 instructions of a behaviour, on a processor of `slots` per cycle. */
double scripted_rate(uint32_t type, uint64_t config, unsigned behaviour, unsigned slots);

#define SCRIPTED_GHZ 4.0 /* of the virtual clock */

/* ---- rings of samples (scripted_ring.c) ---- */

struct scripted_ring;
struct perf_event_mmap_page;

/* A page and a ring behind it, of so many bytes; NULL without memory. Never freed. */
struct scripted_ring *scripted_ring_new(size_t bytes);
struct perf_event_mmap_page *scripted_ring_page(const struct scripted_ring *ring);

/*
 * A sample as the kernel writes it (IDENTIFIER, IP, TIME and READ of a group), of the event with
 * that id, in the function of that behaviour. Where there is no room it is lost, and the next one
 * that finds some says so.
 */
void scripted_ring_write(struct scripted_ring *ring, uint64_t id, unsigned behaviour, uint64_t time,
		const uint64_t *values, unsigned count);

/* ---- histories (scripted_history.c) ---- */

/* The virtual history of a thread, and its enabled groups. */
struct scripted_thread {
	_Atomic unsigned ticket, served; /* others may switch its groups while it works */
	struct scripted_thread *next;
	pid_t tid;
	double total[SCRIPTED_ROWS_MAX];
	uint64_t number, works;
	uint64_t cpu_seen; /* ns */
	double sampled;    /* ns of work since the last sample */
	const struct emulated_thread *emulated;
	uint64_t emulated_seen[EMULATED_KIND_COUNT];
	unsigned busy; /* counters of the enabled groups */
	unsigned enabled_groups;
	int enabled[SCRIPTED_ENABLED_MAX];
};

/* The settings in force, and the slots per cycle of their processor; set by scripted_pmu.c. */
extern struct scripted_settings scripted_settings;
extern unsigned scripted_slots;

/* Reads SCRIPTED_PMU, the first time. */
void scripted_start(void);

/* The calling thread's; NULL: no memory. */
struct scripted_thread *scripted_myself(void);

/* That of another thread of the process, by the kernel's number; NULL: it has done nothing yet. */
struct scripted_thread *scripted_other(pid_t tid);

bool scripted_is_mine(const struct scripted_thread *thread);

/* Where an event's total stands; SCRIPTED_ROWS_MAX: no room. */
unsigned scripted_row(uint32_t type, uint64_t config);

/* Moves a history on. Returns the cycles that it took. */
double scripted_work(struct scripted_thread *thread, unsigned behaviour, double instructions);

/* Fair; and no mutex, which would be a call of the program's to those who intercept that. */
void scripted_lock(struct scripted_thread *thread);
void scripted_unlock(struct scripted_thread *thread);

/* How often the thread is sampled now, in virtual ns; 0: it is not. */
uint64_t scripted_period(const struct scripted_thread *thread);

/*
 * A piece of work of so many virtual ns has moved the history on from the totals `before`, between
 * two moments of CLOCK_MONOTONIC: the samples that fell into it.
 */
void scripted_sample(struct scripted_thread *thread, unsigned behaviour, const double *before,
		double ns, uint64_t began, uint64_t ended);

/* With "auto" or "emulated": what the thread did on its processor since the last look. */
void scripted_catch_up(struct scripted_thread *thread);

#endif
