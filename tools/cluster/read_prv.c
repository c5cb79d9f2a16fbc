/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts from a Paraver trace, and the names of their counters from its .pcf. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cluster/prv.h"

/* The last running state of a thread. Counters that are read at its end belong to it. */
struct thread {
	uint32_t task, thread;
	size_t burst; /* row of the table; SIZE_MAX: none yet */
};

struct reader {
	struct burst_table *table;
	struct prv_header header;
	struct thread *threads; /* open hash table; burst SIZE_MAX and task UINT32_MAX: empty */
	size_t mask, used;
};

static size_t slot_of(const struct reader *reader, uint32_t task, uint32_t thread)
{
	size_t at = (task * 2654435761u ^ thread * 40503u) & reader->mask;

	while (reader->threads[at].task != UINT32_MAX &&
			(reader->threads[at].task != task || reader->threads[at].thread != thread))
		at = (at + 1) & reader->mask;
	return at;
}

static int grow_threads(struct reader *reader)
{
	struct thread *old = reader->threads;
	size_t slots = old ? reader->mask + 1 : 0;

	reader->mask = old ? 2 * reader->mask + 1 : 255;
	reader->threads = malloc((reader->mask + 1) * sizeof(*reader->threads));
	if (!reader->threads) {
		reader->threads = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i <= reader->mask; i++)
		reader->threads[i] = (struct thread){ .task = UINT32_MAX, .burst = SIZE_MAX };
	for (size_t i = 0; i < slots; i++)
		if (old[i].task != UINT32_MAX)
			reader->threads[slot_of(reader, old[i].task, old[i].thread)] = old[i];
	free(old);
	return 0;
}

static struct thread *thread_of(struct reader *reader, uint32_t task, uint32_t thread)
{
	struct thread *found;

	if (2 * reader->used >= reader->mask && grow_threads(reader))
		return NULL;
	found = &reader->threads[slot_of(reader, task, thread)];
	if (found->task == UINT32_MAX) {
		*found = (struct thread){ .task = task, .thread = thread, .burst = SIZE_MAX };
		reader->used++;
	}
	return found;
}

static int take_counters(struct burst_table *table, size_t burst, const char *pairs,
		struct parse_error *error)
{
	bool broken = false;
	uint64_t type;
	int64_t value;

	while (prv_next_pair(&pairs, &type, &value, &broken)) {
		char name[24];
		int metric;

		if (burst == SIZE_MAX || type < PRV_COUNTER_FIRST || type > PRV_COUNTER_LAST)
			continue;
		snprintf(name, sizeof(name), "%llu", (unsigned long long)type);
		metric = table_metric(table, name);
		if (metric == -ENOMEM)
			return metric;
		if (metric >= 0)
			table_values(table, burst)[metric] = (double)value;
	}
	if (!broken)
		return 0;
	snprintf(error->text, sizeof(error->text), "expected pairs of type:value");
	return -EINVAL;
}

static int take_record(struct reader *reader, const char *line, struct parse_error *error)
{
	struct burst_table *table = reader->table;
	struct prv_record record;
	struct thread *thread;
	int failed = prv_record_parse(&reader->header, line, &record, error);
	size_t burst;

	if (failed || (record.kind != PRV_STATE && record.kind != PRV_EVENTS))
		return failed;
	thread = thread_of(reader, record.task, record.thread);
	if (!thread)
		return -ENOMEM;
	if (record.kind == PRV_STATE) {
		struct burst next = { .task = record.task,
			.thread = record.thread,
			.begin = record.begin,
			.end = record.end };

		if (record.state != PRV_RUNNING || record.end == record.begin)
			return 0;
		thread->burst = table->count;
		return table_add(table, &next);
	}
	burst = thread->burst;
	if (burst != SIZE_MAX && table->burst[burst].end != record.begin)
		burst = SIZE_MAX;
	return take_counters(table, burst, record.pairs, error);
}

int table_read_prv(struct burst_table *table, FILE *file, struct parse_error *error)
{
	struct reader reader = { .table = table };
	size_t room = 0, number = 0;
	char *line = NULL;
	int failed = 0;

	*error = (struct parse_error){ 0 };
	while (!failed && getline(&line, &room, file) >= 0) {
		number++;
		failed = number == 1 ? prv_header_parse(&reader.header, line, error) :
				       take_record(&reader, line, error);
	}
	if (!failed && !number) {
		snprintf(error->text, sizeof(error->text), "expected a trace, found an empty file");
		failed = -EINVAL;
	} else if (!failed && ferror(file)) {
		snprintf(error->text, sizeof(error->text), "cannot be read any further");
		failed = -EINVAL;
	}
	error->line = number;
	prv_header_fini(&reader.header);
	free(reader.threads);
	free(line);
	return failed;
}

int table_name_metrics(struct burst_table *table, FILE *pcf, struct parse_error *error)
{
	size_t room = 0, number = 0;
	char *line = NULL;
	bool types = false;
	int failed = 0;

	while (!failed && getline(&line, &room, pcf) >= 0) {
		unsigned colour;
		char type[24], name[TABLE_METRIC_NAME_MAX];
		int metric;

		number++;
		if (strncmp(line, "EVENT_TYPE", 10) == 0) {
			types = true;
			continue;
		}
		if (!isdigit((unsigned char)line[0]))
			types = false;
		if (!types)
			continue;
		/* "7  42000050 PAPI_TOT_INS [Instr completed]" */
		if (sscanf(line, "%u %23[0-9] %63s", &colour, type, name) != 3) {
			error->line = number;
			snprintf(error->text, sizeof(error->text),
					"expected colour, event type and its name");
			failed = -EINVAL;
			continue;
		}
		metric = table_find(table, type);
		if (metric >= 0 && table_find(table, name) < 0 && !strpbrk(name, ",\""))
			snprintf(table->name[metric], TABLE_METRIC_NAME_MAX, "%s", name);
	}
	free(line);
	return failed;
}
