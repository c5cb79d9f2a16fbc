/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/fold_text.h"

#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 19

const json_t *fold_find(const json_t *report, int phase, char *why, size_t why_size)
{
	const json_t *each, *fold;
	size_t i;

	json_array_foreach (json_object_get(report, "phases"), i, each) {
		if (json_integer_value(json_object_get(each, "id")) != phase)
			continue;
		fold = json_object_get(each, "fold");
		if (json_is_object(json_object_get(fold, "rates")))
			return fold;
		snprintf(why, why_size, "phase %d was sampled too rarely to say how it evolves",
				phase);
		return NULL;
	}
	snprintf(why, why_size, "there is no phase %d", phase);
	return NULL;
}

static void print_rates(FILE *out, const char *name, const json_t *rates)
{
	const json_t *rate;
	size_t i;

	/* a long name has a line of its own */
	fprintf(out, "%-*s", NAME_WIDTH, name);
	if (strlen(name) > NAME_WIDTH)
		fprintf(out, "\n%*s", NAME_WIDTH, "");
	json_array_foreach (rates, i, rate) {
		if (json_is_number(rate))
			fprintf(out, " %4.2f", json_number_value(rate));
		else
			fputs("    -", out);
	}
	fputc('\n', out);
}

char *fold_text(const json_t *fold, int phase)
{
	json_t *rates = json_object_get(fold, "rates"), *of;
	size_t bins = json_array_size(json_object_iter_value(json_object_iter(rates)));
	const char *what = json_string_value(json_object_get(fold, "of")), *name;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
			"phase %d, from begin to end of its bursts: rates as multiples of the mean\n"
			"(from %lld samples of %s)\n\n%-*s",
			phase, (long long)json_integer_value(json_object_get(fold, "samples")),
			what ? what : "?", NAME_WIDTH, "  from %");
	for (size_t i = 0; i < bins; i++)
		fprintf(out, " %4.0f", 100.0 * (double)i / (double)bins);
	fputc('\n', out);
	json_object_foreach (rates, name, of)
		print_rates(out, name, of);
	fclose(out);
	return text;
}

char *fold_csv(const json_t *fold)
{
	json_t *of, *rate;
	char *text = NULL;
	const char *name;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("counter,from,to,rate\n", out);
	json_object_foreach (json_object_get(fold, "rates"), name, of)
		json_array_foreach (of, i, rate) {
			double bins = (double)json_array_size(of);

			fprintf(out, "%s,%g,%g,", name, (double)i / bins, ((double)i + 1) / bins);
			if (json_is_number(rate))
				fprintf(out, "%.6g", json_number_value(rate));
			fputc('\n', out);
		}
	fclose(out);
	return text;
}
