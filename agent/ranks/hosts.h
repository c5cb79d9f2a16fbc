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

#define HOSTS_MAX  512
#define HOST_BYTES 72 /* of a name with its NUL; the kernel's have at most 65 */

struct host {
	char name[HOST_BYTES];
	uint32_t ranks, first; /* number of ranks on it; the lowest one */
	uint32_t timed;        /* number of ranks on it whose computing time is known */
	double useful;         /* their computing time in seconds, added up */
};

/* Plain data; zeros are an empty list. Hosts are in the order of their names. */
struct hosts {
	uint32_t count;
	uint32_t left_out; /* number of ranks on hosts that found no room */
	struct host host[HOSTS_MAX];
};

/*
 * Adds a rank. A name that is too long is cut. useful_seconds: computing time of the rank, in the mean of its threads; NAN:
 * not known.
 */
void hosts_add(struct hosts *hosts, const char *name, uint32_t rank, double useful_seconds);

/* Returns the computing time of a rank of the host, in the mean, in seconds; NAN: not known. */
double hosts_useful(const struct host *host);

/* Adds the ranks of `in` to `inout`. Both are struct hosts, without a rank in common. Has the form of mpi_merge. */
void hosts_merge(const void *in, void *inout);

/*
 * Adds up the hosts of all ranks in hosts[0] of rank 0. hosts[1] is for scratch. All ranks call it together. Returns 0 or
 * -EIO.
 */
int hosts_reduce(struct hosts hosts[2], const struct mpi_adapter *adapter);

#endif
