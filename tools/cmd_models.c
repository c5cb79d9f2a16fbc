/* SPDX-License-Identifier: BSD-3-Clause */
/* phasemux models: lists the CPI models, and how the events of one are grouped for a number of counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/models/model.h"
#include "multiplex/plan.h"
#include "sampling/processor.h"
#include "tools/commands.h"
#include "tools/options.h"

static const char usage[] =
		"usage: phasemux models [NAME [COUNTERS]]\n"
		"\n"
		"The CPI models; of one, its groups of events for a processor that counts COUNTERS at a time (6).\n";

#define COUNTERS 6 /* counters of the processor if no number is given, as AMD has them */

static int list_models(void)
{
	struct processor processor;
	const char *here;

	processor_identify(&processor, NULL);
	here = model_for(&(struct model_processor){ processor.vendor, processor.family,
			processor.model });
	for (unsigned i = 0; i < model_count(); i++)
		printf("%-14s %s%s\n", model_name_of(i), model_title_of(i),
				strcmp(model_name_of(i), here) == 0 ? " (this processor's)" : "");
	printf("\nphasemux models NAME [COUNTERS] shows the groups of one.\n");
	return 0;
}

static int show_model(const char *name, unsigned counters)
{
	char why[256];
	struct model *model = model_load(name, why, sizeof(why));
	struct plan plan;

	if (!model) {
		fprintf(stderr, "phasemux: %s\n", why);
		return 2;
	}
	if (model_pack(model, counters, &plan)) {
		fprintf(stderr,
				"phasemux: %u counters are too few: every group needs %u for the "
				"common events\n",
				counters, model_common(model));
		model_free(model);
		return 2;
	}
	for (unsigned g = 0; g < plan.groups; g++) {
		printf("group %u\n", g);
		for (unsigned i = 0; i < plan.group[g].count; i++) {
			const struct model_event *event =
					model_event(model, plan.group[g].event[i]);

			printf("  %-28s %s\n", event->name, event->description);
		}
	}
	model_free(model);
	return 0;
}

int cmd_models(int argc, char **argv)
{
	int code = options_read(argc, argv, &(struct option_spec){ .usage = usage }, NULL);
	size_t counters = COUNTERS;

	if (code)
		return code < 0 ? 0 : code;
	if (optind == argc)
		return list_models();
	if (optind + 2 < argc ||
			(optind + 2 == argc &&
					!option_whole(argv[optind + 1], 1, PLAN_GROUP_EVENTS_MAX,
							&counters)))
		return option_usage(usage);
	return show_model(argv[optind], (unsigned)counters);
}
