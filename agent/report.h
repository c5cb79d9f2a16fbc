/*
 * The result of a run as one JSON document (report.schema.json), made on rank 0 from the sums of
 * all ranks. Everything that users read is made from this document: see report_text.h.
 */
#ifndef PHASEMUX_AGENT_REPORT_H
#define PHASEMUX_AGENT_REPORT_H

#include <jansson.h>

#include "agent/counting.h"
#include "agent/ledger.h"
#include "agent/mpi_adapter.h"
#include "agent/settings.h"
#include "agent/source.h"

struct report_facts {
	const struct settings *settings;
	const struct counting *counting;
	const struct mpi_world *world;
	const struct ledger *ledger;
	const struct totals *totals; /* of all ranks */
	const struct sums *sums;            /* of all ranks */
	const struct thread *threads;       /* of this rank: its call sites name the phases' ends */
	double wall_seconds;                /* the longest rank's */
	double compute_seconds_most;        /* of the rank that computed longest, per thread of it */
	struct source *source;       /* names addresses of this process; NULL: they have none */
	unsigned rounds;
	bool alone; /* each rank reports for itself: no adapter serves this MPI */
};

/* The document, or NULL without memory. The caller owns it. */
json_t *report_build(const struct report_facts *facts);

#endif
