/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the hosts of a job: each is listed with its number of ranks and its lowest rank, in whatever order they are added
 * and merged, also if there are more hosts than have room.
 */
#include <math.h>
#include <stdlib.h>

#include "agent/ranks/hosts.h"
#include "tests/tap.h"

#define PARTS 16

static void name_host(char name[HOST_BYTES], unsigned host)
{
	snprintf(name, HOST_BYTES, "node%04u", host);
}

/* Adds up `ranks` ranks on `hosts` hosts, dealt out in turns, of which each part has a share of its own. */
static struct hosts *deal(unsigned ranks, unsigned hosts, unsigned stride)
{
	struct hosts *part = calloc(PARTS, sizeof(*part));

	for (unsigned rank = 0; rank < ranks; rank++) {
		char name[HOST_BYTES];

		name_host(name, rank * stride % hosts);
		hosts_add(&part[rank * 31 % 97 % PARTS], name, rank, rank * stride % hosts);
	}
	for (unsigned step = 1; step < PARTS; step *= 2)
		for (unsigned i = 0; i + step < PARTS; i += 2 * step)
			hosts_merge(&part[i + step], &part[i]);
	return part;
}

/* Returns whether the hosts are those with the first names, with as many ranks as they were dealt. */
static bool are_right(const struct hosts *list, unsigned ranks, unsigned hosts, unsigned stride)
{
	unsigned *dealt = calloc(hosts, sizeof(*dealt)), *first = calloc(hosts, sizeof(*first));
	unsigned kept = hosts < HOSTS_MAX ? hosts : HOSTS_MAX, left_out = ranks;
	bool right = list->count == kept;

	for (unsigned rank = ranks; rank-- > 0;) {
		dealt[rank * stride % hosts]++;
		first[rank * stride % hosts] = rank;
	}
	for (unsigned h = 0; h < kept && right; h++) {
		char name[HOST_BYTES];

		name_host(name, h);
		right = strcmp(list->host[h].name, name) == 0 && list->host[h].ranks == dealt[h] &&
				list->host[h].first == first[h] &&
				hosts_useful(&list->host[h]) == h;
		left_out -= dealt[h];
	}
	free(dealt);
	free(first);
	return right && list->left_out == left_out;
}

static void check(unsigned ranks, unsigned hosts, unsigned stride)
{
	struct hosts *list = deal(ranks, hosts, stride);

	ok(are_right(list, ranks, hosts, stride), "%u ranks on %u hosts, in steps of %u", ranks,
			hosts, stride);
	free(list);
}

int main(void)
{
	static struct hosts list;
	char longer[2 * HOST_BYTES];

	check(1, 1, 1);
	check(8, 1, 1);
	check(100, 7, 1);
	check(5000, HOSTS_MAX, 1);
	check(5000, HOSTS_MAX, 5);
	check(5000, HOSTS_MAX + 1, 1);
	check(5000, 2000, 1);
	check(5000, 2000, 1999);
	check(5000, 2000, 7);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	hosts_add(&list, longer, 3, 4);
	hosts_add(&list, longer, 1, NAN);
	hosts_add(&list, "", 2, NAN);
	ok(list.count == 2 && list.host[0].ranks == 1 && list.host[1].ranks == 2 &&
					list.host[1].first == 1 &&
					strlen(list.host[1].name) == HOST_BYTES - 1,
			"a name that is too long is cut, and none is a name");
	ok(hosts_useful(&list.host[1]) == 4 && isnan(hosts_useful(&list.host[0])),
			"a host has the mean of the times that are known");
	return tap_done();
}
