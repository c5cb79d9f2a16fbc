/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/names/event_names.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sampling/names/event_sources.h"

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *description;
};

#define HARDWARE(NAME, ID, TEXT)                                                                   \
	{                                                                                          \
		NAME, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##ID, TEXT                                 \
	}
#define SOFTWARE(NAME, ID, TEXT)                                                                   \
	{                                                                                          \
		NAME, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##ID, TEXT                                 \
	}

/* The kernel's own events, by the names that perf(1) gives them. */
static const struct known_event kernel_events[] = {
	HARDWARE("cycles", CPU_CYCLES, "Cycles"),
	HARDWARE("cpu-cycles", CPU_CYCLES, "Cycles"),
	HARDWARE("instructions", INSTRUCTIONS, "Instructions retired"),
	HARDWARE("cache-references", CACHE_REFERENCES, "Cache accesses, as the kernel maps them"),
	HARDWARE("cache-misses", CACHE_MISSES, "Cache misses, as the kernel maps them"),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, "Branches retired"),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, "Branches retired"),
	HARDWARE("branch-misses", BRANCH_MISSES, "Branches mispredicted"),
	HARDWARE("bus-cycles", BUS_CYCLES, "Cycles of the bus"),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND,
			"Cycles in which the front end gave nothing"),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND,
			"Cycles in which the back end took nothing"),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, "Cycles at the nominal frequency"),
	SOFTWARE("cpu-clock", CPU_CLOCK, "Time on a processor, in ns"),
	SOFTWARE("task-clock", TASK_CLOCK, "Time of the thread on a processor, in ns"),
	SOFTWARE("page-faults", PAGE_FAULTS, "Page faults"),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, "Page faults without input or output"),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, "Page faults with input or output"),
	SOFTWARE("context-switches", CONTEXT_SWITCHES,
			"Context switches (needs the kernel level to be allowed)"),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS,
			"Moves to another processor (needs the kernel level to be allowed)"),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, "Unaligned accesses that trapped"),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, "Instructions that trapped"),
};

/* AMD's own names since family 17h, as in perf(1); libpfm4 has other names for these events. */
static const struct known_event amd_events[] = {
	{ "ls_not_halted_cyc", PERF_TYPE_RAW, 0x76, "Cycles" },
	{ "ex_ret_instr", PERF_TYPE_RAW, 0xc0, "Instructions retired" },
	{ "ex_ret_ops", PERF_TYPE_RAW, 0xc1, "Operations retired" },
	{ "ex_ret_brn", PERF_TYPE_RAW, 0xc2, "Branches retired" },
	{ "ex_ret_brn_misp", PERF_TYPE_RAW, 0xc3, "Branches mispredicted" },
	{ "ls_dispatch.ld_dispatch", PERF_TYPE_RAW, 0x129, "Loads dispatched" },
	{ "ls_dispatch.store_dispatch", PERF_TYPE_RAW, 0x229, "Stores dispatched" },
	{ "ls_alloc_mab_count", PERF_TYPE_RAW, 0x5f, "Miss buffers in use, summed over cycles" },
};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static bool has_amd_names(const struct processor *processor)
{
	return strcmp(processor->vendor, "AuthenticAMD") == 0 && processor->family >= 0x17;
}

static bool find_known(struct event *event, const char *name, const struct known_event *known,
		size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(name, known[i].name) == 0) {
			event->type = known[i].type;
			event->config = known[i].config;
			return true;
		}
	}
	return false;
}

/* "r" and one to sixteen hexadecimal digits. */
static bool parse_raw(struct event *event, const char *name)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (name[0] != 'r' || digits == 0 || digits > 16 || name[1 + digits] != '\0')
		return false;
	event->type = PERF_TYPE_RAW;
	event->config = strtoull(name + 1, NULL, 16);
	return true;
}

static int check_name(const char *name, char *why, size_t why_size)
{
	size_t length = strlen(name);

	if (length == 0 || length >= EVENT_NAME_MAX) {
		snprintf(why, why_size, "an event's name has 1 to %d characters",
				EVENT_NAME_MAX - 1);
		return -EINVAL;
	}
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("_-.:=", *c)) {
			snprintf(why, why_size,
					"an event's name has letters, digits and _-.:= "
					"only (PAPI_TOT_INS, r1000001a0, table::EVENT:UMASK)");
			return -EINVAL;
		}
	}
	return 0;
}

int event_resolve(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size)
{
	char native[256];
	int error = check_name(name, why, why_size);

	if (error)
		return error;
	memset(event, 0, sizeof(*event));
	snprintf(event->name, sizeof(event->name), "%s", name);
	if (find_known(event, name, kernel_events, COUNT(kernel_events)) || parse_raw(event, name))
		return 0;
	if (has_amd_names(processor) && find_known(event, name, amd_events, COUNT(amd_events)))
		return 0;
	if (strncmp(name, "PAPI_", 5) == 0) {
		error = event_from_papi(native, sizeof(native), name, why, why_size);
		if (error)
			return error;
		return event_from_libpfm(event, native, processor, why, why_size);
	}
	return event_from_libpfm(event, name, processor, why, why_size);
}

struct filter {
	const char *pattern;
	void (*visit)(void *data, const char *name, const char *description);
	void *data;
};

static void visit_matching(void *data, const char *name, const char *description)
{
	const struct filter *filter = data;

	if (strcasestr(name, filter->pattern))
		filter->visit(filter->data, name, description ? description : "");
}

void event_each(const struct processor *processor, const char *pattern,
		void (*visit)(void *data, const char *name, const char *description), void *data)
{
	struct filter filter = { .pattern = pattern, .visit = visit, .data = data };

	for (size_t i = 0; i < COUNT(kernel_events); i++)
		visit_matching(&filter, kernel_events[i].name, kernel_events[i].description);
	if (has_amd_names(processor))
		for (size_t i = 0; i < COUNT(amd_events); i++)
			visit_matching(&filter, amd_events[i].name, amd_events[i].description);
	event_each_libpfm(processor, visit_matching, &filter);
	if (processor_is_here(processor)) /* PAPI knows presets of no other */
		event_each_papi(visit_matching, &filter);
}

void event_done(void)
{
	event_stop_libpfm();
}
