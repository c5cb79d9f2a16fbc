/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a result as long tables of CSV: one value a row, the same columns in all tables, and a column for the run, so
 * that tables of several runs are one table. docs/report.md describes the columns.
 */
#ifndef PHASEMUX_TOOLS_REPORT_CSV_TABLES_H
#define PHASEMUX_TOOLS_REPORT_CSV_TABLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CSV_TABLES_NAMES "run, phases, counters, breakdown, metrics, ranks, source, bursts"

struct csv_result {
	const char *run; /* what the column of that name says */
	const json_t *report;
	const char *path; /* of the report */
};

/* Reads a comma list of tables. Returns one bit for each, 0 if a word names none. */
unsigned csv_tables_of(const char *list);

/* Writes the line with the names of the columns. */
void csv_tables_header(FILE *out);

/*
 * Writes the rows of a result. Returns false with one line in why if the table of the bursts is asked for, and the
 * result has none or an invalid one.
 */
bool csv_tables_write(FILE *out, unsigned tables, const struct csv_result *result, char *why,
		size_t why_size);

#endif
