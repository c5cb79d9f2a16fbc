/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out by trying what this machine really counts, because a counter that opens may count nothing.
 * Meant to take a few milliseconds at start, on one thread.
 */
#ifndef PHASEMUX_SAMPLING_PROBE_H
#define PHASEMUX_SAMPLING_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/group.h"

#define PROBE_PARANOID_UNKNOWN (-2) /* there is no such setting, or it cannot be read */
#define PROBE_USER_ACCESS_UNKNOWN                                                                  \
	(-1) /* there is no such setting: it is that of ARM64 from Linux 5.17 */

struct probe {
	bool hardware;      /* hardware events can be counted */
	int hardware_errno; /* reason why not: ENOENT no counters, EACCES/EPERM forbidden, ... */
	bool cycles;        /* cycles can be opened, also if instructions cannot */
	bool software;      /* the kernel's software events can be counted */
	int software_errno;
	int paranoid;            /* /proc/sys/kernel/perf_event_paranoid, -1 to 4 */
	int user_access;         /* /proc/sys/kernel/perf_user_access, 0 or 1 */
	unsigned counters_open;  /* number of copies of one event that open as one group */
	unsigned counters;       /* number of these that really count */
	unsigned counters_held;  /* number of these that another user of the counters holds */
	enum read_method method; /* the cheaper way of reading a full group */
	double read_ns;          /* median time of a read of a full group by `method` */
	double read_other_ns;    /* median time by the other method; 0: there is none */
	double switch_ns;        /* median time to disable one full group and enable another */
	double sample_ns; /* time that a sample of a full group takes from the thread; 0: not known */
};

/*
 * Fills the probe. Copies of `event` (instructions) are opened. Never fails. If only software events can be
 * counted, the costs are those of a group of four of them. Call after clock_calibrate.
 */
void probe_run(struct probe *probe, const struct pmu *pmu, const struct event *event);

/*
 * Returns the number of events that a group which begins with the `common` events can hold, up to
 * GROUP_EVENTS_MAX. It is more than probe->counters if these events have counters of their own (the cycles of
 * ARM64, the fixed counters of Intel). Found out by counting, with further copies of the last common event.
 */
unsigned probe_capacity(const struct probe *probe, const struct pmu *pmu,
		const struct event common[], unsigned count);

/*
 * Writes one line for the user: why hardware events cannot be counted, and what exactly would change it. The
 * text is empty if they can be counted.
 */
void probe_explain(const struct probe *probe, bool hypervisor, char *text, size_t size);

#endif
