/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/hosts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "multiplex/estimate/student.h"

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

/* Adds up the means and the squared deviations of two sets of ranks. */
static void measure_add(struct host_measure *into, const struct host_measure *from)
{
	double ranks = into->ranks + from->ranks, apart = from->mean - into->mean;

	if (!(from->ranks > 0))
		return;
	into->squares += from->squares + apart * apart * into->ranks * from->ranks / ranks;
	into->mean += apart * from->ranks / ranks;
	into->ranks = ranks;
}

static void host_add(struct hosts *hosts, const struct host *more)
{
	uint32_t place = host_find(hosts, more->name);
	struct host *host = &hosts->host[place];

	if (place < hosts->count && strcmp(host->name, more->name) == 0) {
		host->ranks += more->ranks;
		host->first = more->first < host->first ? more->first : host->first;
		for (unsigned i = 0; i < HOST_MEASURES; i++)
			measure_add(&host->measure[i], &more->measure[i]);
	} else if (place == HOSTS_MAX) {
		hosts->left_out += more->ranks;
	} else {
		make_room(hosts, place);
		*host = *more;
	}
}

void hosts_add(struct hosts *hosts, const char *name, uint32_t rank, double useful_seconds,
		double cycles_per_second)
{
	const double of[HOST_MEASURES] = { [HOST_USEFUL] = useful_seconds,
		[HOST_HERTZ] = cycles_per_second };
	struct host host = { .ranks = 1, .first = rank };

	for (unsigned i = 0; i < HOST_MEASURES; i++)
		if (isfinite(of[i]))
			host.measure[i] = (struct host_measure){ .ranks = 1, .mean = of[i] };
	snprintf(host.name, sizeof(host.name), "%s", name);
	host_add(hosts, &host);
}

double hosts_cycles_per_second(const struct rank_use *use)
{
	double cycles = 0, seconds = 0;

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		const struct phase_use *of = &use->use[p];

		if (!(of->counted > 0))
			continue;
		cycles += of->cycles / of->counted * of->bursts;
		seconds += of->seconds;
	}
	return seconds > 0 && cycles > 0 ? cycles / seconds : NAN;
}

double hosts_mean(const struct host *host, unsigned measure)
{
	return host->measure[measure].ranks > 0 ? host->measure[measure].mean : NAN;
}

double hosts_ci95(const struct hosts *hosts, const struct host *host, unsigned measure)
{
	double squares = 0, freedom = 0;

	for (uint32_t i = 0; i < hosts->count; i++) {
		const struct host_measure *of = &hosts->host[i].measure[measure];

		squares += of->squares;
		freedom += fmax(of->ranks - 1, 0);
	}
	if (!(freedom > 0) || !(host->measure[measure].ranks > 0))
		return NAN;
	return student_quantile(freedom) * sqrt(squares / freedom / host->measure[measure].ranks);
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
