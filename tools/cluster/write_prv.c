/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a trace with its clusters: its records, and an event at the begin and the end of each burst. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cluster/input.h"
#include "tools/cluster/prv.h"
#include "tools/cluster/result.h"

/* Values of cluster events: 0 ends one, 1 to 3 are enum left_out, 4 is not used, then noise, ... */
#define NOISE_VALUE 5

/* Ends of bursts that are still to be written, the earliest first: a binary heap. */
struct ending {
	uint64_t time;
	uint32_t cpu, application, task, thread; /* numbers in the trace, from 1 */
};

struct writer {
	const struct result *result;
	FILE *out;
	struct prv_header header;
	struct ending *heap;
	size_t count, room;
	size_t *next;    /* per sequence of the table: its next burst */
	uint32_t *value; /* per burst of the table: the event's value */
	size_t *first;   /* per sequence: its first burst; sequences + 1 */
	size_t sequences;
};

static bool earlier(const struct ending *a, const struct ending *b)
{
	return a->time != b->time          ? a->time < b->time :
			a->task != b->task ? a->task < b->task :
					     a->thread < b->thread;
}

static int push(struct writer *writer, const struct ending *ending)
{
	size_t at = writer->count;

	if (at == writer->room) {
		size_t room = 2 * at + 64;
		struct ending *grown = realloc(writer->heap, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		writer->heap = grown;
		writer->room = room;
	}
	for (; at && earlier(ending, &writer->heap[(at - 1) / 2]); at = (at - 1) / 2)
		writer->heap[at] = writer->heap[(at - 1) / 2];
	writer->heap[at] = *ending;
	writer->count++;
	return 0;
}

static struct ending pop(struct writer *writer)
{
	struct ending top = writer->heap[0], last = writer->heap[--writer->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= writer->count)
			break;
		if (child + 1 < writer->count &&
				earlier(&writer->heap[child + 1], &writer->heap[child]))
			child++;
		if (!earlier(&writer->heap[child], &last))
			break;
		writer->heap[at] = writer->heap[child];
		at = child;
	}
	writer->heap[at] = last;
	return top;
}

static void write_event(struct writer *writer, const struct ending *place, uint64_t time,
		uint32_t value)
{
	fprintf(writer->out, "2:%u:%u:%u:%u:%llu:%u:%u\n", place->cpu, place->application,
			place->task, place->thread,
			(unsigned long long)((double)time / writer->header.ns_per_unit),
			PRV_CLUSTER_EVENT, value);
}

static void write_endings(struct writer *writer, uint64_t until)
{
	while (writer->count && writer->heap[0].time <= until) {
		struct ending ending = pop(writer);

		write_event(writer, &ending, ending.time, 0);
	}
}

/* Returns the table's burst of this state, or SIZE_MAX. States of a thread come in order. */
static size_t burst_of(struct writer *writer, const struct prv_record *record)
{
	const struct burst_table *table = writer->result->table;
	size_t low = 0, high = writer->sequences;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct burst *burst = &table->burst[writer->first[middle]];

		if (burst->task < record->task ||
				(burst->task == record->task && burst->thread < record->thread))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == writer->sequences)
		return SIZE_MAX;
	while (writer->next[low] < writer->first[low + 1] &&
			table->burst[writer->next[low]].begin < record->begin)
		writer->next[low]++;
	if (writer->next[low] == writer->first[low + 1] ||
			table->burst[writer->next[low]].begin != record->begin ||
			table->burst[writer->next[low]].end != record->end)
		return SIZE_MAX;
	return writer->next[low]++;
}

static int copy_record(struct writer *writer, const char *line)
{
	struct parse_error ignored;
	struct prv_record record;
	struct ending ending;
	size_t burst;
	int failed = prv_record_parse(&writer->header, line, &record, &ignored);

	if (failed)
		return failed;
	if (record.kind != PRV_OTHER)
		write_endings(writer, record.begin);
	fputs(line, writer->out);
	if (line[strlen(line) - 1] != '\n')
		fputc('\n', writer->out);
	if (record.kind != PRV_STATE || record.state != PRV_RUNNING || record.begin == record.end)
		return 0;
	burst = burst_of(writer, &record);
	if (burst == SIZE_MAX)
		return 0;
	ending = (struct ending){ .time = record.end,
		.cpu = record.cpu,
		.application = record.application,
		.task = record.task - writer->header.first_task[record.application - 1] + 1,
		.thread = record.thread + 1 };
	write_event(writer, &ending, record.begin, writer->value[burst]);
	return push(writer, &ending);
}

static int writer_init(struct writer *writer, const struct result *result)
{
	const struct burst_table *table = result->table;

	writer->result = result;
	writer->value = calloc(table->count + 1, sizeof(*writer->value));
	writer->first = malloc((table->count + 1) * sizeof(*writer->first));
	writer->next = malloc((table->count + 1) * sizeof(*writer->next));
	if (!writer->value || !writer->first || !writer->next)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		const struct burst *burst = &table->burst[i];

		writer->value[i] = result->selection->left_out[i];
		if (!i || burst->task != burst[-1].task || burst->thread != burst[-1].thread)
			writer->first[writer->sequences++] = i;
	}
	writer->first[writer->sequences] = table->count;
	memcpy(writer->next, writer->first, writer->sequences * sizeof(*writer->next));
	for (size_t i = 0; i < result->selection->count; i++)
		writer->value[result->selection->row[i]] = NOISE_VALUE + result->label[i];
	return 0;
}

static void writer_fini(struct writer *writer)
{
	prv_header_fini(&writer->header);
	free(writer->heap);
	free(writer->value);
	free(writer->first);
	free(writer->next);
}

static FILE *prv_create(const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fopen(path, "w");
}

static int write_body(struct writer *writer, const char *trace)
{
	struct parse_error ignored;
	struct input input;
	size_t room = 0;
	char *line = NULL;
	int error = input_open(&input, trace);

	if (error)
		return error;
	if (getline(&line, &room, input.file) < 0)
		error = -EINVAL;
	if (!error)
		error = prv_header_parse(&writer->header, line, &ignored);
	if (!error)
		fputs(line, writer->out);
	while (!error && getline(&line, &room, input.file) >= 0)
		error = copy_record(writer, line);
	if (!error)
		write_endings(writer, UINT64_MAX);
	free(line);
	return input_close(&input) && !error ? -EIO : error;
}

/* Copies the trace's file with this ending to out, if there is one. */
static int copy_beside(const char *trace, const char *ending, FILE *out)
{
	char path[PATH_MAX], buffer[16384];
	struct input input;
	size_t got;
	int error;

	if (!input_beside(trace, ending, true, path, sizeof(path)))
		return 0;
	error = input_open(&input, path);
	if (error)
		return error;
	while ((got = fread(buffer, 1, sizeof(buffer), input.file)))
		fwrite(buffer, 1, got, out);
	return input_close(&input);
}

static int write_pcf(const struct result *result, const char *trace, const char *folder)
{
	FILE *out = prv_create(folder, "trace.pcf");
	int error;

	if (!out)
		return -errno;
	error = copy_beside(trace, ".pcf", out);
	fprintf(out,
			"\n\nEVENT_TYPE\n9    %u    Cluster ID\nVALUES\n0    End\n"
			"%u    Missing data\n%u    Duration filtered\n%u    Range filtered\n"
			"%u    Noise\n",
			PRV_CLUSTER_EVENT, MISSING, TOO_SHORT, OUT_OF_RANGE, NOISE_VALUE);
	for (uint32_t cluster = 1; cluster <= result->clusters; cluster++)
		fprintf(out, "%u    Cluster %u\n", NOISE_VALUE + cluster, cluster);
	return fclose(out) && !error ? -EIO : error;
}

int result_write_trace(const struct result *result, const char *trace, const char *folder)
{
	struct writer writer = { 0 };
	int error = writer_init(&writer, result);
	FILE *row;

	if (!error) {
		writer.out = prv_create(folder, "trace.prv");
		error = writer.out ? write_body(&writer, trace) : -errno;
		if (writer.out && fclose(writer.out) && !error)
			error = -EIO;
	}
	writer_fini(&writer);
	if (!error)
		error = write_pcf(result, trace, folder);
	if (error)
		return error;
	row = prv_create(folder, "trace.row");
	if (!row)
		return -errno;
	error = copy_beside(trace, ".row", row);
	return fclose(row) && !error ? -EIO : error;
}
