/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that build the report's document (Jansson). Without memory a part is NULL, and so is each object
 * that should contain it. Therefore a document is complete, or there is none.
 */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_DOCUMENT_H
#define PHASEMUX_AGENT_REPORT_PARTS_DOCUMENT_H

#include <jansson.h>
#include <math.h>

/* Appends the value, whose reference it takes over. Returns the array, or NULL without memory. */
static inline json_t *document_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* Sets the key to the value, whose reference it takes over. Returns the object, or NULL without memory. */
static inline json_t *document_set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* Returns a number, or null if it is not finite, which JSON cannot say. */
static inline json_t *document_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

/* Returns the whole number nearest to a value. */
static inline json_t *document_whole(double value)
{
	return json_integer((json_int_t)llround(value));
}

/* Returns which share of all a part is; 0 of nothing. */
static inline double document_share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* Returns a string, or "?" if the text is not UTF-8, which JSON requires. Names may contain anything. */
static inline json_t *document_text(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("?");
}

#endif
