/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the report's document is put together with (Jansson). A part that there is no memory for is
 * NULL, and so is what it would stand in: a document is whole, or there is none.
 */
#ifndef PHASEMUX_AGENT_DOCUMENT_H
#define PHASEMUX_AGENT_DOCUMENT_H

#include <jansson.h>

/* The array with the value, which is given away, at its end. */
static inline json_t *document_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* The object with the value, which is given away, under the key. */
static inline json_t *document_set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* Names come from files and users that may say anything; JSON is UTF-8. */
static inline json_t *document_text(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("?");
}

#endif
