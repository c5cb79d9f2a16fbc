/* SPDX-License-Identifier: BSD-3-Clause */
/* What the report of a run is made from. */
#ifndef PHASEMUX_AGENT_REPORT_REPORT_FACTS_H
#define PHASEMUX_AGENT_REPORT_REPORT_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/ledger/reservoir.h"
#include "agent/mpi/mpi_adapter.h"
#include "agent/ranks/hosts.h"
#include "agent/ranks/phase_sets.h"
#include "agent/ranks/programs.h"
#include "agent/ranks/rank_times.h"
#include "agent/region/region_choice.h"
#include "agent/report/slowdown.h"
#include "agent/rounds/history.h"
#include "agent/setup/counting.h"
#include "agent/setup/job.h"
#include "agent/spool/fold.h"
#include "agent/spool/profile.h"
#include "agent/structures/structures.h"
#include "agent/spool/totals.h"
#include "agent/symbols/source.h"
#include "agent/timeline/groups.h"
#include "cluster/prototypes.h"
#include "multiplex/estimate/sums.h"
#include "multiplex/scheme/scheme.h"

struct report_facts {
	const char *command; /* the program and its arguments, each followed by a NUL */
	size_t command_bytes;
	const struct job *job;
	double started; /* when the run began, in seconds since 1970 */
	enum scheme_kind scheme;
	const struct counting *counting;
	const struct mpi_world *world;
	const struct prototype_table *table;
	const struct totals *totals; /* of all ranks */
	const struct sums *sums;     /* of all ranks */
	const struct routes *routes; /* of all ranks, with addresses of this rank; NULL: none */
	/* of all ranks, with addresses of this rank; NULL: not kept, or not known */
	const struct structures *structures;
	const struct argument_table *arguments; /* of their calls; NULL: not kept, or not known */
	struct source *source;                  /* names addresses; NULL: they have no names */
	const struct profile *profile; /* of all ranks, with addresses of this rank; NULL: none */
	const double *fold;            /* of all ranks, in the form of fold_sums; NULL: none */
	double burst_min_seconds;
	double wall_seconds;         /* of the rank that ran longest */
	double compute_seconds_most; /* per thread, of the rank that computed longest */
	unsigned rounds;
	double budget; /* share of the program's time that the agent may cost; INFINITY: no limit */
	unsigned waiting; /* number of ranks that wait for each other; 1: none does */
	const struct programs *programs; /* NULL, or fewer than two: all ranks run one program */
	const struct hosts *hosts;       /* NULL: not known */
	const struct rank_times *times;  /* of all ranks; NULL: not known */
	/* of all ranks, by the labels of phase_labels_fill; NULL: not known */
	const struct phase_ranks *phase_ranks;
	const struct phase_sets *phase_sets; /* with phase_ranks */
	/* of all ranks, and the phases that have a column in it; NULL: not known */
	const struct timeline_groups *timeline;
	const struct timeline_labels *timeline_labels;
	const struct history *history; /* the trainings of the run; NULL: not known */
	/* bursts of all ranks, and the metrics by which phases were learned; NULL: not known */
	const struct reservoir *sample;
	const enum metric *metric;
	unsigned metrics;
	double off_seconds; /* of rank 0, not in wall_seconds (toggle.h, control.h) */
	bool paused;        /* off_seconds were caused by MPI_Pcontrol */
	/* on rank 0: of the loops that had leads, and of the last answer to most ranks; NULL: each rank reads for itself, or
	 * it is not known */
	const struct votes *leads, *clusters;
	const struct region_choice
			*region; /* on rank 0; NULL: no region is wanted, or it is not known */
	const struct slowdown *slowdown; /* NULL: the agent was always on */
	const struct stretch *stretch;   /* data of `slowdown`, on rank 0 */
	unsigned stretches;
	const json_t *recovered; /* what is known to be missing, as in the document; NULL: nothing */
	bool alone; /* each rank reports for itself, because no adapter serves this MPI */
};

#endif
