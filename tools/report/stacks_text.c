/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/stacks_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"

#define NOT_KNOWN "[unknown]"  /* callers that are not known, as perf writes it */
#define LEFT_OUT  "[left_out]" /* samples whose stacks the report does not have */

/* Writes a name as one frame: a semicolon would end it, and readers may take what follows a blank for the number. */
static void write_frame(FILE *out, const char *name)
{
	putc(';', out);
	for (const char *at = *name ? name : "?"; *at; at++) {
		unsigned char byte = (unsigned char)*at;

		putc(byte <= ' ' || byte == 0x7f ? '_' : byte == ';' ? ',' : byte, out);
	}
}

/* Writes a stack. Returns false if it has no samples, as a report that is not of phasemux may say. */
static bool write_stack(FILE *out, double phase, const json_t *stack)
{
	const json_t *line = json_object_get(stack, "line"), *frame;
	double samples = report_get(stack, "samples");
	const char *text, *slash;
	size_t i;

	if (!(samples >= 1))
		return false;
	fprintf(out, "phase %.0f", phase);
	json_array_foreach (json_object_get(stack, "frames"), i, frame)
		write_frame(out, json_is_string(frame) ? json_string_value(frame) : NOT_KNOWN);
	if (json_is_string(line)) {
		text = json_string_value(line);
		slash = strrchr(text, '/');
		write_frame(out, slash ? slash + 1 : text);
	}
	fprintf(out, " %.0f\n", samples);
	return true;
}

/* Writes the stacks of all phases. Returns the number of lines. */
static unsigned write_stacks(FILE *out, const json_t *phases)
{
	const json_t *phase, *stack;
	unsigned lines = 0;
	size_t i, k;

	json_array_foreach (phases, i, phase) {
		const json_t *stacks = json_object_get(json_object_get(phase, "profile"), "stacks");
		double id = report_get(phase, "id"), left_out = report_get(stacks, "left_out");

		json_array_foreach (json_object_get(stacks, "stacks"), k, stack)
			lines += write_stack(out, id, stack);
		if (left_out > 0)
			fprintf(out, "phase %.0f;" LEFT_OUT " %.0f\n", id, left_out);
	}
	return lines;
}

char *stacks_text(const json_t *report, char *why, size_t why_size)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	unsigned lines = out ? write_stacks(out, json_object_get(report, "phases")) : 0;
	bool whole = out && !ferror(out) && fclose(out) == 0;

	if (whole && lines)
		return text;
	snprintf(why, why_size, "%s",
			whole ? "no call stacks in this report: no burst was sampled, or an older version wrote it" :
				"no memory");
	free(text);
	return NULL;
}
