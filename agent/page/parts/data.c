/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/page/parts/data.h"

#include <stdbool.h>
#include <string.h>

#define SPREAD_DIGITS 4 /* of half-widths of intervals and standard deviations */

static void put_value(FILE *out, const json_t *value, int digits);

/* Writes a part of a string of JSON. Characters of HTML and DEL become escapes, which mean the same. */
static int put_characters(const char *text, size_t size, void *out)
{
	for (; size; text++, size--)
		if (*text == '<' || *text == '>' || *text == '&' || *text == 0x7f)
			fprintf(out, "\\u%04x", (unsigned)*text);
		else
			fputc(*text, out);
	return 0;
}

static void put_string(FILE *out, const json_t *string)
{
	json_dump_callback(string, put_characters, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/* Writes a number without what an exponent does not need: 1e+07 is 1e7, and 1e-05 is 1e-5. */
static void put_real(FILE *out, double value, int count)
{
	char text[32], *exponent, *significant;

	snprintf(text, sizeof(text), "%.*g", count, value);
	exponent = strchr(text, 'e');
	if (exponent) {
		significant = exponent + 1 + strspn(exponent + 1, "+-0");
		exponent += exponent[1] == '-' ? 2 : 1;
		memmove(exponent, significant, strlen(significant) + 1);
	}
	fputs(text, out);
}

static bool is_spread(const char *key)
{
	size_t length = strlen(key);

	return strcmp(key, "sd") == 0 || (length >= 4 && strcmp(key + length - 4, "ci95") == 0);
}

/* Returns whether a value is one that the page draws, and of which no script computes. A counter may have any name. */
static bool is_left_out(const char *key, const json_t *value)
{
	static const struct {
		const char *key, *member; /* the member tells it from a counter of the same name */
	} drawn[] = { { "sample", "phase" }, { "timeline", "groups" }, { "fold", "rates" } };

	for (unsigned i = 0; i < sizeof(drawn) / sizeof(*drawn); i++)
		if (strcmp(key, drawn[i].key) == 0 && json_object_get(value, drawn[i].member))
			return true;
	return strcmp(key, "deciles") == 0 && json_is_number(json_array_get(value, 0));
}

static void put_object(FILE *out, json_t *object, int digits)
{
	const char *key, *separator = "{";
	json_t *value;

	json_object_foreach (object, key, value) {
		json_t *name = json_string(key);

		if (name && !is_left_out(key, value)) {
			fputs(separator, out);
			put_string(out, name);
			fputc(':', out);
			put_value(out, value, is_spread(key) ? SPREAD_DIGITS : digits);
			separator = ",";
		}
		json_decref(name);
	}
	fputs(*separator == '{' ? "{}" : "}", out);
}

static void put_array(FILE *out, const json_t *array, int digits)
{
	const json_t *value;
	size_t i;

	fputc('[', out);
	json_array_foreach (array, i, value) {
		if (i)
			fputc(',', out);
		put_value(out, value, digits);
	}
	fputc(']', out);
}

static void put_value(FILE *out, const json_t *value, int digits)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		put_object(out, (json_t *)value,
				digits); /* json_object_foreach takes no constant object */
		break;
	case JSON_ARRAY:
		put_array(out, value, digits);
		break;
	case JSON_STRING:
		put_string(out, value);
		break;
	case JSON_INTEGER:
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		put_real(out, json_real_value(value), digits);
		break;
	case JSON_TRUE:
		fputs("true", out);
		break;
	case JSON_FALSE:
		fputs("false", out);
		break;
	case JSON_NULL:
		fputs("null", out);
		break;
	}
}

void page_json(FILE *out, const char *id, const json_t *json, int digits)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	put_value(out, json, digits);
	fputs("</script>\n", out);
}
