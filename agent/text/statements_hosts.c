/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/statements.h"

#include <math.h>
#include <stdbool.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define HOSTS_SHOWN 4 /* number of hosts that are named */

/* A host is shown as different from this share of the others' mean on, also if its interval is smaller. */
#define DIFFERENCE_SHOWN 0.02
/* This share is used if no interval is known, because no host has two ranks. */
#define DIFFERENCE_SHOWN_ALONE 0.1

void statements_hosts_names(FILE *out, const json_t *hosts)
{
	const json_t *named = json_object_get(hosts, "named"), *host;
	double count = report_get(hosts, "count");
	bool all = !(report_get(hosts, "uncounted_ranks") > 0);
	size_t shown = 0, i;

	if (count == 1 && all) {
		fputs("on ", out);
		report_write_name(out, report_get_text(json_array_get(named, 0), "host"));
		return;
	}
	fprintf(out, "on %s%.0f hosts:", all ? "" : "more than ", count);
	json_array_foreach (named, i, host) {
		double ranks = report_get(host, "ranks");

		if (i == HOSTS_SHOWN)
			break;
		fputs(i ? ", " : " ", out);
		report_write_name(out, report_get_text(host, "host"));
		fprintf(out, i ? " (%.0f)" : ranks == 1 ? " (%.0f rank)" : " (%.0f ranks)", ranks);
		shown++;
	}
	if (!all)
		fputs(" and more", out);
	else if (count > (double)shown)
		fprintf(out, " and %.0f more", count - (double)shown);
}

/* One host beside the mean of all others. */
struct outlier {
	const json_t *host;
	double value, others;
};

/* Adds up a measure of the hosts, of which it must be known. Returns the sum over all ranks, or NAN. */
static double sum_over_ranks(const json_t *named, const char *key, double *ranks)
{
	const json_t *host;
	double sum = 0;
	size_t i;

	*ranks = 0;
	json_array_foreach (named, i, host) {
		sum += report_get(host, key) * report_get(host, "ranks");
		*ranks += report_get(host, "ranks");
	}
	return sum;
}

/*
 * Returns the half-width of the interval of the difference between a host and all others. ci95: of the host, half-width. The
 * interval of a mean over n ranks has a width like 1 / sqrt(n). The host was chosen because it differs most, so the interval
 * is wider the more hosts there are: by Bonferroni's inequality, with z(p / n)^2 of about z(p)^2 + 2 ln n.
 */
static double half_width_of_difference(double ci95, double ranks, double all, size_t hosts)
{
	double z2 = 1.96 * 1.96;

	return ci95 * sqrt(1 + ranks / (all - ranks)) * sqrt(1 + 2 * log((double)hosts) / z2);
}

/*
 * Finds the host with the highest value, or with sign -1 the lowest one. Returns whether it differs from the others by more
 * than ranks of one host do.
 */
static bool find_outlier(struct outlier *outlier, const json_t *report, const char *key,
		const char *key_ci95, int sign)
{
	const json_t *named = json_object_get(json_object_get(report, "hosts"), "named"), *host;
	double all, ranks, sum = sum_over_ranks(named, key, &all), ci95, apart;
	size_t i;

	if (json_array_size(named) < 2 || !isfinite(sum))
		return false;
	*outlier = (struct outlier){ .value = NAN };
	json_array_foreach (named, i, host) {
		double value = report_get(host, key);

		if (!outlier->host || sign * value > sign * outlier->value)
			*outlier = (struct outlier){ .host = host, .value = value };
	}
	ranks = report_get(outlier->host, "ranks");
	if (!(all > ranks))
		return false;
	outlier->others = (sum - ranks * outlier->value) / (all - ranks);
	apart = sign * (outlier->value - outlier->others);
	ci95 = report_get(outlier->host, key_ci95);
	if (!isfinite(ci95))
		return apart >= DIFFERENCE_SHOWN_ALONE * outlier->others;
	return apart >= DIFFERENCE_SHOWN * outlier->others &&
			apart > half_width_of_difference(ci95, ranks, all, json_array_size(named));
}

void statements_hosts_differ(FILE *out, const json_t *report)
{
	double wall = report_get(report, "wall_seconds");
	struct outlier slow, clock;

	if (wall > 0 && find_outlier(&slow, report, "useful_seconds", "useful_seconds_ci95", 1)) {
		fputs("slowest host ", out);
		report_write_name(out, report_get_text(slow.host, "host"));
		fprintf(out, ": its ranks compute %s in the mean, ",
				format_seconds(slow.value).text);
		fprintf(out, "those of others %s; efficiency %s\n",
				format_seconds(slow.others).text,
				format_percent(slow.value / wall).text);
	}
	if (find_outlier(&clock, report, "cycles_per_second", "cycles_per_second_ci95", -1)) {
		fputs("lowest clock on host ", out);
		report_write_name(out, report_get_text(clock.host, "host"));
		fprintf(out, ": %.2f GHz in the mean of its ranks' computing time, on other hosts %.2f GHz\n",
				clock.value / 1e9, clock.others / 1e9);
	}
}
