/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as one JSON document (report.schema.json), made on rank 0 from the sums of
 * all ranks. Everything that users read is made from this document: see report_text.h.
 */
#ifndef PHASEMUX_AGENT_REPORT_H
#define PHASEMUX_AGENT_REPORT_H

#include <jansson.h>

#include "agent/counting.h"
#include "agent/fold.h"
#include "agent/job.h"
#include "agent/mpi_adapter.h"
#include "agent/profile.h"
#include "agent/programs.h"
#include "agent/slowdown.h"
#include "agent/source.h"
#include "agent/totals.h"
#include "cluster/prototypes.h"
#include "multiplex/scheme.h"
#include "multiplex/sums.h"

struct report_facts {
	const char *command; /* the program and its arguments, each with its NUL */
	size_t command_bytes;
	const struct job *job;
	enum scheme_kind scheme;
	const struct counting *counting;
	const struct mpi_world *world;
	const struct prototype_table *table;
	const struct totals *totals;   /* of all ranks */
	const struct sums *sums;       /* of all ranks */
	const struct routes *routes;   /* of all ranks, by addresses of this one; NULL: none */
	struct source *source;         /* names addresses; NULL: they have none */
	const struct profile *profile; /* of all ranks, by the addresses of this one; NULL: none */
	const double *fold;            /* the same, as of fold_sums */
	double burst_min_seconds;
	double wall_seconds;         /* the longest rank's */
	double compute_seconds_most; /* of the rank that computed longest, per thread of it */
	unsigned rounds;
	double budget;    /* that the agent may cost of the program's time; INFINITY: any */
	unsigned waiting; /* ranks that wait for each other; 1: none does */
	const struct programs *programs; /* NULL, or less than two: all ranks run one */
	double off_seconds;              /* of rank 0, beside wall_seconds (toggle.h, control.h) */
	bool paused;                     /* off_seconds are those of MPI_Pcontrol */
	const struct slowdown *slowdown; /* NULL: it was always on */
	const struct stretch *stretch;   /* what that was found from, on rank 0 */
	unsigned stretches;
	const json_t *recovered; /* what is known to be missing, as in the document; NULL: nothing is */
	bool alone;              /* each rank reports for itself: no adapter serves this MPI */
};

/* The document, or NULL without memory. The caller owns it. */
json_t *report_build(const struct report_facts *facts);

/* Renews what the document says of phasemux's own work: when to make it is a part of that. */
void report_account(json_t *report, const struct report_facts *facts);

#endif
