/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/region/region_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/memory.h"
#include "agent/host/quiet.h"
#include "agent/loader/modules.h"
#include "agent/setup/counting.h"
#include "agent/setup/output.h"
#include "sampling/descriptor.h"

#define SITES_AT_ONCE 32

static void region_write(struct region *region, const void *bytes, size_t length)
{
	if (!region->error)
		region->error = quiet_write(region->fd, bytes, length);
}

static void write_chunk(struct region *region, enum region_kind kind, const void *bytes,
		size_t length)
{
	struct region_chunk head = { kind, (uint32_t)length };

	region_write(region, &head, sizeof(head));
	region_write(region, bytes, length);
}

static int create(const struct region *region)
{
	char name[NAME_MAX];
	int fd, folder = output_open(region->folder);

	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), REGION_START "%06d" REGION_SUFFIX, region->facts.rank);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	fd = fd < 0 ? -errno : descriptor_lift(fd);
	close(folder);
	return fd;
}

/* Writes the files that the program has loaded, one after the other in one chunk. */
static void write_modules(struct region *region)
{
	size_t room = MODULES_MAX * (sizeof(struct module) + sizeof(struct region_module));
	struct module *modules = memory_map(room);
	char *chunk = (char *)(modules + MODULES_MAX);
	size_t used = 0;
	unsigned count;

	if (!modules)
		return;
	count = modules_ever(modules, MODULES_MAX);
	for (unsigned i = 0; i < count; i++) {
		size_t length = strnlen(modules[i].path, sizeof(modules[i].path));
		struct region_module module = { modules[i].base, modules[i].begin, modules[i].end,
			(uint32_t)length, 0 };

		if (used + sizeof(module) + length > MODULES_MAX * sizeof(module))
			break;
		memcpy(chunk + used, &module, sizeof(module));
		memcpy(chunk + used + sizeof(module), modules[i].path, length);
		used += sizeof(module) + length;
	}
	write_chunk(region, REGION_MODULES, chunk, used);
	memory_unmap(modules, room);
}

/* Returns the name of an event. Cycles and instructions have their usual names in all models, as in tables of bursts. */
static const char *event_name(const struct counting *counting, unsigned event)
{
	if (counting->plan.common == 2 && event < 2)
		return event ? "instructions" : "cycles";
	return counting->event[event].name;
}

/* Writes the names of the events, and the groups. */
static void write_groups(struct region *region)
{
	const struct counting *counting = region->counting;
	char name[REGION_EVENTS_MAX][REGION_EVENT_NAME];
	struct region_group group[REGION_GROUPS_MAX] = { { 0 } };
	unsigned events = counting->plan.events, groups = counting->plan.groups;

	if (events > REGION_EVENTS_MAX || groups > REGION_GROUPS_MAX)
		return;
	memset(name, 0, sizeof(name));
	for (unsigned e = 0; e < events; e++)
		snprintf(name[e], sizeof(name[e]), "%.63s", event_name(counting, e));
	for (unsigned g = 0; g < groups; g++) {
		group[g].count = counting->plan.group[g].count;
		for (unsigned i = 0; i < group[g].count && i < GROUP_EVENTS_MAX; i++)
			group[g].event[i] = counting->plan.group[g].event[i];
	}
	write_chunk(region, REGION_EVENTS, name, events * sizeof(*name));
	write_chunk(region, REGION_GROUPS, group, groups * sizeof(*group));
}

void region_file_open(struct region *region)
{
	int kept = errno;

	region->fd = create(region);
	if (region->fd < 0) {
		region->error = region->fd;
		region->fd = -1;
	}
	write_chunk(region, REGION_FACTS, &region->facts, sizeof(region->facts));
	write_modules(region);
	write_groups(region);
	errno = kept;
}

static void describe(const struct site_table *sites, unsigned number, struct region_site *into)
{
	const struct site *site = &sites->site[number];
	const struct path *path = &sites->paths.path[site->path];

	*into = (struct region_site){ .number = (uint16_t)number,
		.call = site->call,
		.frames = path->frames };
	for (unsigned i = 0; i < path->frames; i++)
		into->address[i] = path->address[i];
}

/* Writes the sites of the buffer that are not in the file yet. */
static void write_sites(struct region *region, const struct site_table *sites)
{
	struct region_site site[SITES_AT_ONCE];
	unsigned count = 0;

	for (unsigned i = 0; i < region->used; i++) {
		unsigned number = region->buffer[i].site;
		uint64_t *defined = &region->defined[number / 64];

		if (*defined >> number % 64 & 1)
			continue;
		*defined |= UINT64_C(1) << number % 64;
		describe(sites, number, &site[count++]);
		if (count == SITES_AT_ONCE) {
			write_chunk(region, REGION_SITES, site, count * sizeof(*site));
			count = 0;
		}
	}
	if (count)
		write_chunk(region, REGION_SITES, site, count * sizeof(*site));
}

void region_file_flush(struct region *region, const struct site_table *sites)
{
	int kept = errno;

	if (region->fd >= 0 && region->used) {
		write_sites(region, sites);
		write_chunk(region, REGION_PHASES, region->phase, sizeof(region->phase));
		if (region->reads)
			write_chunk(region, REGION_COUNTS, region->read,
					region->reads * sizeof(*region->read));
		write_chunk(region, REGION_CALLS, region->buffer,
				region->used * sizeof(*region->buffer));
	}
	region->used = region->reads = 0;
	errno = kept;
}

void region_file_close(struct region *region, const struct site_table *sites,
		const struct region_end *end)
{
	int kept = errno;

	if (region->fd < 0)
		return;
	region_file_flush(region, sites);
	write_chunk(region, REGION_END, end, sizeof(*end));
	if (close(region->fd) && !region->error)
		region->error = -errno;
	region->fd = -1;
	errno = kept;
}
