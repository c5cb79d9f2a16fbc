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
		hosts_add(&part[rank * 31 % 97 % PARTS], name, rank, rank * stride % hosts, NAN);
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
				fabs(hosts_mean(&list->host[h], HOST_USEFUL) - h) <= 1e-12 * h;
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

/*
 * Ranks of a: 1, 2, 3; of b: 5, 7. Their variance within hosts is (2 + 2) / 3, with 3 degrees of freedom, of which Student's
 * 97.5% quantile is 3.182.
 */
static void test_intervals(void)
{
	static const double useful[] = { 1, 2, 3, 5, 7 };
	static struct hosts part[2];
	double a, b;

	ok(isnan(hosts_ci95(&part[0], &part[0].host[0], HOST_USEFUL)), "no rank: no interval");
	for (uint32_t rank = 0; rank < 5; rank++)
		hosts_add(&part[rank % 2], rank < 3 ? "a" : "b", rank, useful[rank],
				useful[rank] * 1e9);
	hosts_merge(&part[1], &part[0]);
	a = hosts_ci95(&part[0], &part[0].host[0], HOST_USEFUL);
	b = hosts_ci95(&part[0], &part[0].host[1], HOST_USEFUL);
	ok(fabs(a - 3.182 * sqrt(4. / 3 / 3)) < 1e-3 && fabs(b - 3.182 * sqrt(4. / 3 / 2)) < 1e-3,
			"the interval is that of the pooled variance (%g, %g)", a, b);
	ok(fabs(hosts_ci95(&part[0], &part[0].host[1], HOST_HERTZ) / 1e9 - b) < 1e-9 &&
					fabs(hosts_mean(&part[0].host[1], HOST_HERTZ) - 6e9) < 1,
			"the clock has its own");
	memset(part, 0, sizeof(part));
	hosts_add(&part[0], "a", 0, 1, 1);
	hosts_add(&part[0], "b", 1, 2, 2);
	ok(isnan(hosts_ci95(&part[0], &part[0].host[0], HOST_USEFUL)),
			"a rank on each host: no interval");
}

static void test_clock(void)
{
	static struct rank_use use;

	ok(isnan(hosts_cycles_per_second(&use)), "no bursts: no clock");
	/* of ten bursts in 2 s, two were read, with 0.8e9 cycles together; those of the other prototype were not read */
	use.use[3] = (struct phase_use){ .seconds = 2,
		.bursts = 10,
		.counted = 2,
		.cycles = 0.8e9 };
	use.use[5] = (struct phase_use){ .seconds = 5, .bursts = 10 };
	ok(fabs(hosts_cycles_per_second(&use) - 2e9) < 1,
			"the clock is that of the bursts that were read");
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
	hosts_add(&list, longer, 3, 4, NAN);
	hosts_add(&list, longer, 1, NAN, NAN);
	hosts_add(&list, "", 2, NAN, NAN);
	ok(list.count == 2 && list.host[0].ranks == 1 && list.host[1].ranks == 2 &&
					list.host[1].first == 1 &&
					strlen(list.host[1].name) == HOST_BYTES - 1,
			"a name that is too long is cut, and none is a name");
	ok(hosts_mean(&list.host[1], HOST_USEFUL) == 4 &&
					isnan(hosts_mean(&list.host[0], HOST_USEFUL)),
			"a host has the mean of the times that are known");
	test_intervals();
	test_clock();
	return tap_done();
}
