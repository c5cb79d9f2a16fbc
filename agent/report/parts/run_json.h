/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what was run, as parts of the report's document. Each part is the caller's; NULL without memory. */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_RUN_JSON_H
#define PHASEMUX_AGENT_REPORT_PARTS_RUN_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/leads/votes.h"
#include "agent/ranks/hosts.h"
#include "agent/ranks/phase_ranks.h"
#include "agent/ranks/programs.h"
#include "agent/ranks/rank_times.h"
#include "agent/setup/job.h"
#include "agent/spool/totals.h"
#include "agent/timeline/groups.h"

/* Returns a command, whose words each end with a NUL, as a list of words. */
json_t *run_command(const char *command, size_t bytes);

/* Returns the programs of the job and their ranks, or null if all ranks run one program. */
json_t *run_programs(const struct programs *programs);

/* Returns the batch job, or null if there is none. */
json_t *run_job(const struct job *job);

/* Returns the hosts and their ranks, of which the first 64 are named, or null if they are not known (NULL). */
json_t *run_hosts(const struct hosts *hosts);

/*
 * Returns the times of the ranks: of each of up to 512 ranks, else their deciles. Null if they are not known (NULL).
 * wall_seconds: as in rank_times_add.
 */
json_t *run_rank_times(const struct rank_times *times, int ranks, double wall_seconds);

/* The timeline of the run. */
struct run_timeline {
	const struct timeline_groups *groups; /* NULL: not known */
	const struct timeline_labels *labels;
	const unsigned *number; /* by phase of the labels: number in the report; 0: the report does not have it */
	double seconds; /* of the run, with those in which nothing was observed */
};

/* Returns where in the run the time of each phase lies, for groups of ranks that behave alike, or null. */
json_t *run_timeline(const struct run_timeline *timeline);

/* The times that the balance of a phase is compared with. */
struct run_seconds {
	double wall;    /* NAN: ranks have several threads */
	double waiting; /* time of a rank in which it does not compute, in the mean */
};

/*
 * Adds to the object of a phase, or of several ones together, how it is distributed over the ranks. Takes over the reference
 * to the object, and returns it. of: NULL: not known. counted: its events are cycles and instructions.
 */
json_t *run_phase_ranks(json_t *object, const struct phase_rank *of, bool counted,
		const struct run_seconds *seconds);

/*
 * Returns which ranks read for others, or null if each rank read for itself. leads, clusters: NULL: not known. totals,
 * rank_seconds: of all ranks.
 */
json_t *run_leads(const struct votes *leads, const struct votes *clusters,
		const struct totals *totals, double rank_seconds);

/*
 * Returns a moment, given in seconds since 1970, by ISO 8601 in UTC: "2026-11-27T09:04:39Z". Returns null if it is not
 * known, which is 0, or if its year has more than four digits.
 */
json_t *run_date(double seconds);

#endif
