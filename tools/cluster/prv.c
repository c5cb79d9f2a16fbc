/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/prv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX (1u << 24)

static int wrong(struct parse_error *error, const char *what)
{
	snprintf(error->text, sizeof(error->text), "expected %s", what);
	return -EINVAL;
}

/* Reads a whole number, of at most 18 digits so that it fits, and moves past it. */
static bool read_whole(const char **at, uint64_t *value)
{
	const char *start = *at;

	for (*value = 0; isdigit((unsigned char)**at) && *at - start < 18; (*at)++)
		*value = *value * 10 + (uint64_t)(**at - '0');
	return *at > start && !isdigit((unsigned char)**at);
}

static bool past(const char **at, char what)
{
	if (**at != what)
		return false;
	(*at)++;
	return true;
}

/* Parses "4(1:1,1:2,...)" and, in newer traces, ",communicators". */
static int parse_application(struct prv_header *header, const char **at, uint32_t number,
		struct parse_error *error)
{
	uint64_t tasks, threads, node;

	if (!read_whole(at, &tasks) || tasks < 1 || tasks > TASKS_MAX)
		return wrong(error, "the number of an application's tasks");
	header->first_task[number] =
			number ? header->first_task[number - 1] + header->tasks[number - 1] : 0;
	header->tasks[number] = (uint32_t)tasks;
	if (!past(at, '('))
		return wrong(error, "( and the application's tasks");
	for (uint64_t task = 0; task < tasks; task++)
		if ((task && !past(at, ',')) || !read_whole(at, &threads) || !past(at, ':') ||
				!read_whole(at, &node))
			return wrong(error, "threads:node for each task of the application");
	if (!past(at, ')'))
		return wrong(error, ") after the application's tasks");
	if (past(at, ',') && !read_whole(at, &node))
		return wrong(error, "the number of communicators");
	return 0;
}

int prv_header_parse(struct prv_header *header, const char *line, struct parse_error *error)
{
	const char *at = line;
	uint64_t number;
	int failed = 0;

	*header = (struct prv_header){ .ns_per_unit = 1000 };
	if (strncmp(line, "#Paraver", 8) != 0)
		return wrong(error, "#Paraver at the start of the first line");
	at += strcspn(line, ")");
	if (!past(&at, ')') || !past(&at, ':') || !read_whole(&at, &number))
		return wrong(error, "(date):end time in the first line");
	if (strncmp(at, "_ns", 3) == 0) {
		header->ns_per_unit = 1;
		at += 3;
	}
	if (!past(&at, ':') || !read_whole(&at, &number))
		return wrong(error, "the number of nodes after the end time");
	if (past(&at, '(')) {
		at += strcspn(at, ")");
		if (!past(&at, ')'))
			return wrong(error, ") after the nodes");
	}
	if (!past(&at, ':') || !read_whole(&at, &number) || number < 1 || number > 1000)
		return wrong(error, "the number of applications after the nodes");
	header->applications = (uint32_t)number;
	header->first_task = calloc(number, sizeof(*header->first_task));
	header->tasks = calloc(number, sizeof(*header->tasks));
	if (!header->first_task || !header->tasks)
		failed = -ENOMEM;
	for (uint32_t i = 0; i < number && !failed; i++)
		failed = past(&at, ':') ? parse_application(header, &at, i, error) :
					  wrong(error, "an application's tasks");
	if (failed)
		prv_header_fini(header);
	return failed;
}

void prv_header_fini(struct prv_header *header)
{
	free(header->first_task);
	free(header->tasks);
	*header = (struct prv_header){ 0 };
}

/* Parses cpu:application:task:thread:time. */
static int parse_place(const struct prv_header *header, const char **at, struct prv_record *record,
		struct parse_error *error)
{
	uint64_t cpu, application, task, thread, time;

	if (!past(at, ':') || !read_whole(at, &cpu) || !past(at, ':') ||
			!read_whole(at, &application) || !past(at, ':') || !read_whole(at, &task) ||
			!past(at, ':') || !read_whole(at, &thread) || !past(at, ':') ||
			!read_whole(at, &time))
		return wrong(error, "cpu:application:task:thread:time");
	if (application < 1 || application > header->applications)
		return wrong(error, "an application that the first line has");
	if (task < 1 || task > header->tasks[application - 1])
		return wrong(error, "a task that the first line has");
	if (thread < 1 || thread > INT32_MAX || cpu > INT32_MAX)
		return wrong(error, "a thread and a cpu of sensible numbers");
	record->cpu = (uint32_t)cpu;
	record->application = (uint32_t)application;
	record->task = header->first_task[application - 1] + (uint32_t)task - 1;
	record->thread = (uint32_t)thread - 1;
	record->begin = (uint64_t)((double)time * header->ns_per_unit);
	if (header->ns_per_unit == 1)
		record->begin = time; /* a double has 53 bits */
	return 0;
}

int prv_record_parse(const struct prv_header *header, const char *line, struct prv_record *record,
		struct parse_error *error)
{
	const char *at = line + 1;
	uint64_t end;
	int failed;

	*record = (struct prv_record){ .kind = PRV_OTHER };
	if (line[0] == '#' || line[0] == 'c' || line[0] == '\n' || line[0] == '\r' || !line[0])
		return 0;
	if (line[0] < '1' || line[0] > '3' || line[1] != ':')
		return wrong(error, "a record of type 1 (state), 2 (events) or 3 (communication)");
	record->kind = (enum prv_kind)(line[0] - '0');
	failed = parse_place(header, &at, record, error);
	if (failed)
		return failed;
	if (record->kind == PRV_STATE) {
		if (!past(&at, ':') || !read_whole(&at, &end) || !past(&at, ':') ||
				!read_whole(&at, &record->state))
			return wrong(error, "the end of the state, and the state");
		record->end = header->ns_per_unit == 1 ?
				end :
				(uint64_t)((double)end * header->ns_per_unit);
		if (record->end < record->begin)
			return wrong(error, "a state that ends after it begins");
	} else if (!past(&at, ':')) {
		return wrong(error,
				record->kind == PRV_EVENTS ?
						"type:value after the time" :
						"the partners of a communication after the time");
	}
	record->pairs = at;
	return 0;
}

bool prv_next_pair(const char **pairs, uint64_t *type, int64_t *value, bool *broken)
{
	bool negative;
	uint64_t magnitude;

	*broken = false;
	if (**pairs == '\n' || **pairs == '\r' || !**pairs)
		return false;
	*broken = true;
	if (!read_whole(pairs, type) || !past(pairs, ':'))
		return false;
	negative = past(pairs, '-');
	/* values may be any 64 bits: addresses, time stamps */
	for (magnitude = 0; isdigit((unsigned char)**pairs); (*pairs)++)
		magnitude = magnitude * 10 + (uint64_t)(**pairs - '0');
	if (!isdigit((unsigned char)(*pairs)[-1]))
		return false;
	*value = (int64_t)(negative ? -magnitude : magnitude);
	if (past(pairs, ':') ? !isdigit((unsigned char)**pairs) :
			       **pairs && **pairs != '\n' && **pairs != '\r')
		return false;
	*broken = false;
	return true;
}
