/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/results/result_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/core/core.h"
#include "agent/host/log.h"
#include "agent/page/page.h"
#include "agent/setup/output.h"
#include "agent/text/report_text.h"

#define FORMS 4 /* forms of a report */

static char *make_json(const json_t *report, char *why, size_t why_size)
{
	snprintf(why, why_size, "out of memory");
	return json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
}

/* The forms that PHASEMUX_REPORT can ask for. The text is the first one. */
static const struct form {
	enum report wanted;
	char *(*make)(const json_t *report, char *why, size_t why_size);
} forms[FORMS] = {
	{ REPORT_TEXT, report_text },
	{ REPORT_JSON, make_json },
	{ REPORT_CSV, report_csv },
	{ REPORT_HTML, page_html },
};

static const char *const suffixes[FORMS] = { "txt", "json", "csv", "html" };

/*
 * Writes the forms that are wanted (NULL: not this one) under one number. If another rank that reports alone
 * takes the same number at the same moment, the rank that comes second takes the next number. Returns whether
 * all files are there.
 */
static bool write_forms(int folder, const char *stem, char *const text[FORMS])
{
	unsigned number = output_number(folder, stem, suffixes, FORMS);
	bool first = true, all = number > 0;

	if (!number)
		log_line("%s has no room for another report", core.result_folder);
	for (unsigned i = 0; i < FORMS && number; i++) {
		int error;

		if (!text[i])
			continue;
		do
			error = output_write(folder, stem, number, suffixes[i], text[i],
					strlen(text[i]));
		while (error == -EEXIST && first &&
				(number = output_number(folder, stem, suffixes, FORMS)));
		first = false;
		if (error) {
			log_line("%s/%s.%s cannot be written: %s", core.result_folder, stem,
					suffixes[i], strerror(-error));
			all = false;
		}
	}
	return all;
}

/* Says where the results are, and which are on other hosts because the folder is not shared. */
static void say_where(int folder)
{
	unsigned tables, ranks = (unsigned)core.world.size;
	char line[sizeof(core.result_folder) + sizeof(core.host) + 64];
	int length = snprintf(line, sizeof(line), "Results: %s%s%s\n",
			core.several_hosts ? core.host : "", core.several_hosts ? ":" : "",
			core.result_folder);

	log_text(line, (size_t)length);
	if (!core.several_hosts || !core.bursts)
		return;
	tables = output_count(folder, "bursts.");
	if (tables < ranks)
		log_line("the tables of bursts of %u ranks are in the folder of this name on their hosts",
				ranks - tables);
}

bool result_files_write(const json_t *report, const char *stem, bool prints)
{
	bool all = true;
	char *text[FORMS] = { NULL };
	int folder;

	for (unsigned i = 0; i < FORMS; i++) {
		char why[256];

		if (!(core.settings.report & forms[i].wanted))
			continue;
		text[i] = forms[i].make(report, why, sizeof(why));
		if (!text[i]) {
			log_line("no %s.%s: %s", stem, suffixes[i], why);
			all = false;
		}
	}
	folder = output_open(core.result_folder);
	if (folder < 0) {
		log_line("results cannot be written to %s: %s", core.result_folder,
				strerror(-folder));
		all = false;
	} else {
		all = write_forms(folder, stem, text) && all;
	}
	/* last, because flushing the program's buffer may end the program, as it would without the agent */
	if (prints && text[0] && log_speaks()) {
		fflush(stderr);
		log_text(text[0], strlen(text[0]));
		if (folder >= 0)
			say_where(folder);
	}
	if (folder >= 0)
		close(folder);
	for (unsigned i = 0; i < FORMS; i++)
		free(text[i]);
	return all;
}
