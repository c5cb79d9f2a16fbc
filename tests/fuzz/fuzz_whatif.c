/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the reader of `phasemux whatif`: a report from another source, and each change that it may be asked about. */
#include <jansson.h>
#include <math.h>

#include "agent/text/report_text.h"
#include "tests/fuzz/fuzz.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/communication.h"
#include "agent/whatif/run_times.h"
#include "tools/whatif/whatif_json.h"
#include "tools/whatif/whatif_text.h"

static const char sound[] =
		"{\"phasemux\":1,\"command\":[\"lmp\"],\"mpi\":\"Open MPI\",\"ranks\":3,\"threads_mean\":3,\"wall_seconds\":9,"
		"\"rank_times\":{\"each\":[{\"useful_seconds\":5,\"mpi_seconds\":4},{\"useful_seconds\":6},"
		"{\"useful_seconds\":8}],\"deciles\":null},\"recovered\":{\"ranks\":3},\"phases\":["
		"{\"id\":1,\"time_share\":0.5,\"time_share_ci95\":0.01,\"ranks\":3,\"slowest_rank\":2,"
		"\"rank_seconds\":{\"mean\":3,\"most\":5},\"bursts\":9,\"slices\":0,"
		"\"duration_seconds\":{\"mean\":1,\"sd\":0.5},\"cpi\":0.9,\"counters\":{},\"cpi_breakdown\":["
		"{\"component\":\"retiring\",\"level\":0,\"cpi\":0.5,\"ci95\":0.1},"
		"{\"component\":\"back end\",\"level\":0,\"cpi\":0.4,\"ci95\":0.1},"
		"{\"component\":\"memory\",\"level\":1,\"cpi\":0.3,\"ci95\":0.1}],"
		"\"source\":[{\"from\":\"f.c:1\",\"from_call\":\"MPI_Recv\",\"to_call\":\"MPI_Send\",\"share\":1}]},"
		"{\"id\":2,\"time_share\":0.3,\"ranks\":2,\"slowest_rank\":0,\"rank_seconds\":{\"mean\":2,\"most\":2.5},"
		"\"counters\":{},\"together\":{\"phases\":[2,3],\"ranks\":3,\"slowest_rank\":0,"
		"\"rank_seconds\":{\"mean\":2,\"most\":2.5}}},"
		"{\"id\":3,\"time_share\":0.2,\"ranks\":1,\"slowest_rank\":2,\"rank_seconds\":{\"mean\":2,\"most\":2},"
		"\"counters\":{},\"together\":{\"phases\":[2,3],\"ranks\":3,\"slowest_rank\":0,"
		"\"rank_seconds\":{\"mean\":2,\"most\":2.5}}}],"
		"\"caches\":{\"core\":\"in-order\",\"phases\":[{\"id\":1,\"sizes\":[{\"times\":1,\"time_factor\":{\"mean\":1,"
		"\"ci95\":0}},{\"times\":2,\"time_factor\":{\"mean\":0.5,\"ci95\":0.1}}]}]}}";

/* Shows the answers in both forms. No time may be unknown. */
static void show(const struct answers *answers)
{
	char *text = whatif_text(answers);
	json_t *json = whatif_json(answers);

	for (size_t i = 0; i < answers->count; i++) {
		const struct foreseen *foreseen = &answers->answer[i].foreseen;

		if (!isfinite(foreseen->least) || !isfinite(foreseen->most) ||
				foreseen->least > foreseen->most)
			abort();
	}
	if (!text || !json)
		abort();
	free(text);
	json_decref(json);
}

/* Asks about each kind of change, some of which this report may not be able to answer. */
static void ask(struct answers *answers, const struct run_times *run)
{
	static const struct {
		enum request_kind kind;
		const char *text;
	} asked[] = { { REQUEST_PHASE, "1=0.5" }, { REQUEST_PHASE, "2=3" },
		{ REQUEST_BALANCE, NULL }, { REQUEST_BALANCE_PHASE, "2" },
		{ REQUEST_COMPONENT, "back end/memory=0" }, { REQUEST_SPEED, "2" },
		{ REQUEST_COMMUNICATION, "0.5" }, { REQUEST_CACHE, "2" } };
	const size_t count = sizeof(asked) / sizeof(*asked);
	struct request requests[sizeof(asked) / sizeof(*asked)];
	char why[1024] = "";

	for (size_t i = 0; i < count; i++) {
		if (!request_read(&requests[i], asked[i].kind, asked[i].text))
			abort();
		if (answers_of_requests(answers, run, &requests[i], 1, why, sizeof(why)))
			show(answers);
		else if (!*why)
			abort();
	}
	/* another cache is not asked about together with a component */
	if (answers_of_requests(answers, run, requests, count - 1, why, sizeof(why)))
		show(answers);
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	static struct run_times run;
	static struct answers answers;
	json_t *report = json_loadb((const char *)data, size, 0, NULL);
	char why[256] = "";
	bool accepted;

	if (!report)
		return false;
	accepted = report_is_valid(report, why, sizeof(why)) &&
			run_times_read(&run, report, why, sizeof(why));
	if (accepted) {
		communication_read(&run);
		/* of a file beside the report */
		run.caches = json_object_get(report, "caches");
		answers_of_run(&answers, &run);
		show(&answers);
		ask(&answers, &run);
	} else if (!*why) {
		abort();
	}
	run_times_fini(&run);
	json_decref(report);
	return accepted;
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
