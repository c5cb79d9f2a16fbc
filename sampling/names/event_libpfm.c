/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names by libpfm4. A processor that this libpfm4 does not recognise uses the nearest table that it
 * has. LIBPFM_ENCODE_INACTIVE makes tables of other machines usable.
 */
#include "sampling/names/event_names.h"
#include "sampling/names/event_sources.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifdef LIBPFM_SONAME

#include <perfmon/pfmlib_perf_event.h>

/*
 * The library's functions. It is opened when the first name is looked up, because its tables are a megabyte
 * that is relocated as it is loaded. Most runs count events whose codes are known without it.
 */
static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_terminate) *terminate;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_pmu_info) *get_pmu_info;
	__typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
	__typeof__(pfm_get_event_next) *get_event_next;
	__typeof__(pfm_get_event_info) *get_event_info;
	__typeof__(pfm_get_event_attr_info) *get_event_attr_info;
} pfm;

/* Tables by processor, the nearest first; a newer libpfm4 may have tables that 4.13 does not have. */
static const struct {
	const char *vendor;
	unsigned family, first_model, last_model;
	const char *tables[3];
} nearest_tables[] = {
	{ "AuthenticAMD", 0x1a, 0, 0xff, { "amd64_fam1ah_zen5", "amd64_fam19h_zen4" } },
	{ "AuthenticAMD", 0x19, 0x10, 0x1f, { "amd64_fam19h_zen4" } },
	{ "AuthenticAMD", 0x19, 0x60, 0xaf, { "amd64_fam19h_zen4" } },
	{ "AuthenticAMD", 0x19, 0, 0xff, { "amd64_fam19h_zen3" } },
	{ "AuthenticAMD", 0x17, 0, 0x2f, { "amd64_fam17h_zen1" } },
	{ "AuthenticAMD", 0x17, 0x30, 0xff, { "amd64_fam17h_zen2" } },
	{ "HygonGenuine", 0x18, 0, 0xff, { "amd64_fam17h_zen1" } },
	{ "AuthenticAMD", 0x1b, 0, 0xff, { "amd64_fam1ah_zen5", "amd64_fam19h_zen4" } },
	{ "GenuineIntel", 6, 0x2d, 0x2d, { "snb_ep" } },
	{ "GenuineIntel", 6, 0x3e, 0x3e, { "ivb_ep" } },
	{ "GenuineIntel", 6, 0x3f, 0x3f, { "hsw_ep" } },
	{ "GenuineIntel", 6, 0x4f, 0x4f, { "bdw_ep" } },
	{ "GenuineIntel", 6, 0x56, 0x56, { "bdw_ep" } },
	{ "GenuineIntel", 6, 0x55, 0x55, { "skx", "clx" } },
	{ "GenuineIntel", 6, 0x57, 0x57, { "knl" } },
	{ "GenuineIntel", 6, 0x85, 0x85, { "knm" } },
	{ "GenuineIntel", 6, 0x6a, 0x6c, { "icx" } },
	{ "GenuineIntel", 6, 0x7d, 0x7e, { "icl" } },
	{ "GenuineIntel", 6, 0x8f, 0x8f, { "spr" } },
	{ "GenuineIntel", 6, 0xcf, 0xcf, { "emr", "spr" } },
	{ "GenuineIntel", 6, 0xad, 0xae, { "gnr", "spr" } },
};

/*
 * Events of the nearest table that this processor does not have or counts otherwise, by event
 * select and unit mask (0xff: all of them).
 */
static const struct {
	unsigned family;
	const char *table;
	unsigned select, umask;
	const char *instead;
} misfits[] = {
	{ 0x1a, "amd64_fam19h_zen4", 0x96, 0xff, "it counts nothing; r19f is near" },
	{ 0x1a, "amd64_fam19h_zen4", 0x41, 0xff, "its unit masks are others: r741, r841, rf41" },
	{ 0x1a, "amd64_fam19h_zen4", 0xae, 0x20, "it counts nothing" },
	{ 0x1a, "amd64_fam19h_zen4", 0xae, 0x80, "it counts nothing" },
	{ 0x1a, "amd64_fam19h_zen4", 0xaf, 0x08, "it counts nothing" },
};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* Finds the library's functions; only libpfm_ready calls it. They stay NULL if the library cannot be opened. */
static bool libpfm_opens(void)
{
	static const struct {
		const char *name;
		void **where;
	} functions[] = {
		{ "pfm_initialize", (void **)&pfm.initialize },
		{ "pfm_terminate", (void **)&pfm.terminate },
		{ "pfm_strerror", (void **)&pfm.strerror },
		{ "pfm_get_pmu_info", (void **)&pfm.get_pmu_info },
		{ "pfm_get_os_event_encoding", (void **)&pfm.get_os_event_encoding },
		{ "pfm_get_event_next", (void **)&pfm.get_event_next },
		{ "pfm_get_event_info", (void **)&pfm.get_event_info },
		{ "pfm_get_event_attr_info", (void **)&pfm.get_event_attr_info },
	};
	void *library;

	if (pfm.initialize)
		return true;
	library = dlopen(LIBPFM_SONAME, RTLD_LAZY | RTLD_LOCAL);
	for (size_t i = COUNT(functions); i-- > 0 && library;) {
		*functions[i].where = dlsym(library, functions[i].name);
		if (!*functions[i].where)
			return false;
	}
	return pfm.initialize;
}

static bool put_aside(const char *entry)
{
	return strncmp(entry, "LIBPFM_ENCODE_INACTIVE=", 23) == 0 ||
			strncmp(entry, "LIBPFM_FORCE_PMU=", 17) == 0;
}

/*
 * libpfm4 reads its settings from the environment when it starts. It gets an array of its own to read, so that
 * the program's environment stays as it was, even its address. setenv would leave a reallocated one behind.
 */
static int start_libpfm(void)
{
	static char inactive[] = "LIBPFM_ENCODE_INACTIVE=1";
	char **original = environ, **changed;
	size_t count = 0, kept = 0;
	int status;

	while (original && original[count])
		count++;
	changed = calloc(count + 2, sizeof(*changed));
	if (!changed)
		return PFM_ERR_NOMEM;
	changed[kept++] = inactive;
	for (size_t i = 0; i < count; i++)
		if (!put_aside(original[i]))
			changed[kept++] = original[i];
	environ = changed;
	status = pfm.initialize();
	environ = original;
	free(changed);
	return status;
}

/*
 * libpfm4 may have other users in the process: a PAPI of the program's own, or the one that event_papi.c asks,
 * which stops it. Therefore its state is asked for, not remembered.
 */
static bool libpfm_runs(void)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };

	return pfm.get_pmu_info(PFM_PMU_PERF_EVENT, &info) != PFM_ERR_NOINIT;
}

static bool started_by_us;

static bool libpfm_ready(void)
{
	if (!libpfm_opens())
		return false;
	if (libpfm_runs())
		return true;
	started_by_us = start_libpfm() == PFM_SUCCESS;
	return started_by_us;
}

void event_stop_libpfm(void)
{
	if (started_by_us && libpfm_runs())
		pfm.terminate();
	started_by_us = false;
}

static bool table_info(const char *name, pfm_pmu_info_t *info)
{
	int pmu;

	pfm_for_all_pmus(pmu)
	{
		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		if (pfm.get_pmu_info(pmu, info) == PFM_SUCCESS && strcmp(info->name, name) == 0)
			return true;
	}
	return false;
}

/* Returns the table that libpfm4 itself chooses for this processor, or NULL. */
static const char *table_of_this_machine(void)
{
	pfm_pmu_info_t info;
	int pmu;

	pfm_for_all_pmus(pmu)
	{
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		/* "ix86arch" has the architectural events only: any other table is better */
		if (pfm.get_pmu_info(pmu, &info) == PFM_SUCCESS && info.is_present &&
				info.type == PFM_PMU_TYPE_CORE &&
				strcmp(info.name, "ix86arch") != 0)
			return info.name;
	}
	return NULL;
}

const char *event_table_name(const struct processor *processor)
{
	const char *table = NULL;
	pfm_pmu_info_t info;

	if (!libpfm_ready())
		return NULL;
	if (processor_is_here(processor))
		table = table_of_this_machine();
	for (size_t i = 0; i < COUNT(nearest_tables) && !table; i++) {
		if (strcmp(nearest_tables[i].vendor, processor->vendor) != 0 ||
				nearest_tables[i].family != processor->family ||
				processor->model < nearest_tables[i].first_model ||
				processor->model > nearest_tables[i].last_model)
			continue;
		for (size_t j = 0; j < 3 && nearest_tables[i].tables[j] && !table; j++)
			if (table_info(nearest_tables[i].tables[j], &info))
				table = info.name;
	}
	return table;
}

static int encode(struct event *event, const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t argument = { .attr = &attr, .size = sizeof(argument) };
	int status = pfm.get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);

	if (status == PFM_SUCCESS) {
		event->type = attr.type;
		event->config = attr.config;
		event->config1 = attr.config1;
	}
	return status;
}

/* Returns NULL if the processor has the event as in its table, else what to do instead. */
static const char *misfit(const struct event *event, const char *name,
		const struct processor *processor)
{
	/* AMD: bits 32-35 extend the event select */
	unsigned select = (unsigned)(event->config & 0xff) | (event->config >> 24 & 0xf00);
	unsigned umask = (unsigned)(event->config >> 8 & 0xff);

	for (size_t i = 0; i < COUNT(misfits); i++) {
		size_t length = strlen(misfits[i].table);

		if (processor->family == misfits[i].family &&
				strcmp(processor->vendor, "AuthenticAMD") == 0 &&
				strncmp(name, misfits[i].table, length) == 0 &&
				name[length] == ':' && select == misfits[i].select &&
				(misfits[i].umask == 0xff || misfits[i].umask == umask))
			return misfits[i].instead;
	}
	return NULL;
}

int event_from_libpfm(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size)
{
	char full[256];
	const char *table, *instead;
	int status;

	if (!libpfm_ready()) {
		snprintf(why, why_size, "libpfm4 does not start, so names are not known: use rHEX");
		return -ENOSYS;
	}
	table = event_table_name(processor);
	if (strstr(name, "::"))
		snprintf(full, sizeof(full), "%s", name);
	else
		snprintf(full, sizeof(full), "%s::%s", table ? table : "perf", name);
	status = encode(event, full);
	if (status != PFM_SUCCESS && !strstr(name, "::")) {
		char generic[256];
		int generic_status;

		snprintf(generic, sizeof(generic), "perf::%s", name);
		generic_status = encode(event, generic);
		if (generic_status == PFM_SUCCESS)
			return 0;
	}
	if (status != PFM_SUCCESS) {
		snprintf(why, why_size,
				"no event %s in libpfm4 (%s); `phasemux events` lists "
				"them, rHEX names any",
				full, pfm.strerror(status));
		return -ENOENT;
	}
	instead = misfit(event, full, processor);
	if (instead) {
		snprintf(why, why_size, "%s does not fit this processor: %s", full, instead);
		return -ENOENT;
	}
	return 0;
}

static void each_of_event(const pfm_event_info_t *info, const struct processor *processor,
		const char *table,
		void (*visit)(void *data, const char *name, const char *description), void *data)
{
	char name[256], text[512];
	struct event event;
	bool with_umask = false;
	int i;

	pfm_for_each_event_attr(i, info)
	{
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };

		if (pfm.get_event_attr_info(info->idx, i, PFM_OS_PERF_EVENT, &attr) !=
						PFM_SUCCESS ||
				attr.type != PFM_ATTR_UMASK)
			continue;
		with_umask = true;
		snprintf(name, sizeof(name), "%s::%s:%s", table, info->name, attr.name);
		if (encode(&event, name) != PFM_SUCCESS || misfit(&event, name, processor))
			continue;
		snprintf(text, sizeof(text), "%s: %s", info->desc ? info->desc : "",
				attr.desc ? attr.desc : "");
		visit(data, name + strlen(table) + 2, text);
	}
	if (with_umask)
		return;
	snprintf(name, sizeof(name), "%s::%s", table, info->name);
	if (encode(&event, name) == PFM_SUCCESS && !misfit(&event, name, processor))
		visit(data, name + strlen(table) + 2, info->desc);
}

void event_each_libpfm(const struct processor *processor,
		void (*visit)(void *data, const char *name, const char *description), void *data)
{
	const char *table = event_table_name(processor);
	pfm_pmu_info_t pmu;

	if (!table || !table_info(table, &pmu))
		return;
	for (int i = pmu.first_event; i != -1; i = pfm.get_event_next(i)) {
		pfm_event_info_t info = { .size = sizeof(info) };

		if (pfm.get_event_info(i, PFM_OS_PERF_EVENT, &info) == PFM_SUCCESS)
			each_of_event(&info, processor, table, visit, data);
	}
}

#else /* built without libpfm4 */

void event_stop_libpfm(void)
{
}

int event_from_libpfm(struct event *event, const char *name, const struct processor *processor,
		char *why, size_t why_size)
{
	(void)event;
	(void)processor;
	snprintf(why, why_size,
			"%s: built without libpfm4, so only the kernel's events and rHEX "
			"are known",
			name);
	return -ENOSYS;
}

const char *event_table_name(const struct processor *processor)
{
	(void)processor;
	return NULL;
}

void event_each_libpfm(const struct processor *processor,
		void (*visit)(void *data, const char *name, const char *description), void *data)
{
	(void)processor;
	(void)visit;
	(void)data;
}

#endif
