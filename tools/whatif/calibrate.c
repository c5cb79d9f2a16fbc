/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/calibrate.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "tools/replay/launch.h"
#include "tools/replay/prepare.h"

#define MESSAGES_MAX 64
#define SMALL_BYTES  64    /* messages up to this size have the latency */
#define LARGE_BYTES  65536 /* those from this size on have the bandwidth */

/* The file of messages between nodes, and that of messages within a node. */
static const char *const files[] = { "network.json", "memory.json" };

/* Prints one line on stderr. Returns the exit code. */
static int refuse_calibration(const char *where, const char *why)
{
	fprintf(stderr, "phasemux: %s: %s\n", where, why);
	return 1;
}

static int compare_numbers(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* Returns the median, and changes the order. */
static double median_of(double *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof(*numbers), compare_numbers);
	return count ? numbers[count / 2] : NAN;
}

/* Medians, because single sizes may have met other work of the machine, or are sent in another way. */
bool calibrate_fit(const struct calibrate_message *messages, int count,
		struct calibrated *calibrated)
{
	double numbers[MESSAGES_MAX];
	int found = 0;

	for (int i = 0; i < count && i < MESSAGES_MAX; i++)
		if (messages[i].bytes <= SMALL_BYTES)
			numbers[found++] = messages[i].seconds;
	calibrated->latency = median_of(numbers, found);
	found = 0;
	for (int i = 0; i < count && i < MESSAGES_MAX; i++)
		if (messages[i].bytes >= LARGE_BYTES && messages[i].seconds > calibrated->latency)
			numbers[found++] = messages[i].bytes /
					(messages[i].seconds - calibrated->latency);
	calibrated->bandwidth = median_of(numbers, found);
	return calibrated->latency > 0 && calibrated->bandwidth > 0;
}

/* ---- the measurement ---- */

/* Reads what the program has written. Returns the number of sizes, or 0. */
static int read_messages(const char *file, struct calibrate_message *messages, int *nodes)
{
	FILE *in = fopen(file, "r");
	int count = 0, ranks;

	if (in && fscanf(in, "ranks %d nodes %d", &ranks, nodes) == 2)
		while (count < MESSAGES_MAX &&
				fscanf(in, "%lf %lf", &messages[count].bytes,
						&messages[count].seconds) == 2 &&
				messages[count].bytes > 0 && messages[count].seconds > 0)
			count++;
	if (in)
		fclose(in);
	return count;
}

static int write_found(const char *folder, const struct calibrated *calibrated)
{
	json_t *object = json_pack("{s:o,s:o}", "latency_seconds",
			document_number(calibrated->latency), "bytes_per_second",
			document_number(calibrated->bandwidth));
	char file[PATH_MAX + 32];
	int code = 0;

	snprintf(file, sizeof(file), "%s/%s", folder, files[calibrated->within_node]);
	if (!object || json_dump_file(object, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)))
		code = refuse_calibration(file, object ? strerror(errno) : "no memory");
	json_decref(object);
	return code;
}

/* Returns the median of how much messages differ from the fit, as a part of their time. */
static double error_of(const struct calibrate_message *messages, int count,
		const struct calibrated *calibrated)
{
	double errors[MESSAGES_MAX];

	for (int i = 0; i < count; i++)
		errors[i] = fabs((calibrated->latency + messages[i].bytes / calibrated->bandwidth) /
						messages[i].seconds -
				1);
	return median_of(errors, count);
}

static void print_found(const struct calibrated *calibrated, double error)
{
	report_line(stdout, 0,
			"Messages %s take %s, and their bytes %.3g GB/s. Half of the sizes from 1 byte to 4 MiB are less than %s off. Simulations of this result take that from now on.",
			calibrated->within_node ? "within a node" : "between nodes",
			format_seconds(calibrated->latency).text, calibrated->bandwidth * 1e-9,
			format_percent(error).text);
}

int calibrate_run(const char *path, const char *output, char **launcher)
{
	char folder[PATH_MAX], file[PATH_MAX + 16], why[PATH_MAX + 800];
	struct launch launch = { .folder = folder, .launcher = launcher, .measures = true };
	struct calibrate_message messages[MESSAGES_MAX];
	struct calibrated calibrated;
	struct launch_result result;
	int code = prepare_folder(output, path, folder, sizeof(folder)), count, nodes = 0;

	if (code)
		return code;
	if (!launch_run(&launch, &result, why, sizeof(why)))
		return refuse_calibration("--calibrate", why);
	snprintf(file, sizeof(file), "%s/result", folder);
	count = result.code ? 0 : read_messages(file, messages, &nodes);
	calibrated.within_node = nodes == 1;
	if (!count)
		return refuse_calibration("--calibrate",
				"the program that measures did not end by itself; it needs a launcher that starts two ranks or more");
	if (!calibrate_fit(messages, count, &calibrated))
		return refuse_calibration("--calibrate",
				"large messages were not slower than small ones; try again on a quieter machine");
	code = write_found(folder, &calibrated);
	if (!code)
		print_found(&calibrated, error_of(messages, count, &calibrated));
	return code ? code : fflush(stdout) ? 1 : 0;
}

bool calibrate_read(const char *folder, bool within_node, struct calibrated *calibrated)
{
	char file[PATH_MAX + 32];
	json_t *object;

	snprintf(file, sizeof(file), "%s/%s", folder, files[within_node]);
	object = json_load_file(file, 0, NULL);
	calibrated->within_node = within_node;
	calibrated->latency = report_get(object, "latency_seconds");
	calibrated->bandwidth = report_get(object, "bytes_per_second");
	json_decref(object);
	return calibrated->latency > 0 && calibrated->bandwidth > 0;
}
