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
#include "agent/trace/trace_pack.h"

#define FORMS 5 /* forms of a report */

static char *make_json(const json_t *report, char *why, size_t why_size)
{
	snprintf(why, why_size, "out of memory");
	return json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
}

/* The forms that PHASEMUX_REPORT can ask for. The text is the first one. */
static const struct form {
	enum report wanted;
	char *(*make)(const json_t *report, char *why, size_t why_size);
	const char *suffix;
} forms[FORMS] = {
	{ REPORT_TEXT, report_text, "txt" },
	{ REPORT_JSON, make_json, "json" },
	{ REPORT_CSV, report_csv, "csv" },
	{ REPORT_HTML, page_html, "html" },
	{ REPORT_JSON, trace_pack_text, "json" },
};

#define TRACE (FORMS - 1) /* the form that is not of the whole report */

/* Returns whether a form is to be written. Only the report of the end has a trace beside it. */
static bool is_wanted(unsigned form, const json_t *report, bool at_end)
{
	return core.settings.report & forms[form].wanted &&
			(form != TRACE || (at_end && trace_pack_exists(report)));
}

/* Names the files of a report. */
static void name_forms(struct output_name name[FORMS], const char *stem)
{
	for (unsigned i = 0; i < FORMS; i++)
		name[i] = (struct output_name){ i == TRACE ? "trace" : stem, forms[i].suffix };
}

/*
 * Writes the forms that are wanted (NULL: not this one) under one number. If another rank that reports alone
 * takes the same number at the same moment, the rank that comes second takes the next number. Returns whether
 * all files are there.
 */
static bool write_forms(int folder, const struct output_name name[FORMS], char *const text[FORMS])
{
	unsigned number = output_number(folder, name, FORMS);
	bool first = true, all = number > 0;

	if (!number)
		log_line("%s has no room for another report", core.result_folder);
	for (unsigned i = 0; i < FORMS && number; i++) {
		int error;

		if (!text[i])
			continue;
		do
			error = output_write(folder, name[i].base, number, name[i].suffix, text[i],
					strlen(text[i]));
		while (error == -EEXIST && first && (number = output_number(folder, name, FORMS)));
		first = false;
		if (error) {
			log_line("%s/%s.%s cannot be written: %s", core.result_folder, name[i].base,
					name[i].suffix, strerror(-error));
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

bool result_files_write(const json_t *report, const char *stem, bool at_end)
{
	bool all = true;
	char *text[FORMS] = { NULL };
	struct output_name name[FORMS];
	int folder;

	name_forms(name, stem);
	for (unsigned i = 0; i < FORMS; i++) {
		char why[256];

		if (!is_wanted(i, report, at_end))
			continue;
		text[i] = forms[i].make(report, why, sizeof(why));
		if (!text[i]) {
			log_line("no %s.%s: %s", name[i].base, name[i].suffix, why);
			all = false;
		}
	}
	folder = output_open(core.result_folder);
	if (folder < 0) {
		log_line("results cannot be written to %s: %s", core.result_folder,
				strerror(-folder));
		all = false;
	} else {
		all = write_forms(folder, name, text) && all;
	}
	/* last, because flushing the program's buffer may end the program, as it would without the agent */
	if (at_end && text[0] && log_speaks()) {
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
