/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbols/name.h"
#include "agent/text/report_line.h"

struct place_text place_name(const char *name, size_t most)
{
	struct place_text text;
	char *whole = strdup(name);

	if (whole)
		name_shorten(whole, most < sizeof(text.text) ? most : sizeof(text.text) - 1);
	snprintf(text.text, sizeof(text.text), "%s", whole ? whole : "?");
	free(whole);
	return text;
}

/*
 * Returns a function and a position in it, without folders: "step solver.c:120". A position without a line
 * contains its function, "step+0x12", or has none, "module+0x1234".
 */
static struct place_text format_place(const char *function, const char *position, size_t most)
{
	size_t length = strlen(function);
	const char *base = strrchr(position, '/');
	struct place_text text, name = place_name(function, most);

	if (!length)
		return place_name(position, most);
	if (strncmp(position, function, length) == 0)
		snprintf(text.text, sizeof(text.text), "%.180s%.60s", name.text, position + length);
	else
		snprintf(text.text, sizeof(text.text), "%.180s %.60s", name.text,
				base ? base + 1 : position);
	return text;
}

/* Returns the text added to the place of an end: the caller of the function, or the wrapper around the call. */
static struct place_text format_beside(const json_t *pair, const char *key, const char *function,
		size_t most)
{
	const json_t *caller, *path;
	struct place_text text = { "" }, place;
	const char *wrapper;
	char name[32];

	snprintf(name, sizeof(name), "%s_caller", key);
	caller = json_object_get(pair, name);
	if (json_is_object(caller)) {
		place = format_place(report_get_text(caller, "function"),
				report_get_text(caller, "position"), most);
		snprintf(text.text, sizeof(text.text), " (in %.240s)", place.text);
		return text;
	}
	snprintf(name, sizeof(name), "%s_path", key);
	path = json_object_get(pair, name);
	wrapper = json_string_value(json_object_get(json_array_get(path, 0), "function"));
	if (wrapper && *wrapper && strcmp(wrapper, function) != 0) {
		place = place_name(wrapper, most);
		snprintf(text.text, sizeof(text.text), " (%.240s)", place.text);
	}
	return text;
}

struct place_text place_end(const json_t *pair, const char *key, size_t most)
{
	const char *position = report_get_text(pair, key), *call, *function;
	struct place_text text = { "" }, place, beside;
	char name[32];

	snprintf(name, sizeof(name), "%s_call", key);
	call = report_get_text(pair, name);
	snprintf(name, sizeof(name), "%s_function", key);
	function = report_get_text(pair, name);
	if (strcmp(position, "?") == 0) {
		snprintf(text.text, sizeof(text.text), "%s", call);
		return text;
	}
	place = format_place(function, position, most);
	beside = format_beside(pair, key, function, most);
	snprintf(text.text, sizeof(text.text), "%.60s%s%.150s%.200s", call, *call ? " in " : "",
			place.text, beside.text);
	return text;
}

struct place_text place_caller(const json_t *pair, const char *path, size_t frame, size_t most)
{
	const json_t *caller = json_array_get(json_object_get(pair, path), frame);
	const char *function = report_get_text(caller, "function");
	const char *position = report_get_text(caller, "position");

	if (!caller || !strcmp(position, "?"))
		return place_name(caller ? function : "", most);
	return format_place(function, position, most);
}

bool place_known(const json_t *pair)
{
	return *place_end(pair, "from", PLACE_NAME_MAX).text ||
			*place_end(pair, "to", PLACE_NAME_MAX).text;
}
