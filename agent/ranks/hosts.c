/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/hosts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of hosts whose names come before this one. */
static uint32_t host_find(const struct hosts *hosts, const char *name)
{
	uint32_t low = 0, high = hosts->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(hosts->host[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes room for a host at `place`, at the expense of the last one if all places are taken. */
static void make_room(struct hosts *hosts, uint32_t place)
{
	if (hosts->count == HOSTS_MAX)
		hosts->left_out += hosts->host[--hosts->count].ranks;
	memmove(&hosts->host[place + 1], &hosts->host[place],
			(hosts->count - place) * sizeof(*hosts->host));
	hosts->count++;
}

static void host_add(struct hosts *hosts, const struct host *more)
{
	uint32_t place = host_find(hosts, more->name);
	struct host *host = &hosts->host[place];

	if (place < hosts->count && strcmp(host->name, more->name) == 0) {
		host->ranks += more->ranks;
		host->first = more->first < host->first ? more->first : host->first;
		host->timed += more->timed;
		host->useful += more->useful;
	} else if (place == HOSTS_MAX) {
		hosts->left_out += more->ranks;
	} else {
		make_room(hosts, place);
		*host = *more;
	}
}

void hosts_add(struct hosts *hosts, const char *name, uint32_t rank, double useful_seconds)
{
	struct host host = { .ranks = 1, .first = rank };

	if (isfinite(useful_seconds)) {
		host.timed = 1;
		host.useful = useful_seconds;
	}
	snprintf(host.name, sizeof(host.name), "%s", name);
	host_add(hosts, &host);
}

double hosts_useful(const struct host *host)
{
	return host->timed ? host->useful / host->timed : NAN;
}

void hosts_merge(const void *in, void *inout)
{
	const struct hosts *from = in;
	struct hosts *into = inout;

	for (uint32_t i = 0; i < from->count; i++)
		host_add(into, &from->host[i]);
	into->left_out += from->left_out;
}

int hosts_reduce(struct hosts hosts[2], const struct mpi_adapter *adapter)
{
	return adapter->reduce_start(&hosts[0], &hosts[1], sizeof(hosts[0]), hosts_merge) ||
					adapter->wait() ?
			-EIO :
			0;
}
