/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/fold_json.h"

#include <math.h>

#include "agent/report/parts/document.h"
#include "agent/spool/fold.h"

static json_t *rate_list(const double rates[FOLD_BINS])
{
	json_t *list = json_array();

	for (unsigned bin = 0; bin < FOLD_BINS; bin++)
		list = document_append(list,
				isfinite(rates[bin]) ? json_real(rates[bin]) : json_null());
	return list;
}

json_t *fold_json(const double *sums, const struct counting *counting, uint32_t phase)
{
	const struct plan *plan = &counting->plan;
	struct fold_summary summary;
	double rates[FOLD_BINS];
	json_t *counters;

	if (!fold_summarize(sums, plan, phase, &summary))
		return json_null();
	counters = json_object();
	for (unsigned e = 0; e < plan->events; e++)
		if (fold_rates(sums, plan, phase, summary.kind, e, rates))
			counters = document_set(counters, counting->event[e].name,
					rate_list(rates));
	return json_pack("{s:s,s:I,s:o}", "of", summary.kind_name, "samples",
			(json_int_t)summary.samples, "rates", counters);
}
