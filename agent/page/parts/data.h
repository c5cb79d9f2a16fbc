/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON into the page, from which its script computes, and which other programs can read. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_DATA_H
#define PHASEMUX_AGENT_PAGE_PARTS_DATA_H

#include <jansson.h>
#include <stdio.h>

/*
 * Writes an element of this id with JSON that cannot end it. Numbers have seven digits, and half-widths of intervals
 * and standard deviations four. The deciles of counters, which take a fifth of large reports and which no script uses,
 * are left out.
 */
void page_json(FILE *out, const char *id, const json_t *json);

#endif
