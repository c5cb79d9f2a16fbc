/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/slurm/choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS ": "

static void values_fini(struct choice_values *values)
{
	for (unsigned i = 0; i < SETTINGS_MAX; i++)
		free(values->value[i]);
	memset(values, 0, sizeof(*values));
}

/* Returns the index in the table of the setting that `key` names, also "burst-min"; settings_count: none. */
static unsigned find_setting(const char *key, size_t length)
{
	unsigned i;

	for (i = 0; i < settings_count; i++) {
		const char *name = settings_table[i].name;
		bool same = strlen(name) == length;

		for (size_t k = 0; same && k < length; k++)
			same = name[k] == (key[k] == '-' ? '_' : tolower((unsigned char)key[k]));
		if (same)
			return i;
	}
	return settings_count;
}

/* Checks the value, and keeps a copy. */
static int values_set(struct choice_values *values, unsigned setting, const char *value, char *why,
		size_t why_size)
{
	struct settings trial;
	char *copy;

	settings_defaults(&trial);
	if (settings_set(&trial, &settings_table[setting], value, why, why_size))
		return -EINVAL;
	copy = strdup(value);
	if (!copy) {
		snprintf(why, why_size, "no memory");
		return -ENOMEM;
	}
	free(values->value[setting]);
	values->value[setting] = copy;
	return 0;
}

/* Returns the length of the word's KEY, or 0 if the word is not KEY=... Event names have more than letters. */
static size_t key_length(const char *word)
{
	size_t length = 0;

	while (isalpha((unsigned char)word[length]) || word[length] == '_' || word[length] == '-')
		length++;
	return word[length] == '=' ? length : 0;
}

/* Returns the comma before the next word that is KEY=..., or the end. */
static const char *end_of_value(const char *text)
{
	const char *end = text + strcspn(text, ",");

	while (*end && !key_length(end + 1))
		end += 1 + strcspn(end + 1, ",");
	return end;
}

static int no_such_setting(const char *key, size_t length, char *why, size_t why_size)
{
	size_t used = (size_t)snprintf(why, why_size, "there is no setting %.*s; there are",
			(int)(length < 80 ? length : 80), key);

	for (unsigned i = 0; i < settings_count && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s %s", i ? "," : "",
				settings_table[i].name);
	return -EINVAL;
}

/* Reads the first word: on, off or a scheme. */
static int ask_first(struct choice_request *request, const char *word, char *why, size_t why_size)
{
	if (strcmp(word, "off") == 0) {
		request->wish = CHOICE_OFF;
		return 0;
	}
	request->wish = CHOICE_ON;
	return strcmp(word, "on") == 0 ? 0 :
					 values_set(&request->values, find_setting("scheme", 6),
							 word, why, why_size);
}

/* Reads KEY=VALUE. */
static int ask_setting(struct choice_request *request, const char *word, char *why, size_t why_size)
{
	size_t length = key_length(word);
	unsigned setting = find_setting(word, length);

	if (setting == settings_count)
		return no_such_setting(word, length, why, why_size);
	return values_set(&request->values, setting, word + length + 1, why, why_size);
}

int choice_ask(struct choice_request *request, const char *text, char *why, size_t why_size)
{
	int error = 0;

	choice_request_fini(request);
	if (!text || !*text) {
		request->wish = CHOICE_ON;
		return 0;
	}
	for (const char *at = text; !error;) {
		bool setting = key_length(at) > 0;
		const char *end = setting ? end_of_value(at) : at + strcspn(at, ",");
		char *word = strndup(at, (size_t)(end - at));

		if (!word) {
			snprintf(why, why_size, "no memory");
			error = -ENOMEM;
		} else if (setting) {
			request->wish = CHOICE_ON;
			error = ask_setting(request, word, why, why_size);
		} else if (at == text) {
			error = ask_first(request, word, why, why_size);
		} else {
			snprintf(why, why_size,
					"invalid setting %.80s (expected after the scheme: "
					"KEY=VALUE)",
					word);
			error = -EINVAL;
		}
		free(word);
		if (!*end)
			break;
		at = end + 1;
	}
	if (!error && strncmp(text, "off,", 4) == 0) {
		snprintf(why, why_size, "invalid value %.80s (expected: nothing after off)", text);
		error = -EINVAL;
	}
	if (error)
		choice_request_fini(request);
	return error;
}

void choice_request_fini(struct choice_request *request)
{
	values_fini(&request->values);
	request->wish = CHOICE_UNSAID;
}

/* ---- the site ---- */

void choice_site_init(struct choice_site *site, const char *library, const char *folder)
{
	memset(site, 0, sizeof(*site));
	site->share = 1;
	snprintf(site->library, sizeof(site->library), "%s", library);
	snprintf(site->folder, sizeof(site->folder), "%s", folder);
}

void choice_site_fini(struct choice_site *site)
{
	values_fini(&site->values);
}

static bool take_text(char text[CHOICE_TEXT_MAX], const char *value)
{
	if (!*value || strlen(value) >= CHOICE_TEXT_MAX)
		return false;
	strcpy(text, value);
	return true;
}

static bool take_path(char path[CHOICE_TEXT_MAX], const char *value)
{
	/* the loader would take a path with these as several libraries */
	return *value == '/' && !strpbrk(value, SEPARATORS) && take_text(path, value);
}

static bool take_library(struct choice_site *site, const char *value)
{
	return take_path(site->library, value);
}

static bool take_folder(struct choice_site *site, const char *value)
{
	return take_path(site->folder, value);
}

static bool take_default(struct choice_site *site, const char *value)
{
	bool yes = strcmp(value, "on") == 0;

	if (!yes && strcmp(value, "off") != 0)
		return false;
	site->by_default = yes;
	return true;
}

static bool take_share(struct choice_site *site, const char *value)
{
	char *end;
	double percent;

	if (!isdigit((unsigned char)*value) && *value != '.')
		return false;
	percent = strtod(value, &end);
	if (end == value || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
		return false;
	site->share = percent / 100;
	return true;
}

static bool take_partitions(struct choice_site *site, const char *value)
{
	return take_text(site->partitions, value);
}

/* The arguments of the plugin besides settings. */
static const struct site_argument {
	const char *name;
	const char *values; /* allowed values, for people */
	/* Stores the value. Returns false if it is invalid. */
	bool (*take)(struct choice_site *site, const char *value);
} site_arguments[] = {
	{ "library", "an absolute path", take_library },
	{ "folder", "an absolute path", take_folder },
	{ "default", "on, off", take_default },
	{ "share", "a percentage (10%)", take_share },
	{ "partitions", "a comma list of partitions", take_partitions },
};

/* Returns the argument that `key` names, or NULL. */
static const struct site_argument *find_argument(const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof(site_arguments) / sizeof(*site_arguments); i++)
		if (strlen(site_arguments[i].name) == length &&
				strncmp(site_arguments[i].name, key, length) == 0)
			return &site_arguments[i];
	return NULL;
}

int choice_site_set(struct choice_site *site, const char *argument, char *why, size_t why_size)
{
	size_t length = key_length(argument);
	const struct site_argument *found = find_argument(argument, length);
	const char *value = argument + length + 1;
	unsigned setting;

	if (!length) {
		snprintf(why, why_size, "invalid argument %.80s (expected: KEY=VALUE)", argument);
		return -EINVAL;
	}
	if (!found) {
		setting = find_setting(argument, length);
		return setting < settings_count ?
				values_set(&site->values, setting, value, why, why_size) :
				no_such_setting(argument, length, why, why_size);
	}
	if (found->take(site, value))
		return 0;
	snprintf(why, why_size, "invalid argument %.120s (expected: %s)", argument, found->values);
	return -EINVAL;
}

static bool in_list(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (;;) {
		size_t here = strcspn(list, ",");

		if (here == length && strncmp(list, word, length) == 0)
			return true;
		if (!list[here])
			return false;
		list += here + 1;
	}
}

/* Returns a number in 0 to 1. Consecutive jobs are spread evenly, by the golden ratio's multiples (Weyl). */
static double place_of(uint32_t job)
{
	return (double)(uint32_t)(job * 2654435769u) / 4294967296.0;
}

bool choice_site_wants(const struct choice_site *site, uint32_t job, const char *partition)
{
	if (!site->by_default || place_of(job) >= site->share)
		return false;
	return !*site->partitions || (partition && in_list(site->partitions, partition));
}

/* ---- LD_PRELOAD ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool names_library(const char *list, const char *file)
{
	size_t length = strlen(file);

	for (;;) {
		size_t here = strcspn(list, SEPARATORS);

		if (here >= length && strncmp(list + here - length, file, length) == 0 &&
				(here == length || list[here - length - 1] == '/'))
			return true;
		if (!list[here])
			return false;
		list += here + 1;
	}
}

int choice_preload(const char *library, const char *existing, char *joined, size_t size)
{
	int length;

	if (!existing || !*existing)
		length = snprintf(joined, size, "%s", library);
	else if (names_library(existing, file_name(library)))
		length = snprintf(joined, size, "%s", existing);
	else
		length = snprintf(joined, size, "%s:%s", library, existing);
	return length >= 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}
