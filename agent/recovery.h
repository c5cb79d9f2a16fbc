/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a run from what its processes have left (agent/spool_image.h), one after the other:
 * what is kept here does not depend on how many there are, but for a bit per rank.
 */
#ifndef PHASEMUX_AGENT_RECOVERY_H
#define PHASEMUX_AGENT_RECOVERY_H

#include <jansson.h>

#include "agent/spool_image.h"

struct recovery;

/* Empty, or NULL without memory. */
struct recovery *recovery_new(void);
void recovery_free(struct recovery *recovery);

/*
 * Adds a process. 0; -EINVAL, with one line in why: it counted something else than the others, or
 * is of a rank that is there already; -EXDEV: it is of another run; -ENOMEM.
 */
int recovery_add(struct recovery *recovery, const struct spool_image *image, char *why,
		size_t why_size);

/*
 * For the last process of a family, which reports itself: adds all that was added here to its totals, its
 * profile with its routes (NULL: it has none) and its sums (of the facts' length), and makes the two
 * numbers of seconds as large as the largest here.
 */
void recovery_give(struct recovery *recovery, struct totals *totals, double *sums,
		struct profile_total *profile, double *wall_seconds, double *compute_seconds_most);

/* How many were added. */
unsigned recovery_count(const struct recovery *recovery);

/*
 * The document, or NULL (nothing was added, no memory). library_folder: where the shared objects of
 * phasemux are, of which one names source lines.
 */
json_t *recovery_report(struct recovery *recovery, const char *library_folder);

#endif
