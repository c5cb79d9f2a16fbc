/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests settings: every valid value, every kind of invalid value, and their messages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "agent/setup/settings.h"
#include "tests/tap.h"

static const struct setting *setting(const char *name)
{
	for (unsigned i = 0; i < settings_count; i++)
		if (strcmp(settings_table[i].name, name) == 0)
			return &settings_table[i];
	return NULL;
}

static const struct {
	const char *name, *value;
	bool good;
} cases[] = {
	{ "scheme", "time", true },
	{ "scheme", "time-space", true },
	{ "scheme", "random", true },
	{ "scheme", "spacetime", false },
	{ "scheme", "", false },
	{ "group", "0", true },
	{ "group", "-1", false },
	{ "group", "1x", false },
	{ "counters", "auto", true },
	{ "counters", "hardware", true },
	{ "counters", "emulated", true },
	{ "counters", "", false },
	{ "counters", "emulate", false },
	{ "core", "out-of-order", true },
	{ "core", "in-order", true },
	{ "core", "zen5", false },
	{ "core", "", false },
	{ "quantum", "auto", true },
	{ "quantum", "100", true },
	{ "quantum", "10ms", true },
	{ "quantum", "0", false },
	{ "quantum", "10", true },
	{ "quantum", "10 ms", false },
	{ "quantum", "-5ms", false },
	{ "quantum", "nan", false },
	{ "quantum", "1e400s", false },
	{ "budget", "1%", true },
	{ "budget", "0.1%", true },
	{ "budget", "none", true },
	{ "budget", "1", false },
	{ "budget", "0%", false },
	{ "budget", "101%", false },
	{ "burst_min", "auto", true },
	{ "burst_min", "50us", true },
	{ "burst_min", "50", false },
	{ "cluster_by", "auto", true },
	{ "cluster_by", "auto,ipc", false },
	{ "cluster_by", "instructions,ipc", true },
	{ "cluster_by", "duration", true },
	{ "cluster_by", "instructions,ipc,callpath", true },
	{ "cluster_by", "ipc,ipc", false },
	{ "cluster_by", "ipc,", false },
	{ "cluster_by", "colour", false },
	{ "sample", "0", true },
	{ "sample", "100000", false },
	{ "sample", "auto", true },
	{ "sample", "automatic", false },
	{ "trace", "structure", true },
	{ "trace", "off", true },
	{ "trace", "calls", true },
	{ "trace", "", false },
	{ "leads", "all", true },
	{ "leads", "auto", true },
	{ "leads", "8", true },
	{ "leads", "0", false },
	{ "leads", "9", false },
	{ "leads", "some", false },
	{ "leads", "2,medoids", true },
	{ "leads", "auto,farthest", true },
	{ "leads", "all,medoids", false },
	{ "leads", "2,", false },
	{ "region", "off", true },
	{ "region", "6", true },
	{ "region", "1MiB", true },
	{ "region", "16.5KiB", true },
	{ "region", "0", false },
	{ "region", "1KiB", false },
	{ "region", "1MB", false },
	{ "region", "-6", false },
	{ "region", "6x", false },
	{ "toggle", "never", true },
	{ "toggle", "200ms", true },
	{ "toggle", "1ms", false },
	{ "toggle", "2s", false },
	{ "toggle", "0", false },
	{ "output", "out.%j.%h", true },
	{ "output", "out.%d", false },
	{ "output", "out.%", false },
	{ "output", "", false },
	{ "output", "a\nb", false },
	{ "report", "text", true },
	{ "report", "json,csv,bursts,text", true },
	{ "report", "html", true },
	{ "report", "text,json,html", true },
	{ "report", "htm", false },
	{ "report", "xml", false },
	{ "report", "", false },
	{ "start", "paused", true },
	{ "start", "counting", true },
	{ "start", "0", false },
	{ "threads", "1", true },
	{ "threads", "1024", true },
	{ "threads", "0", false },
	{ "threads", "1025", false },
	{ "spool", "/tmp", true },
	{ "spool", "tmp", false },
	{ "disable", "1", true },
	{ "disable", "yes", false },
};

static char *look(const char *name)
{
	return strcmp(name, "PHASEMUX_BURST_MIN") == 0 ? "3ms" : NULL;
}

static char *look_wrong(const char *name)
{
	return strcmp(name, "PHASEMUX_SCHEME") == 0 ? "sideways" : NULL;
}

static void test_samples(void)
{
	struct settings settings;
	char why[256];

	settings_defaults(&settings);
	is_near(settings_sample_hz(&settings, INFINITY, 15000), 100, 0, "100 samples a second");
	is_near(settings_sample_hz(&settings, 0.0005, 0), 100, 0,
			"where it is not known what they take");
	is_near(settings_sample_hz(&settings, 0.0005, 1000), 100, 0, "or that is little");
	is_near(settings_sample_hz(&settings, 0.0005, 12500), 40, 1e-9, "fewer where it is much");
	is_near(settings_sample_hz(&settings, 0.00001, 12500), 10, 0,
			"but not too few to tell anything");
	settings_set(&settings, setting("sample"), "100", why, sizeof(why));
	is_near(settings_sample_hz(&settings, 0.0005, 12500), 100, 0, "as many as the user says");
	settings_set(&settings, setting("sample"), "0", why, sizeof(why));
	is_near(settings_sample_hz(&settings, 0.0005, 12500), 0, 0, "or none");
}

int main(void)
{
	struct settings settings;
	char why[256];

	test_samples();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct settings before;
		int error;

		settings_defaults(&settings);
		before = settings;
		error = settings_set(&settings, setting(cases[i].name), cases[i].value, why,
				sizeof(why));
		ok((error == 0) == cases[i].good &&
						(cases[i].good ||
								memcmp(&before, &settings,
										sizeof(before)) ==
										0),
				"%s=%s is %s", cases[i].name, cases[i].value,
				cases[i].good ? "taken" : "refused, and changes nothing");
	}
	is_int(settings_read(&settings, look, why, sizeof(why)), 0, "the environment is read");
	is_near(settings.burst_min_ns, 3e6, 0, "its value is taken");
	is_near(settings.budget, 0.01, 1e-15, "the rest are the defaults");
	is_int(settings.report, REPORT_TEXT | REPORT_JSON | REPORT_HTML,
			"reports by default: text, json, html");
	is_int(settings_read(&settings, look_wrong, why, sizeof(why)), -EINVAL,
			"nonsense is refused");
	is_str(why,
			"invalid value PHASEMUX_SCHEME=sideways (expected: time-space, time, space, "
			"random, adaptive, none)",
			"in one line with what is expected");
	return tap_done();
}
