/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads values of the JSON document, and prints wrapped lines of the report's text. */
#ifndef PHASEMUX_AGENT_TEXT_REPORT_LINE_H
#define PHASEMUX_AGENT_TEXT_REPORT_LINE_H

#include <jansson.h>
#include <stdio.h>

#define REPORT_WIDTH 100 /* columns */

/* Returns a number of the document, NAN if there is none. */
double report_get(const json_t *object, const char *key);
double report_get_in(const json_t *object, const char *key, const char *inner);

/* Returns a text of the document, "?" if there is none. */
const char *report_get_text(const json_t *object, const char *key);

/* Writes at most 64 bytes of a name of any origin, on one line. */
void report_write_name(FILE *out, const char *name);

/* Prints words, and starts a new line with this indent before a word that would exceed the width. */
__attribute__((format(printf, 3, 4))) void report_line(FILE *out, int indent, const char *format,
		...);

/* Replaces control characters in a text with names of any origin, which must not control the terminal. NULL is left. */
void report_make_plain(char *text);

#endif
