/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON into the page, from which its script computes, and which other programs can read. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_DATA_H
#define PHASEMUX_AGENT_PAGE_PARTS_DATA_H

#include <jansson.h>
#include <stdio.h>

#define DATA_DIGITS 7 /* of the report's numbers; report.json has all of them */

/*
 * Writes an element of this id with JSON that cannot end it. Numbers have `digits` digits, and half-widths of intervals and
 * standard deviations four. The deciles of counters, which take a fifth of large reports, the sample of the bursts, the
 * timeline and the folds are left out, because no script uses them.
 */
void page_json(FILE *out, const char *id, const json_t *json, int digits);

#endif
