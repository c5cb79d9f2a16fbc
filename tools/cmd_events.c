/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux events: the events of this processor, by the names that PHASEMUX_EVENTS takes. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sampling/names/event_names.h"
#include "tools/commands.h"
#include "tools/machine.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux events [PATTERN]\n"
		"\n"
		"This processor's events that have PATTERN in their names, in any case; all without one.\n";

#define COLUMNS    100
#define NAME_WIDTH 44

struct listing {
	bool cut; /* text longer than a line is cut, on a terminal */
	unsigned events;
};

static void print_event(void *data, const char *name, const char *description)
{
	struct listing *listing = data;
	int width = NAME_WIDTH;

	if ((int)strlen(name) > width)
		width = (int)strlen(name);
	listing->events++;
	if (listing->cut)
		printf("%-*s %.*s\n", width, name, width < COLUMNS ? COLUMNS - width - 1 : 0,
				description);
	else
		printf("%-*s %s\n", width, name, description);
}

int cmd_events(int argc, char **argv)
{
	struct listing listing = { .cut = isatty(STDOUT_FILENO) };
	const char *pattern, *table;
	struct machine machine;
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);

	if (code)
		return code < 0 ? 0 : code;
	if (optind + 1 < argc)
		return option_usage(usage);
	pattern = optind < argc ? argv[optind] : "";
	if (machine_look(&machine) < 0)
		return 1;
	event_each(&machine.processor, pattern, print_event, &listing);
	table = event_table_name(&machine.processor);
	if (listing.events == 0) {
		fprintf(stderr,
				"phasemux: no event's name contains '%s' (table: %s); rHEX counts "
				"any raw code\n",
				pattern, table ? table : "the kernel's alone");
		return 1;
	}
	return 0;
}
