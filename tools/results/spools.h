/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what runs have left, or what they keep while they run, in the folders of PHASEMUX_SPOOL: a folder for each run
 * and node, with a file for each rank.
 */
#ifndef PHASEMUX_TOOLS_RESULTS_SPOOLS_H
#define PHASEMUX_TOOLS_RESULTS_SPOOLS_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/report/recovery.h"

#define SPOOLS_RUNS_MAX 64

/*
 * Names a variable that `phasemux run --stop-after` sets for the command that makes the report: the seconds after which it
 * ended the program, and the iterations (0: not known), as "12.300 20". The report then says so.
 */
#define SPOOLS_STOPPED "PHASEMUX_STOPPED"

/* A folder of a run's ranks. A run has a folder for each node. */
struct spools_run {
	uint64_t number;
	char folder[PATH_MAX];
	double started;
	char command[80];
	unsigned ranks, size;
};

struct spools {
	struct recovery *recovery; /* of the first run that spools_add_rank finds */
	struct spools_run run[SPOOLS_RUNS_MAX];
	unsigned runs;
	bool failed; /* a folder that was named does not exist, or there is no memory */
	/* Is called for each file of a rank. */
	void (*visit)(struct spools *spools, int folder_fd, const char *folder, const char *name);
	void *data; /* of visit */
};

/* Visits the ranks' files in these folders, or if there are none, in the usual ones of this machine. */
void spools_visit(struct spools *spools, char **folders, int count);

/*
 * Visits the ranks' files in one folder, and in folders of phasemux within it up to a depth, except through links. flags:
 * of open(), for the folder. Returns 0 or the -errno of the folder.
 */
int spools_visit_folder(struct spools *spools, const char *folder, int depth, int flags);

/* Visits the ranks' files that a process, or one that it has started, has mapped. from: 0: all processes of this user. */
void spools_visit_running(struct spools *spools, pid_t from);

/* The run that is looked for, and where its results will be. */
struct spools_sought {
	pid_t pid;          /* one of its processes descends from this one, or is it; 0: any */
	const char *output; /* absolute path of the folder of its results; NULL: any */
	char found[SPOOL_OUTPUT_MAX]; /* that of the last rank that was found */
};

/* Is a `visit`: adds the run of a rank that still runs, and is sought. data: struct spools_sought. */
void spools_find_rank(struct spools *spools, int folder_fd, const char *folder, const char *name);

/* Fills the recovery, which is made anew, with the ranks of a run. Returns its report, or NULL after one line on stderr. */
json_t *spools_report_run(struct spools *spools, const struct spools_run *run);

/* Is a `visit`: adds a rank to its run, and to the recovery if it is of the same run as the earlier ranks. */
void spools_add_rank(struct spools *spools, int folder_fd, const char *folder, const char *name);

/* Adds a run if it is new. Returns it, or NULL if there is no room. */
struct spools_run *spools_find_run(struct spools *spools, const struct spool_facts *facts,
		const char *folder);

/* Returns whether a name may be that of a folder of phasemux, which may contain files of ranks. */
bool spools_is_ours(const char *name);

/* Prints the runs on stderr, because a command works on one of them. */
void spools_list(const struct spools *spools);

/* Returns the report of the recovery, or NULL. */
json_t *spools_report(const struct spools *spools);

/* Removes the run's folder if it is empty, and then that of the user. Changes the path. */
void spools_remove_folders(char *folder);

#endif
