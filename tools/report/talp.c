/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/talp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/text/report_line.h"
#include "tools/report/metrics.h"

#define FORMAT_VERSION "3.5" /* of the form, by which readers choose how to read it */
#define NS             1e9

/* Times of the ranks by which their balance is judged, in seconds. NAN: not known. */
struct balance {
	double mean, most;
	double host_most; /* largest mean of a host */
};

/* Returns a number, null if it is not known. */
static json_t *whole_number(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? json_integer(llround(value)) : json_null();
}

static bool has_mpi(const json_t *report)
{
	return strcmp(report_get_text(report, "mpi"), "no MPI") != 0;
}

/* Returns the sum of the cycles, or of the instructions, of all phases; NAN if they were not counted. */
static double counted(const json_t *report, bool instructions)
{
	const json_t *phase;
	double sum = NAN;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase) {
		double counts[2];

		if (metrics_phase_counts(phase, &counts[0], &counts[1]))
			sum = (isfinite(sum) ? sum : 0) + counts[instructions];
	}
	return sum;
}

/* Returns the share of the computing time in phases whose cycles were counted. */
static double counted_share(const json_t *report)
{
	const json_t *phase;
	double sum = 0, counts[2];
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (metrics_phase_counts(phase, &counts[0], &counts[1]))
			sum += report_get(phase, "time_share");
	return sum;
}

/* ---- ranks ---- */

/* Returns the time of a rank by which the balance is judged: if ranks have threads, all time outside MPI. */
static double rank_seconds(const json_t *report, const json_t *time)
{
	if (isfinite(report_get_in(report, "efficiency", "threads")))
		return report_get(report, "wall_seconds") - report_get(time, "mpi_seconds");
	return report_get(time, "useful_seconds");
}

/*
 * Returns the largest mean of a host. The report has each host's lowest rank and number of ranks. Hosts that follow each
 * other without a gap have blocks of ranks. NAN if they do not.
 */
static double host_most(const json_t *report, const json_t *each)
{
	const json_t *hosts = json_object_get(report, "hosts");
	const json_t *named = json_object_get(hosts, "named");
	size_t count = json_array_size(named), ranks = json_array_size(each), seen = 0;
	double most = 0;

	if (!count || (double)count != report_get(hosts, "count") ||
			report_get(hosts, "uncounted_ranks") != 0)
		return NAN;
	while (seen < ranks) {
		const json_t *host = NULL, *any;
		double sum = 0;
		size_t length, i;

		json_array_foreach (named, i, any)
			if (report_get(any, "first_rank") == (double)seen)
				host = any;
		length = (size_t)json_integer_value(json_object_get(host, "ranks"));
		if (!length || length > ranks - seen)
			return NAN;
		for (i = seen; i < seen + length; i++)
			sum += rank_seconds(report, json_array_get(each, i));
		most = fmax(most, sum / (double)length);
		seen += length;
	}
	return most;
}

static struct balance balance_of(const json_t *report)
{
	const json_t *each = json_object_get(json_object_get(report, "rank_times"), "each"), *time;
	struct balance balance = { NAN, NAN, NAN };
	double sum = 0, most = 0;
	size_t i;

	json_array_foreach (each, i, time) {
		double seconds = rank_seconds(report, time);

		if (!isfinite(seconds))
			return balance;
		sum += seconds;
		most = fmax(most, seconds);
	}
	if (!json_array_size(each) || most <= 0)
		return balance;
	balance.mean = sum / (double)json_array_size(each);
	balance.most = most;
	balance.host_most = host_most(report, each);
	return balance;
}

static double mpi_seconds(const json_t *report)
{
	const json_t *time;
	double sum = NAN;
	size_t i;

	json_array_foreach (json_object_get(json_object_get(report, "rank_times"), "each"), i, time)
		sum = (i ? sum : 0) + report_get(time, "mpi_seconds");
	return sum;
}

/* ---- the document ---- */

static void set_resources(json_t *object, const json_t *report)
{
	json_object_set_new(object, "numCpus", whole_number(report_get(report, "threads_mean")));
	json_object_set_new(object, "numNodes",
			whole_number(report_get_in(report, "hosts", "count")));
	json_object_set_new(object, "numMpiRanks",
			whole_number(has_mpi(report) ? report_get(report, "ranks") : 0));
}

/* Without threads, the efficiencies of MPI are those of the run. */
static void set_mpi(json_t *region, const json_t *report)
{
	const json_t *efficiency = json_object_get(report, "efficiency");
	bool mpi = has_mpi(report), threads = isfinite(report_get(efficiency, "threads"));
	struct balance balance = balance_of(report);
	double parallel = report_get(efficiency, threads ? "mpi" : "parallel");
	double communication = threads ? balance.most / report_get(report, "wall_seconds") :
					 report_get(efficiency, "communication");
	double load_balance = threads ? balance.mean / balance.most :
					report_get(efficiency, "load_balance");

	json_object_set_new(region, "mpiParallelEfficiency", document_number(mpi ? parallel : NAN));
	json_object_set_new(region, "mpiCommunicationEfficiency",
			document_number(mpi ? communication : NAN));
	json_object_set_new(region, "mpiLoadBalance", document_number(mpi ? load_balance : NAN));
	json_object_set_new(region, "mpiLoadBalanceIn",
			document_number(mpi ? balance.host_most / balance.most : NAN));
	json_object_set_new(region, "mpiLoadBalanceOut",
			document_number(mpi ? balance.mean / balance.host_most : NAN));
}

static json_t *region_of(const json_t *report)
{
	static const char *const unknown[] = { "numMpiCalls", "numOmpParallels", "numOmpTasks",
		"ompLoadImbalanceTime", "ompSchedulingTime", "ompSerializationTime",
		"ompLoadBalance", "ompSchedulingEfficiency", "ompSerializationEfficiency" };
	json_t *region = json_object();

	set_resources(region, report);
	json_object_set_new(region, "avgCpus", document_number(report_get(report, "threads_mean")));
	json_object_set_new(region, "cycles", document_number(counted(report, false)));
	json_object_set_new(region, "instructions", document_number(counted(report, true)));
	json_object_set_new(region, "numMeasurements", json_integer(1));
	json_object_set_new(region, "elapsedTime",
			whole_number(report_get(report, "wall_seconds") * NS));
	json_object_set_new(region, "usefulTime",
			whole_number(report_get(report, "compute_seconds") * NS));
	json_object_set_new(region, "mpiTime",
			whole_number(has_mpi(report) ? mpi_seconds(report) * NS : NAN));
	json_object_set_new(region, "parallelEfficiency",
			document_number(report_get_in(report, "efficiency", "parallel")));
	set_mpi(region, report);
	json_object_set_new(region, "ompParallelEfficiency",
			document_number(report_get_in(report, "efficiency", "threads")));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		json_object_set_new(region, unknown[i], json_null());
	return region;
}

char *talp_text(const json_t *report)
{
	json_t *document = json_object(), *resources = json_object(), *application = json_object();
	json_t *own = json_object();
	const char *date = json_string_value(json_object_get(report, "date"));
	char *text;

	set_resources(resources, report);
	json_object_set_new(application, "Global", region_of(report));
	json_object_set_new(own, "version", json_string(report_get_text(report, "version")));
	json_object_set_new(own, "countedTimeShare", document_number(counted_share(report)));
	json_object_set_new(document, "dlbVersion", json_string(FORMAT_VERSION));
	if (date)
		json_object_set_new(document, "timestamp", json_string(date));
	json_object_set_new(document, "resources", resources);
	json_object_set_new(document, "Application", application);
	json_object_set_new(document, "phasemux", own);
	text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	json_decref(document);
	return text;
}
