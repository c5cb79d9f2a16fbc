/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a burst table that is clustered (thesis 4.2): the metrics that span the space, and
 * the bursts that are long enough and within range.
 */
#ifndef PHASEMUX_TOOLS_CLUSTER_SELECTION_H
#define PHASEMUX_TOOLS_CLUSTER_SELECTION_H

#include <stdbool.h>

#include "cluster/density/space.h"
#include "cluster/sequence/align.h"
#include "tools/cluster/burst_table.h"

/* The reason why a burst is not clustered. Viewers know these values from cluster events (prv.h). */
enum left_out { CHOSEN = 0, MISSING = 1, TOO_SHORT = 2, OUT_OF_RANGE = 3 };

struct selection {
	struct space space;              /* fitted to the chosen bursts */
	unsigned metric[SPACE_DIMS_MAX]; /* metric of the table, per dimension */
	double shortest;                 /* ns; shorter bursts are left out */
	uint8_t *left_out;               /* enum left_out, per burst of the table */
	size_t count;                    /* number of chosen bursts */
	uint32_t *row;                   /* numbers of these in the table, in its order */
	double *point;                   /* count x dims */
	double *duration;                /* ns */
	size_t sequences;                /* number of the tasks' threads in the table */
	size_t *first;                   /* sequences + 1 indices into the chosen bursts */
	double time;                     /* ns, of all bursts of the table */
};

/*
 * Reads the list of metrics, "log:instructions,ipc*0.5": `log:` takes the logarithm, `*` weighs.
 * instructions, cycles, ipc and duration are found by their usual names or derived, and are added
 * to the table. NULL: log:instructions,ipc if the table has them, else log:duration.
 * Returns 0; -EINVAL, and why says what is wrong; -ENOMEM.
 */
int selection_metrics(struct selection *selection, struct burst_table *table, const char *list,
		char *why, size_t size);

/* Returns whether the name is one of the usual ones for retired instructions. */
bool selection_is_instructions(const char *name);

/*
 * Reads the shortest duration: "50us", "1ms", "2s", "800ns", or a share of the time, "99%", which the
 * bursts that are kept, the longest ones, have. "auto" is 99%. Returns 0 or -EINVAL.
 */
int selection_shortest(struct selection *selection, const struct burst_table *table,
		const char *text, char *why, size_t size);

/*
 * Leaves out bursts whose metric is outside of "METRIC=LOW:HIGH" (either may be empty). Returns 0 or -EINVAL.
 */
int selection_range(struct selection *selection, const struct burst_table *table, const char *text,
		char *why, size_t size);

/*
 * Chooses bursts and fits the space to them. Call after the other functions; the table is sorted. Returns 0 or
 * -ENOMEM.
 */
int selection_make(struct selection *selection, const struct burst_table *table);

/* Returns the chosen bursts, for functions on sequences. They stay the selection's. */
struct sequence_bursts selection_bursts(const struct selection *selection);

void selection_fini(struct selection *selection);

#endif
