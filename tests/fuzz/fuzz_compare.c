/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the input of `phasemux compare`: a report from another source, before and after a valid one. */
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/commands.h"

static const char sound[] =
		"{\"phasemux\":1,\"ranks\":2,\"threads_mean\":2,\"wall_seconds\":2,\"compute_seconds\":3,\"model\":\"zen5\","
		"\"date\":\"2026-11-27T09:04:39Z\",\"efficiency\":{\"parallel\":0.75,\"load_balance\":0.8},\"phases\":["
		"{\"id\":1,\"time_share\":0.7,\"bursts\":50,\"duration_seconds\":{\"mean\":0.01,\"sd\":0.001},"
		"\"ipc\":1.2,\"counters\":{\"cycles\":{\"mean\":5e6,\"ci95\":1,\"observed\":9},"
		"\"ex_ret_instr\":{\"mean\":6e6,\"ci95\":null,\"observed\":9}},\"cpi_breakdown\":[{\"component\":\"retiring\","
		"\"level\":0,\"cpi\":0.5,\"ci95\":0.1},{\"component\":\"back end\",\"level\":0,\"cpi\":0.4,\"ci95\":0.1},"
		"{\"component\":\"memory\",\"level\":1,\"cpi\":0.3,\"ci95\":0.1}],\"source\":[{\"from\":\"f.c:1\","
		"\"from_call\":\"MPI_Recv\",\"from_function\":\"f\",\"to\":\"f.c:2\",\"to_call\":\"MPI_Send\","
		"\"to_function\":\"f\",\"share\":1}]},"
		"{\"id\":2,\"time_share\":0.2,\"bursts\":5,\"duration_seconds\":{\"mean\":0.002,\"sd\":0},"
		"\"ipc\":0.5,\"counters\":{\"ex_ret_instr\":{\"mean\":1e5}}},"
		"{\"id\":3,\"time_share\":0.1,\"bursts\":1,\"duration_seconds\":{\"mean\":1},\"ipc\":null,"
		"\"counters\":{}}]}";

static char folder[] = "/tmp/phasemux-fuzz.XXXXXX", before[64], fuzzed[64];

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		exit(2);
}

static void clean_up(void)
{
	unlink(before);
	unlink(fuzzed);
	rmdir(folder);
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	char *arguments[] = { "compare", before, fuzzed, before, NULL };
	char *page[] = { "compare", "--html", fuzzed, before, NULL };
	int code;

	if (!*before) {
		if (!mkdtemp(folder))
			exit(2);
		snprintf(before, sizeof(before), "%s/before.json", folder);
		snprintf(fuzzed, sizeof(fuzzed), "%s/fuzzed.json", folder);
		write_file(before, sound, strlen(sound));
		atexit(clean_up);
	}
	write_file(fuzzed, data, size);
	code = cmd_compare(4, size % 2 ? arguments : page);
	return code == 0 || code == 3;
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	if (seed)
		return 0;
	memcpy(data, sound, strlen(sound));
	return strlen(sound);
}
