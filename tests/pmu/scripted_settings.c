/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/pmu/scripted_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const call_names[CALLS] = {
	[CALL_OPEN] = "open",
	[CALL_READ] = "read",
	[CALL_IOCTL] = "ioctl",
	[CALL_CLOSE] = "close",
	[CALL_MAP] = "map",
};

static const struct {
	const char *name;
	int error;
} error_names[] = {
	{ "EPERM", EPERM },
	{ "ENOENT", ENOENT },
	{ "EBADF", EBADF },
	{ "ENOMEM", ENOMEM },
	{ "EACCES", EACCES },
	{ "EBUSY", EBUSY },
	{ "ENODEV", ENODEV },
	{ "EINVAL", EINVAL },
	{ "ENFILE", ENFILE },
	{ "EMFILE", EMFILE },
	{ "ENOSPC", ENOSPC },
	{ "ENOSYS", ENOSYS },
	{ "EOPNOTSUPP", EOPNOTSUPP },
	{ "EIO", EIO },
	{ "EINTR", EINTR },
	{ "short", FAIL_SHORT },
};

int scripted_call_number(const char *name)
{
	for (int i = 0; i < CALLS; i++)
		if (strcmp(name, call_names[i]) == 0)
			return i;
	return -1;
}

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(error_names) / sizeof(error_names[0]); i++)
		if (strcmp(name, error_names[i].name) == 0)
			return error_names[i].error;
	return atoi(name);
}

/* "open:3:EACCES", "read:2+:short" */
static int parse_failure(struct scripted_settings *settings, const char *value)
{
	struct scripted_failure *failure = &settings->failure[settings->failures];
	char call[8], error[16], plus[2] = "";
	unsigned long long nth;
	int number;

	if (settings->failures == SCRIPTED_FAILURES)
		return -EINVAL;
	if (sscanf(value, "%7[a-z]:%llu:%15s", call, &nth, error) != 3 &&
			sscanf(value, "%7[a-z]:%llu%1[+]:%15s", call, &nth, plus, error) != 4)
		return -EINVAL;
	number = scripted_call_number(call);
	if (number < 0 || nth == 0 || error_number(error) == 0)
		return -EINVAL;
	failure->call = (enum scripted_call)number;
	failure->nth = nth;
	failure->onwards = plus[0] == '+';
	failure->error = error_number(error);
	settings->failures++;
	return 0;
}

static int parse_autos(struct scripted_settings *settings, char *value)
{
	char *rest = value, *name;

	while ((name = strsep(&rest, "/"))) {
		int number = scripted_behaviour_number(name);

		if (number < 0 || settings->autos == SCRIPTED_BEHAVIOURS)
			return -EINVAL;
		settings->auto_behaviour[settings->autos++] = (unsigned)number;
	}
	return 0;
}

static int parse_one(struct scripted_settings *settings, const char *key, char *value)
{
	unsigned long long number = strtoull(value, NULL, 10);

	if (strcmp(key, "counters") == 0)
		settings->counters = (unsigned)number;
	else if (strcmp(key, "opens") == 0)
		settings->opens = (unsigned)number;
	else if (strcmp(key, "held") == 0)
		settings->held = (unsigned)number;
	else if (strcmp(key, "processor") == 0)
		snprintf(settings->processor, sizeof(settings->processor), "%s", value);
	else if (strcmp(key, "kernel") == 0)
		return (settings->kernel = scripted_kernel_find(value)) ? 0 : -EINVAL;
	else if (strcmp(key, "hardware") == 0)
		settings->hardware = number != 0;
	else if (strcmp(key, "pages") == 0)
		settings->pages = number != 0;
	else if (strcmp(key, "strict") == 0)
		settings->strict = number != 0;
	else if (strcmp(key, "noise") == 0)
		settings->noise = strtod(value, NULL);
	else if (strcmp(key, "spin") == 0)
		settings->spin = strtod(value, NULL);
	else if (strcmp(key, "ran") == 0)
		settings->ran = number != 0;
	else if (strcmp(key, "seed") == 0)
		settings->seed = number;
	else if (strcmp(key, "pause") == 0)
		settings->pause = number;
	else if (strcmp(key, "jump") == 0)
		settings->jump = number;
	else if (strcmp(key, "back") == 0)
		settings->back = number;
	else if (strcmp(key, "written") == 0 && number > 0)
		settings->written = number;
	else if (strcmp(key, "auto") == 0)
		return parse_autos(settings, value);
	else if (strcmp(key, "emulated") == 0)
		snprintf(settings->emulated, sizeof(settings->emulated), "%s", value);
	else if (strcmp(key, "fail") == 0)
		return parse_failure(settings, value);
	else
		return -EINVAL;
	return 0;
}

int scripted_settings_parse(struct scripted_settings *settings, const char *text)
{
	char copy[1024], *rest = copy, *pair;

	*settings = (struct scripted_settings){
		.counters = 5,
		.opens = 6,
		.processor = "AuthenticAMD-26-2",
		.hardware = true,
		.spin = 1,
		.seed = 1,
		.written = 1,
	};
	snprintf(copy, sizeof(copy), "%s", text ? text : "");
	while ((pair = strsep(&rest, ","))) {
		char *value = strchr(pair, '=');

		if (*pair == '\0')
			continue;
		if (value)
			*value++ = '\0';
		if (!value || parse_one(settings, pair, value) < 0) {
			fprintf(stderr, "scripted PMU: SCRIPTED_PMU: invalid setting '%s'\n", pair);
			return -EINVAL;
		}
	}
	return 0;
}
