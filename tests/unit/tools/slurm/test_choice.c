/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what users and sites tell the Slurm plugin, and its effect. */
#include <errno.h>
#include <stdlib.h>

#include "agent/setup/settings.h"
#include "tests/tap.h"
#include "tools/slurm/choice.h"

static const char *value_of(const struct choice_values *values, const char *name)
{
	for (unsigned i = 0; i < settings_count; i++)
		if (strcmp(settings_table[i].name, name) == 0)
			return values->value[i];
	return "no such setting";
}

static const struct {
	const char *text;
	enum choice_wish wish;       /* CHOICE_UNSAID: the request is refused */
	const char *setting, *value; /* a setting that the request must give, or NULL; its value */
} cases[] = {
	{ NULL, CHOICE_ON, "scheme", NULL },
	{ "", CHOICE_ON, "scheme", NULL },
	{ "on", CHOICE_ON, "scheme", NULL },
	{ "off", CHOICE_OFF, "scheme", NULL },
	{ "time", CHOICE_ON, "scheme", "time" },
	{ "none,group=2", CHOICE_ON, "group", "2" },
	{ "on,budget=none", CHOICE_ON, "budget", "none" },
	{ "quantum=10ms", CHOICE_ON, "quantum", "10ms" },
	{ "burst-min=1ms", CHOICE_ON, "burst_min", "1ms" },
	{ "BURST_MIN=1ms", CHOICE_ON, "burst_min", "1ms" },
	{ "time,budget=1%,budget=2%", CHOICE_ON, "budget", "2%" },
	{ "events=cycles,instructions:u=1,r1c2,quantum=5", CHOICE_ON, "events",
			"cycles,instructions:u=1,r1c2" },
	{ "events=cycles,instructions,quantum=5", CHOICE_ON, "quantum", "5" },
	{ "space,report=json,csv", CHOICE_ON, "report", "json,csv" },
	{ "space,output=/a/%j", CHOICE_ON, "output", "/a/%j" },
	{ "tme", CHOICE_UNSAID, NULL, NULL },
	{ "time,space", CHOICE_UNSAID, NULL, NULL },
	{ "time,", CHOICE_UNSAID, NULL, NULL },
	{ ",time", CHOICE_UNSAID, NULL, NULL },
	{ "time,=5", CHOICE_UNSAID, NULL, NULL },
	{ "time,budgt=1%", CHOICE_UNSAID, NULL, NULL },
	{ "time,budget=1", CHOICE_UNSAID, NULL, NULL },
	{ "time,budget=", CHOICE_UNSAID, NULL, NULL },
	{ "off,budget=1%", CHOICE_UNSAID, NULL, NULL },
	{ "off,time", CHOICE_UNSAID, NULL, NULL },
	{ "output=a\nb", CHOICE_UNSAID, NULL, NULL },
	{ "%s%s%n", CHOICE_UNSAID, NULL, NULL },
};

static void test_requests(void)
{
	struct choice_request request = { .wish = CHOICE_UNSAID };
	char why[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got;
		int error;

		/* an earlier request is forgotten */
		choice_ask(&request, "time,sample=7", why, sizeof(why));
		*why = '\0';
		error = choice_ask(&request, cases[i].text, why, sizeof(why));
		ok(request.wish == cases[i].wish &&
						(error == 0) == (cases[i].wish != CHOICE_UNSAID) &&
						(error == 0) == !*why,
				"%s", cases[i].text ? cases[i].text : "(nothing)");
		if (cases[i].setting) {
			got = value_of(&request.values, cases[i].setting);
			is_str(got ? got : "unsaid", cases[i].value ? cases[i].value : "unsaid",
					cases[i].setting);
		}
		ok(!value_of(&request.values, "sample"), "and nothing of an earlier request");
	}
	choice_request_fini(&request);
}

static const struct {
	const char *argument;
	bool good;
} arguments[] = {
	{ "library=/opt/lib/libphasemux.so", true },
	{ "library=lib.so", false },
	{ "library=/a:/b", false },
	{ "library=", false },
	{ "folder=/run/x", true },
	{ "default=on", true },
	{ "default=off", true },
	{ "default=yes", false },
	{ "share=10%", true },
	{ "share=0.5%", true },
	{ "share=101%", false },
	{ "share=-1%", false },
	{ "share=nan%", false },
	{ "share=10", false },
	{ "partitions=a,b", true },
	{ "partitions=", false },
	{ "budget=0.5%", true },
	{ "budget=5", false },
	{ "colour=red", false },
	{ "on", false },
	{ "=", false },
	{ "", false },
};

static void test_sites(void)
{
	struct choice_site site;
	char why[256];
	unsigned chosen = 0;

	choice_site_init(&site, "/lib/a.so", "/run/a");
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
		ok((choice_site_set(&site, arguments[i].argument, why, sizeof(why)) == 0) ==
						arguments[i].good,
				"argument '%s' is %s", arguments[i].argument,
				arguments[i].good ? "taken" : "refused");
	is_str(site.library, "/opt/lib/libphasemux.so", "the library");
	is_str(value_of(&site.values, "budget"), "0.5%", "the site's budget");
	choice_site_fini(&site);

	choice_site_init(&site, "/lib/a.so", "/run/a");
	ok(!choice_site_wants(&site, 1, "main"), "off unless the site says so");
	choice_site_set(&site, "default=on", why, sizeof(why));
	ok(choice_site_wants(&site, 1, "main") && choice_site_wants(&site, 2, NULL), "on for all");
	choice_site_set(&site, "partitions=debug,main", why, sizeof(why));
	ok(choice_site_wants(&site, 1, "main") && choice_site_wants(&site, 1, "debug"),
			"on in the partitions named");
	ok(!choice_site_wants(&site, 1, "mai") && !choice_site_wants(&site, 1, "main2") &&
					!choice_site_wants(&site, 1, "") &&
					!choice_site_wants(&site, 1, NULL),
			"and in no other");
	choice_site_set(&site, "share=10%", why, sizeof(why));
	for (uint32_t job = 1000000; job < 1001000; job++)
		chosen += choice_site_wants(&site, job, "main");
	ok(chosen >= 95 && chosen <= 105, "a share of 10%%: %u of 1000 jobs in a row", chosen);
	choice_site_set(&site, "share=0%", why, sizeof(why));
	ok(!choice_site_wants(&site, 0, "main"), "a share of 0%% is none");
	choice_site_fini(&site);
}

static void test_preload(void)
{
	static const struct {
		const char *existing, *joined;
	} lists[] = {
		{ NULL, "/p/libphasemux.so" },
		{ "", "/p/libphasemux.so" },
		{ "/a/x.so", "/p/libphasemux.so:/a/x.so" },
		{ "/a/x.so /b/y.so", "/p/libphasemux.so:/a/x.so /b/y.so" },
		{ "/p/libphasemux.so", "/p/libphasemux.so" },
		{ "/a/x.so:/other/libphasemux.so", "/a/x.so:/other/libphasemux.so" },
		{ "libphasemux.so /a/x.so", "libphasemux.so /a/x.so" },
		{ "/a/notlibphasemux.so", "/p/libphasemux.so:/a/notlibphasemux.so" },
		{ "/a/libphasemux.so.bak", "/p/libphasemux.so:/a/libphasemux.so.bak" },
	};
	char joined[64];

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		choice_preload("/p/libphasemux.so", lists[i].existing, joined, sizeof(joined));
		is_str(joined, lists[i].joined, lists[i].existing ? lists[i].existing : "none");
	}
	is_int(choice_preload("/p/libphasemux.so", "/a/long.so", joined, 20), -ENAMETOOLONG,
			"too long");
}

int main(void)
{
	test_requests();
	test_sites();
	test_preload();
	return tap_done();
}
