/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/burst_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/quiet.h"
#include "agent/setup/output.h"
#include "sampling/clock.h"
#include "sampling/descriptor.h"

/* Maximum length of a line: 5 numbers, and a column for each event. */
#define LINE_MAX_BYTES (21 * (5 + PLAN_EVENTS_MAX))
#define BUFFER_BYTES   (1 << 16)

struct burst_csv {
	const struct counting *counting;
	uint64_t start;
	int fd, rank, error;
	size_t used;
	char buffer[BUFFER_BYTES];
};

static void flush(struct burst_csv *table)
{
	if (!table->error)
		table->error = quiet_write(table->fd, table->buffer, table->used);
	table->used = 0;
}

/* Returns the name of an event's column. Cycles and instructions have their usual names in all models. */
static const char *column(const struct counting *counting, unsigned event)
{
	static const char *const common[] = { "cycles", "instructions" };

	return counting->plan.common == 2 && event < 2 ? common[event] :
							 counting->event[event].name;
}

static void add_header(struct burst_csv *table)
{
	const struct counting *counting = table->counting;

	table->used = (size_t)snprintf(table->buffer, sizeof(table->buffer),
			"task,thread,begin_ns,end_ns,prototype");
	for (unsigned e = 0; e < counting->plan.events; e++)
		table->used += (size_t)snprintf(table->buffer + table->used,
				sizeof(table->buffer) - table->used, ",%s", column(counting, e));
	table->buffer[table->used++] = '\n';
}

struct burst_csv *burst_csv_new(const char *folder, const struct counting *counting, int rank,
		uint64_t start, char *why, size_t why_size)
{
	struct burst_csv *table = calloc(1, sizeof(*table));
	char name[NAME_MAX];
	int folder_fd = output_open(folder);

	if (!table || folder_fd < 0)
		goto fail;
	snprintf(name, sizeof(name), "bursts.%06d.csv", rank);
	table->fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (table->fd < 0) {
		snprintf(why, why_size, "%s/%s: %s", folder, name, strerror(errno));
		close(folder_fd);
		free(table);
		return NULL;
	}
	close(folder_fd);
	table->fd = descriptor_lift(table->fd);
	table->counting = counting;
	table->rank = rank;
	table->start = start;
	if (rank == 0)
		add_header(table);
	return table;
fail:
	snprintf(why, why_size, "%s: %s", folder, strerror(table ? -folder_fd : ENOMEM));
	if (folder_fd >= 0)
		close(folder_fd);
	free(table);
	return NULL;
}

void burst_csv_add(struct burst_csv *table, unsigned thread, int prototype,
		const struct burst *burst)
{
	const struct counting *counting = table->counting;
	const struct plan_group *group = &counting->plan.group[burst->group];
	uint64_t value[PLAN_EVENTS_MAX];
	bool known[PLAN_EVENTS_MAX] = { false };
	char *line;

	if (table->used + LINE_MAX_BYTES > sizeof(table->buffer))
		flush(table);
	line = table->buffer + table->used;
	for (unsigned i = 0; i < group->count; i++) {
		known[group->event[i]] = true;
		value[group->event[i]] = burst->values[i];
	}
	line += sprintf(line, "%d,%u,%.0f,%.0f,", table->rank, thread,
			clock_ns(burst->begin - table->start),
			clock_ns(burst->begin + burst->ticks - table->start));
	if (prototype >= 0)
		line += sprintf(line, "%d", prototype);
	for (unsigned e = 0; e < counting->plan.events; e++) {
		*line++ = ',';
		if (known[e])
			line += sprintf(line, "%" PRIu64, value[e]);
	}
	*line++ = '\n';
	table->used = (size_t)(line - table->buffer);
}

int burst_csv_close(struct burst_csv *table)
{
	int error;

	if (!table)
		return 0;
	flush(table);
	if (close(table->fd) && !table->error)
		table->error = -errno;
	error = table->error;
	free(table);
	return error;
}
