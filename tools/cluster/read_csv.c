/* SPDX-License-Identifier: BSD-3-Clause */
/* Burst tables as CSV. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cluster/burst_table.h"

enum column_kind { TASK, THREAD, BEGIN, END, CLUSTER, PROTOTYPE, METRIC };

static const char *const known[] = {
	[TASK] = "task",
	[THREAD] = "thread",
	[BEGIN] = "begin_ns",
	[END] = "end_ns",
	[CLUSTER] = "cluster",
	[PROTOTYPE] = "prototype",
};

struct column {
	enum column_kind kind;
	unsigned metric;
};

__attribute__((format(printf, 3, 4))) static int wrong(struct parse_error *error, size_t line,
		const char *format, ...)
{
	va_list arguments;

	error->line = line;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static char *after_blanks(char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Takes the quotes off the field that begins with one, in place. Returns what follows it. */
static char *unquote(char *field)
{
	char *from = field + 1, *to = field;

	/* a quote within the field is written twice (RFC 4180) */
	for (; *from && (*from != '"' || from[1] == '"'); from++) {
		from += *from == '"';
		*to++ = *from;
	}
	from += *from == '"';
	*to = 0;
	return from;
}

/*
 * Cuts the next field off the line, without its quotes, or without the blanks around it. Returns NULL after the
 * last. Text between a field in quotes and the next comma is dropped.
 */
static char *next_field(char **rest)
{
	char *field = *rest, *end;
	bool is_quoted;

	if (!field)
		return NULL;
	field = after_blanks(field);
	is_quoted = *field == '"';
	end = is_quoted ? unquote(field) : field;
	end += strcspn(end, ",");
	*rest = *end ? end + 1 : NULL;
	if (is_quoted)
		return field;
	*end = 0;
	for (end = field + strlen(field); end > field && isspace((unsigned char)end[-1]);)
		*--end = 0;
	return field;
}

/* Returns the line without the mark that some programs write at the begin of a text in UTF-8. */
static char *without_mark(char *line)
{
	return strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
}

static int read_header(struct burst_table *table, char *line, size_t number, struct column *columns,
		unsigned *count, struct parse_error *error)
{
	bool seen[METRIC] = { false };
	char *rest = line[0] == '#' ? line + 1 : line, *field;

	for (*count = 0; (field = next_field(&rest)); (*count)++) {
		struct column *column = &columns[*count];
		int metric;

		if (*count == TABLE_METRICS_MAX)
			return wrong(error, number, "expected at most %d columns",
					TABLE_METRICS_MAX);
		if (!*field || strlen(field) >= TABLE_METRIC_NAME_MAX)
			return wrong(error, number,
					"column %u: expected a name of 1 to %d characters",
					*count + 1, TABLE_METRIC_NAME_MAX - 1);
		column->kind = METRIC;
		for (enum column_kind kind = 0; kind < METRIC; kind++)
			if (strcmp(field, known[kind]) == 0)
				column->kind = kind;
		if (column->kind != METRIC) {
			if (seen[column->kind])
				return wrong(error, number, "expected one column %s", field);
			seen[column->kind] = true;
			continue;
		}
		if (table_find(table, field) >= 0 && !table->count)
			return wrong(error, number, "expected one column %s", field);
		metric = table_metric(table, field);
		if (metric < 0)
			return metric;
		column->metric = (unsigned)metric;
	}
	for (enum column_kind kind = 0; kind < CLUSTER; kind++)
		if (!seen[kind] && kind != THREAD)
			return wrong(error, number, "expected a header line with a column %s",
					known[kind]);
	return 0;
}

static int read_whole(const char *field, uint64_t most, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)field[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(field, &end, 10);
	return *end || errno || *value > most ? -EINVAL : 0;
}

static int read_metric(const char *field, double *value)
{
	char *end;

	*value = NAN;
	if (!*field || strcasecmp(field, "nan") == 0)
		return 0;
	*value = strtod(field, &end);
	return *end ? -EINVAL : 0;
}

static int read_burst(struct burst_table *table, char *line, size_t number,
		const struct column *columns, unsigned count, struct parse_error *error)
{
	struct burst burst = { 0 };
	char *rest = line, *field;
	double *values;
	int failed = table_add(table, &burst);

	if (failed)
		return failed;
	values = table_values(table, table->count - 1);
	for (unsigned c = 0; c < count; c++) {
		enum column_kind kind = columns[c].kind;
		uint64_t whole = 0;

		field = next_field(&rest);
		if (!field)
			return wrong(error, number, "expected %u fields, found %u", count, c);
		if (kind == METRIC) {
			if (read_metric(field, &values[columns[c].metric]))
				return wrong(error, number,
						"field %u: expected a number, found \"%.40s\"",
						c + 1, field);
			continue;
		}
		if (kind == PROTOTYPE && !*field)
			continue;
		if (read_whole(field, kind == BEGIN || kind == END ? INT64_MAX : INT32_MAX, &whole))
			return wrong(error, number,
					"field %u: expected %s as a whole number, found \"%.40s\"",
					c + 1, known[kind], field);
		switch (kind) {
		case TASK:
			burst.task = (uint32_t)whole;
			break;
		case THREAD:
			burst.thread = (uint32_t)whole;
			break;
		case BEGIN:
			burst.begin = whole;
			break;
		case END:
			burst.end = whole;
			break;
		case CLUSTER:
			burst.cluster = (uint32_t)whole;
			break;
		default:
			burst.prototype = (uint32_t)whole + 1;
		}
	}
	if (rest)
		return wrong(error, number, "expected %u fields, found more", count);
	if (burst.end <= burst.begin)
		return wrong(error, number, "expected end_ns after begin_ns");
	table->burst[table->count - 1] = burst;
	return 0;
}

int table_read_csv(struct burst_table *table, FILE *file, struct parse_error *error)
{
	struct column *columns = malloc(TABLE_METRICS_MAX * sizeof(*columns));
	size_t room = 0, number = 0;
	unsigned count = 0;
	char *line = NULL;
	ssize_t length;
	int failed = columns ? 0 : -ENOMEM;

	while (!failed && (length = getline(&line, &room, file)) >= 0) {
		number++;
		if (memchr(line, 0, (size_t)length))
			failed = wrong(error, number, "expected text, found a zero byte");
		else if (line[strspn(line, " \t\r\n")] == 0)
			continue;
		else if (!count)
			failed = read_header(table, without_mark(line), number, columns, &count,
					error);
		else
			failed = read_burst(table, line, number, columns, count, error);
	}
	if (!failed && !count)
		failed = wrong(error, 0, "expected a header line with task, begin_ns, end_ns");
	if (!failed && ferror(file))
		failed = wrong(error, number, "cannot be read any further");
	free(line);
	free(columns);
	return failed;
}
