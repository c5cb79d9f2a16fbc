/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the report of a run from the spools that its processes have left (agent/spool/spool_image.h), which
 * are added one after the other. For each process a bit is kept, and what it did in each prototype; the rest of the
 * memory does not depend on their number.
 */
#ifndef PHASEMUX_AGENT_REPORT_RECOVERY_H
#define PHASEMUX_AGENT_REPORT_RECOVERY_H

#include <jansson.h>

#include "agent/ranks/hosts.h"
#include "agent/ranks/use_list.h"
#include "agent/spool/spool_image.h"
#include "agent/timeline/list.h"

struct recovery;

/* Returns an empty recovery, or NULL without memory. */
struct recovery *recovery_new(void);
void recovery_free(struct recovery *recovery);

/*
 * Adds a process. Returns 0; -EINVAL with one line in `why` if it counted something else than the others, or
 * its rank was added already; -EXDEV if it belongs to another run; -ENOMEM.
 */
int recovery_add(struct recovery *recovery, const struct spool_image *image, char *why,
		size_t why_size);

/*
 * Adds the recovered data to those of the last process of a family, which reports itself: to its totals, its
 * sums (of the facts' length), and its profile with its routes (NULL: it has none). Raises the two numbers of
 * seconds to the largest ones of the recovered processes.
 */
void recovery_give(struct recovery *recovery, struct totals *totals, double *sums,
		struct profile_total *profile, double *wall_seconds, double *compute_seconds_most);

/* Returns the number of processes that were added. */
unsigned recovery_count(const struct recovery *recovery);

/* Returns the hosts of the processes that were added. They belong to the recovery. */
const struct hosts *recovery_hosts(const struct recovery *recovery);

/* Returns what each of the processes that were added did. The list belongs to the recovery. */
struct use_list *recovery_uses(struct recovery *recovery);

/* Returns the timelines of the processes that were added. The list belongs to the recovery. */
struct timeline_list *recovery_timelines(struct recovery *recovery);

/*
 * Returns the document, which the caller owns; NULL if nothing was added, or without memory. library_folder:
 * the folder with the shared objects of phasemux, one of which reads source lines.
 */
json_t *recovery_report(struct recovery *recovery, const char *library_folder);

#endif
