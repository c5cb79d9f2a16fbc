/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/setup/counting.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/hash.h"
#include "sampling/descriptor.h"
#include "sampling/emulated/emulated_pmu.h"
#include "sampling/names/event_names.h"

void counting_warn(struct counting *counting, const char *format, ...)
{
	va_list arguments;

	if (counting->warnings == COUNTING_WARNINGS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(counting->warning[counting->warnings++], sizeof(counting->warning[0]), format,
			arguments);
	va_end(arguments);
}

/* Model of the kernel's software events. It has no CPI components, and is no processor's default. */
#define MODEL_SOFTWARE "software"

/* ---- the user's list ---- */

static bool is_builtin_model(const char *name)
{
	for (unsigned i = 0; i < model_count(); i++)
		if (strcmp(model_name_of(i), name) == 0)
			return true;
	return false;
}

/* Returns the events of "@file", one or more a line, without '#' comments, as a comma list to be freed. */
static char *read_list(const char *path, char *why, size_t why_size)
{
	char *list = NULL, *line = NULL;
	size_t list_size = 0, line_size = 0;
	FILE *file = fopen(path, "re"), *out;

	if (!file) {
		snprintf(why, why_size, "PHASEMUX_EVENTS=@%.80s: %s", path, strerror(errno));
		return NULL;
	}
	out = open_memstream(&list, &list_size);
	while (out && getline(&line, &line_size, file) >= 0) {
		line[strcspn(line, "#")] = '\0';
		for (char *save, *word = strtok_r(line, " \t\r\n,", &save); word;
				word = strtok_r(NULL, " \t\r\n,", &save))
			fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", word);
	}
	free(line);
	fclose(file);
	if (out)
		fclose(out);
	return list;
}

/* Adds cycles and instructions, which are the first events of every group. The user need not name them. */
static void want_common(struct counting_list *wanted)
{
	static const struct event common[] = {
		{ .name = "cycles",
				.type = PERF_TYPE_HARDWARE,
				.config = PERF_COUNT_HW_CPU_CYCLES },
		{ .name = "instructions",
				.type = PERF_TYPE_HARDWARE,
				.config = PERF_COUNT_HW_INSTRUCTIONS },
	};

	memcpy(wanted->event, common, sizeof(common));
	wanted->count = wanted->common = 2;
}

/* Returns the number of the event in the list, or the list's length. */
static unsigned find_event(const struct counting_list *list, const struct event *event)
{
	unsigned i = 0;

	while (i < list->count &&
			(list->event[i].type != event->type ||
					list->event[i].config != event->config))
		i++;
	return i;
}

static int want_list(struct counting *counting, const char *list, char *why, size_t why_size)
{
	struct counting_list *wanted = &counting->wanted;
	char *words = strdup(list);
	int error = words ? 0 : -ENOMEM;

	want_common(wanted);
	for (char *save, *word = words ? strtok_r(words, ",", &save) : NULL; word && !error;
			word = strtok_r(NULL, ",", &save)) {
		struct event event;
		char reason[256];
		unsigned known;

		if (event_resolve(&event, word, &counting->processor, reason, sizeof(reason))) {
			snprintf(why, why_size, "PHASEMUX_EVENTS: %s", reason);
			error = -EINVAL;
			break;
		}
		known = find_event(wanted, &event);
		if (known < wanted->count) {
			if (known >= wanted->common)
				counting_warn(counting,
						"%.100s is the same event as %.100s, and is counted once",
						word, wanted->event[known].name);
			continue;
		}
		if (wanted->count == PLAN_EVENTS_MAX) {
			snprintf(why, why_size, "PHASEMUX_EVENTS: more than %d events",
					PLAN_EVENTS_MAX);
			error = -EINVAL;
			break;
		}
		wanted->event[wanted->count++] = event;
	}
	free(words);
	if (!error && wanted->count == wanted->common && !*list) {
		snprintf(why, why_size, "PHASEMUX_EVENTS names no event");
		error = -EINVAL;
	}
	return error;
}

/* ---- a model's ---- */

static void want_model(struct counting_list *wanted, const struct model *model,
		const struct processor *processor, struct counting *counting)
{
	wanted->count = 0;
	wanted->common = model_common(model);
	for (unsigned i = 0; i < model_events(model) && wanted->count < PLAN_EVENTS_MAX; i++) {
		const struct model_event *from = model_event(model, i);
		struct event event = { .type = from->type, .config = from->config };
		char reason[256];

		if (!from->raw &&
				event_resolve(&event, from->libpfm, processor, reason,
						sizeof(reason))) {
			counting_warn(counting, "%.60s: %.180s", from->name, reason);
			continue;
		}
		snprintf(event.name, sizeof(event.name), "%s", from->name);
		wanted->model_event[wanted->count] = i;
		wanted->together[wanted->count] = from->together;
		wanted->counter_set[wanted->count] = from->counter_set;
		wanted->event[wanted->count++] = event;
	}
}

static struct model_processor model_processor(const struct processor *processor)
{
	return (struct model_processor){ .vendor = processor->vendor,
		.family = processor->family,
		.model = processor->model };
}

/* Resolves the hardware events that the setting asks for. */
static int want(struct counting *counting, const char *events, char *why, size_t why_size)
{
	struct model_processor processor = model_processor(&counting->processor);
	const char *model = strcmp(events, "auto") == 0 ? model_for(&processor) :
			is_builtin_model(events)        ? events :
							  NULL;
	char *list = NULL;
	int error;

	if (model) {
		counting->wanted_model = model_load(model, why, why_size);
		if (!counting->wanted_model)
			return -EINVAL;
		want_model(&counting->wanted, counting->wanted_model, &counting->processor,
				counting);
		return 0;
	}
	if (events[0] == '@') {
		list = read_list(events + 1, why, why_size);
		if (!list)
			return -EINVAL;
		events = list;
	}
	error = want_list(counting, events, why, why_size);
	free(list);
	return error;
}

int counting_look(struct counting *counting, const char *events, const char *pmu_path, char *why,
		size_t why_size)
{
	static const struct event instructions = { .name = "instructions",
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS };
	int error;

	memset(counting, 0, sizeof(*counting));
	counting->pmu = pmu_path ? pmu_load(pmu_path, why, why_size) : emulated_pmu();
	if (!counting->pmu && pmu_path)
		return -EINVAL;
	if (!counting->pmu)
		counting->pmu = pmu_kernel();
	processor_identify(&counting->processor, counting->pmu->processor);
	if (counting->pmu->brand)
		snprintf(counting->processor.brand, sizeof(counting->processor.brand), "%s",
				counting->pmu->brand);
	/* the setting comes first, so that an invalid one is refused on every machine */
	error = want(counting, events, why, why_size);
	if (error) {
		counting_fini(counting);
		return error;
	}
	counting->software_model = model_load(MODEL_SOFTWARE, why, why_size);
	if (!counting->software_model) {
		counting_fini(counting);
		return -ENOMEM;
	}
	want_model(&counting->software, counting->software_model, &counting->processor, counting);
	event_done();
	probe_run(&counting->probe, counting->pmu, &instructions);
	return 0;
}

/* ---- which events this machine has ---- */

/* Opens the event in a group. Returns 1 if it cannot be opened, else 0. */
static double try_open(const struct pmu *pmu, const struct event *event, struct group *group)
{
	unsigned bad;

	return group_open(group, pmu, &event, 1, READ_SYSCALL, &bad) != 0;
}

void counting_let_go(struct counting *counting)
{
	for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++)
		group_close(&counting->tried[i]);
}

/* Returns a hash of the list, of 32 bits so that a double holds it. */
static double list_number(const struct counting_list *list)
{
	uint64_t hash = HASH_START;

	for (unsigned i = 0; i < list->count; i++) {
		const struct event *event = &list->event[i];

		hash = hash_bytes(hash, &event->config, sizeof(event->config));
		hash = hash_bytes(hash, &event->type, sizeof(event->type));
	}
	return (double)(hash >> 32);
}

void counting_limits(struct counting *counting, struct counting_limits *limits)
{
	struct group group;

	memset(limits, 0, sizeof(*limits));
	limits->no_hardware = !counting->probe.hardware;
	limits->counters = -(double)probe_capacity(&counting->probe, counting->pmu,
			counting->wanted.event, counting->wanted.common);
	limits->list[0] = list_number(&counting->wanted);
	limits->list[1] = -limits->list[0];
	limits->sample_ns = counting->probe.sample_ns;
	for (unsigned i = 0; i < counting->wanted.count && counting->probe.hardware; i++) {
		limits->missing[i] = try_open(counting->pmu, &counting->wanted.event[i], &group);
		group_close(&group);
	}
	for (unsigned i = 0; i < counting->software.count; i++) {
		limits->missing_software[i] =
				try_open(counting->pmu, &counting->software.event[i], &group);
		/* if descriptors are scarce, the thread may need this one */
		if (i < GROUP_EVENTS_MAX && group.fd[0] >= DESCRIPTOR_LIFTED)
			counting->tried[i] = group;
		else
			group_close(&group);
	}
}

/* Packs the events that are not missing into groups. Returns false, and changes nothing, if it cannot. */
static bool pack_list(struct counting *counting, const struct counting_list *list,
		const double *missing, unsigned counters, char *why, size_t why_size)
{
	uint8_t together[PLAN_EVENTS_MAX];
	uint16_t on[PLAN_EVENTS_MAX];
	struct plan plan;
	unsigned kept = 0;

	for (unsigned i = 0; i < list->common; i++)
		if (missing[i]) {
			snprintf(why, why_size, "%s cannot be counted", list->event[i].name);
			return false;
		}
	for (unsigned i = 0; i < list->count; i++)
		if (!missing[i]) {
			on[kept] = list->counter_set[i];
			together[kept++] = list->together[i];
		}
	if (plan_pack_on(&plan, kept, list->common, counters, together, on)) {
		snprintf(why, why_size,
				"%u events do not fit: %u counters count here, and every "
				"group needs %u for the common ones",
				kept, counters, list->common);
		return false;
	}
	kept = 0;
	for (unsigned i = 0; i < list->count; i++) {
		if (missing[i]) {
			counting_warn(counting, "%s is left out: this processor does not have it",
					list->event[i].name);
			continue;
		}
		counting->event[kept] = list->event[i];
		counting->model_event[kept++] = list->model_event[i];
	}
	counting->plan = plan;
	return true;
}

void counting_settle(struct counting *counting, const struct counting_limits *limits)
{
	unsigned counters = (unsigned)-limits->counters;
	char why[256];

	if (counters > PLAN_GROUP_EVENTS_MAX)
		counters = PLAN_GROUP_EVENTS_MAX;
	counting->probe.sample_ns = limits->sample_ns;
	if (!counting->probe.hardware)
		probe_explain(&counting->probe, counting->processor.hypervisor, counting->obstacle,
				sizeof(counting->obstacle));
	else if (limits->no_hardware)
		snprintf(counting->obstacle, sizeof(counting->obstacle),
				"some rank of the job runs where there are none");
	else if (limits->list[0] != -limits->list[1])
		snprintf(counting->obstacle, sizeof(counting->obstacle),
				"the ranks' processors differ; PHASEMUX_EVENTS=generic counts on all");
	else if (pack_list(counting, &counting->wanted, limits->missing, counters,
				 counting->obstacle, sizeof(counting->obstacle))) {
		counting->obstacle[0] = '\0';
		counting->hardware = true;
		counting->model = counting->wanted_model;
		return;
	}
	counting->warnings = 0;
	counting->model = counting->software_model;
	if (pack_list(counting, &counting->software, limits->missing_software,
			    PLAN_GROUP_EVENTS_MAX, why, sizeof(why)))
		return;
	/* without software events only time is measured */
	counting->model = NULL;
	counting->warnings = 0;
	counting->plan = (struct plan){ .groups = 1 };
}

void counting_fini(struct counting *counting)
{
	counting_let_go(counting);
	model_free(counting->wanted_model);
	model_free(counting->software_model);
	counting->model = counting->wanted_model = counting->software_model = NULL;
}
