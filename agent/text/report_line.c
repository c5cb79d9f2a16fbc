/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_line.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 64 /* bytes of a name that are shown */

double report_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

double report_get_in(const json_t *object, const char *key, const char *inner)
{
	return report_get(json_object_get(object, key), inner);
}

const char *report_get_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

/* Prints words, and starts a new, indented line before a word that would exceed the width. */
static void print_wrapped(FILE *out, const char *words, int indent)
{
	int column = (int)strspn(words, " ");

	if (strlen(words) <= REPORT_WIDTH) {
		fprintf(out, "%s\n", words);
		return;
	}
	fprintf(out, "%*s", column, "");
	words += column;
	for (bool first = true; *words; first = false) {
		int length = (int)strcspn(words, " ");

		if (!first && column + 1 + length > REPORT_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, words);
		column += length;
		words += length;
		words += strspn(words, " ");
	}
	fputc('\n', out);
}

void report_write_name(FILE *out, const char *name)
{
	for (size_t i = 0; i < NAME_WIDTH && name[i]; i++)
		fputc((unsigned char)name[i] < ' ' ? '?' : name[i], out);
}

void report_line(FILE *out, int indent, const char *format, ...)
{
	char *line = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) >= 0)
		print_wrapped(out, line, indent);
	va_end(arguments);
	free(line);
}

void report_make_plain(char *text)
{
	for (char *at = text; at && *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\n') || *at == 0x7f)
			*at = '?';
}
