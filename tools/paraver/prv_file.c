/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/paraver/prv_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/colours.h"

const struct prv_class_type prv_classes[PRV_CLASSES] = {
	[PRV_POINT_TO_POINT] = { 50000001u, "MPI Point-to-point" },
	[PRV_COLLECTIVE] = { 50000002u, "MPI Collective Comm" },
	[PRV_OTHER] = { 50000003u, "MPI Other" },
};

static bool begins(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (strncmp(name, *with, strlen(*with)) == 0)
			return true;
	return false;
}

enum prv_class prv_class_of(const char *call)
{
	static const char *const point[] = { "Send", "Recv", "Isend", "Irecv", "Ssend", "Issend",
		"Bsend", "Ibsend", "Rsend", "Irsend", "Sendrecv", "Isendrecv", "Wait", "Test",
		"Probe", "Iprobe", "Mprobe", "Improbe", "Mrecv", "Imrecv", "Start", NULL };
	static const char *const all[] = { "All", "Iall", "Barrier", "Ibarrier", "Bcast", "Ibcast",
		"Gather", "Igather", "Scatter", "Iscatter", "Reduce", "Ireduce", "Scan", "Iscan",
		"Exscan", "Iexscan", "Neighbor", "Ineighbor", NULL };

	if (strncmp(call, "MPI_", 4) != 0 || strncmp(call, "MPI_Alloc", 9) == 0 ||
			strncmp(call, "MPI_Test_cancelled", 18) == 0)
		return PRV_OTHER;
	if (begins(call + 4, point))
		return PRV_POINT_TO_POINT;
	return begins(call + 4, all) ? PRV_COLLECTIVE : PRV_OTHER;
}

size_t prv_names_number(struct prv_names *names, const char *text)
{
	char **more;

	if (!text || !*text)
		return 0;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->text[i], text) == 0)
			return i + 1;
	more = realloc(names->text, (names->count + 1) * sizeof(*more));
	if (!more)
		return 0;
	names->text = more;
	names->text[names->count] = strdup(text);
	return names->text[names->count] ? ++names->count : 0;
}

void prv_names_fini(struct prv_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->text[i]);
	free(names->text);
}

void prv_names_write(FILE *out, unsigned type, const char *what, const struct prv_names *names,
		const char *none)
{
	if (!names->count)
		return;
	fprintf(out, "\nEVENT_TYPE\n9    %u    %s\nVALUES\n0    %s\n", type, what, none);
	for (size_t i = 0; i < names->count; i++)
		fprintf(out, "%zu    %s\n", i + 1, names->text[i]);
}

static void write_date(FILE *out, const char *text)
{
	unsigned year, month, day, hour, minute;

	if (sscanf(text, "%u-%u-%uT%u:%u", &year, &month, &day, &hour, &minute) == 5)
		fprintf(out, "#Paraver (%02u/%02u/%04u at %02u:%02u)", day, month, year, hour,
				minute);
	else
		fputs("#Paraver (01/01/1970 at 00:00)", out);
}

void prv_write_head(FILE *out, const char *date, uint64_t end, size_t ranks)
{
	write_date(out, date);
	fprintf(out, ":%llu_ns:1(%zu):1:%zu(", (unsigned long long)end, ranks, ranks);
	for (size_t i = 0; i < ranks; i++)
		fprintf(out, "%s1:1", i ? "," : "");
	fputs(")\n", out);
}

void prv_write_states(FILE *out, const char *unknown)
{
	fprintf(out,
			"DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n"
			"STATES\n0    Idle\n%u    Running\n%u    %s\n%u    In a call\n",
			PRV_STATE_RUNNING, PRV_STATE_UNKNOWN, unknown, PRV_STATE_CALL);
}

void prv_write_phases(FILE *out, unsigned phases)
{
	if (phases)
		fprintf(out, "\nEVENT_TYPE\n9    %u    Phase of the burst\nVALUES\n0    End\n",
				PRV_TYPE_PHASE);
	for (unsigned phase = 1; phase <= phases; phase++)
		fprintf(out, "%u    Phase %u\n", PRV_PHASE_BASE + phase, phase);
	if (phases)
		fputs("\nSTATES_COLOR\n", out);
	for (unsigned phase = 1; phase <= phases; phase++) {
		long colour = strtol(colour_of_phase(phase - 1) + 1, NULL, 16);

		fprintf(out, "%u    {%ld,%ld,%ld}\n", PRV_PHASE_BASE + phase, colour >> 16,
				colour >> 8 & 255, colour & 255);
	}
}

void prv_write_places(FILE *out, size_t ranks)
{
	fprintf(out, "LEVEL CPU SIZE %zu\n", ranks);
	for (size_t i = 0; i < ranks; i++)
		fprintf(out, "CPU %zu\n", i + 1);
	fprintf(out, "\nLEVEL NODE SIZE 1\nall hosts\n\nLEVEL THREAD SIZE %zu\n", ranks);
}

FILE *prv_create(const char *path, const char *ending, char *why, size_t why_size)
{
	char name[PATH_MAX];
	FILE *file = NULL;
	size_t length = strlen(path);

	if (length > 4 && strcmp(path + length - 4, ".prv") == 0)
		length -= 4;
	if (snprintf(name, sizeof(name), "%.*s%s", (int)length, path, ending) < PATH_MAX)
		file = fopen(name, "w");
	else
		errno = ENAMETOOLONG;
	if (!file)
		snprintf(why, why_size, "%.150s: %s", name, strerror(errno));
	return file;
}

bool prv_close(FILE *file, const char *ending, char *why, size_t why_size)
{
	bool bad = ferror(file);

	if (!fclose(file) && !bad)
		return true;
	snprintf(why, why_size, "the trace's %s cannot be written: %s", ending, strerror(errno));
	return false;
}
