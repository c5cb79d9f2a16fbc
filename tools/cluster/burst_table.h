/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of bursts as it is read from a CSV file or a trace: task, thread, time, and any number of named
 * metrics. A metric is NAN if it was not counted.
 */
#ifndef PHASEMUX_TOOLS_CLUSTER_BURST_TABLE_H
#define PHASEMUX_TOOLS_CLUSTER_BURST_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_METRIC_NAME_MAX 64
#define TABLE_METRICS_MAX     512

struct burst {
	uint32_t task, thread; /* from 0 */
	uint64_t begin, end;   /* ns */
	uint32_t cluster;      /* from the file; 0: noise, or the file has none */
	uint32_t prototype;    /* from the file, plus 1; 0: none */
};

struct burst_table {
	size_t count, room;
	unsigned metrics, stride;
	char (*name)[TABLE_METRIC_NAME_MAX];
	struct burst *burst;
	double *value; /* count x stride, of which `metrics` are in use */
};

/* The reason why a file could not be read. */
struct parse_error {
	size_t line; /* from 1; 0: the file as a whole */
	char text[200];
};

void table_fini(struct burst_table *table);

/* Returns the number of the metric with this name, which is added if it is new; -ENOMEM; -E2BIG: too many. */
int table_metric(struct burst_table *table, const char *name);

/* Returns the number of the metric, or -1. */
int table_find(const struct burst_table *table, const char *name);

/* Adds a burst without values. Returns 0 or -ENOMEM. */
int table_add(struct burst_table *table, const struct burst *burst);

/* Returns the values of burst i, by the metrics' numbers. */
static inline double *table_values(const struct burst_table *table, size_t i)
{
	return table->value + i * table->stride;
}

/* Sorts the bursts by task, thread, begin, end. Returns 0 or -ENOMEM. */
int table_sort(struct burst_table *table);

/*
 * Reads a CSV table: a header line with `task`, `thread` (may be missing), `begin_ns`, `end_ns`,
 * names of metrics, and perhaps `cluster` or `prototype`; then a line per burst. Empty fields and nan are values
 * that were not counted. Appends to the table. Returns 0, -EINVAL with the reason in *error, or -ENOMEM.
 */
int table_read_csv(struct burst_table *table, FILE *file, struct parse_error *error);

/*
 * Reads a Paraver trace (thesis A.2.3). Bursts are running states (1). Their metrics are the hardware
 * counters (event types from 42000000 on) that the thread reads at the end of the state. Metrics
 * are named by their type's number until table_name_metrics. Returns like table_read_csv.
 */
int table_read_prv(struct burst_table *table, FILE *file, struct parse_error *error);

/* Names the metrics of a trace after its .pcf. Returns 0, or -EINVAL with the reason in *error. */
int table_name_metrics(struct burst_table *table, FILE *pcf, struct parse_error *error);

/*
 * Reads a file by its name, compressed or not: a trace (with the .pcf in its folder) or CSV, and sorts
 * the table. Reports errors on stderr. Returns 0, or the exit code: 1, 2.
 */
int table_open(struct burst_table *table, const char *path);

#endif
