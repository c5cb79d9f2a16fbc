/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the hosts of a job, and how many ranks run on each, in a size that does not depend on their number. Of more
 * hosts than have room, those with the first names are kept. Therefore a host is left out on every rank or on none, and
 * the numbers of the others are exact.
 */
#ifndef PHASEMUX_AGENT_RANKS_HOSTS_H
#define PHASEMUX_AGENT_RANKS_HOSTS_H

#include <stdint.h>

#include "agent/mpi/mpi_adapter.h"
#include "agent/ranks/phase_ranks.h"

#define HOSTS_MAX  512
#define HOST_BYTES 72 /* of a name with its NUL; the kernel's have at most 65 */

/* What ranks have of one measure. Zeros are of no rank. */
struct host_measure {
	double ranks;   /* number of ranks of which it is known */
	double mean;    /* over them */
	double squares; /* sum of their squared deviations from the mean */
};

enum {
	HOST_USEFUL, /* computing time of a rank in seconds */
	HOST_HERTZ,  /* cycles per second of computing time */
	HOST_MEASURES,
};

struct host {
	char name[HOST_BYTES];
	uint32_t ranks, first; /* number of ranks on it; the lowest one */
	struct host_measure measure[HOST_MEASURES];
};

/* Plain data; zeros are an empty list. Hosts are in the order of their names. */
struct hosts {
	uint32_t count;
	uint32_t left_out; /* number of ranks on hosts that found no room */
	struct host host[HOSTS_MAX];
};

/*
 * Adds a rank. A name that is too long is cut. useful_seconds: computing time of the rank, in the mean of its threads; NAN:
 * not known. cycles_per_second: as of hosts_cycles_per_second.
 */
void hosts_add(struct hosts *hosts, const char *name, uint32_t rank, double useful_seconds,
		double cycles_per_second);

/*
 * Returns the cycles per second of computing time of a rank, which is its clock while bursts have a processor. NAN: no cycles
 * were counted. use: of the rank, with cycles as the first event.
 */
double hosts_cycles_per_second(const struct rank_use *use);

/* Returns the mean of a measure over the ranks of the host, or NAN if it is not known. */
double hosts_mean(const struct host *host, unsigned measure);

/*
 * Returns the half-width of the 95% interval of hosts_mean. The ranks of all hosts say how much those of one host differ
 * (pooled variance). NAN: no host has two ranks of which the measure is known.
 */
double hosts_ci95(const struct hosts *hosts, const struct host *host, unsigned measure);

/* Adds the ranks of `in` to `inout`. Both are struct hosts, without a rank in common. Has the form of mpi_merge. */
void hosts_merge(const void *in, void *inout);

/*
 * Adds up the hosts of all ranks in hosts[0] of rank 0. hosts[1] is for scratch. All ranks call it together. Returns 0 or
 * -EIO.
 */
int hosts_reduce(struct hosts hosts[2], const struct mpi_adapter *adapter);

#endif
