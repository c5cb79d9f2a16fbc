/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of bursts as it is read from a CSV file or a trace: who, when, and any number of named
 * metrics; NAN where a metric was not counted.
 */
#ifndef PHASEMUX_TOOLS_BURST_TABLE_H
#define PHASEMUX_TOOLS_BURST_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define METRIC_NAME_MAX 64
#define METRICS_MAX     512

struct burst {
	uint32_t task, thread; /* from 0 */
	uint64_t begin, end;   /* ns */
	uint32_t cluster;      /* as the file says; 0: noise, or it does not say */
};

struct burst_table {
	size_t count, room;
	unsigned metrics, stride;
	char (*name)[METRIC_NAME_MAX];
	struct burst *burst;
	double *value; /* count x stride, of which `metrics` are in use */
};

/* Why a file could not be read. */
struct parse_error {
	size_t line; /* from 1; 0: the file as a whole */
	char text[200];
};

void table_fini(struct burst_table *table);

/* The number of the metric of that name, which is added if need be; -ENOMEM; -E2BIG, too many. */
int table_metric(struct burst_table *table, const char *name);

/* The number of the metric, or -1. */
int table_find(const struct burst_table *table, const char *name);

/* Adds a burst without values. 0 or -ENOMEM. */
int table_add(struct burst_table *table, const struct burst *burst);

static inline double *table_values(const struct burst_table *table, size_t i)
{
	return table->value + i * table->stride;
}

/* Orders by task, thread, begin, end. 0 or -ENOMEM. */
int table_sort(struct burst_table *table);

/*
 * Reads a CSV table: a header line with `task`, `thread` (may be left out), `begin_ns`, `end_ns`,
 * names of metrics, and perhaps `cluster`; then a line per burst. Empty fields and nan are values
 * that were not counted. Appends to the table. 0; -EINVAL, and what was wrong; -ENOMEM.
 */
int table_read_csv(struct burst_table *table, FILE *file, struct parse_error *error);

/*
 * Reads a Paraver trace (thesis A.2.3): bursts are running states (1), their metrics the hardware
 * counters (event types from 42000000 on) that the same thread reads where the state ends. Metrics
 * are named by their type's number until table_name_metrics. As table_read_csv.
 */
int table_read_prv(struct burst_table *table, FILE *file, struct parse_error *error);

/* Names the metrics of a trace after its .pcf. 0; -EINVAL, and what was wrong. */
int table_name_metrics(struct burst_table *table, FILE *pcf, struct parse_error *error);

/*
 * Reads a file by its name, compressed or not: a trace (with the .pcf beside it) or CSV, and sorts
 * the table. What goes wrong is said on stderr. 0, or the exit code: 1, 2.
 */
int table_open(struct burst_table *table, const char *path);

#endif
