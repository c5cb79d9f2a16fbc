/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the readers of text: a report from another source, shown as text, as a page and as CSV, every setting, and what
 * the kernel says about the processor. The first byte chooses the reader.
 */
#include <jansson.h>

#include "agent/page/page.h"
#include "agent/setup/settings.h"
#include "agent/text/report_text.h"
#include "sampling/processor.h"
#include "tests/fuzz/fuzz.h"

static const char *const reports[] = {
	"{\"phasemux\":1,\"date\":\"2026-11-27T09:04:39Z\",\"hosts\":{\"count\":70,\"uncounted_ranks\":3,"
	"\"named\":[{\"host\":\"a\",\"ranks\":1,\"first_rank\":0},{\"host\":\"b\",\"ranks\":2,\"first_rank\":1},{\"host\":\"c\",\"ranks\":2,\"first_rank\":3},"
	"{\"host\":\"d\",\"ranks\":2,\"first_rank\":5},{\"host\":\"e\",\"ranks\":2,\"first_rank\":7}]},\"command\":[\"/bin/lmp\",\"-in\",\"x\"],\"scheme\":\"time-space\","
	"\"ranks\":2,\"threads\":2,\"mpi\":\"Open MPI\",\"processor\":\"AMD\",\"emulated\":{\"core\":\"in-order\"},\"model\":\"zen4\","
	"\"counters\":5,\"without_counters\":null,\"warnings\":[\"w\"],\"groups\":[{\"events\":"
	"[\"a\",\"b\"]}],\"wall_seconds\":1.5,\"compute_seconds\":2.5,\"bursts\":100,"
	"\"burst_min_seconds\":1e-5,\"rank_times\":{\"each\":[{\"useful_seconds\":1,\"mpi_seconds\":null},"
	"{\"useful_seconds\":1.2,\"mpi_seconds\":0.1}],\"deciles\":null},\"efficiency\":{\"parallel\":0.8,\"load_balance\":0.9,"
	"\"communication\":0.9},\"recovered\":{\"ranks\":1,\"missing\":\"1\"},\"phases\":[{\"id\":1,"
	"\"time_share\":0.9,\"ranks\":1,\"slowest_rank\":1,\"rank_seconds\":{\"mean\":0.5,\"most\":0.9},\"load_balance\":0.5,"
	"\"instructions_balance\":0.6,\"ipc_balance\":0.9,\"imbalance_share\":0.1,\"per_iteration\":{\"bursts\":2,\"seconds\":0.1,\"seconds_sd\":0.01,"
	"\"seconds_least\":0.05,\"seconds_most\":0.2,\"measured\":90},"
	"\"together\":{\"phases\":[1,2],\"ranks\":2,\"slowest_rank\":1,\"rank_seconds\":{\"mean\":0.5,\"most\":0.9},\"load_balance\":0.5},"
	"\"bursts\":50,\"read\":50,\"duration_seconds\":{\"mean\":0.01,\"sd\":"
	"0.001},\"ipc\":1.2,\"cpi\":0.83,\"counters\":{\"a\":{\"mean\":5,\"ci95\":1,\"observed\":9},"
	"\"b\":{\"mean\":6,\"ci95\":null,\"observed\":0}},\"cpi_breakdown\":[{\"component\":"
	"\"retiring\",\"level\":0,\"cpi\":0.5,\"ci95\":0.1}],\"source\":[{\"from\":\"f.c:1\",\"to\":"
	"\"f.c:2\",\"share\":1}]}],\"unclassified\":{\"time_share\":0.1,\"bursts\":5},\"short\":"
	"{\"time_share\":0,\"bursts\":0},\"not_read\":{\"time_share\":0,\"bursts\":0},\"lost\":"
	"{\"bursts\":1},\"agent\":{\"seconds\":0.1,\"share\":0.01,\"bytes\":1000000,\"calls\":200,"
	"\"reads\":100,\"rounds\":3,\"switches\":7},\"leads\":{\"setting\":\"1\",\"shapes\":[{\"ranks\":4,\"leads\":null,"
	"\"lead_ranks\":[0,2]}],\"clusters\":[{\"ranks\":2,\"leads\":1,\"lead_ranks\":[1],"
	"\"shape\":\"00000000000000ff\",\"peers\":null}],\"time_share\":0.5,\"spared_bursts\":9},"
	"\"region\":{\"requirement\":{\"step\":2,\"steps\":5,\"time_share\":0.9,\"rounds\":3,\"matched\":0.93},"
	"\"ordered_seconds\":1,\"iterations\":6,\"ranks\":2,\"whole_ranks\":1,\"cut_ranks\":1,\"calls\":99,"
	"\"phases\":[{\"id\":1,\"time_share\":0.5,\"difference\":0.1}],\"distance\":0.1},\"structure\":{\"structures\":[{\"ranks\":2,"
	"\"first_rank\":0,\"calls\":9,\"unobserved_calls\":2,\"exact_calls\":7,\"iteration\":{\"rounds\":3,"
	"\"time_share\":0.9,\"mean_seconds\":0.1},\"text\":[{\"body\":[{\"call\":\"MPI_Send\",\"function\":"
	"\"f\",\"phase\":1,\"repeats\":[1,2],\"count\":9,\"burst_seconds\":{\"mean\":0.1},"
	"\"call_seconds\":{\"mean\":0.2}}],\"repeats\":[3,3],\"count\":3,\"burst_seconds\":{\"mean\":0.3},"
	"\"call_seconds\":{\"mean\":0.6}},{\"unobserved\":true,\"count\":2}],\"variants\":[{\"ranks\":2,"
	"\"rank_ranges\":[[0,1,2]],\"calls\":9,\"counts\":[3,[[1,2],[2,1]],2]}]}],\"left_out_ranks\":1},\"toggle\":{\"off_seconds\":1.5,\"compared\":30,"
	"\"slowdown\":{\"mean\":0.01,\"ci95\":0.002,\"median\":0.009}}}",
};

static const char *const settings[] = { "time-space", "3", "PAPI_TOT_INS,r1000001a0", "emulated",
	"in-order", "10ms", "1%", "50us", "instructions,ipc", "100", "structure", "8", "1MiB",
	"200ms", "paused", "64", "/scratch/%j/%p", "/dev/shm", "text,json,html", "1" };

static const char cpuinfo[] = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
			      "cpu\t\t: POWER9\nrevision\t: 2.2 (pvr 004e 1202)\n";

static bool show(const char *text, size_t size)
{
	json_t *report = json_loadb(text, size, 0, NULL);
	char why[256] = "";
	char *shown;
	bool accepted;

	if (!report)
		return false;
	shown = report_text(report, why, sizeof(why));
	accepted = shown != NULL;
	if (!shown && !*why)
		abort();
	free(shown);
	shown = page_html(report, why, sizeof(why));
	if (accepted != (shown != NULL))
		abort();
	free(shown);
	free(report_csv(report, why, sizeof(why)));
	json_decref(report);
	return accepted;
}

static bool set(unsigned number, const char *text, size_t size)
{
	char *value = strndup(text, size), why[256] = "";
	struct settings all;
	bool accepted;

	settings_defaults(&all);
	accepted = settings_set(&all, &settings_table[number % settings_count], value, why,
				   sizeof(why)) == 0;
	if (!accepted && !*why)
		abort();
	free(value);
	return accepted;
}

static bool identify(const char *text, size_t size)
{
	struct processor processor = { .vendor = "" };
	FILE *file = size ? fmemopen((void *)(uintptr_t)text, size, "r") : NULL;

	if (!file)
		return false;
	processor_from_cpuinfo(&processor, file);
	fclose(file);
	return true;
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	const char *text = (const char *)data + 1;

	if (!size)
		return false;
	size--;
	switch (data[0] % 4) {
	case 0:
		return show(text, size);
	case 1:
		return identify(text, size);
	default:
		return set(data[0] / 4, text, size);
	}
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	const unsigned count = sizeof(settings) / sizeof(*settings);
	const char *text = seed < count   ? settings[seed] :
			seed == count     ? cpuinfo :
			seed == count + 1 ? reports[0] :
					    NULL;

	if (!text)
		return 0;
	data[0] = (unsigned char)(seed < count ? 4 * seed + 2 : seed == count ? 1 : 0);
	memcpy(data + 1, text, strlen(text));
	return 1 + strlen(text);
}
