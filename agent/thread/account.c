/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/account.h"

#include <math.h>

/* Cost of a call in a rest, as a multiple of the cost of a skipped call, by instructions. */
#define REST_TIMES 1.5

double account_mean_threads(double all, double ended, double ended_time, double time)
{
	return time > 0 ? fmax(all - ended + ended_time / time, 0) : all;
}

double account_threads(const struct account *account, double ticks)
{
	return account_mean_threads(account->threads, account->ended,
			account->ended_ticks - account->late_ticks, ticks);
}

struct work account_work(const struct account *account, double skip_ticks)
{
	return (struct work){
		.calls = account->hook_ticks +
				(account->skipped + REST_TIMES * account->rested_calls) *
						skip_ticks,
		.reads = account->read_ticks,
		.switches = account->switch_ticks,
		.services = account->service_ticks,
		.samples = account->sample_ticks,
	};
}

double work_sum(const struct work *work)
{
	return work->calls + work->reads + work->switches + work->services + work->samples;
}
