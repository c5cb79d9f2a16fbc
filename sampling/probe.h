/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine really counts, found out by trying: a counter that opens may count nothing.
 * Meant to take a few milliseconds at start, on one thread.
 */
#ifndef PHASEMUX_SAMPLING_PROBE_H
#define PHASEMUX_SAMPLING_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/group.h"

#define PARANOID_UNKNOWN (-2) /* there is no such setting, or it cannot be read */

struct probe {
	bool hardware;      /* hardware events can be counted */
	int hardware_errno; /* why not: ENOENT no counters, EACCES/EPERM forbidden, ... */
	bool software;      /* the kernel's software events can be counted */
	int software_errno;
	int paranoid;            /* /proc/sys/kernel/perf_event_paranoid, -1 to 4 */
	unsigned counters_open;  /* as many copies of one event open as one group ... */
	unsigned counters;       /* ... and as many really count */
	unsigned counters_held;  /* opened but were not given to us: held by somebody else */
	enum read_method method; /* the cheaper way of reading a full group */
	double read_ns;          /* a read of a full group by that way, median */
	double read_other_ns;    /* by the other way; 0: there is none */
	double switch_ns;        /* disable one full group, enable another, median */
	double sample_ns; /* that a sample of a full group holds the thread up, about; 0: not known */
};

/*
 * Fills the probe; `event` is the one to open copies of (instructions). Never fails. Where only
 * software events can be counted, the costs are those of a group of four of them. Wants
 * clock_calibrate first.
 */
void probe_run(struct probe *probe, const struct pmu *pmu, const struct event *event);

/*
 * One line for people: why hardware events cannot be counted and what exactly would change it.
 * Empty when they can.
 */
void probe_explain(const struct probe *probe, bool hypervisor, char *text, size_t size);

#endif
